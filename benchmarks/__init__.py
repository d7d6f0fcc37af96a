"""Measurements of time and memory, each a script that prints its table."""
