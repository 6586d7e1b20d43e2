"""Sphinx: MyST pages, API from docstrings, gallery from ``examples/``."""

from __future__ import annotations

import os
import sys
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
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"convexcluster {release}"

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
