"""Beyond the paper: recovery, feature weights, several kernels, links, against rivals."""
