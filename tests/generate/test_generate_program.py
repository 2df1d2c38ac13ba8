"""``ringsmith generate --program``: folders whose testbench runs one's own program."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.generate.test_generate import RPAU, STREAM, VECTOR, files, made_test, refused, run, tools

import ringsmith
from ringsmith import (
    BfvParameters,
    CkksParameters,
    InputSpec,
    Program,
    bounded,
    inner_product,
    matvec,
    trace,
)
from ringsmith.backends.registry import named_design
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.generate import generate_design

__all__ = ["tools"]  # the fixture


def ckks(*bits: int) -> CkksParameters:
    return CkksParameters.create(
        n=1024, prime_bits=bits, special_bits=bits[0] + 1, scale_bits=bits[-1], security=None
    )


def score(x: ringsmith.EncryptedVector, y: ringsmith.EncryptedVector) -> object:
    """Weights, a product, a rotation, a constant."""
    return {"score": inner_product(x, [0.5, -1, 2, 0.25], 4) * y + 0.25}


def whole(x: ringsmith.EncryptedVector, y: ringsmith.EncryptedVector) -> object:
    return 3 * x - y.rotate(1) + 2


BFV = BfvParameters.create(
    n=1024, prime_bits=(38, 38), special_bits=39, plain_bits=14, security=None
)
CASES: dict[str, tuple[str, Program]] = {
    "rpau": (RPAU, trace(lambda x, y: {"d": x - y, "p": x * 0.5}, ckks(38, 30), {"x": 4, "y": 4})),
    "vector": (VECTOR, trace(score, ckks(31, 24, 24), {"x": 4, "y": 1})),
    "stream": (
        STREAM,
        trace(lambda x, y: x * y, ckks(29, 22), {"x": InputSpec(4, bound=(0, 0.5)), "y": 4}),
    ),
    "rpau BFV": (RPAU, trace(lambda x, y: 3 * x - y + 2, BFV, {"x": 5, "y": 5})),
}


@pytest.fixture(scope="module", params=CASES)
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a program on a small design."""
    text, program = CASES[request.param]
    work = tmp_path_factory.mktemp("own")
    (work / "design.toml").write_text(text)
    program.save(work / "mine.rsp")
    run(
        *("generate", work / "design.toml", "-o", work / "made"),
        *("--program", work / "mine.rsp", "--no-verilog"),
    )
    assert (work / "made" / "program.rsp").read_bytes() == (work / "mine.rsp").read_bytes()
    return work / "made"


def test_the_folder_says_what_it_runs_and_is_made_again_byte_for_byte(
    own: Path, tmp_path: Path
) -> None:
    manifest = json.loads((own / "manifest.json").read_text())
    program = Program.load(own / "program.rsp")
    assert isinstance(program, Program)
    assert manifest["operation"]["n"] == program.parameters.n == 1024
    assert manifest["operation"]["primes"] == list(program.parameters.primes)
    assert manifest["recipe"]["program"] == "program.rsp"
    readme = (own / "README.md").read_text()
    assert "program _lambda_" in readme or "program score" in readme
    assert "the encrypted program itself" in readme
    run("generate", "--from", own / "manifest.json", "-o", tmp_path / "again")
    assert files(tmp_path / "again") == files(own)


def test_first_results_are_the_program_s_in_the_clear(own: Path) -> None:
    told = json.loads((own / "manifest.json").read_text())["operation"]
    program = Program.load(own / "program.rsp")
    assert isinstance(program, Program)
    given = {
        name: values[: program.lengths[name]] for name, values in told["first_messages"].items()
    }
    for name, values in program.evaluate(given).items():
        few = told["first_result"][name]
        if max(program.lengths.values()) <= 4:  # all numbers of the messages are told
            assert values[: len(few)] == pytest.approx(few, abs=1e-3)


@pytest.mark.full
def test_the_testbench_passes_and_fails_where_a_word_is_wrong(
    own: Path, tmp_path: Path, tools: dict[str, str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(own, folder)
    assert "PASS" in made_test(folder, tools).stdout
    expected = next((folder / "program").glob("expected.hex"))
    lines = expected.read_text().splitlines()
    lines[3] = f"{int(lines[3], 16) ^ 1:0{len(lines[3])}x}"
    expected.write_text("\n".join(lines) + "\n")
    broken = made_test(folder, tools)
    assert broken.returncode != 0
    assert "FAIL: 1 errors" in broken.stdout


def test_the_testbench_of_a_program_passes(tmp_path: Path, tools: dict[str, str]) -> None:
    text, program = CASES["rpau"]
    (tmp_path / "design.toml").write_text(text)
    made = generate_design(tmp_path / "design.toml", tmp_path / "f", program=program, verilog=False)
    assert "PASS" in made_test(made.folder, tools).stdout


def test_without_a_design_the_smallest_that_runs_the_program_is_written(tmp_path: Path) -> None:
    program = trace(lambda x: x + x, ckks(38, 30), {"x": 4})
    made = generate_design(None, tmp_path / "made", program=program, verilog=False)
    manifest = json.loads((made.folder / "manifest.json").read_text())
    design = named_design(str(made.folder / "design.toml"))
    assert manifest["design"] == design.name
    again = generate_design(design, tmp_path / "again", program=program, verilog=False)
    assert files(again.folder) == files(made.folder)


def test_rows_are_what_the_manifest_estimates(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(RPAU)
    made = generate_design(tmp_path / "design.toml", tmp_path / "made", verilog=False)
    manifest = json.loads((made.folder / "manifest.json").read_text())
    found = {row["resource"]: row["estimate"] for row in made.rows()}
    family = manifest["estimate"].pop("family")
    assert found == manifest["estimate"]
    assert {(row["design"], row["architecture"], row["family"]) for row in made.rows()} == {
        ("tiny", "rpau", family)
    }
    assert made.details() == manifest["operation"]
    assert made.details()["name"] == "multiply_relinearize"


def test_messages_keep_the_promises_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(RPAU)
    near = trace(lambda x: bounded(x, 0.25) + 1, ckks(38, 30), {"x": 4})
    made = generate_design(tmp_path / "design.toml", tmp_path / "a", program=near, verilog=False)
    assert max(map(abs, made.details()["first_messages"]["x"])) <= 0.25
    far = trace(lambda x: bounded(2 * x, (1, 2)) + 1, ckks(38, 30), {"x": None})
    with pytest.raises(ProgramError, match=r"declare the inputs' ranges: .*test_generate_program"):
        generate_design(tmp_path / "design.toml", tmp_path / "b", program=far, verilog=False)
    assert not (tmp_path / "b").exists()
    said = trace(
        lambda x: bounded(2 * x, (3, 4)) + 1, ckks(38, 30), {"x": InputSpec(bound=(1.5, 2))}
    )
    made = generate_design(tmp_path / "design.toml", tmp_path / "c", program=said, verilog=False)
    assert min(made.details()["first_messages"]["x"]) >= 1.5


def test_a_program_s_name_cannot_reach_the_testbench(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(RPAU)
    name = 'a"); $system("touch broken"); //`include <b>'
    program = replace(CASES["rpau"][1], name=name)
    made = generate_design(tmp_path / "design.toml", tmp_path / "m", program=program, verilog=False)
    for path in ("README.md", "Makefile", *(str(each) for each in (made.folder / "tb").iterdir())):
        assert "$system" not in (made.folder / path).read_text()
        assert "<b>" not in (made.folder / path).read_text()


def test_what_cannot_be_generated_is_refused(own: Path, tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(RPAU)
    design = tmp_path / "design.toml"
    program = trace(matvec_of_eight, "nano", {"x": 8})
    program.save(tmp_path / "large.rsp")
    out = ("-o", tmp_path / "out", "--no-verilog")
    told = refused("generate", design, *out, "--program", tmp_path / "large.rsp")
    assert "test_generate_program.py" in told
    assert "have N = 8192" in told or "8192" in told
    program.client_kit().save(tmp_path / "kit.rsk")
    assert "a client's kit has no operations" in refused(
        "generate", design, *out, "--program", tmp_path / "kit.rsk"
    )
    assert "leave one of both out" in refused(
        *("generate", design, *out, "--program", tmp_path / "large.rsp"), "--operation", "add"
    )
    assert "name a design, a program" in refused("generate", *out)
    assert "leave --operation, --program" in refused(
        *("generate", "--from", own / "manifest.json", "-o", tmp_path / "out"),
        *("--program", own / "program.rsp"),
    )
    assert not (tmp_path / "out").exists()
    with pytest.raises(ParameterError, match="name a design, or a program"):
        generate_design(None, tmp_path / "out")
    with pytest.raises(InteropError, match=r"none\.rsp"):
        generate_design("nano", tmp_path / "out", program=tmp_path / "none.rsp", verilog=False)


def matvec_of_eight(x: ringsmith.EncryptedVector) -> ringsmith.EncryptedVector:
    return matvec([[1.0] * 8] * 8, x)


def test_a_changed_program_of_a_manifest_is_refused(own: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(own, folder)
    other = trace(lambda x: x + 1, ckks(38, 30), {"x": 2})
    other.save(folder / "program.rsp", overwrite=True)
    assert "was changed since" in refused(
        "generate", "--from", folder / "manifest.json", "-o", tmp_path / "again"
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["recipe"]["program"] = "../../secret"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "its program is not program.rsp" in refused(
        "generate", "--from", folder / "manifest.json", "-o", tmp_path / "again"
    )


def test_the_page_s_block_runs_as_it_is(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide/generate.md").read_text()
    block = page.partition("## From Python")[2].partition("```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "dsps" in done.stdout
