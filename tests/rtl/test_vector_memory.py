"""The memory interface of the vector architecture: ports that fail or stall, and its registers."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.backends.vector.test_programs import parameters
from tests.rtl.test_vector_core import RADIX_4, TWO

from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.design import rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.rtl import accelerator_sources
from ringsmith.backends.vector.device import generate_registers as generator
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import VectorRtl
from ringsmith.errors import DeviceError
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.netlist import kind
from ringsmith.lower import lower_operation

CHECKOUT = Path(__file__).parents[2]
WATCHDOG = 700
LIST_PORT = 2
"""Bit of the port for lists of RADIX_4, behind two for rows."""


@contextmanager
def opened(
    design: VectorDesign,
    rng: np.random.Generator,
    operation: str = "multiply_plain",
    *,
    crossed: bool = False,
) -> Iterator[tuple[VectorRtl, dict[str, Words], int]]:
    """The RTL with a program, the results that it should have, and how many stores there are."""
    of = parameters(design, (4, 1, 0))
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    graph = executable.graph
    inputs, keys = random_operands(graph, rng)
    core_keys = {name: core_key(key) for name, key in keys.items()}
    fetch = host_limb(executable, inputs, keys)
    instrument = Instrument.BRIEF if crossed else Instrument.NONE  # one short program
    with VectorRtl(
        executable,
        fetch,
        assertions=True,
        instrument=instrument,
        watchdog=WATCHDOG,
        crossed=crossed,
    ) as device:
        stores = sum(len(own.stores) for own in executable.programs)
        yield (
            device,
            graph.to_core().run(inputs, core_keys),
            stores,
        )


def check_outputs(device: VectorRtl, expected: dict[str, Words]) -> None:
    """Compares all outputs."""
    for name, limbs in expected.items():
        for number, limb in enumerate(limbs):
            assert np.array_equal(device.output(name, number), limb), (name, number)


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
def test_memory_that_fails_stops_the_program_says_where_and_the_next_run_is_right(
    rng: np.random.Generator, when: int, errors: int, silent: int, message: str
) -> None:
    """``when``: 0: from the start on; 1: when all loads have ended, and the last store begins."""
    with opened(RADIX_4, rng) as (device, expected, stores):
        if when == 0:
            device.disturb(errors=errors, silent=silent)
        device.start()
        begun = 0
        while when and begun < stores:
            begun += int(device.record(["store_begun_o"], 1)["store_begun_o"][0])
        if when:
            device.disturb(errors=errors, silent=silent)
        with pytest.raises(DeviceError, match=message):
            device.finish(lambda _: None)
        if silent:
            with pytest.raises(DeviceError, match="waits for answers of memory that do not"):
                device.start()
        device.disturb()
        device.start()
        device.finish(lambda _: None)
        check_outputs(device, expected)


@pytest.mark.parametrize("design", [RADIX_4, TWO], ids=lambda design: design.name)
def test_ports_may_answer_at_different_times(
    rng: np.random.Generator, design: VectorDesign
) -> None:
    """Each port for rows stalls on its own: results are the same."""
    ports = design.clusters * design.ports
    with opened(design, rng, "rotate") as (device, expected, _):
        device.start()
        for share in (0.1, 0.5, 0.8):
            stalls = rng.random((4000, ports)) < share
            device.record(["done_o"], 4000, stalls @ (1 << np.arange(ports, dtype=np.uint64)))
        device.disturb()
        device.finish(lambda _: None)
        check_outputs(device, expected)


@pytest.mark.parametrize(
    ("design", "where"),
    [
        (RADIX_4, "cluster 0, at port 1"),
        pytest.param(TWO, "cluster 1, at port 0", marks=pytest.mark.full),
    ],
    ids=["radix-4", "two"],
)
def test_results_come_through_ports_that_cross_to_memorys_clock(
    rng: np.random.Generator, design: VectorDesign, where: str
) -> None:
    """Also an error of memory."""
    with opened(design, rng, "rotate", crossed=True) as (device, expected, _):
        device.start()
        device.finish(lambda _: None)
        check_outputs(device, expected)
        device.disturb(errors=0b10)
        device.start()
        with pytest.raises(DeviceError, match=f"answered with an error: {where}"):
            device.finish(lambda _: None)


@pytest.mark.full
@pytest.mark.parametrize(
    "design", [RADIX_4, TWO, BACKEND.load_design("framework-512")], ids=lambda design: design.name
)
def test_yosys_reads_an_accelerator(tmp_path: Path, design: VectorDesign) -> None:
    """As synthesis does; what is inside the clusters is read with its own top."""
    values = [f"{name}={value}" for name, value in rtl.parameters(design).items()]
    found = elaborated(rtl.SHELL, rtl.accelerator_sources(), values, tmp_path, boxes=[rtl.TOP])
    names = {*map(kind, found["modules"])}
    assert {"rs_vector_loads", "rs_vector_stores", "rs_vector_fetch", rtl.TOP} <= names


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


# ---- The crossing of a port to memory's clock, with clocks that really differ --------------------

# The bench itself is bus/crossing_bench.py; test_dma.py has the FIFOs between the clocks.


BENCH = Path(__file__).parent / "bus" / "crossing_bench.py"
CROSSING_BENCH = Path(__file__).parent / "blocks" / "rs_crossing_bench.sv"
PORT_BITS = 64

PERIODS = [(4000, 2222), (2222, 4000), (4000, 2000), (6002, 9998)]
"""Of cluster and memory in picoseconds: 250 and 450 MHz; of the last pair, twice two primes."""


@pytest.mark.parametrize("periods", PERIODS, ids=str)
def test_bursts_cross_between_clocks_of_any_ratio(
    run_bench: Callable[..., None], periods: tuple[int, int]
) -> None:
    run_bench(
        BENCH,
        "rs_crossing_bench",
        [*accelerator_sources(), CROSSING_BENCH],
        {"PortBits": PORT_BITS},
        ("*_i", "*_ni", "*_o"),
        {"RINGSMITH_BENCH": json.dumps([*periods, PORT_BITS])},
    )
