"""Sphinx configuration. The build reads this folder and the installed package, and no network."""

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

doctest_global_setup = "import warnings; warnings.simplefilter('error')"

html_theme = "furo"
html_title = f"allrelevant {version}"
html_show_sphinx = False
html_copy_source = False
# Formulas are text, with characters that not every monospaced font has in the same width.
html_theme_options = {
    "light_css_variables": {"font-stack--monospace": "'DejaVu Sans Mono', Menlo, Consolas, monospace"},
}
