"""An accelerator of architecture vector on buses that misbehave, driven by cocotb at random.

The bench is bus/vector_bench.py. Each run disturbs a program: late memory, errors, back-pressure,
stray writes of registers, malformed lists, resets in the middle. It ends with right contents, or
with an error; after a reset the next program has right contents. A checker is at each port.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.backends.vector.test_programs import random_ring
from tests.rtl.test_vector_core import RADIX_4, TWO

from ringsmith.backends.random_operands import random_operands
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import HOME_SHIFT, places
from ringsmith.backends.vector.design import rtl
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.register_table import ClusterRegister
from ringsmith.backends.vector.design.word_layout import placed
from ringsmith.backends.vector.device.host import list_writes, settings, stored
from ringsmith.backends.vector.device.image import host_rows, limb_layout, lists
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.encoding import load, store
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.graph.types import Form

FOLDER = Path(__file__).parent
BENCH = FOLDER / "bus" / "vector_bench.py"
WATCHDOG = 400
RUNS = int(os.environ.get("RINGSMITH_BUS_RUNS", "0"))
"""Runs of each test of the full pass, unless it is 0: then they are 2,500 each."""

ROWS, PLACE, RANGE, TARGET = 1, 2, 3, 4
"""What is wrong with an item, as register ``fault`` has it."""


def program(design: VectorDesign) -> VectorExecutable:
    """A short program with tables, stores that loads wait for, and several limbs."""
    of = random_ring(design, 1 << 8)
    a, b = of.ntt(of.input("a", [0, 1], Form.COEFF)), of.input("b", [0, 1])
    of.output(of.mul(a, b), "c")
    return compile_graph(of, design)


def malformed(executable: VectorExecutable) -> Iterator[tuple[int, str, int, int, int]]:
    """Items that must be refused: cluster, list, number, the item, what is wrong with it."""
    where, _ = places(executable.programs, executable.design)
    design = executable.design
    span = design.memory.port_bytes // (design.memory.port_bits // 8) // design.row_cycles

    def moved(at: int) -> Iterator[tuple[int, int]]:
        """Addresses to which an item must not go."""
        yield from ((at + 1, PLACE), (at + span, RANGE), (at | 7 << HOME_SHIFT, RANGE))

    for cluster, own in enumerate(executable.programs):
        for number, each in enumerate(own.loads):
            at = where[each.limb].address
            bad = [(replace(each, rows=0), at, ROWS)]
            bad += [(each, to, wrong) for to, wrong in moved(at)]
            bad.append((replace(each, after_store=(design.clusters, 1)), at, TARGET))
            if each.stream is None:
                bad.append((replace(each, row=design.table_rows - each.rows + 1), at, ROWS))
            else:
                bad += [(replace(each, rows=each.rows + more), at, ROWS) for more in (-1, 1, 4096)]
                bad.append((replace(each, stream=3), at, TARGET))
            for one, address, wrong in bad:
                yield cluster, "loads", number, load(one, address), wrong
        for number, written in enumerate(own.stores):
            at = where[written.limb].address
            kept = [(replace(written, rows=written.rows + more), at, ROWS) for more in (-1, 1)]
            kept.append((replace(written, rows=0), at, ROWS))
            kept.append((replace(written, stream=1), at, TARGET))
            kept += [(written, to, wrong) for to, wrong in moved(at)]
            for ones, address, wrong in kept:
                yield cluster, "stores", number, store(ones, address), wrong


def beats_of(design: VectorDesign, home: int, first: int, rows: Words) -> Iterator[tuple[int, int]]:
    """Rows as they lie in memory: the number of each beat, and what it holds."""
    bits, parts = design.memory.port_bits, design.row_cycles
    words = stored(design, rows).reshape(len(rows), design.ports, parts, bits // 64)
    for row, port, part in np.ndindex(words.shape[:3]):
        base = (home * design.ports + port) * (design.memory.port_bytes // (bits // 8))
        content = b"".join(int(word).to_bytes(8, "little") for word in words[row, port, part])
        yield base + (first + row) * parts + part, int.from_bytes(content, "little")


def world(executable: VectorExecutable, rng: np.random.Generator) -> dict[str, object]:
    """All that the bench must know of a program, for JSON."""
    design, graph = executable.design, executable.graph
    inputs, keys = random_operands(graph, rng)
    where, _ = places(executable.programs, design)
    memory: dict[int, str] = {}
    for limb, words in host_rows(executable, host_limb(executable, inputs, keys)):
        place = where[limb]
        memory |= {at: hex(v) for at, v in beats_of(design, place.home, place.row, words)}
    expected: dict[int, str] = {}
    for name, limbs in graph.to_core().run(inputs, {}).items():
        for number, words in enumerate(limbs):
            limb = Limb("output", name, (number,))
            rows = placed(executable.shape, limb_layout(executable, limb), words)
            place = where[limb]
            expected |= {at: hex(v) for at, v in beats_of(design, place.home, place.row, rows)}
    own = [lists(executable, cluster, where) for cluster in range(design.clusters)]
    return {
        "clusters": design.clusters,
        "ports": design.ports,
        "port_bits": design.memory.port_bits,
        "cycles": executable.cycles,
        "watchdog": WATCHDOG,
        "settings": settings(executable, WATCHDOG),
        "list_writes": [w for cluster, each in enumerate(own) for w in list_writes(cluster, each)],
        "lists": [
            [hex(int.from_bytes(beat.astype("<u8").tobytes(), "little")) for beat in each.beats]
            for each in own
        ],
        "list_addresses": [each.addresses for each in own],
        "memory": memory,
        "expected": expected,
        "malformed": [
            (cluster, name, number, hex(item), wrong)
            for cluster, name, number, item, wrong in malformed(executable)
        ],
        "cluster_registers": {each.name: int(each) for each in ClusterRegister},
    }


@pytest.mark.parametrize(
    ("design", "runs", "part"),
    [(RADIX_4, 100, 0)]
    + [
        pytest.param(design, 0, part, marks=pytest.mark.full)
        for design in (RADIX_4, TWO)
        for part in range(2)
    ],
    ids=lambda value: value.name if isinstance(value, VectorDesign) else str(value),
)
def test_disturbed_programs_are_right_or_fail_and_the_next_one_is_right(
    run_bench: Callable[..., None],
    tmp_path: Path,
    rng: np.random.Generator,
    design: VectorDesign,
    runs: int,
    part: int,
) -> None:
    """Starts from random contents of all registers."""
    file = tmp_path / "world.json"
    file.write_text(json.dumps(world(program(design), rng)))
    seed = int(rng.integers(1, 1 << 31)) + part
    run_bench(
        BENCH,
        "rs_vector_bus_bench",
        [
            *rtl.accelerator_sources(),
            FOLDER / "blocks" / "rs_axi_checker.sv",
            FOLDER / "blocks" / "rs_vector_bus_bench.sv",
        ],
        rtl.parameters(design),
        ["s_axil*", "m_axi*", "m_list*"],
        {
            "RINGSMITH_BENCH": str(file),
            "RINGSMITH_BENCH_RUNS": str(runs or RUNS or 2500),
            "RINGSMITH_BENCH_SEED": str(seed),
        },
        ["-fdfg", "--x-initial", "unique", "--x-assign", "unique"],
        ["+verilator+rand+reset+2", f"+verilator+seed+{seed}"],
    )
