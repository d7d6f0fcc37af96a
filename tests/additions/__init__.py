"""Three additions, each in as many files as ARCHITECTURE.md says: a noise, a paper, a split rule."""
