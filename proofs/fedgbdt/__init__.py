"""Claims about the federated framework."""
