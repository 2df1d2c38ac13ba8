"""Makes the comments of the C++ headers readable for Hawkmoth, which takes ``/** */`` with fields.

The headers have ``///`` comments with ``@param``, ``@return`` and ``@throws``. Copies of them, with
the same comments in reStructuredText, go into build/cpp-headers. Sphinx reads them there.
"""

import re
import subprocess
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
HEADERS = ROOT / "core" / "include" / "ringsmith"
COPIES = ROOT / "build" / "cpp-headers"

_FIELD = re.compile(r"@(param|returns?|throws|tparam)\b\s*")


def restructured(lines: list[str]) -> list[str]:
    """The text of a comment in reStructuredText: paragraphs, and a field for each ``@`` word."""
    text: list[str] = []
    fields: list[str] = []
    for line in lines:
        body = line.strip()
        if match := _FIELD.match(body):
            rest = body[match.end() :]
            word = "return" if match[1].startswith("return") else match[1]
            if word != "return":
                name, _, rest = rest.partition(" ")
                word = f"{word} {name.rstrip(',')}"
            fields.append(f":{word}: {_escaped(rest.strip())}")
        elif fields and body:
            fields[-1] += " " + _escaped(body)
        else:
            text.append(_escaped(body))
    return [*text, *(["", *fields] if fields else [])]


def _escaped(text: str) -> str:
    """Text without what reStructuredText would take for marks; code in backticks stays code."""
    parts = text.split("`")
    for number in range(0, len(parts), 2):
        parts[number] = re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", parts[number])
    for number in range(1, len(parts), 2):
        parts[number] = f"``{parts[number]}``" if number + 1 < len(parts) else parts[number]
    return "".join(parts)


def converted(source: str) -> str:
    """A header with its comments as Hawkmoth takes them.

    Attributes between a comment and its declaration are left out: the comment would be lost.
    """
    source = source.replace("[[nodiscard]] ", "")
    found: list[str] = []
    comment: list[str] = []
    for line in [*source.split("\n"), ""]:
        if match := re.match(r"^\s*///(?!/)(.*)$", line):
            comment.append(match[1])
            continue
        if comment:
            found += ["/**", *(f" * {text}".rstrip() for text in restructured(comment)), " */"]
            comment = []
        found.append(line)
    return "\n".join(found[:-1])


def _search_paths() -> list[str]:
    """Folders of the compiler's own headers, which libclang from PyPI does not bring."""
    done = subprocess.run(
        ["g++", "-E", "-x", "c++", "-v", "/dev/null"], capture_output=True, text=True, check=True
    )
    lines = done.stderr.partition("search starts here:\n")[2].partition("End of search")[0]
    return [f"-isystem{line.strip()}" for line in lines.splitlines() if line.startswith(" ")]


def _copy(app: Sphinx) -> None:
    folder = COPIES / "ringsmith"
    folder.mkdir(parents=True, exist_ok=True)
    for header in HEADERS.glob("*.h"):
        (folder / header.name).write_text(converted(header.read_text()))
    app.config.hawkmoth_root = str(COPIES)
    app.config.hawkmoth_clang = ["-std=c++20", f"-I{COPIES}", *_search_paths()]


def setup(app: Sphinx) -> None:
    """Copies headers before anything is read."""
    app.connect("builder-inited", _copy, priority=100)
