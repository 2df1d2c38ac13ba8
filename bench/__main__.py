"""``make bench``: measures, and writes ``docs/results.json`` and ``docs/results.md``."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from bench.measure import measure
from bench.page import page
from ringsmith.apps.stages import Stages
from ringsmith.errors import RingsmithError

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main() -> None:
    """Parses the command line, measures and writes."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DOCS, help="where to write (default: docs)")
    folder = parser.parse_args().folder
    console = Console()
    try:
        numbers = measure(Stages(console), "make bench")
    except RingsmithError as error:
        sys.exit(f"bench: {error}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(numbers, indent=2) + "\n")
    (folder / "results.md").write_text(page(numbers))
    console.print(f"Written: {folder / 'results.json'} and {folder / 'results.md'}", soft_wrap=True)


if __name__ == "__main__":
    main()
