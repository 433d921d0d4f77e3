"""What every method shares: the verbs, the one route of a fit, solutions."""
