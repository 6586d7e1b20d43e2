"""Compiled loops of the baselines; each equals its NumPy twin in the tests."""
