"""Whether the answer is right on toys with known clusters, and stays when nothing has changed."""
