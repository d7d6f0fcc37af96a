"""Claims about S-GBDT."""
