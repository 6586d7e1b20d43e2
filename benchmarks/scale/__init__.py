"""Beyond memory: n = 10⁵ … 10⁷, in one process, from a file and through Dask.

    python -m benchmarks.scale                 every case, and the page
    python -m benchmarks.scale shapes-1e6 …    these cases; the others keep their figures

``data`` makes the rows, ``fits`` has the cases of one process, ``cluster`` those of Dask, ``page``
turns figures into docs/large-results.md. Figures are kept in ``figures.json``, each with the load
of the machine before it was measured.
"""
