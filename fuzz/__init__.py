"""The campaign that tries to break what docs/reliability.md promises: ``python -m fuzz``."""
