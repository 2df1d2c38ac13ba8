"""The files that a forge, a citation and a hook read are as their schemas say."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.citation-file-format": "CITATION.cff",
}
MAKEFILE = (ROOT / "Makefile").read_text()


def complaints(schema: str, files: list[Path]) -> str:
    """What check-jsonschema says of files; empty: nothing."""
    command = [Path(sys.prefix) / "bin" / "check-jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(("schema", "pattern"), SCHEMAS.items())
def test_the_forges_files_follow_their_schemas(schema: str, pattern: str, tmp_path: Path) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files
    assert complaints(schema, files) == ""
    wrong = tmp_path / files[0].name
    wrong.write_text("jobs: 1\nbody: 1\nauthors: 1\nblank_issues_enabled: 3\n")
    assert complaints(schema, [wrong]) != ""


def test_the_forges_files_call_tasks_that_the_makefile_has() -> None:
    files = [*ROOT.glob(".github/workflows/*.yml"), ROOT / ".pre-commit-config.yaml"]
    text = "\n".join(file.read_text() for file in files)
    tasks = {*re.findall(r"make ([a-z-]+)", text)} - {"perl"}
    assert {"check", "test", "test-full", "demo", "release"} <= tasks
    assert [task for task in tasks if not re.search(rf"^{task}:", MAKEFILE, re.M)] == []


def test_one_version_is_cited_built_and_released() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == project["version"]
    assert f"version, {project['version']}," in (ROOT / "CHANGELOG.md").read_text()
