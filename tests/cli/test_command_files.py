"""Files of every command: none is replaced unasked, none that is a key, none read without limit."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith import cli
from ringsmith.cli.main import app
from ringsmith.cli.terminal import run, use_plain_characters
from ringsmith.errors import InteropError
from ringsmith.files import Target, check_targets, new_folder, read_bounded

runner = CliRunner()

EXPLORED = ("--params", "nano", "--ops", "rotate", "--platform", "u280")


WRITERS = {
    "trace --html": ["trace", "--operation", "rotate", "--html"],
    "trace --svg": ["trace", "--operation", "rotate", "--svg"],
    "trace --perfetto": ["trace", "--operation", "rotate", "--perfetto"],
    "trace --save": ["trace", "--operation", "rotate", "--save"],
    "waves output": ["waves", "--operation", "rotate", "--cycles", "0:1"],
    "designs --table": ["designs", "--table"],
    "coverage --report": ["coverage", "--report"],
    "bench --json": ["bench", "nano", "--json"],
    "bench --page": ["bench", "nano", "--page"],
    "explore --json": ["explore", *EXPLORED, "--json"],
    "explore --page": ["explore", *EXPLORED, "--page"],
    "explore --save-design": ["explore", *EXPLORED, "--save-design"],
    "explore --report": ["explore", *EXPLORED, "--report"],
    "timing --json": ["timing", "nano", "--json"],
    "timing --page": ["timing", "nano", "--page"],
    "synth --json": ["synth", "a-folder", "--json"],
    "verify --json": ["verify", "nano", "--json"],
    "verilog --output": ["verilog", "nano", "--output"],
    "demo --output": ["demo", "--output"],
    "run logreg --output": ["run", "logreg", "--output"],
    "run gmdh --output": ["run", "gmdh", "--output"],
    "run cnn --output": ["run", "cnn", "--output"],
    "run lookup --output": ["run", "lookup", "--output"],
}
"""Every option that names a file to write, but those of ``keys``, ``encrypt``, ``decrypt`` and
``seal eval``, which have tests of their own."""

_KEYS = {
    "SEAL's": b"\x5e\xa1\x10\x04\x04\x00\x00\x00",
    "a container": b"\x89RSMITH\n",
    "seeds": b'{"format": "ringsmith-key-seeds", "version": 1}',
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of keys, as ``ringsmith keys`` makes it."""
    folder = tmp_path_factory.mktemp("client") / "keys"
    assert runner.invoke(app, ["keys", str(folder), "--set", "nano"]).exit_code == 0
    return folder


@pytest.mark.parametrize("command", WRITERS)
def test_no_command_replaces_a_file_unasked_or_a_key_at_all(command: str, client: Path) -> None:
    words = WRITERS[command]
    key = client / "secret_key.seal"
    before = key.read_bytes()
    done = runner.invoke(app, [*words, str(key)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "exists and is not overwritten: choose another name, or give --force" in done.stderr
    done = runner.invoke(app, [*words, str(key), "--force"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "not even with --force: it may be a key" in done.stderr
    assert key.read_bytes() == before


def test_force_replaces_a_report(tmp_path: Path) -> None:
    page = tmp_path / "page.svg"
    page.write_text("an older picture")
    done = runner.invoke(app, ["trace", "--operation", "rotate", "--svg", str(page), "--force"])
    assert done.exit_code == 0
    assert page.read_text().startswith("<svg")


def test_waves_that_fail_keep_an_older_file_and_leave_nothing(tmp_path: Path) -> None:
    waves = tmp_path / "waves.vcd"
    waves.write_text("older waves")
    late = ["--operation", "rotate", "--cycles", "99999999:99999999"]
    done = runner.invoke(app, ["waves", str(waves), *late, "--force"])
    assert (done.exit_code, "name an earlier one" in done.stderr) == (2, True)
    assert waves.read_text() == "older waves"
    assert list(tmp_path.iterdir()) == [waves]


def test_a_file_that_needs_a_name_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def fail() -> None:
        with Target(path).whole() as work:
            work.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with Target(path).whole() as work:
        work.write_text("whole")
        assert not path.exists()
    assert (path.read_text(), list(tmp_path.iterdir())) == ("whole", [path])
    with pytest.raises(InteropError, match="exists and is not overwritten"), Target(path).whole():
        pass
    assert (path.read_text(), list(tmp_path.iterdir())) == ("whole", [path])


@pytest.mark.parametrize("kind", _KEYS)
def test_what_may_be_a_key_is_never_replaced(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(_KEYS[kind])
    with pytest.raises(InteropError, match="may be a key"):
        Target(path, force=True).check()


def test_two_results_cannot_go_to_one_file(tmp_path: Path) -> None:
    with pytest.raises(InteropError, match="two results cannot go to one file"):
        check_targets(Target(tmp_path / "a"), None, Target(tmp_path / "." / "a"))


def test_kept_records_may_be_written_again_and_no_page_over_them(tmp_path: Path) -> None:
    kept = tmp_path / "records.json"
    kept.write_text("[]")
    options = ["bench", "rpm", "--keep", str(kept), "--force", "--page", str(kept)]
    done = runner.invoke(app, options)
    assert "is read for this and not overwritten" in done.stderr
    assert kept.read_text() == "[]"


@pytest.mark.parametrize("kind", ["fifo", "device", "sparse"])
def test_a_process_refuses_what_has_no_end(kind: str, tmp_path: Path) -> None:
    """A child with little memory, which a hang or a read without limit would not survive."""
    path = Path("/dev/zero") if kind == "device" else tmp_path / "file"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(20 << 30)
    words = [sys.executable, "-c", _CHILD, "trace", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(path) in done.stderr


_CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
sys.argv[0] = "ringsmith"
from ringsmith.cli.main import main
main()
"""


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert read_bounded(path, 100) == bytes(100)
    with pytest.raises(InteropError, match="more than 99 bytes"):
        read_bounded(path, 99)


def test_a_new_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "keys"

    def fail() -> None:
        with new_folder(folder, 0o700) as work:
            (work / "half").write_text("")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with new_folder(folder, 0o700) as work:
        (work / "whole").write_text("")
        assert not folder.exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["whole"]
    with pytest.raises(InteropError, match="exists and is not overwritten"), new_folder(folder):
        pass


def test_keys_that_were_killed_do_not_block_the_next_try(tmp_path: Path) -> None:
    words = ["keys", "keys", "--set", "nano"]
    killed = "import ringsmith.client.bundle as b, os, signal\n"
    killed += "b.write_bundle = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    child = [sys.executable, "-c", killed + _CHILD, *words]
    assert subprocess.run(child, cwd=tmp_path, timeout=60).returncode == -9
    assert not (tmp_path / "keys").exists()
    done = subprocess.run([sys.executable, "-c", _CHILD, *words], cwd=tmp_path, timeout=60)
    assert done.returncode == 0
    assert (tmp_path / "keys" / "evaluation").is_dir()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("words", [["doctor"], ["trace", "--operation", "rotate"]])
def test_a_terminal_without_utf8_gets_plain_characters(encoding: str, words: list[str]) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *words], capture_output=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode(encoding)
    assert all(mark not in done.stdout for mark in (b"\\u", b"?"))


def test_every_character_of_the_sources_has_a_plain_form() -> None:
    sources = [
        path.read_text(encoding="utf-8") for path in Path(cli.__file__).parents[1].rglob("*.py")
    ]
    marks = {character for text in sources for character in text if not character.isascii()}
    assert marks >= set("…–×→≠")
    use_plain_characters()
    plain = {mark: mark.encode("ascii", "plain").decode() for mark in marks | set("┏━│┼▎█²")}
    assert [mark for mark, text in plain.items() if "?" in text] == []
    assert [plain[mark] for mark in "≠±┏━│┼▎█²"] == ["!=", "+/-", "+", "-", "|", "+", "#", "#", "2"]


def test_memory_too_small_for_a_library_is_named() -> None:
    """60 MiB are enough for the command line, and too few for numpy."""
    child = _CHILD.replace("3 << 30", "60 << 20")
    words = [sys.executable, "-c", child, "trace", "--operation", "rotate"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert re.fullmatch(
        r"ringsmith: not enough memory.*: this process may use 60 MiB \(ulimit -v\): raise that "
        r"limit\n",
        done.stderr,
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory: use smaller parameters"),
        (MemoryError("std::bad_alloc"), "not enough memory: std::bad_alloc: use smaller"),
        (
            ImportError("libz.so: failed to map segment from shared object"),
            "not enough memory: a library could not be loaded: use smaller parameters",
        ),
    ],
)
def test_a_command_that_runs_out_of_memory_says_so(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("ringsmith.cli.doctor.examine", fail)
    done = runner.invoke(app, ["doctor"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"ringsmith: {said}")


def test_memory_too_small_for_the_command_line_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ImportError("libgcc_s.so.1: failed to map segment from shared object")

    with pytest.raises(SystemExit, match="2"):
        run(fail)
    assert capsys.readouterr().err.startswith("ringsmith: not enough memory: a library could not")


def test_a_library_that_is_missing_is_not_called_too_little_memory() -> None:
    def fail() -> None:
        raise ImportError("no module of that name")

    with pytest.raises(ImportError, match="no module of that name"):
        run(fail)
