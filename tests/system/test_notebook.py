"""What a notebook shows: short representations of every object, and names before they are used."""

import importlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import make_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import ringsmith
from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    Compiled,
    InputSpec,
    Program,
    bounded,
    client,
    compile_program,
    matvec,
    open_device,
    parameter_set,
    polynomial,
    trace,
)
from ringsmith.backends.registry import design_names, named_design
from ringsmith.backends.types import InputsOnDemand
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.params import CkksParameters, sparse_primes
from ringsmith.params.sets import PARAMETER_SETS
from ringsmith.runtime import Sanitizer, precompute_keys
from ringsmith.runtime.designs import limits_of
from ringsmith.short_repr import LIMIT, short_repr

PACKAGE = Path(ringsmith.__file__).parent
LAZY = [
    ".".join(["ringsmith", *path.parent.relative_to(PACKAGE).parts])
    for path in sorted(PACKAGE.rglob("__init__.py"))
    if "\ndef __getattr__(" in path.read_text()
]
"""Packages that import names on first use."""

NEVER_THERE = {"ApproximationWarning", "SecurityWarning", "DecryptionWarning", "Device"}
"""Public classes without objects of their own: warnings, and an abstract class."""


def programs(small: CkksParameters, rng: np.random.Generator) -> list[Program]:
    """Programs of both schemes, one with many inputs and one with many keys and constants."""
    names = [f"a_rather_long_name_of_an_input_{number}" for number in range(40)]

    def of_many(**vectors: Any) -> Any:  # noqa: ANN401 - encrypted vectors
        return {name: vector + 1 for name, vector in vectors.items()}

    return [
        trace(lambda x: polynomial(bounded(x, 1), [0.5, 0.2, 0.1]), small, {"x": InputSpec(8)}),
        trace(lambda x: matvec(rng.uniform(-1, 1, (24, 24)), x), small, {"x": 24}),
        trace(of_many, small, dict.fromkeys(names, 3)),
        trace(lambda x, y: x * y + 1, AutoBfvParameters(plain_bits=20)),
    ]


def objects(small: CkksParameters, rng: np.random.Generator) -> Iterator[object]:
    """What a user has at hand at some time."""
    for program in programs(small, rng):
        yield program
        yield program.client_kit()
        secret, public, keys = program.generate_keys()
        numbers = {name: [1] * min(3, length) for name, length in program.lengths.items()}
        ciphertexts = program.encrypt(public, numbers)
        compiled = compile_program(program)
        cpu = open_device("cpu")
        job = compiled.submit(cpu, ciphertexts, keys)
        yield from (secret, public, keys, ciphertexts, compiled, cpu, job, job.wait())
        yield from (cpu.put(next(iter(ciphertexts.values()))), cpu.put(keys))
        yield precompute_keys(keys, program.parameters)
        yield client.encode(program.parameters, [1, 2])
    seeded = trace(lambda x: x * x, parameter_set("nano")).generate_keys(seeded=True)[2]
    yield seeded
    yield on_the_fly_keys(seeded, parameter_set("nano").primes)
    yield trace(lambda x: x + 1, small).forecast()
    yield Sanitizer(trace(lambda x: x + 1, AutoBfvParameters(plain_bits=20, margin_bits=60)))
    yield trace(lambda x: x + 1, AutoBfvParameters(plain_bits=20)).forecast()
    yield Sanitizer(trace(lambda x: x + 1, AutoBfvParameters(plain_bits=20, margin_bits=60)))
    yield InputsOnDemand({"x": np.zeros((2, 1024), np.uint64)}, {})


def compiled_for_designs() -> Iterator[Compiled]:
    """A program for a design of each architecture."""
    yield compile_program(trace(lambda x: x * x, parameter_set("nano")), "nano")
    yield compile_program(
        trace(lambda x: x * x, AutoParameters(design="vector-small")), "vector-small"
    )
    wish = AutoBfvParameters(design="rpm", plain_bits=17)
    yield compile_program(trace(lambda x, y: x * y, wish), "rpm")


def walked(start: Iterable[object]) -> Iterator[object]:
    """Objects of ours, and what they hold, each once."""
    seen: dict[int, object] = {}
    waiting = list(start)
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, dict | tuple | list) or type(each).__name__ == "mappingproxy":
            waiting += each.values() if isinstance(each, Mapping) else each
        elif type(each).__module__.startswith("ringsmith"):
            waiting += vars(each).values() if hasattr(each, "__dict__") else []
            yield each


def public_classes() -> set[type]:
    """The classes among the public names of the packages that a user imports from."""
    packages = [ringsmith, *map(importlib.import_module, ("ringsmith.params", "ringsmith.program"))]
    packages += [importlib.import_module(f"ringsmith.{name}") for name in ("client", "runtime")]
    values = [getattr(package, name) for package in packages for name in package.__all__]
    return {value for value in values if isinstance(value, type)}


def test_no_object_has_a_long_representation(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    def vector(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
        vectors.append(x)
        return x

    vectors: list[object] = []
    trace(vector, small)
    trace(vector, small, {"x": (3, 5)})
    start = [*objects(small, rng), *compiled_for_designs(), *vectors]
    start += [parameter_set(name) for name in PARAMETER_SETS]
    start += [named_design(name) for name in design_names()]
    start += [AutoParameters(design="medha"), limits_of("medha"), ringsmith.Interval(0, 1)]
    start += [
        InputSpec(3, bound=1),
        sparse_primes(54, 1),
        client.FixedPoint(12),
        AutoBfvParameters(plain_bits=20),
    ]
    wish = {"params": "framework-set3", "operations": "add", "architectures": "vector"}
    start += [ringsmith.explore_designs("u280", **wish)]
    met: set[type] = set()
    for each in walked(start):
        text = repr(each)
        assert len(text) <= LIMIT, f"{type(each).__name__}: {len(text)} characters: {text[:200]}"
        met.update(type(each).__mro__)
    missing = {kind.__name__ for kind in public_classes() - met} - NEVER_THERE
    assert not missing, "classes without an object in this test"


def test_a_representation_names_what_matters_and_no_residues(small: CkksParameters) -> None:
    program = trace(lambda x: x * x, small, {"x": 8})
    _, public, keys = program.generate_keys()
    x = program.encrypt(public, {"x": [1, 2]})["x"]
    assert re_shape(x) == (2, 5, 1024)
    assert f"parameters_id={small.parameters_id.hex()[:8]}…" in repr(x)
    assert repr(program).startswith("CkksProgram(name='<lambda>', parameters=CkksParameters(")
    assert "lengths={'x': 8}" in repr(program)
    assert repr(keys) == "EvaluationKeys(relin=KeySwitchKey(…))"
    compiled = compile_program(trace(lambda x: x * x, parameter_set("nano")), "nano")
    assert repr(compiled) == "Compiled(inputs=('x'), outputs=('result'), design='nano')"
    assert repr(AutoParameters(precision_bits=12)) == "AutoParameters(precision_bits=12)"


def re_shape(ciphertext: object) -> tuple[int, ...]:
    """The shape that a representation states."""
    inside = repr(ciphertext).partition("array of shape (")[2].partition(")")[0]
    return tuple(map(int, inside.split(",")))


@pytest.mark.parametrize("package", LAZY)
def test_names_that_load_on_first_use_are_completed_and_in_help(package: str) -> None:
    code = (
        "import importlib, pydoc, sys\n"
        f"package = importlib.import_module({package!r})\n"
        "missing = set(package.__all__) - set(dir(package))\n"
        "text = pydoc.plain(pydoc.render_doc(package))\n"
        "unseen = set(package.__all__) - {'__version__'}\n"
        "print(missing, [name for name in unseen if name not in text])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set() []"


def test_the_public_package_is_among_those_that_load_on_first_use() -> None:
    assert {"ringsmith", "ringsmith.program"} <= set(LAZY)
    code = "import ringsmith, sys; dir(ringsmith); print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_subpackages_are_there_without_an_import_of_their_own() -> None:
    code = (
        "import ringsmith, sys\n"
        "assert not [name for name in sys.modules if name.startswith('ringsmith.')]\n"
        "for name in ringsmith._PACKAGES:\n"
        "    assert name in dir(ringsmith)\n"
        "    assert getattr(ringsmith, name) is sys.modules['ringsmith.' + name]\n"
        "print(ringsmith.client.encrypt.__name__, ringsmith.runtime.Compiled.__name__)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "encrypt Compiled"


def test_representations_of_random_dataclasses_are_bounded(rng: np.random.Generator) -> None:
    def value(depth: int) -> object:
        kinds = 8 if depth else 4
        kind, size = int(rng.integers(kinds)), int(rng.integers(200))
        plain = (size, "x" * size, bytes(size), np.zeros((size, 3)))
        if kind < len(plain):
            return plain[kind]
        inside = [value(depth - 1) for _ in range(size % 9)]
        more = (inside, tuple(inside), dict(enumerate(inside)), MappingProxyType({"y" * size: 1}))
        return more[kind - len(plain)]

    for _ in range(500):
        names = [f"field_{number}" for number in range(int(rng.integers(40)))]
        kind = short_repr(make_dataclass("Thing", names))
        thing = kind(*(value(2) for _ in names))
        assert len(repr(thing)) <= LIMIT
        assert repr(thing).startswith("Thing(")
