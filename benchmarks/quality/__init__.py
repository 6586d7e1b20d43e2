"""How good the clusters are: every data set × our defaults and the usual methods."""
