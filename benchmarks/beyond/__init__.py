"""Beyond the paper: feature weights, several kernels, must-link, each against what it replaces."""
