"""Random programs on handles, with shared rotations and truncated keys: the same bits everywhere.

Two programs run one after the other: the first keeps the level of its inputs, the second does not.
The interpreter, the models and the RTL take what stays on the device; the plain integers of
``tests/another_package`` take ciphertexts.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import Program, _core, compile_program, open_device, trace
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.client import generate_keys
from ringsmith.objects import Ciphertext, EvaluationKeys, keys_by_field, keys_by_name
from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.runtime import Device, Handle

ORACLE = Path(__file__).parents[1] / "another_package"
N, SLOTS, LIMBS = 1 << 10, 1 << 9, 3
VECTOR = VectorDesign("small-array", 10, 4, 2, 30, bank_rows=1024, table_rows=512, stream_rows=512)
RPAU = replace(
    load_design("heaws6"), name="small-units", log_n=10, work_uram_polys=0, key_ram="block"
)
HIGH, LOW = (1, 2, 3, -1), (4, 5, 7, 9)
"""Rotations at the level of the inputs, and those below it, whose keys are truncated."""

Values = Mapping[str, Ciphertext]
Pair = tuple[Any, np.ndarray]
"""A value of a program, and an example of its numbers."""


class Writer:
    """Writes a random program while it is traced; a seed always writes the same one.

    The last value depends on all inputs.
    """

    def __init__(self, seed: int, *values: Any) -> None:  # noqa: ANN401
        self._random = np.random.default_rng(seed)
        self._values: list[Pair] = [(each, self._random.uniform(1, 2, SLOTS)) for each in values]
        (a, b), (c, d) = self._values
        self._values.append((a + c, b + d))

    def _any(self) -> Pair:
        return self._values[self._random.integers(len(self._values))]

    def _other(self, pair: Pair) -> Pair:
        """A value with other numbers: their difference hides the message."""
        found = [each for each in self._values if not np.allclose(each[1], pair[1])]
        return found[self._random.integers(len(found))]

    def rotations(self, steps: Sequence[int]) -> None:
        """Rotates one value by several steps, and adds the results to the last value."""
        value, numbers = self._any()
        chosen = self._random.choice(steps, self._random.integers(2, 4), replace=False)
        moved = [(value.rotate(int(step)), np.roll(numbers, -step)) for step in chosen]
        total, more = self._values[-1]
        for each in moved:
            total, more = total + each[0], more + each[1]
        self._values += [moved[-1], (total, more)]

    def sums(self) -> None:
        """Adds a value to the last one, or subtracts it, or adds numbers."""
        value, numbers = self._values[-1]
        other, more = self._other((value, numbers))
        kind = self._random.integers(3)
        if kind == 0:
            self._values.append((value + other, numbers + more))
        elif kind == 1:
            self._values.append((value - other, numbers - more))
        else:
            constants = self._random.uniform(1, 2, SLOTS)
            self._values.append((value + constants.tolist(), numbers + constants))

    def products(self) -> None:
        """Goes to the level below by products; what is above it is left behind."""
        a, b = self._values[-1], self._any()
        weights = self._random.uniform(1, 2, SLOTS)
        self._values = [
            (b[0] * weights.tolist(), b[1] * weights),
            (a[0] * b[0], a[1] * b[1]),
        ]

    def outputs(self) -> dict[str, Any]:
        """The last values."""
        return {"x": self._values[-1][0], "y": self._other(self._values[-1])[0]}


def level(seed: int) -> Callable[[Any, Any], dict[str, Any]]:
    """A program whose outputs are at the level of its inputs."""

    def written(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401
        writer = Writer(seed, x, y)
        for step in (writer.sums, lambda: writer.rotations(HIGH), writer.sums):
            step()
        return writer.outputs()

    return written


def deep(seed: int) -> Callable[[Any, Any], dict[str, Any]]:
    """A program that multiplies, and rotates above and below."""

    def written(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401
        writer = Writer(seed, x, y)
        writer.rotations(HIGH)
        writer.products()
        writer.rotations(LOW)
        writer.sums()
        return writer.outputs()

    return written


def parameters(special: int) -> CkksParameters:
    """Three limbs, for all designs of this file."""
    primes = _core.prime_search(30, N, LIMBS + special)
    return CkksParameters.from_primes(
        n=N,
        data_primes=primes[:LIMBS],
        special_prime=primes[LIMBS:],
        scale=2.0**28,
        dnum=2 if special > 1 else 0,
        security=None,
    )


@dataclass(frozen=True)
class Case:
    """Two random programs, the keys that each needs, and inputs of the first."""

    programs: tuple[Program, Program]
    keys: tuple[EvaluationKeys, EvaluationKeys]
    inputs: Values

    @classmethod
    def of(cls, seed: int) -> "Case":
        """The case of a seed."""
        of = parameters(1 + seed % 2)
        lengths = {"x": SLOTS, "y": SLOTS}
        first, second = (trace(write(seed), of, lengths) for write in (level, deep))
        every = dict.fromkeys((*first.key_needs.galois, *second.key_needs.galois), LIMBS)
        _, public, full = generate_keys(of, KeyNeeds(LIMBS, every))
        random = np.random.default_rng(seed)
        numbers = {name: random.uniform(1, 2, SLOTS) for name in lengths}
        keys = _cut(full, first), _cut(full, second)
        return cls((first, second), keys, first.encrypt(public, numbers))


def _cut(full: EvaluationKeys, program: Program) -> EvaluationKeys:
    """The keys that a program needs, as small as it needs them."""
    given, shapes = keys_by_name(full), program.key_needs.shapes(program.parameters)
    cut = {name: given[name].truncated(shape) for name, shape in shapes.items()}
    return EvaluationKeys(**keys_by_field(cut))


@pytest.fixture(scope="module")
def oracle() -> Iterator[Device]:
    """A device that runs graphs in plain Python integers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ORACLE)
        yield importlib.import_module("slow_oracle.backends").Oracle()


DEVICES: dict[str, tuple[str, VectorDesign | RpauDesign | None]] = {
    "cpu": ("cpu", None),
    "vector": ("model", VECTOR),
    "vector's RTL": ("rtl", VECTOR),
    "rpau": ("model", RPAU),
}


def on_handles(case: Case, kind: str, design: Any, random: np.random.Generator) -> list[Values]:  # noqa: ANN401
    """The outputs of both programs; between them, all values, or some, stay on the device."""
    device = open_device("cpu") if design is None else open_device(kind, design)
    given: Mapping[str, Ciphertext | Handle] = {
        name: device.put(each) if random.integers(2) else each for name, each in case.inputs.items()
    }
    found: list[Values] = []
    for program, keys in zip(case.programs, case.keys, strict=True):
        keep = (True, ["x"], ["y"])[random.integers(3)]
        lying = device.put(keys) if random.integers(2) else keys
        result = compile_program(program, design).run(device, given, lying, keep=keep)
        assert result.kept.keys() == ({"x", "y"} if keep is True else {*keep})
        given = {**result.outputs, **result.kept}
        found.append({n: e.read() if isinstance(e, Handle) else e for n, e in given.items()})
    return found


def in_integers(case: Case, oracle: Device) -> list[Values]:
    """The outputs of both programs, by plain integers."""
    found, given = [], case.inputs
    for program, keys in zip(case.programs, case.keys, strict=True):
        given = compile_program(program).run(oracle, given, keys).outputs
        found.append(given)
    return found


SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 16))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_on_handles_have_the_words_of_the_integers(
    seed: int, oracle: Device
) -> None:
    case = Case.of(seed)
    for program in case.programs:
        assert "digits" in {node.op for node in compile_program(program).lowered.graph.nodes}
    assert {len(key.base) for key in case.keys[1].galois.values()} > {LIMBS + 1 + seed % 2}
    expected = in_integers(case, oracle)
    for name, (kind, design) in DEVICES.items():
        found = on_handles(case, kind, design, np.random.default_rng((seed, len(name))))
        for one, other in zip(found, expected, strict=True):
            assert one.keys() == other.keys()
            for output, ciphertext in other.items():
                np.testing.assert_array_equal(one[output].data, ciphertext.data, f"{name} {output}")
                assert one[output].scale == ciphertext.scale
                assert one[output].key_tag == ciphertext.key_tag
