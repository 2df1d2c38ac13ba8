"""The site of the documentation; ``make docs`` builds it into build/site, and warnings are errors.

Sources are the Markdown files of the repository, as they lie: the tables on docs/README.md say
which pages there are, and so which the navigation shows.
"""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

import ringsmith

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))


project = "Ringsmith"
author = "the Ringsmith authors"
copyright = author  # noqa: A001 - Sphinx's name
release = version = version_of("ringsmith")

for _name in ringsmith.__all__:  # autodoc lists what a module has; these come when asked for
    setattr(ringsmith, _name, getattr(ringsmith, _name))

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "cpp_headers",
    "hawkmoth",
]
root_doc = "docs/README"
include_patterns = ["docs/*.md", "docs/**/*.md", "*.md", "rtl/**/*.md", "examples/**/*.md"]
exclude_patterns = ["build/**", ".venv/**", "tests/**"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = f"Ringsmith {release}"
html_copy_source = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

hawkmoth_autoconf: list[str] = []

autodoc_typehints = "description"
autodoc_member_order = "groupwise"
napoleon_google_docstring = True
napoleon_use_ivar = True


def navigation(table: str) -> str:
    """The pages of docs/README.md's tables as a tree, one for each of its headings."""
    trees = []
    for part in table.split("\n## ")[1:]:
        caption = part.splitlines()[0]
        pages = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\.md\) \|", part, re.MULTILINE)
        names = [f"{title} <{(Path('docs') / page).as_posix()}>" for title, page in pages]
        lines = [
            "```{toctree}",
            f":caption: {caption}",
            ":hidden:",
            "",
            *map(_absolute, names),
            "```",
        ]
        trees.append("\n".join(lines))
    return "\n\n".join(trees)


def _absolute(entry: str) -> str:
    """An entry of the tree from the root of the repository."""
    title, _, page = entry.partition(" <")
    parts: list[str] = []
    for part in page.rstrip(">").split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return f"{title} </{'/'.join(parts)}>"


def _add_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    if name == root_doc:
        source[0] += "\n\n" + navigation(source[0]) + "\n"


def _add_index(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        page = app.builder.get_target_uri(root_doc)
        text = (
            f'<!doctype html><meta http-equiv="refresh" content="0; url={page}">'
            f'<a href="{page}">Ringsmith</a>\n'
        )
        (Path(app.outdir) / "index.html").write_text(text)


def setup(app: Sphinx) -> None:
    """Connects what is above."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _add_index)
