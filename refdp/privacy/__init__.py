"""The vocabulary of privacy: events, the curator and where its outputs come from."""
