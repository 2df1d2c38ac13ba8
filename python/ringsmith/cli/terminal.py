"""Output on terminals that cannot show every character: plain ones take their place."""

import codecs
import sys
import unicodedata
from io import TextIOWrapper

_PLAIN = {
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "x",
    "·": "*",
    "±": "+/-",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "°": " deg",
    "µ": "u",
    "μ": "u",
    "✓": "+",
    "✗": "!",
    "•": "*",
    "ψ": "psi",
    "ζ": "zeta",
    "∏": "product",
    "Σ": "sum",
    "∘": "o",
    "░": ".",
    "▒": "+",
    "▓": "#",
}


def use_plain_characters() -> None:
    """Makes both output streams replace what their encoding cannot hold.

    A terminal in the C locale, or a pipe with ``PYTHONIOENCODING=latin-1``, then gets ``...`` for
    an ellipsis, and ``?`` for a character that has no plain form.
    """
    codecs.register_error("plain", _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="plain")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    name = unicodedata.name(character, "")
    if "BOX DRAWINGS" in name:
        across = any(word in name for word in ("HORIZONTAL", "LEFT", "RIGHT"))
        upright = any(word in name for word in ("VERTICAL", "UP", "DOWN"))
        return "+" if across and upright else "-" if across else "|"
    if name.endswith("BLOCK"):
        return "#"
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or "?"
