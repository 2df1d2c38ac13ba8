"""The memory side of the vector architecture: ports that fail or stall, and its registers."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.backends.vector.test_programs import parameters
from tests.rtl.test_vector_core import RADIX_4, TWO

from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.debug.compare_operations import random_operands
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.device import generate_registers as generator
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import VectorRtl
from ringsmith.errors import DeviceError
from ringsmith.lower import lower_operation

CHECKOUT = Path(__file__).parents[2]
WATCHDOG = 700
LIST_PORT = 2
"""Bit of the port for lists of RADIX_4, behind two for rows."""


@contextmanager
def opened(
    design: VectorDesign, rng: np.random.Generator, operation: str = "multiply_plain"
) -> Iterator[tuple[VectorRtl, dict[str, Words], int]]:
    """The RTL with a program, the results that it should have, and how many stores there are."""
    of = parameters(design, (4, 1, 0))
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    graph = executable.graph
    inputs, made = random_operands(graph, rng)
    keys = {name: key.data for name, key in made.items()}
    fetch = host_limb(executable, inputs, keys)
    with VectorRtl(executable, fetch, assertions=True, watchdog=WATCHDOG) as rtl:
        stores = sum(len(own.stores) for own in executable.programs)
        yield rtl, graph.to_core().run(inputs, keys), stores


@pytest.mark.parametrize(
    ("when", "errors", "silent", "message"),
    [
        (0, 0b010, 0, "memory answered with an error: cluster 0, at port 1, in the list of loads"),
        (0, 0, 0b001, "memory did not answer for 700 cycles: cluster 0, at port 0, in the list of"),
        (0, 1 << LIST_PORT, 0, "error: cluster 0, at the port that reads the list of computing"),
        (0, 0, 1 << LIST_PORT, "700 cycles: cluster 0, at the port that reads the list of comp"),
        (1, 0b010, 0, "answered with an error: cluster 0, at port 1, in the list of stores"),
        (1, 0, 0b010, "not answer for 700 cycles: cluster 0, at port 1, in the list of stores"),
    ],
)
def test_memory_that_fails_stops_the_program_and_says_where(
    rng: np.random.Generator, when: int, errors: int, silent: int, message: str
) -> None:
    """``when``: 0: from the start on; 1: when all loads have ended, and the last store begins."""
    with opened(RADIX_4, rng) as (rtl, _, stores):
        if when == 0:
            rtl.disturb(errors=errors, silent=silent)
        rtl.start()
        begun = 0
        while when and begun < stores:
            begun += int(rtl.record(["store_begun_o"], 1)["store_begun_o"][0])
        if when:
            rtl.disturb(errors=errors, silent=silent)
        with pytest.raises(DeviceError, match=message):
            rtl.finish(lambda _: None)
        rtl.disturb()
        rtl.start()  # without effect: only a reset ends a failure
        with pytest.raises(DeviceError, match=message):
            rtl.finish(lambda _: None)


@pytest.mark.parametrize("design", [RADIX_4, TWO], ids=lambda design: design.name)
def test_ports_may_answer_at_different_times(
    rng: np.random.Generator, design: VectorDesign
) -> None:
    """Each port for rows stalls on its own: results are the same."""
    ports = design.clusters * design.ports
    with opened(design, rng, "rotate") as (rtl, expected, _):
        rtl.start()
        for share in (0.1, 0.5, 0.8):
            stalls = rng.random((4000, ports)) < share
            rtl.record(["done_o"], 4000, stalls @ (1 << np.arange(ports, dtype=np.uint64)))
        rtl.disturb()
        rtl.finish(lambda _: None)
        for name, limbs in expected.items():
            for number, limb in enumerate(limbs):
                assert np.array_equal(rtl.output(name, number), limb), (name, number)


# ---- registers -----------------------------------------------------------------------------------


def test_generated_files_equal_what_the_map_gives() -> None:
    assert generator.GENERATED.stale(CHECKOUT) == []


def test_check_fails_on_a_difference_and_writing_mends_it(tmp_path: Path) -> None:
    for path in (generator.SOURCE, *generator.expected(CHECKOUT)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / path, tmp_path / path)
    root = ["--root", str(tmp_path)]
    assert generator.main(["--check", *root]) == 0
    text = (tmp_path / generator.SOURCE).read_text()
    (tmp_path / generator.SOURCE).write_text(text.replace("= 0x10000;", "= 0x20000;"))
    assert generator.main(["--check", *root]) == 1
    assert generator.main(root) == 0
    assert generator.main(["--check", *root]) == 0
