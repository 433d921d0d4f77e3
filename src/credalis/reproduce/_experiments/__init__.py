"""What the paper did: an experiment each, its methods, and what deviates and why."""
