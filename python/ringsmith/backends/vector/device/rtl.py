"""A cluster's RTL under Verilator, before a simulated memory."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np

from ringsmith.backends.vector.design import MONTGOMERY, VectorDesign
from ringsmith.backends.vector.device.image import addresses, host_rows, limb_layout
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.encoding import instruction, modulus, packed, passes
from ringsmith.backends.vector.executable import VectorExecutable
from ringsmith.backends.vector.instructions import Limb
from ringsmith.backends.vector.latency import step_bits
from ringsmith.backends.vector.layout import taken
from ringsmith.errors import DeviceError
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import rtl_sources, sim_root
from ringsmith.hdl.verilate import build_block

TOP = "rs_vector_simulation"
"""In ``sim/vector``."""

_RESET_CYCLES = 512
"""More than any delay of what travels beside a row, which has no reset."""

_LEAST_ROWS, _LEAST_INSTRUCTIONS = 1 << 14, 1 << 12
_SLICE = 1 << 14
"""Cycles between two looks at whether a program has ended."""


def refusal(design: VectorDesign) -> str:
    """Why a design has no simulated RTL; nothing where it has."""
    if design.clusters > 1:
        return (
            f"design {design.name} has {design.clusters} clusters, and device rtl simulates one: "
            "open device model, or a design with clusters = 1"
        )
    if design.log_lanes < 4:
        return (
            f"design {design.name} has {design.lanes} lanes, and the RTL's network 16 or more: "
            "open device model, or a design with log_lanes = 4"
        )
    return ""


def _enough(count: int, least: int) -> int:
    """A power of two, so that programs of similar sizes share a build."""
    return max(least, 1 << (count - 1).bit_length())


class ClusterRtl:
    """A cluster with a program, its lists and its memory.

    Args:
        executable: The program, of one cluster.
        fetch: Returns N words of an input or a key.
        assertions: Checks the RTL's assertions in every cycle, and starts from random contents.

    Raises:
        DeviceError: If the RTL does not simulate the design.
        ToolError: If Verilator or a C++ compiler is missing or fails.
    """

    def __init__(
        self,
        executable: VectorExecutable,
        fetch: Callable[[Limb], Words],
        *,
        assertions: bool = False,
    ) -> None:
        if reason := refusal(executable.design):
            raise DeviceError(reason)
        self._executable, self._at = executable, addresses(executable)
        self._block = self._open(assertions)
        for name in self._block.inputs:
            self._block.poke(name, np.zeros(self._block.ports[name].lanes, dtype=np.uint64))
        self._block.step(_RESET_CYCLES)
        self._block.poke("rst_ni", 1)
        self._write_settings()
        self._write_lists()
        for limb, rows in host_rows(executable, fetch).items():
            at = np.arange(self._at[limb], self._at[limb] + len(rows), dtype=np.uint64)
            self._write("memory_we_i", {"memory_addr_i": at, "memory_row_i": rows})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._block.close()

    def _open(self, assertions: bool) -> Block:
        design, [own] = self._executable.design, self._executable.programs
        moved = [(load.limb, load.rows) for load in own.loads]
        moved += [(store.limb, store.rows) for store in own.stores]
        rows = max((self._at[limb] + count for limb, count in moved), default=1)
        longest = max(len(own.loads), len(own.computing), len(own.stores), 1)
        library = build_block(
            TOP,
            [*rtl_sources("arith", "mem", "vector"), sim_root() / "vector" / f"{TOP}.sv"],
            {
                "Width": design.word_bits,
                "Reduction": int(design.reduction == MONTGOMERY),
                "StepBits": step_bits(design),
                "LogLanes": design.log_lanes,
                "LogRadix": design.log_radix,
                "Banks": design.banks,
                "BankRows": design.bank_rows,
                "TableRows": design.table_rows,
                "StreamRows": design.stream_rows,
                "ReadRowCycles": design.read_row_cycles,
                "WriteRowCycles": design.write_row_cycles,
                "MemoryLatency": design.memory_latency,
                "MemoryRows": _enough(rows, _LEAST_ROWS),
                "ListLength": _enough(longest, _LEAST_INSTRUCTIONS),
            },
            assertions=assertions,
            title=design.name,
        )
        return Block(library)

    def _write(self, enable: str, columns: Mapping[str, Sequence[int] | Words]) -> None:
        """Writes a column of values, one a cycle."""
        rows = len(next(iter(columns.values())))
        if rows:
            self._block.run({enable: np.ones(rows, dtype=np.uint64), **columns}, ["done_o"])
        self._block.poke(enable, 0)

    def _write_settings(self) -> None:
        """The program's ring and its moduli."""
        executable, block = self._executable, self._block
        moduli = [modulus(executable.design, q) for q in executable.moduli]
        q, mu, shift = (list(column) for column in zip(*moduli, strict=True))
        names = ("prime_addr_i", "prime_q_i", "prime_mu_i", "prime_shift_i")
        columns = (list(range(len(moduli))), q, mu, shift)
        self._write("prime_we_i", dict(zip(names, columns, strict=True)))
        table = {number: packed(fields) for number, fields in passes(executable.shape).items()}
        self._write("pass_we_i", {"pass_addr_i": list(table), "pass_i": list(table.values())})
        block.poke("row_bits_i", executable.shape.row_bits)
        block.poke("passes_i", executable.shape.passes)

    def _write_lists(self) -> None:
        executable, block, at = self._executable, self._block, self._at
        [own] = executable.programs
        loads, computing, stores = own.loads, own.computing, own.stores
        columns: dict[str, Sequence[int] | Words] = {
            "list_addr_i": list(range(len(loads))),
            "load_to_table_i": [int(load.stream is None) for load in loads],
            "load_stream_i": [load.stream or 0 for load in loads],
            "load_from_i": [at[load.limb] for load in loads],
            "load_rows_i": [load.rows for load in loads],
            "load_table_row_i": [load.row for load in loads],
            "load_after_store_i": [(load.after_store or (0, 0))[1] for load in loads],
            "load_after_computing_i": [load.after_computing for load in loads],
        }
        self._write("load_we_i", columns)
        words = block.ports["computing_i"].lanes
        rows = np.zeros((len(computing), words), dtype=np.uint64)
        for row, each in zip(rows, computing, strict=True):
            number = packed(instruction(each, executable.design, executable.moduli))
            row[:] = [number >> 64 * i & (1 << 64) - 1 for i in range(words)]
        columns = {"list_addr_i": list(range(len(computing))), "computing_i": rows}
        self._write("computing_we_i", columns)
        columns = {
            "list_addr_i": list(range(len(stores))),
            "store_stream_i": [store.stream for store in stores],
            "store_to_i": [at[store.limb] for store in stores],
        }
        self._write("store_we_i", columns)
        counts = {"loads_i": loads, "computing_count_i": computing, "stores_i": stores}
        for name, listed in counts.items():
            block.poke(name, len(listed))

    def start(self) -> None:
        """Starts the program: the next cycle is cycle 0."""
        self._block.run({"start_i": np.ones(1, dtype=np.uint64)}, ["done_o"])
        self._block.poke("start_i", 0)

    def record(self, names: Sequence[str], cycles: int) -> dict[str, Words]:
        """Clocks a number of cycles, and returns outputs in each of them."""
        return self._block.run({}, names, cycles=cycles)

    def finish(self, advance: Callable[[int], None]) -> int:
        """Runs the program to its end, and returns how many cycles it took.

        Args:
            advance: Told how many instructions were issued since it last was.

        Raises:
            DeviceError: If it does not end when the schedule does.
        """
        self.start()
        for begin in range(0, self._executable.cycles + 2 * _SLICE, _SLICE):
            found = self.record(["issued_o", "done_o"], _SLICE)
            advance(int(found["issued_o"].sum()))
            if found["done_o"][-1]:
                return begin + int(np.argmax(found["done_o"]))
        raise DeviceError(
            f"the RTL of design {self._executable.design.name} has not ended after the "
            f"{self._executable.cycles} cycles of the schedule: this is a bug, please report it"
        )

    def output(self, name: str, number: int) -> Words:
        """A limb of an output, N words."""
        limb, shape = Limb("output", name, (number,)), self._executable.shape
        at = np.arange(self._at[limb], self._at[limb] + shape.rows, dtype=np.uint64)
        rows = self._block.run({"memory_addr_i": at}, ["memory_row_o"])["memory_row_o"]
        return taken(shape, limb_layout(self._executable, limb), rows)
