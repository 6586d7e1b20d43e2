"""Benchmarks: `python -m benchmarks` for the table and plot of gap against time."""
