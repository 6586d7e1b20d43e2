"""Random scenes of the plane and of space: ours beside HDBSCAN and spectral clustering."""
