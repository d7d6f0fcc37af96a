"""Enclosures of random plans against truths in ball arithmetic."""
