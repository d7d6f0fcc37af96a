"""A second check of "unsat": cvc5's proofs in its CPC format, each step followed by code that is nobody else's."""
