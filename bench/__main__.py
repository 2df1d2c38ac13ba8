"""``make bench``: measures, and writes ``docs/results.json`` and ``docs/results.md``."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.measure import measure
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
    given = parser.parse_args(words)
    folder = given.folder
    command = "python -m bench --quick" if given.quick else "make bench"
    console = Console()
    try:
        with show_progress():
            numbers = measure(Stages(console), command, quick=given.quick)
    except RingsmithError as error:
        sys.exit(f"bench: {error}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(numbers, indent=2) + "\n")
    (folder / "results.md").write_text(page(numbers))
    console.print(f"Written: {folder / 'results.json'} and {folder / 'results.md'}", soft_wrap=True)


if __name__ == "__main__":
    main()
