"""Training among several owners, each behind its own door: messages, journals, rounds and quality control."""
