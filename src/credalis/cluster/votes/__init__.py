"""EkNNclus: clusters that neighbours vote for."""
