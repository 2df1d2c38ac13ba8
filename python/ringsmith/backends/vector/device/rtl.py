"""A design's RTL under Verilator, behind the simulated memory of its platform."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    MAGIC,
    ClusterRegister,
    Control,
    Refused,
    Status,
    VectorRegister,
)
from ringsmith.backends.vector.design.rtl import (
    accelerator_sources,
    memory_parameters,
    parameters,
)
from ringsmith.backends.vector.design.word_layout import taken
from ringsmith.backends.vector.device.host import LISTS, fetched, list_writes, settings, stored
from ringsmith.backends.vector.device.image import host_rows, limb_layout, lists
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.errors import DeviceError
from ringsmith.hdl.block import Block
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.sources import sim_root
from ringsmith.hdl.verilate import build_block

TOP = "rs_vector_simulation"
"""In ``sim/vector``."""

WATCHDOG = 1 << 16
"""Cycles after which memory counts as silent, if nothing else is said."""

_RESET_CYCLES = 512
"""More than any delay of the signals that accompany a row, which have no reset."""

_LEAST_WORDS, _LEAST_BEATS = 1 << 22, 1 << 14
_SLICE = 1 << 12
"""Cycles between two looks at whether a program has ended."""

_READY_SLICE = 64
"""Cycles between two looks at whether a reset has ended."""

STARTED = 16
"""Cycles from the write of a start to its own cycle 0, and a few more."""

_WRONG = (
    "",
    "its rows are none, or not those of its target",
    "it does not begin where a burst does",
    "it lies outside of memory",
    "it names a stream or a cluster that does not exist",
)

_ACCESS = 6
"""Cycles of an access to a register."""


def unsupported(design: VectorDesign) -> str:
    """Why a design has no simulated RTL; nothing where it has."""
    if design.log_lanes < 4:
        return (
            f"design {design.name} has {design.lanes} lanes, and the RTL's network 16 or more: "
            "open device model, or a design with log_lanes = 4"
        )
    span = design.memory.port_bytes
    if span & (span - 1):
        return (
            f"platform {design.platform}: a port's part of memory has {span:,} bytes, and the "
            "RTL's addresses take a power of two: open device model, or change the platform's bytes"
        )
    return ""


def _enough(count: int, least: int) -> int:
    """A power of two, so that programs of similar sizes share a build."""
    return max(least, 1 << (count - 1).bit_length())


class VectorRtl:
    """An accelerator with a program, its lists and its memory.

    Args:
        executable: The program.
        fetch: Returns N words of an input or a key.
        assertions: Checks the RTL's assertions in every cycle, and starts from random contents.
        instrument: What the simulation records.
        watchdog: Cycles after which memory counts as silent.
        crossed: Simulates the crossings of ports too, for tests. Memory's latency contains theirs
            already, so programs take longer than their schedules.

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
        instrument: Instrument = Instrument.NONE,
        watchdog: int = WATCHDOG,
        crossed: bool = False,
    ) -> None:
        if reason := unsupported(executable.design):
            raise DeviceError(reason)
        self._executable, self._watchdog = executable, watchdog
        self._places, rows = places(executable.programs, executable.design)
        clusters = range(executable.design.clusters)
        self._lists = [lists(executable, cluster, self._places) for cluster in clusters]
        self._rows = _enough(rows, _LEAST_WORDS >> executable.design.log_lanes)
        self._block = self._open(assertions, instrument, crossed)
        for name in self._block.inputs:
            self._block.poke(name, np.zeros(self._block.ports[name].lanes, dtype=np.uint64))
        self._block.step(_RESET_CYCLES)
        self._block.poke("rst_ni", 1)
        self._wait_ready()
        self._write_settings()
        self._write_lists()
        for limb, words in host_rows(executable, fetch):
            self._write("row_we_i", {"row_addr_i": self._at(limb, len(words)), "row_i": words})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._block.close()

    def _open(self, assertions: bool, instrument: Instrument, crossed: bool) -> Block:
        design = self._executable.design
        listed = design.list_memory
        library = build_block(
            TOP,
            [*accelerator_sources(), *sorted((sim_root() / "vector").glob("*.sv"))],
            {
                **parameters(design),
                **memory_parameters(design.memory),
                "Crossed": int(crossed),
                "ListLatency": listed.latency,
                "ListInterval": listed.interval,
                "ListPause": listed.read_pause,
                "MemoryRows": self._rows,
                "ListBeats": _enough(max(len(own.beats) for own in self._lists), _LEAST_BEATS),
            },
            assertions=assertions,
            instrument=instrument,
            title=design.name,
        )
        return Block(library)

    # ---- memory ----------------------------------------------------------------------------------

    def _at(self, limb: Limb, rows: int) -> Words:
        place = self._places[limb]
        first = place.home * self._rows + place.row
        return np.arange(first, first + rows, dtype=np.uint64)

    def _write(
        self, enable: str, columns: Mapping[str, Sequence[int] | Words], on: int = 1
    ) -> None:
        """Writes a column of values, one a cycle."""
        columns = {
            name: stored(self._executable.design, values) if name == "row_i" else values
            for name, values in columns.items()
        }
        rows = len(next(iter(columns.values())))
        if rows:
            self._block.run({enable: np.full(rows, on, dtype=np.uint64), **columns}, ["done_o"])
        self._block.poke(enable, 0)

    # ---- registers -------------------------------------------------------------------------------

    def _write_registers(self, values: Sequence[tuple[int, int]]) -> None:
        """Writes registers by their addresses, 32 bits each, one after another."""
        cycles = len(values) * _ACCESS
        valid = np.zeros(cycles, dtype=np.uint64)
        valid[::_ACCESS] = 1
        addresses, words = (
            np.repeat(np.array(column, dtype=np.uint64), _ACCESS)
            for column in zip(*values, strict=True)
        )
        inputs = {
            "axil_awvalid_i": valid,
            "axil_wvalid_i": valid,
            "axil_awaddr_i": addresses,
            "axil_wdata_i": words,
        }
        names = ["axil_awready_o", "axil_wready_o", "axil_bvalid_o", "axil_bresp_o"]
        found = self._block.run(inputs, names)
        taken_at_once = (found["axil_awready_o"] & found["axil_wready_o"])[valid == 1].all()
        answers = found["axil_bresp_o"][found["axil_bvalid_o"] == 1]
        if not taken_at_once or len(answers) != len(values) or answers.any():
            raise DeviceError(
                f"the RTL of design {self._executable.design.name} refuses a register that its map "
                "has: this is a bug, please report it"
            )

    def _read_register(self, address: int) -> int:
        valid = np.zeros(_ACCESS, dtype=np.uint64)
        valid[0] = 1
        names = ["axil_rvalid_o", "axil_rdata_o"]
        found = self._block.run(
            {"axil_arvalid_i": valid, "axil_araddr_i": np.full(_ACCESS, address)}, names
        )
        return int(found["axil_rdata_o"][found["axil_rvalid_o"] == 1][0])

    def _write_settings(self) -> None:
        """The program's ring and its moduli."""
        assert self._read_register(VectorRegister.MAGIC) == MAGIC
        self._write_registers(settings(self._executable, self._watchdog))

    def _write_lists(self) -> None:
        for cluster, own in enumerate(self._lists):
            at = list(range(len(own.beats)))
            self._write("list_we_i", {"list_addr_i": at, "list_i": own.beats}, 1 << cluster)
            self._write_registers(list_writes(cluster, own))

    # ---- the run ---------------------------------------------------------------------------------

    def disturb(self, *, errors: int = 0, silent: int = 0) -> None:
        """Makes ports of the simulated memory answer with errors, or not at all.

        Args:
            errors: A bit for each port that does: ports for rows of all clusters, then for lists.
            silent: The same for those that do not answer.
        """
        self._block.poke("error_i", errors)
        self._block.poke("silent_i", silent)

    def start(self) -> None:
        """Starts the program; after a failure, or in the middle of a run, resets the device first.

        Raises:
            DeviceError: If the device refuses it, or memory owes answers that do not come.
        """
        if Status(self._read_register(VectorRegister.STATUS)) & ~Status.DONE:
            self.reset()
        self._write_registers([(VectorRegister.CONTROL, Control.START)])
        if refused := Refused(self._read_register(VectorRegister.REFUSED)):
            raise DeviceError(
                f"the RTL of design {self._executable.design.name} refuses a start: "
                f"{refused.name}: this is a bug, please report it"
            )

    def reset(self) -> None:
        """Stops whatever runs or has failed; settings, lists and memory stay as they are.

        Raises:
            DeviceError: If memory owes answers that do not come.
        """
        self._write_registers([(VectorRegister.CONTROL, Control.RESET)])
        self._wait_ready()

    def _wait_ready(self) -> None:
        for _ in range(0, self._watchdog + 2 * _SLICE, _READY_SLICE):
            if not Status(self._read_register(VectorRegister.STATUS)) & Status.RESETTING:
                return
            self._block.step(_READY_SLICE)
        raise DeviceError(
            f"design {self._executable.design.name}: a reset waits for answers of memory that do "
            "not come: reset the accelerator together with the card's memory"
        )

    def record(
        self, names: Sequence[str], cycles: int, silent: Words | None = None
    ) -> dict[str, Words]:
        """Clocks a number of cycles, and returns outputs in each of them.

        Args:
            names: The outputs.
            cycles: How many.
            silent: For each cycle the ports that do not answer, as ``disturb`` has them.
        """
        inputs = {} if silent is None else {"silent_i": silent}
        return self._block.run(inputs, names, cycles=cycles)

    def finish(self, advance: Callable[[int], None]) -> int:
        """Runs the program, which was started, to its end, and returns how many cycles it took.

        Args:
            advance: Called with the number of instructions issued since its last call.

        Raises:
            DeviceError: If memory fails, or the program does not end when the schedule does.
        """
        for _ in range(0, self._executable.cycles + self._watchdog + 2 * _SLICE, _SLICE):
            found = self.record(["issued_o"], _SLICE)["issued_o"]
            advance(int(np.bitwise_count(found).sum()))
            status = Status(self._read_register(VectorRegister.STATUS))
            if status & Status.FAILED:
                raise DeviceError(self._failure())
            if status & Status.DONE:
                return self.cycles()
        raise DeviceError(
            f"the RTL of design {self._executable.design.name} has not ended after the "
            f"{self._executable.cycles} cycles of the schedule: this is a bug, please report it"
        )

    def cycles(self) -> int:
        """What the counter of cycles holds."""
        low = self._read_register(VectorRegister.CYCLES)
        return low | self._read_register(VectorRegister.CYCLES + 4) << 32

    def _failure(self) -> str:
        """Which port failed, and how, in words."""
        for cluster in range(self._executable.design.clusters):
            first = CLUSTERS + cluster * CLUSTER_BYTES
            fault = self._read_register(first + ClusterRegister.FAULT)
            kind, number, fetching = fault & 3, fault >> 2 & 3, fault >> 4 & 1
            port, wrong = fault >> 5 & 0xFF, fault >> 13
            if kind == package.FAULT_MALFORMED:
                item = self._read_register(first + ClusterRegister.FAULT_ITEM)
                return (
                    f"design {self._executable.design.name}: item {item} of the list of "
                    f"{LISTS[number]} of cluster {cluster} is malformed: {_WRONG[wrong]}. The "
                    "program was stopped: this is a bug, please report it"
                )
            if kind:
                what = "answered with an error" if kind == 1 else (
                    f"did not answer for {self._watchdog:,} cycles"
                )  # fmt: skip
                where = (
                    f"at the port that reads the list of {LISTS[number]}"
                    if fetching
                    else f"at port {port}, in the list of {LISTS[number]}"
                )
                return (
                    f"design {self._executable.design.name}: memory {what}: cluster {cluster}, "
                    f"{where}. The program was stopped, and the next start resets the accelerator: "
                    "check the card's memory"
                )
        return f"design {self._executable.design.name} has stopped, and no cluster says why"

    def output(self, name: str, number: int) -> Words:
        """A limb of an output, N words."""
        limb, shape = Limb("output", name, (number,)), self._executable.shape
        at = self._at(limb, shape.rows)
        rows = self._block.run({"row_addr_i": at}, ["row_o"])["row_o"]
        words = fetched(self._executable.design, rows)
        return taken(shape, limb_layout(self._executable, limb), words)

    def write_coverage(self, path: Path) -> None:
        """Resets the accelerator, and writes what a build with ``Instrument.COVERAGE`` has counted.

        Raises:
            DeviceError: If the build counts nothing.
        """
        self._block.poke("rst_ni", 0)
        self._block.step(2)
        self._block.write_coverage(path)
