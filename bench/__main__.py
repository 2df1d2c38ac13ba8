"""``make bench``: measures, and writes ``docs/results.json`` and ``docs/results.md``."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.compile_time import COLUMNS, measure_compile_time
from bench.measure import DESIGN, measure
from bench.page import page
from ringsmith.apps.stages import Stages
from ringsmith.errors import RingsmithError
from ringsmith.progress import show_progress

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(words: Sequence[str] | None = None) -> None:
    """Parses the command line, measures and writes; ``words``: None takes the process's own."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DOCS, help="where to write (default: docs)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="single operations at two limbs alone: shows that all of it works here",
    )
    parser.add_argument(
        "--only",
        choices=["compile-time"],
        help="measure this anew and keep the other numbers of the folder's results.json",
    )
    parser.add_argument(
        "--columns", type=int, nargs="+", default=COLUMNS, help="matrices of compile-time"
    )
    given = parser.parse_args(words)
    folder, console = given.folder, Console()
    command = "python -m bench --quick" if given.quick else "make bench"
    try:
        with show_progress():
            if given.only is None:
                numbers = measure(Stages(console), command, quick=given.quick)
            else:
                numbers = _kept(folder) | {
                    "compile_time": measure_compile_time(
                        Stages(console),
                        f"python -m bench --only {given.only}",
                        DESIGN,
                        given.columns,
                    )
                }
    except RingsmithError as error:
        sys.exit(f"bench: {error}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(numbers, indent=2) + "\n")
    (folder / "results.md").write_text(page(numbers))
    console.print(f"Written: {folder / 'results.json'} and {folder / 'results.md'}", soft_wrap=True)


def _kept(folder: Path) -> dict[str, Any]:
    """The numbers of the last measurement."""
    try:
        numbers: dict[str, Any] = json.loads((folder / "results.json").read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"bench: {folder / 'results.json'}: {error}: measure everything, without --only")
    return numbers


if __name__ == "__main__":
    main()
