"""Consensus: a committee of clusterings and a network that learns its evidence."""
