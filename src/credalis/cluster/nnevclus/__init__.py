"""NN-EVCLUS: a neural network that maps attributes to mass functions."""
