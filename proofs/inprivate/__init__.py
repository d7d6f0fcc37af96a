"""Claims about InPrivate Digging."""
