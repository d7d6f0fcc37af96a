"""Machine-checked statements of five papers: see README.md in this folder."""
