"""Sphinx configuration. The build reads this folder and the installed package, and no network."""

import re

import allrelevant

project = "allrelevant"
author = "The allrelevant developers"
copyright = "2026, the allrelevant developers"
release = version = allrelevant.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# The docstrings say the types; annotations beside them would only repeat them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
# The templates list the members.
numpydoc_show_class_members = False
add_module_names = False

# The examples write files; they go where nobody looks.
doctest_global_setup = """
import os, tempfile, warnings
os.chdir(tempfile.mkdtemp())
warnings.simplefilter("error")
"""

html_theme = "furo"
html_title = "allrelevant"
html_show_sphinx = False
html_copy_source = False
# Formulas are text, with characters that not every monospaced font has in the same width.
html_theme_options = {
    "light_css_variables": {"font-stack--monospace": "'DejaVu Sans Mono', Menlo, Consolas, monospace"},
}


def escape_shapes(app, what, name, obj, options, lines):
    """A name that ends in an underscore, as in "shape (n_features_in_,)", would become a link."""
    lines[:] = [re.sub(r"(\w)_,\)", r"\1\\_,)", line) for line in lines]


def skip_tuple_fields(app, what, name, obj, skip, options):
    """Fields of named tuples stand under Attributes; by themselves they are aliases for numbers."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_tuple_fields)
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)  # before numpydoc
