"""How the site is built: ``make docs`` runs Sphinx with this file.

Nothing is fetched while it is built or read: formulas become MathML, and fonts,
scripts and styles are those that the packages on PyPI bring.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "extensions"))

import credalis  # noqa: E402

project = "credalis"
author = "The credalis developers"
copyright = "The credalis developers"
release = credalis.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinxext.opengraph",
    "sphinx_llms_txt",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    # Ours, in docs/extensions.
    "docstrings",
    "mathml",
    "public_names",
    "repository_files",
]
templates_path = ["_templates"]
exclude_patterns = ["images", "pictures", "extensions", "gallery/**/*.md"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = True
# No inventories of other projects are fetched.
_others = "sklearn|numpy|scipy|pandas|polars|matplotlib|torch|dask"
nitpick_ignore_regex = [(r"py:.*", rf"({_others})\..*")]
nitpick_ignore = [("py:obj", "dtype")]
# Names in single backquotes, as in docstrings, are code.
default_role = "code"

# Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# API reference
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# Pictures that pages draw: {eval-rst} with `.. plot:: pictures/NAME.py`
plot_basedir = str(HERE)
plot_formats = [("png", 110)]
plot_html_show_source_link = False
plot_html_show_formats = False
plot_rcparams = {"figure.facecolor": "white", "savefig.bbox": "tight"}
plot_apply_rcparams = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "subsection_order": [
        f"../examples/{section}"
        for section in (
            "basics",
            "doubt",
            "article",
            "knowledge",
            "data",
            "service",
            "beliefs",
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 20,
    "plot_gallery": os.environ.get("CREDALIS_GALLERY", "yes") == "yes",
    "doc_module": ("credalis",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
}

# The page
html_theme = "pydata_sphinx_theme"
html_title = f"credalis {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("pictures.js", {"defer": "defer"})]
html_favicon = "../src/credalis/app/static/icon.svg"
html_show_sourcelink = False
# Light or dark as the reader has it.
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "methods": [], "gallery/index": []}
html_theme_options = {
    "logo": {
        "text": "credalis",
        "image_light": "../src/credalis/app/static/icon.svg",
        "image_dark": "../src/credalis/app/static/icon.svg",
        "alt_text": "credalis: to the front page",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Where the site stands, if it is known: with it come the list of versions, pictures
# for link previews and absolute addresses in llms.txt. docs/project/releasing says how
# the folders of the versions are laid out.
_address = os.environ.get("CREDALIS_SITE", "").rstrip("/")
if _address:
    html_baseurl = f"{_address}/{os.environ.get('CREDALIS_SITE_VERSION', 'dev')}/"
    html_theme_options["switcher"] = {
        "json_url": f"{_address}/versions.json",
        "version_match": os.environ.get("CREDALIS_SITE_VERSION", "dev"),
    }
    html_theme_options["check_switcher"] = False
    html_theme_options["show_version_warning_banner"] = True
    html_theme_options["navbar_end"].insert(0, "version-switcher")
    ogp_site_url = html_baseurl
else:
    ogp_site_url = "https://credalis.invalid/"
ogp_site_name = "credalis"
ogp_social_cards = {"enable": False}

llms_txt_title = "credalis"
llms_txt_summary = (
    "Evidential clustering in Python: every object gets a mass function over sets of "
    "clusters, so that a result can say which objects are clearly in a cluster, which "
    "lie between clusters, and which are outliers."
)
