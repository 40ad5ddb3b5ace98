"""Sphinx configuration. The build reads this folder, the examples and the installed package, and no network."""

import re
import sys
from pathlib import Path

import allrelevant

sys.path.insert(0, str(Path(__file__).parent))  # for _gallery

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
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # two hyphens are an option of a command, not a dash

# The docstrings say the types; annotations beside them would only repeat them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
# The templates list the members.
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# The examples write files; they go where nobody looks.
doctest_global_setup = """
import os, tempfile, warnings
os.chdir(tempfile.mkdtemp())
warnings.simplefilter("error")
"""

# Only examples whose data are made, or come with an installed package, are run; the others show what was recorded from
# a run (recorded/record.py).
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": "/(breast_cancer|forest)",
    "within_subsection_order": "FileNameSortKey",
    "reset_argv": "_gallery.arguments",
    "remove_config_comments": True,
    "write_computation_times": False,
    "min_reported_time": 1e6,
    "notebook_extensions": set(),
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = "allrelevant"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["allrelevant.css"]
html_sidebars = {"getting_started": []}
html_theme_options = {
    "logo": {"text": "allrelevant"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
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
