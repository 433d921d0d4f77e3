"""Methods with a prototype for each cluster, of which ECM is the first."""
