"""The secret key reaches no device, no file of a program and no module of the server.

The dynamic test runs the application with every byte that reaches a device, a program file or the
server recorded, and looks for the key in it; a control plants the key and must find it. The static
test follows imports from the server's modules. A process that loads and runs a program is asked for
the modules that it has.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from ringsmith import _core
from ringsmith.apps.logreg import LogisticRegression
from ringsmith.apps.session import Client, begin
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.client import SecretKey
from ringsmith.graph import to_json
from ringsmith.interop import SealParameters, write_ciphertext
from ringsmith.objects import Ciphertext
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.schemes import trace

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "ringsmith"
SERVER = (
    "apps.application",
    "apps.logreg",
    "apps.gmdh",
    "apps.cnn",
    "apps.lookup",
    "apps.cifar",
    "apps.mnist",
    "runtime",
    "backends.rpau.device.model",
    "backends.rpau.device.rtl",
    "lower",
    "interop",
)
FORBIDDEN = ("client", "_core.secret")
CLIENT_METHODS = "program.kit"
"""The one module that imports the client inside functions: those that only a client calls."""


class Search:
    """Looks for parts of a secret in byte strings.

    A part is a window of ``words`` 8-byte words that starts at any byte of the secret. A haystack
    is looked at in windows at every multiple of 8 bytes, so a copy of the secret shows at any
    alignment once it is one word longer than a window. Windows of one repeated byte (zeros) are no
    evidence.
    """

    def __init__(self, secret: bytes, words: int) -> None:
        self._secret = secret
        self._words = words
        random = np.random.default_rng(1)
        self._factors = random.integers(1, 1 << 63, words, dtype=np.uint64) * 2 + 1
        self._digests = np.unique(np.concatenate([self._digest(secret[k:]) for k in range(8)]))
        # Most digests of a haystack are ruled out by their first 24 bits, before any sorting out.
        self._possible = np.zeros(1 << 24, dtype=np.bool_)
        self._possible[self._digests >> np.uint64(40)] = True

    def found_in(self, haystack: bytes) -> bool:
        """Whether a part of the secret is in the haystack."""
        digests = self._digest(haystack)
        likely = np.flatnonzero(self._possible[digests >> np.uint64(40)])
        places = np.searchsorted(self._digests, digests[likely]) % len(self._digests)
        for hit in likely[self._digests[places] == digests[likely]]:
            window = haystack[8 * hit : 8 * (hit + self._words)]
            if len(set(window)) > 1 and window in self._secret:
                return True
        return False

    def _digest(self, data: bytes) -> NDArray[np.uint64]:
        """A word for each window at a multiple of 8 bytes: equal windows, equal words."""
        words = np.frombuffer(data[: len(data) // 8 * 8], dtype=np.uint64)
        count = max(0, len(words) - self._words + 1)
        total = np.zeros(count, dtype=np.uint64)
        for offset, factor in enumerate(self._factors):
            total += words[offset : offset + count] * factor
        return total


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 1003])
@pytest.mark.parametrize("words", [2, 16])
def test_the_search_finds_a_planted_part_at_any_alignment(
    rng: np.random.Generator, offset: int, words: int
) -> None:
    haystack, secret = rng.bytes(4096), rng.bytes(1000)
    search = Search(secret, words)
    assert not search.found_in(haystack)
    part = secret[333 : 333 + 8 * words + 8]
    assert search.found_in(haystack[:offset] + part + haystack[offset:])


def searches(client: Client, parameters: CkksParameters) -> dict[str, Search]:
    """Searches for the client's secret key in the forms that it could leak in."""
    return forms_of(client._secret_key, parameters)


def forms_of(secret_key: SecretKey, parameters: CkksParameters) -> dict[str, Search]:
    """Searches for a secret key in the forms that it could leak in.

    Coefficients are -1, 0 and 1, so a few of them are no evidence; 32 of them are.
    """
    ntt = secret_key.reveal()
    coefficients = np.stack(
        [
            _core.ntt_inverse(limb, q, root)
            for limb, q, root in zip(ntt, parameters.primes, parameters.roots, strict=True)
        ]
    )
    ternary = np.where(coefficients[0] > 1, -1, coefficients[0].astype(np.int64))
    assert set(ternary) == {-1, 0, 1}
    return {
        "NTT form": Search(ntt.tobytes(), 2),
        "residues of coefficients": Search(coefficients.tobytes(), 32),
        "coefficients as bytes": Search(ternary.astype(np.int8).tobytes(), 4),
        "coefficients as words": Search(ternary.tobytes(), 32),
    }


class Recorder(ModelCoprocessor):
    """A model that keeps every byte that it is given."""

    def __init__(self, design: RpauDesign) -> None:
        super().__init__(design)
        self.written: list[bytes] = []

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Keeps the words and writes them."""
        self.written.append(words.tobytes())
        super().write(space, unit, index, words)

    def load_program(self, words: Words) -> None:
        """Keeps the words and loads them."""
        self.written.append(words.tobytes())
        super().load_program(words)


def test_no_part_of_the_secret_key_leaves_the_client() -> None:
    parameters = parameter_set("nano")
    stages = Stages(Console(quiet=True))
    current = begin(stages, LogisticRegression(), "nano")
    recorder = Recorder(load_design("nano"))
    answer = current.answer(stages, RpauDevice(recorder))
    assert answer.equal_bits

    compiled, client = current.server.compiled[0], current.client
    executable, keys = compiled.compiled_graph.executable, client.evaluation_keys
    assert executable is not None
    assert keys.relin is not None
    shape = SealParameters.from_parameters(parameters)
    seen = {
        "device": recorder.written,
        "program files": [to_json(compiled.lowered.graph).encode(), executable.to_json().encode()],
        "plaintexts": [array.tobytes() for array in compiled.lowered.plaintexts.values()],
        "evaluation keys": [key.data.tobytes() for key in (keys.relin, *keys.galois.values())],
        "public key": [client.public_key.data.tobytes()],
        "ciphertexts": [
            write_ciphertext(ciphertext, shape)
            for ciphertext in (*current.inputs[0].values(), *answer.results[0].outputs.values())
        ],
    }
    key_words = sum(len(data) for data in seen["evaluation keys"])
    assert sum(len(data) for data in recorder.written) > key_words // 2  # keys did pass the device
    for form, search in searches(client, parameters).items():
        for place, contents in seen.items():
            assert not any(search.found_in(data) for data in contents), f"{form} in {place}"


def test_every_form_of_the_secret_key_would_be_found() -> None:
    """The control of the test above: a device write with a part of the key in it is noticed."""
    parameters = parameter_set("nano")
    client = begin(Stages(Console(quiet=True)), LogisticRegression()).client
    secret = client._secret_key.reveal()
    found = searches(client, parameters)
    limb = _core.ntt_inverse(secret[4], parameters.primes[4], parameters.roots[4])
    ternary = np.where(limb > 1, -1, limb.astype(np.int64))
    assert found["NTT form"].found_in(bytes(3) + secret[2, 100:103].tobytes() + bytes(69))
    assert found["residues of coefficients"].found_in(limb[500:533].tobytes())
    assert found["coefficients as bytes"].found_in(ternary[501:541].astype(np.int8).tobytes())
    assert found["coefficients as words"].found_in(ternary[7:40].tobytes())


def imported_modules(source: str) -> Iterator[str]:
    """Dotted names below ``ringsmith`` that a source imports or reaches in the compiled core."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr == "secret":
            yield "ringsmith._core.secret"


def file_of(module: str) -> Path | None:
    """The source of a module below ``ringsmith``, None for a name inside one or compiled code."""
    path = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def reached_from(start: str) -> set[str]:
    """Names below ``ringsmith`` that a module imports at any depth, its packages included."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for module in (".".join(parts[:length]) for length in range(len(parts) + 1)):
            if module in reached:
                continue
            reached.add(module)
            if module == CLIENT_METHODS:
                continue
            path = file_of(module)
            names = imported_modules(path.read_text()) if path else ()
            waiting += [n.removeprefix("ringsmith.") for n in names if n.startswith("ringsmith.")]
    return reached


@pytest.mark.parametrize("module", SERVER)
def test_no_import_leads_from_the_server_to_the_secret_key(module: str) -> None:
    assert file_of(module), f"{module} does not exist"
    assert not reached_from(module) & set(FORBIDDEN)


def test_the_import_search_sees_what_the_client_reaches() -> None:
    assert set(FORBIDDEN) <= reached_from("apps.session")
    assert set(FORBIDDEN) <= reached_from("apps.gmdh.steps")


SERVER = """
import sys
from pathlib import Path
import numpy as np
import ringsmith
from ringsmith import Program, compile_program, open_device
from ringsmith.objects import Ciphertext, EvaluationKeys, KeySwitchKey

folder = Path(sys.argv[1])
program = Program.load(folder / "square.rsp")
keys = EvaluationKeys(relin=KeySwitchKey(np.load(folder / "relin.npy")))
x = Ciphertext(np.load(folder / "x.npy"), program.inputs["x"].scale)
result = compile_program(program).run(open_device("cpu"), {"x": x}, keys)
np.save(folder / "result.npy", result.outputs["result"].data)
print(program.explain(), program.evaluate({"x": [2]})["result"][0])
print("secret" in vars(ringsmith._core))
print([name for name in ("ringsmith.client", "ringsmith._core.secret") if name in sys.modules])
if "control" in sys.argv:
    program.generate_keys()
    print([name for name in ("ringsmith.client", "ringsmith._core.secret") if name in sys.modules])
"""


def test_a_process_that_loads_and_runs_a_program_has_no_code_for_secret_keys(
    tmp_path: Path,
) -> None:
    parameters = CkksParameters.create(
        n=2048, prime_bits=(30, 20), special_bits=30, scale_bits=20, security=None
    )
    program = trace(lambda x: x * x, parameters, {"x": 4}, headroom_bits=2)
    program.save(tmp_path / "square.rsp")
    secret_key, public_key, keys = program.generate_keys()
    assert keys.relin is not None
    np.save(tmp_path / "relin.npy", keys.relin.data)
    np.save(tmp_path / "x.npy", program.encrypt(public_key, {"x": [1, 2, 3, -4]})["x"].data)
    command = [sys.executable, "-W", "ignore", "-c", SERVER, str(tmp_path), "control"]
    child = subprocess.run(command, capture_output=True, text=True, check=True)
    *_, reached, modules, control = child.stdout.splitlines()
    assert (reached, modules) == ("False", "[]")
    assert control == "['ringsmith.client', 'ringsmith._core.secret']"  # the test could fail
    output = Ciphertext(np.load(tmp_path / "result.npy"), program.outputs["result"].scale)
    found = program.decrypt(secret_key, {"result": output})["result"]
    assert np.abs(found - [1, 4, 9, 16]).max() < 0.05
