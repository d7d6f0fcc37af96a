"""What must be right for a verdict to be right: terms, solvers, statements, evidence, propositions."""
