"""Files in the checkout that a command writes from one source, and its comparison of the two."""

import argparse
import textwrap
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GeneratedFiles:
    """Files that are made from others.

    Attributes:
        sources: What they are made from, paths in the checkout.
        command: What writes them.
        render: The root of a checkout -> the texts, by their paths in it.
    """

    sources: tuple[str, ...]
    command: str
    render: Callable[[Path], Mapping[str, str]]

    @property
    def notice(self) -> str:
        """What a generated file says of itself."""
        return notice(self.sources, self.command)

    def stale(self, root: Path) -> list[str]:
        """Files under ``root`` that are missing or differ from what would be written."""
        return [
            path
            for path, text in self.render(root).items()
            if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
        ]

    def main(self, arguments: list[str] | None, description: str | None) -> int:
        """Writes or checks the files, as the arguments say; returns the exit status."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument(
            "--check", action="store_true", help="compare only; exit 1 if different"
        )
        parser.add_argument("--root", type=Path, default=Path.cwd(), help="the checkout")
        options = parser.parse_args(arguments)
        if not (options.root / self.sources[0]).is_file():
            parser.error(f"{options.root} is no checkout of Ringsmith: pass --root")
        texts, stale = self.render(options.root), self.stale(options.root)
        for path in stale:
            if options.check:
                print(f"{path} differs from {' and '.join(self.sources)}: run {self.command}")
            else:
                (options.root / path).parent.mkdir(parents=True, exist_ok=True)
                (options.root / path).write_text(texts[path], encoding="utf-8")
                print(f"wrote {path}")
        return 1 if options.check and stale else 0


def notice(sources: tuple[str, ...], command: str) -> str:
    """What a file says of itself that a command makes from some sources."""
    return f"Generated from {' and '.join(sources)} by `{command}`; do not edit."


def upper_camel(name: str) -> str:
    """``dmac_key`` becomes ``DmacKey``."""
    return "".join(part.capitalize() for part in name.split("_"))


def prose(text: str, prefix: str = "") -> list[str]:
    """Wraps a paragraph into lines that start with ``prefix``."""
    return textwrap.wrap(text, 100, initial_indent=prefix, subsequent_indent=prefix)


# ---- What the files of instruction sets have in common -------------------------------------------


class IsaError(ValueError):
    """An instruction-set file contradicts itself."""


def check_keys(
    what: str, entry: Mapping[str, object], required: Set[str], optional: Set[str] = frozenset()
) -> None:
    """Refuses an entry of a file without a key that it needs, or with an unknown one.

    Raises:
        IsaError: If so; names ``what`` and the keys.
    """
    missing, unknown = required - entry.keys(), entry.keys() - required - optional
    if missing or unknown:
        raise IsaError(f"{what}: missing keys {sorted(missing)}, unknown keys {sorted(unknown)}")
