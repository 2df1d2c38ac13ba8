"""Files of every version of programs, client kits and compiled programs load for ever.

``tests/corpus`` keeps them; none is ever written again. A new version of a format adds a file:
``python tests/program/test_program_corpus.py`` writes those of today's versions that are missing.
"""

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ringsmith import BfvParameters, CkksParameters, Compiled, Program, compile_program, trace
from ringsmith.files.budget import Budget
from ringsmith.files.container import unpack
from ringsmith.files.records import Encoder
from ringsmith.graph import to_json
from ringsmith.program import ClientKit, inner_product
from ringsmith.runtime import compiled_file
from ringsmith.schemes.program_file import VARIANTS, VERSIONS

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
DIGESTS = {
    "program-1-ckks.rsp": "17ed5fb7f3a75956d8e2b1f5d3d1137b",
    "program-1-bfv.rsp": "bdbff931e36df7426248e9d9ac8b9aaf",
    "client-kit-1.rsk": "116472aaa6769bde41d53b5f62dded87",
    "compiled-1-cpu.rsc": "e2c87c96cba4617c5257173d825d754b",
}

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


def ckks() -> Program:
    parameters = CkksParameters.create(
        n=1024, prime_bits=(36, 26, 26), special_bits=37, scale_bits=26, security=None
    )
    values = [0.1, -0.0, 5e-324, 1 / 3]
    return trace(
        lambda x, y: {"a": inner_product(x * y, [1.25, -2j], 4), "b": (x + values).rotate(-1)},
        parameters,
        {"x": 4, "y": None},
        outputs={"a": 1},
    )


def bfv() -> Program:
    parameters = BfvParameters.create(
        n=1024,
        prime_bits=(36, 36),
        plain_bits=14,
        multiplication="hps",
        relinearization="word",
        word_bits=27,
        declared_security=80,
        name="words",
    )
    return trace(lambda x: (x * x - np.arange(4)).swap_columns(), parameters, {"x": 4})


WRITERS: dict[str, Callable[[Path], None]] = {
    "program-1-ckks.rsp": lambda path: ckks().save(path),
    "program-1-bfv.rsp": lambda path: bfv().save(path),
    "client-kit-1.rsk": lambda path: ckks().client_kit().save(path),
    "compiled-1-cpu.rsc": lambda path: compile_program(bfv()).save(path),
}


def digest(found: Program | ClientKit | Compiled) -> str:
    """Everything that a file made, in few digits."""
    arrays: list[np.ndarray] = []
    program = found.lowered.program if isinstance(found, Compiled) else found
    kind = ClientKit if isinstance(program, ClientKit) else Program
    content = Encoder(VARIANTS, arrays=arrays).encode(program, kind)
    if isinstance(found, Compiled):
        content = [content, to_json(found.lowered.graph)]
        arrays += found.lowered.plaintexts.values()
    state = hashlib.blake2b(json.dumps(content).encode(), digest_size=16)
    for array in arrays:
        state.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return state.hexdigest()


def load(path: Path) -> Program | ClientKit | Compiled:
    return Compiled.load(path) if path.suffix == ".rsc" else Program.load(path)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_kept_file_loads_as_what_it_was_written_from(name: str) -> None:
    assert digest(load(CORPUS / name)) == DIGESTS[name]


def test_every_version_of_every_format_is_kept() -> None:
    formats = {**VERSIONS, compiled_file.FORMAT: compiled_file.VERSION}
    wanted = {
        (name, version) for name, newest in formats.items() for version in range(1, newest + 1)
    }
    found = set()
    for name in DIGESTS:
        container = unpack(
            (CORPUS / name).read_bytes(), name, formats, Budget(1 << 24), "a kept file"
        )
        found.add((container.format, container.version))
    assert found == wanted


def test_a_file_of_today_holds_what_the_kept_one_does() -> None:
    """Not its bytes, which the compressor may change."""
    assert digest(ckks().client_kit()) == DIGESTS["client-kit-1.rsk"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, write in WRITERS.items():
        if not (CORPUS / name).exists():
            write(CORPUS / name)
        print(f'    "{name}": "{digest(load(CORPUS / name))}",')
