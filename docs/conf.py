"""Sphinx: MyST pages, API from docstrings, gallery from ``examples/``."""

from __future__ import annotations

import os
import re
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

import convexcluster

project = "convexcluster"
author = "The convexcluster developers"
copyright = author
version = release = convexcluster.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"convexcluster {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# furo follows the reader's system, and a button changes between light and dark.
pygments_style, pygments_dark_style = "tango", "monokai"

# Where the names of others are described: a name has a page of its own at each of these homes. The
# inventories are fetched; without a network those made below stand in, of the names we refer to.
HOMES = {
    "anndata": ("https://anndata.readthedocs.io/en/stable/", "generated/$.html#$"),
    "matplotlib": ("https://matplotlib.org/stable/", "api/_as_gen/$.html#$"),
    "networkx": ("https://networkx.org/documentation/stable/", "reference/classes/$.html#$"),
    "numpy": ("https://numpy.org/doc/stable/", "reference/generated/$.html#$"),
    "pandas": ("https://pandas.pydata.org/docs/", "reference/api/$.html#$"),
    "scanpy": ("https://scanpy.readthedocs.io/en/stable/", "generated/$.html#$"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "reference/generated/$.html#$"),
    "sklearn": ("https://scikit-learn.org/stable/", "modules/generated/$.html#$"),
}
OTHERS = "|".join(HOMES)
REFERENCE = re.compile(rf":(class|func|meth|mod|attr)[:}}]`~?((?:{OTHERS})\.[\w.]+)`")
ROLES = {"class": "class", "func": "function", "meth": "method", "mod": "module", "attr": "data"}


def inventory(home: str) -> str:
    """Write the inventory of what pages, examples and docstrings name of one home; its file."""
    folders = (HERE, HERE.parent / "examples", HERE.parent / "src")
    files = [file for folder in folders for file in (*folder.rglob("*.md"), *folder.rglob("*.py"))]
    found = {pair for file in files for pair in REFERENCE.findall(file.read_text("utf-8"))}
    uri = HOMES[home][1]
    lines = [
        f"{name} py:{ROLES[role]} 1 {uri.replace('$', name)} -\n"
        for role, name in sorted(found)
        if name.startswith(f"{home}.")
    ]
    head = f"# Sphinx inventory version 2\n# Project: {home}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    target = HERE / "_build" / "inventories" / f"{home}.inv"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
    return str(target)


intersphinx_mapping = {home: (url, (None, inventory(home))) for home, (url, _) in HOMES.items()}
intersphinx_timeout = 5

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

# The example on gene expression wants the paper's data, which are not part of the package; without
# them its page shows the code alone.
data = os.environ.get("CONVEXCLUSTER_DATA")
has_data = data is not None and (Path(data) / "lymphoma.npz").exists()
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_" if has_data else r"plot_(?!gene)",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "min_reported_time": 5,
}
suppress_warnings = ["config.cache"]  # gallery settings hold patterns that cannot be cached
