"""Facts that several papers use, and whole runs."""
