"""The league: every method of this package, and some of others, on the same records at the same epsilons."""
