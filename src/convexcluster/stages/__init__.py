"""The stages of a fit, in the order in which :func:`convexcluster.fit.fit` runs them.

``points`` → ``penalty`` (and its valleys, ``choice``) → ``path`` → ``choice`` → ``proof`` →
``error``. Each takes what the ones before it found, and the settings.
"""
