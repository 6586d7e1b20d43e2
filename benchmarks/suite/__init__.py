"""A public suite of benchmark sets: ours and the usual methods beside published figures."""
