"""What the papers state and print, and whether it holds in the runs."""
