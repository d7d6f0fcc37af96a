"""Claims about DP-XGBoost."""
