"""Sphinx settings: pages of docs, notebooks and labs where they stand, so that links hold on disk and on the site."""

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]

project = "refdp"
author = "the refdp authors"
root_doc = "docs/index"
extensions = ["myst_nb", "mathml", "api", "terms"]
include_patterns = [
    *("docs/**", "notebooks/*.md", "labs/**", "proofs/README.md"),
    *("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
]
exclude_patterns = ["docs/site/**", "**/__pycache__/**"]
html_theme = "pydata_sphinx_theme"
html_title = "refdp"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "show_toc_level": 1,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_show_sourcelink = False
html_copy_source = False
copyright = "the refdp authors, Apache-2.0"
html_sidebars = {"docs/index": []}
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = os.environ.get("DOCS_EXECUTE", "cache")
nb_execution_cache_path = str(ROOT / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
suppress_warnings = ["myst.header", "toc.not_included"]  # that every page is linked is a test of tests/pages


def setup(app: Sphinx) -> None:
    """A figure and its standard error stay on one line of a narrow column."""
    app.connect("source-read", lambda _, name, text: text.__setitem__(0, text[0].replace(" ± ", "\u00a0±\u00a0")))
