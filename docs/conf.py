"""Configuration of the documentation site: `make docs` builds it to build/site."""

import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URLS = PROJECT.get("urls", {})

project = "xpgrad"
author = "The xpgrad authors"
copyright = f"{author}, {PROJECT['license']} licence"
release = version = PROJECT["version"]
repository = URLS.get("Repository", "https://github.com/xpgrad/xpgrad")
html_baseurl = URLS.get("Documentation", "https://xpgrad.github.io/xpgrad/")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "_site.extension",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["reference/examples"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

# Headings have the anchors that GitHub gives them, so that a link is good in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "attrs_inline"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
python_maximum_signature_line_length = 90
toc_object_entries = False
nitpicky = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "pydata_sphinx_theme"
html_title = "xpgrad"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto", "github_url": repository, "description": PROJECT["description"]}
html_theme_options = {
    "logo": {"text": "xpgrad", "image_light": "_static/favicon.svg", "image_dark": "_static/favicon.svg"},
    "icon_links": [{"name": "Source", "url": repository, "icon": "fa-brands fa-github"}],
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "switcher": {"json_url": f"{urlsplit(html_baseurl).path}switcher.json", "version_match": release},
    "check_switcher": False,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {"index": [], "404": [], "changelog": [], "contributing": [], "gallery/index": []}

linkcheck_ignore = [rf"{repository}.*", rf"{html_baseurl}.*", r"https://doi\.org/.*"]
linkcheck_anchors = False
linkcheck_timeout = 20
