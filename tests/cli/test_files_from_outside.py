"""Every option that names a file to read: a pipe, a device, a huge file, a folder, nothing."""

import os
import resource
import signal
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from tests.cli.test_command_files import WRITERS
from typer.testing import CliRunner

from ringsmith.cli.main import app

runner = CliRunner()

PARAMETERS, PUBLIC = "evaluation/parameters.seal", "public_key.seal"
RELIN, GALOIS = "evaluation/relin_keys.seal", "evaluation/galois_keys.seal"
_ROTATE = ["seal", "eval", "rotate", "x.seal", "--steps", "1", "--galois-keys"]

_FLOWER = Path(__file__).parents[1] / "images" / "flower-32.png"

READERS = {
    "trace program": ["trace", "@"],
    "waves program": ["waves", "out", "@", "--cycles", "0:1"],
    "keys params": ["keys", "out", "--params", "@"],
    "encrypt values": ["encrypt", "@", "--params", PARAMETERS, "--public-key", PUBLIC, "-o", "out"],
    "encrypt params": ["encrypt", "v.txt", "--params", "@", "--public-key", PUBLIC, "-o", "out"],
    "encrypt public_key": [
        *("encrypt", "v.txt", "--params", PARAMETERS, "--public-key", "@", "-o", "out")
    ],
    "decrypt file": ["decrypt", "@", "--params", PARAMETERS, "--secret-key", "secret_key.seal"],
    "decrypt params": ["decrypt", "x.seal", "--params", "@", "--secret-key", "secret_key.seal"],
    "decrypt secret_key": ["decrypt", "x.seal", "--params", PARAMETERS, "--secret-key", "@"],
    "seal info file": ["seal", "info", "@"],
    "seal info params": ["seal", "info", "x.seal", "--params", "@"],
    "seal eval first": ["seal", "eval", "square", "@", "--params", PARAMETERS, "-o", "out"],
    "seal eval second": [
        *("seal", "eval", "add", "x.seal", "@", "--params", PARAMETERS, "-o", "out")
    ],
    "seal eval params": ["seal", "eval", "square", "x.seal", "--params", "@", "-o", "out"],
    "seal eval relin_keys": [
        *("seal", "eval", "relinearize", "x.seal", "--relin-keys", "@"),
        *("--params", PARAMETERS, "-o", "out"),
    ],
    "seal eval galois_keys": [*_ROTATE, "@", "--params", PARAMETERS, "-o", "out"],
    "seal eval key_seeds": [
        *(*_ROTATE, GALOIS, "--key-seeds", "@", "--params", PARAMETERS, "-o", "out")
    ],
    "generate manifest": ["generate", "--from", "@", "-o", "out"],
    "bench keep": ["bench", "nano", "--keep", "@"],
    "explore program": ["explore", "--program", "@", "--platform", "u280"],
    "generate program": ["generate", "nano", "-o", "out", "--no-verilog", "--program", "@"],
    "import heir file": ["import", "heir", "@", "-o", "out"],
    "import onnx file": ["import", "onnx", "@", "-o", "out"],
    "import onnx labels": ["import", "onnx", "x.onnx", "-o", "out", "--labels", "@"],
    "run-program program": ["run-program", "@", "--output-dir", "out"],
    "remote kit token_file": [
        *("remote", "kit", "http://127.0.0.1:9", "x", "-o", "out", "--token-file", "@")
    ],
    "remote programs token_file": ["remote", "programs", "http://127.0.0.1:9", "--token-file", "@"],
    "remote run token_file": [
        *("remote", "run", "http://127.0.0.1:9", "x", "--output-dir", "out", "--token-file", "@")
    ],
    "serve tls_certificate": [
        *("serve", "x.rsp", "--data", "served", "--tls-certificate", "@", "--tls-key", "x.seal")
    ],
    "serve tls_key": [
        *("serve", "x.rsp", "--data", "served", "--tls-certificate", "x.seal", "--tls-key", "@")
    ],
    "serve programs": ["serve", "@", "--data", "served"],
    "serve limits": ["serve", "x.rsp", "--data", "served", "--limits", "@"],
    "run mnist image": ["run", "mnist", "--image", "@"],
    "run cifar10 image": ["run", "cifar10", "--image", "@"],
    "run cifar10 data": ["run", "cifar10", "--data", "@", "--index", "1"],
    "run cifar10 weights": ["run", "cifar10", "--image", str(_FLOWER), "--weights", "@"],
}
"""Every option or argument that names a file to read, as the parameter of its command is called."""

OTHER_WRITERS = {  # and a folder that is read, whose manifest has tests of its own
    "bitstream folder",
    "generate folder",
    "synth folder",
    "keys folder",
    "encrypt output",
    "decrypt output",
    "seal eval output",
    "explore record",
    "verify record",
    "import heir output",
    "import onnx output",
    "run-program output_dir",
    "remote kit output",
    "remote run keys",
    "remote run output_dir",
    "card socket",
    "serve data",
    "token add data",
    "token list data",
    "token remove data",
    "run mnist output",
    "run mnist data",
    "run mnist record",
    "run cifar10 output",
}
_SECONDS, _BYTES = 60, 2 << 30


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client's folder, with a text of numbers, and a ciphertext of them."""
    folder = tmp_path_factory.mktemp("client") / "keys"
    words = ["keys", str(folder), "--set", "nano", "--rotate", "1"]
    assert runner.invoke(app, words).exit_code == 0
    (folder / "v.txt").write_text("1\n2\n")
    words = ["encrypt", f"{folder}/v.txt", "--params", f"{folder}/{PARAMETERS}"]
    words += ["--public-key", f"{folder}/{PUBLIC}", "-o", f"{folder}/x.seal"]
    assert runner.invoke(app, words).exit_code == 0
    return folder


@pytest.fixture
def guarded() -> Iterator[None]:
    """Ends a command that hangs, and one that reads without limit."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + _BYTES

    def hangs(*_: object) -> None:
        raise AssertionError("the command hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
    signal.alarm(_SECONDS)
    yield
    signal.alarm(0)
    resource.setrlimit(resource.RLIMIT_AS, limits)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("kind", ["fifo", "device", "sparse", "folder", "absent"])
@pytest.mark.parametrize("option", READERS)
def test_a_file_from_outside_is_read_with_a_limit(
    option: str, kind: str, tmp_path: Path, client: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "file"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(20 << 30)
    elif kind == "folder":
        path.mkdir()
    monkeypatch.chdir(client)
    out = str(tmp_path / "out")
    names = {"@": str(path), "out": out}
    done = runner.invoke(app, [names.get(word, word) for word in READERS[option]])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert f"ringsmith: {path}: " in done.stderr
    assert not Path(out).exists()


def test_every_option_that_names_a_file_is_in_these_tests() -> None:
    written = {command.replace("--", "").replace("-", "_") for command in WRITERS}
    assert set(_paths(app)) == READERS.keys() | written | OTHER_WRITERS


def _paths(commands: typer.Typer, prefix: str = "") -> Iterator[str]:
    """The parameters of all commands that are paths, each behind its command's name."""
    for command in commands.registered_commands:
        assert command.callback is not None
        name = prefix + (command.name or command.callback.__name__)
        for parameter, hint in typing.get_type_hints(command.callback).items():
            if Path in (hint, *typing.get_args(hint)):
                yield f"{name} {parameter}"
    for group in commands.registered_groups:
        assert group.typer_instance is not None
        yield from _paths(group.typer_instance, f"{prefix}{group.name} ")
