"""The page docs/guide/extend.md.

Names files that there are, and what it shows works as it is printed there.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringsmith import compile_program, open_device, parameter_set, trace
from ringsmith.backends.base import Backend
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.jobs import Device
from ringsmith.backends.registry import named_design
from ringsmith.backends.rpau.isa import generate as rpau_isa
from ringsmith.backends.vector.isa import generate as vector_isa
from ringsmith.schemes.base import Scheme

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "ringsmith"
PAGE = (ROOT / "docs" / "guide" / "extend.md").read_text()
ANOTHER = ROOT / "tests" / "another_package"


def section(heading: str) -> str:
    """The part of the page below a heading."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(language: str) -> list[str]:
    """The page's examples in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def place(path: str) -> Path:
    """Where a path of the page leads."""
    inside = PACKAGE / path
    return inside if inside.exists() else ROOT / path


def paths() -> list[str]:
    """Every path that the page names."""
    named = re.findall(r"`((?:[\w-]+/)+(?:[\w-]+\.\w+)?)`", PAGE)
    return sorted(set(named))


def rows() -> Iterator[tuple[str, str]]:
    """(path, what changes in it) of the tables whose first column is files."""
    for line in PAGE.splitlines():
        found = re.match(r"\| (`[\w/.-]+`(?:, `[\w/.-]+`)*) \| (.*) \|$", line)
        if found:
            for path in re.findall(r"`([^`]+/[^`]*)`", found[1]):
                yield path, found[2]


def text_of(path: Path) -> str:
    """The text of a file, or of all files of a folder and their names."""
    if path.is_file():
        return path.read_text()
    files = [file for file in path.rglob("*") if file.suffix in {".py", ".cpp", ".h", ".toml"}]
    return "\n".join(f"{file.name}\n{file.read_text()}" for file in files)


@pytest.mark.parametrize("path", paths())
def test_a_path_on_the_page_leads_somewhere(path: str) -> None:
    assert place(path).exists()


def test_files_have_the_names_that_the_page_says_of_them() -> None:
    named = 0
    for path, what in rows():
        text = text_of(place(path))
        for name in re.findall(r"`([A-Za-z_]\w+(?:\.py)?)`", what):
            assert re.search(rf"\b{re.escape(name)}\b", text), f"{path} has no {name}"
            named += 1
    assert named > 25


@pytest.mark.parametrize(
    ("generator", "source"),
    [
        (rpau_isa, "python/ringsmith/backends/rpau/isa/isa.yaml"),
        (vector_isa, "python/ringsmith/backends/vector/isa/isa.yaml"),
    ],
)
def test_the_page_lists_the_files_that_an_instruction_set_is_made_into(
    generator: object, source: str
) -> None:
    made = generator.GENERATED.render(ROOT)  # type: ignore[attr-defined]
    assert generator.GENERATED.sources == (source,)  # type: ignore[attr-defined]
    assert [path for path in made if f"`{path}`" not in section("An instruction")] == []


def test_the_instruction_on_the_page_gets_into_every_generated_file(tmp_path: Path) -> None:
    (record,) = blocks("yaml")
    (source,) = rpau_isa.GENERATED.sources
    copy = tmp_path / source
    copy.parent.mkdir(parents=True)
    copy.write_text((ROOT / source).read_text().rstrip("\n") + "\n" + record)
    assert rpau_isa.main(["--root", str(tmp_path)]) == 0
    table = section("An instruction").partition("| generated file |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"^\| `([^`]+)`", table, re.M))
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*") if path.is_file()}
    assert made - {source} == listed
    for path in listed:
        assert "msub" in (tmp_path / path).read_text().lower(), path


def test_the_instruction_on_the_page_is_the_one_that_runs_on_the_rtl() -> None:
    test = (ROOT / "tests" / "rtl" / "test_new_instructions.py").read_text()
    assert blocks("yaml")[0] in test


def test_a_program_runs_on_the_design_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(next(each for each in blocks("toml") if "architecture" in each))
    assert named_design(str(path)).name == "mine"
    program = trace(lambda x: x * x, parameter_set("nano"), {"x": 8})
    secret, public, keys = program.generate_keys()
    mine, nano = (compile_program(program, design=each) for each in (str(path), "nano"))
    inputs = program.encrypt(public, {"x": [0.5] * 8})
    result = mine.run(open_device("model", design=str(path)), inputs, keys)
    assert abs(program.decrypt(secret, result.outputs)["result"][0] - 0.25) < 1e-3
    reference = nano.run(open_device("cpu"), inputs, keys).outputs
    for name, output in result.outputs.items():
        assert (output.data == reference[name].data).all()
    assert result.cycles


def test_the_backend_on_the_page_is_that_of_the_other_package() -> None:
    (code,) = blocks("python")
    assert code in (ANOTHER / "slow_oracle" / "backends.py").read_text()
    (entry,) = (each for each in blocks("toml") if "entry-points" in each)
    shown = tomllib.loads(entry)["project"]["entry-points"]["ringsmith.backends"]
    kept = tomllib.loads((ANOTHER / "pyproject.toml").read_text())["project"]["entry-points"]
    assert shown.items() <= kept["ringsmith.backends"].items()


def test_the_table_of_a_backend_has_every_method() -> None:
    table = section("An architecture").partition("| method of `Backend` |")[2].partition("\n\n")[0]
    first = [name for cell in re.findall(r"^\| ([^|]+) \|", table, re.M) for name in code(cell)]
    public = {name for name in vars(Backend) if not name.startswith("_")}
    assert set(first) == public - {"capabilities", "file_record"}
    assert Backend.__abstractmethods__ == {"open"}
    for row, wanted in (("explorer", Explorer), ("exporter", Exporter)):
        (cell,) = re.findall(rf"^\| `{row}` \| (.*) \|$", table, re.M)
        assert wanted.__abstractmethods__ <= set(code(cell))


def code(text: str) -> list[str]:
    """What a text has in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def test_a_device_has_one_method_to_write() -> None:
    assert Device.__abstractmethods__ == {"work"}
    assert "one method: `work`" in section("A device")


def test_the_page_lists_what_a_scheme_answers() -> None:
    answers = section("A scheme").partition("A `Scheme` answers ")[2].partition(". ")[0]
    assert set(code(answers)) == Scheme.__abstractmethods__
