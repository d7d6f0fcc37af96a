"""Claims, their fingerprints, and what a run's certificate rests on."""
