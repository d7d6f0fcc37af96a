"""The commands of `refdp`, one module each."""
