"""The papers as printed: readings, formulas and constants that are false or contradict the guarantee.

A paper's own module holds the repaired algorithm and nothing else. Here a printed reading takes the place of a repaired
piece: `Params` of a module of this package is the paper's own `Params` with the readings as further settings, and with
the methods overridden that they change (a charge, candidates, a partition). `AS_PUBLISHED` has all of them.
"""
