"""Bootclus: masses from the clusters of many resamples."""
