"""Benchmarks: ratios against a named baseline, inside one run."""
