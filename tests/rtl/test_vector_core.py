"""A cluster of the vector architecture works off whole programs, as the schedule says."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.backends.vector.test_programs import parameters, random_graph, random_operands

from ringsmith.backends.vector.compile import compile_graph
from ringsmith.backends.vector.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.device.image import addresses, host_rows, limb_layout
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.encoding import instruction, modulus, packed, passes, width
from ringsmith.backends.vector.executable import VectorExecutable
from ringsmith.backends.vector.instructions import Limb
from ringsmith.backends.vector.latency import step_bits
from ringsmith.backends.vector.layout import taken
from ringsmith.backends.vector.timing import NOTICE
from ringsmith.hdl.block import Block
from ringsmith.lower import lower_operation

MakeBlock = Callable[..., Block]

RADIX_4 = VectorDesign("radix-4", 10, 4, 2, 30, bank_rows=512, table_rows=512, stream_rows=128)
RADIX_16 = replace(RADIX_4, name="radix-16", log_radix=4, reduction=MONTGOMERY, word_bits=32)
SLOW = replace(
    RADIX_16, name="slow", banks=3, read_row_cycles=2, write_row_cycles=3, memory_latency=37
)
DESIGNS = [RADIX_4, RADIX_16, SLOW]


RESET_CYCLES = 512
"""More than any delay: what travels has no reset."""


class Cluster:
    """The core under test, with its memory."""

    def __init__(self, make_block: MakeBlock, design: VectorDesign) -> None:
        self.block = make_block(
            "rs_vector_core_bench",
            assertions=True,
            Width=design.word_bits,
            Reduction=int(design.reduction == MONTGOMERY),
            StepBits=step_bits(design),
            LogLanes=design.log_lanes,
            LogRadix=design.log_radix,
            Banks=design.banks,
            BankRows=design.bank_rows,
            TableRows=design.table_rows,
            StreamRows=design.stream_rows,
            ReadRowCycles=design.read_row_cycles,
            WriteRowCycles=design.write_row_cycles,
            MemoryLatency=design.memory_latency,
        )
        for name in self.block.inputs:
            self.block.poke(name, np.zeros(self.block.ports[name].lanes, dtype=np.uint64))
        self.block.step(RESET_CYCLES)
        self.block.poke("rst_ni", 1)

    def write(self, enable: str, **columns: list[int] | Words) -> None:
        """Writes a column of values, one a cycle."""
        rows = len(next(iter(columns.values())))
        if rows:
            self.block.run({enable: np.ones(rows, dtype=np.uint64), **columns}, ["done_o"])
        self.block.poke(enable, 0)

    def set_up(self, executable: VectorExecutable) -> None:
        """Writes the settings of a program: its ring, its primes."""
        moduli = [modulus(executable.design, q) for q in executable.graph.primes]
        numbers = list(range(len(moduli)))
        q, mu, shift = (list(column) for column in zip(*moduli, strict=True))
        self.write(
            "prime_we_i", prime_addr_i=numbers, prime_q_i=q, prime_mu_i=mu, prime_shift_i=shift
        )
        table = {number: packed(fields) for number, fields in passes(executable.shape).items()}
        self.write("pass_we_i", pass_addr_i=list(table), pass_i=list(table.values()))
        self.block.poke("row_bits_i", executable.shape.row_bits)
        self.block.poke("passes_i", executable.shape.passes)

    def write_lists(self, executable: VectorExecutable, at: dict[Limb, int]) -> None:
        """Writes a program's three lists."""
        [own] = executable.programs
        assert all(load.after_store is None or load.after_store[0] == 0 for load in own.loads)
        self.write(
            "load_we_i",
            list_addr_i=list(range(len(own.loads))),
            load_to_table_i=[int(load.stream is None) for load in own.loads],
            load_stream_i=[load.stream or 0 for load in own.loads],
            load_from_i=[at[load.limb] for load in own.loads],
            load_rows_i=[load.rows for load in own.loads],
            load_table_row_i=[load.row for load in own.loads],
            load_after_store_i=[(load.after_store or (0, 0))[1] for load in own.loads],
            load_after_computing_i=[load.after_computing for load in own.loads],
        )
        words = self.block.ports["computing_i"].lanes
        rows = np.zeros((len(own.computing), words), dtype=np.uint64)
        for number, each in enumerate(own.computing):
            fields = instruction(each, executable.design, executable.graph.primes)
            assert width(fields) <= 64 * words < width(fields) + 64
            number_of_all = packed(fields)
            rows[number] = [number_of_all >> 64 * i & (1 << 64) - 1 for i in range(words)]
        self.write("computing_we_i", list_addr_i=list(range(len(rows))), computing_i=rows)
        self.write(
            "store_we_i",
            list_addr_i=list(range(len(own.stores))),
            store_stream_i=[store.stream for store in own.stores],
            store_to_i=[at[store.limb] for store in own.stores],
        )
        for name, count in (
            ("loads_i", len(own.loads)),
            ("computing_count_i", len(own.computing)),
            ("stores_i", len(own.stores)),
        ):
            self.block.poke(name, count)

    def write_memory(self, first: int, rows: Words) -> None:
        """Writes rows of the memory."""
        self.write(
            "memory_we_i",
            memory_addr_i=np.arange(first, first + len(rows), dtype=np.uint64),
            memory_row_i=rows,
        )

    def read_memory(self, first: int, count: int) -> Words:
        """Reads rows of the memory."""
        at = np.arange(first, first + count, dtype=np.uint64)
        return self.block.run({"memory_addr_i": at}, ["memory_row_o"])["memory_row_o"]

    def run(self, cycles: int) -> dict[str, Words]:
        """Starts the program, and records the cycles that follow."""
        self.block.run({"start_i": np.ones(1, dtype=np.uint64)}, ["done_o"])
        self.block.poke("start_i", 0)
        names = ["load_begun_o", "issued_o", "store_begun_o", "ended_o", "done_o"]
        return self.block.run({}, names, cycles=cycles)


def check(make_block: MakeBlock, executable: VectorExecutable, rng: np.random.Generator) -> None:
    """Runs random residues, and compares each result with the interpreter's, and all times."""
    graph = executable.graph
    inputs, made = random_operands(graph, rng)
    keys = {name: key.data for name, key in made.items()}
    fetch = host_limb(executable, inputs, keys)
    cluster, at = Cluster(make_block, executable.design), addresses(executable)
    for limb, rows in host_rows(executable, fetch).items():
        cluster.write_memory(at[limb], rows)
    cluster.set_up(executable)
    cluster.write_lists(executable, at)
    found = cluster.run(executable.cycles + NOTICE + 1)

    [times] = executable.schedules
    for name, spans in (
        ("load_begun_o", times.loads),
        ("issued_o", times.computing),
        ("store_begun_o", times.stores),
    ):
        assert np.flatnonzero(found[name]).tolist() == [span.begin for span in spans], name
    ends = np.sort([span.end for span in times.computing])
    counted = np.searchsorted(ends + NOTICE, np.arange(len(found["ended_o"])), side="right")
    assert found["ended_o"].tolist() == counted.tolist()
    done = int(np.argmax(found["done_o"]))
    assert found["done_o"][-1]
    assert executable.cycles <= done <= executable.cycles + NOTICE

    expected = graph.to_core().run(inputs, keys)
    for name, words in expected.items():
        for number, limb in enumerate(words):
            key = Limb("output", name, (number,))
            rows = cluster.read_memory(at[key], executable.shape.rows)
            got = taken(executable.shape, limb_layout(executable, key), rows)
            assert np.array_equal(got, limb), (name, number)


OPERATIONS = ["add", "multiply", "multiply_plain", "rotate", "rescale", "multiply_relinearize"]
SETS = [(4, 1, 0), (5, 2, 3)]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("shape", SETS, ids=str)
def test_operations_equal_the_interpreters_in_the_schedules_cycles(
    make_block: MakeBlock,
    rng: np.random.Generator,
    design: VectorDesign,
    operation: str,
    shape: tuple[int, int, int],
) -> None:
    of = parameters(design, shape, design.n)
    check(make_block, compile_graph(lower_operation(operation, of, of.limbs), design), rng)


@pytest.mark.parametrize("n", [1 << 8, 1 << 9])
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_smaller_rings_run_on_the_same_cluster(
    make_block: MakeBlock, rng: np.random.Generator, design: VectorDesign, n: int
) -> None:
    of = parameters(design, (3, 1, 0), n)
    graph = lower_operation("multiply_relinearize", of, of.limbs)
    check(make_block, compile_graph(graph, design), rng)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_random_programs_equal_the_interpreters_in_the_schedules_cycles(
    make_block: MakeBlock, rng: np.random.Generator, design: VectorDesign, seed: int
) -> None:
    random = np.random.default_rng([seed, *design.name.encode()])
    graph = random_graph(parameters(design, SETS[seed % len(SETS)], design.n), random)
    check(make_block, compile_graph(graph, design), rng)
