"""Which files of ``rtl/`` a design is made of."""

import re
from collections.abc import Sequence
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hdl.sources import rtl_sources

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_NAME = re.compile(r"\brs_\w+")


def sources_below(top: str, folders: Sequence[str]) -> list[Path]:
    """The files of a top module and of all modules and packages that it uses, packages first.

    A file holds the module or package of its name, and uses those that its text names outside of
    comments.

    Args:
        top: The top module.
        folders: Folders of ``rtl/``, each before those that use it.

    Raises:
        ToolError: If no file has the top module.
    """
    files = {file.stem: file for file in rtl_sources(*folders)}
    if top not in files:
        raise ToolError(
            f"rtl/ has no module {top} in {', '.join(folders)}: install Ringsmith again"
        )
    used, open_names = {top}, [top]
    while open_names:
        text = _COMMENT.sub("", files[open_names.pop()].read_text(encoding="utf-8"))
        found = (set(_NAME.findall(text)) & files.keys()) - used
        used |= found
        open_names += sorted(found)
    return [file for stem, file in files.items() if stem in used]
