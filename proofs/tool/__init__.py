"""From propositions to the committed ledger and its page."""
