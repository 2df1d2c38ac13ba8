"""Commands of applications, as tests type them."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from ringsmith.cli.main import app


def run(words: list[str], folder: Path) -> tuple[dict[str, Any], str]:
    """Runs a command; returns what it wrote and what it printed."""
    output = folder / "numbers.json"
    done = CliRunner().invoke(app, [*words, "--output", str(output)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(output.read_text()), done.stdout
