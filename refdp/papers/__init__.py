"""The papers' algorithms, repaired, each in a module of its own."""
