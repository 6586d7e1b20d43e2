"""Compiled functions (numba), called loops and never kernels; each has a plain twin in tests."""
