"""Records and who answers for them: one protocol of steps and sums, and the hosts that keep it."""
