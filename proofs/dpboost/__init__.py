"""Claims about DPBoost."""
