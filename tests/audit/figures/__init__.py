"""Figures about the audits themselves, kept line by line, and the page made of them."""
