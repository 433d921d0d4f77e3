"""EVCLUS: mass functions whose conflicts match dissimilarities."""
