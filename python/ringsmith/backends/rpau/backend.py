"""Architecture ``rpau`` as a backend."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import cast

from ringsmith.backends.base import (
    AXI_LITE,
    CARD,
    PORTS,
    Backend,
    CardFiles,
    Design,
    Explanation,
    SerialPort,
)
from ringsmith.backends.base import Executable as AnyExecutable
from ringsmith.backends.cards.socket_files import SocketPort
from ringsmith.backends.cards.xdma import XdmaFiles
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.rpau.card.machine import CardMachine, Opener
from ringsmith.backends.rpau.card.simulated import RpauCard
from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.compiler.choose import compile_for_smallest
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.design import ARCHITECTURE, RpauDesign, load_design, named_designs
from ringsmith.backends.rpau.device.accelerator import CAPABILITIES, Accelerator
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.card import CardBus
from ringsmith.backends.rpau.device.coprocessors import Coprocessors
from ringsmith.backends.rpau.device.interface import Device
from ringsmith.backends.rpau.device.model import ModelDevice
from ringsmith.backends.rpau.device.registers import RegisterDevice
from ringsmith.backends.rpau.device.rtl import RtlDevice
from ringsmith.backends.rpau.limits import parameter_limits
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.params import ParameterLimits


class RpauBackend(Backend):
    """Designs, compiler and devices of architecture ``rpau``."""

    name = ARCHITECTURE
    capabilities = CAPABILITIES
    kinds = ("model", "rtl", CARD)
    field = "executable"

    def designs(self) -> list[str]:
        """Names of the designs that come with Ringsmith."""
        return named_designs()

    def load_design(self, name: str) -> RpauDesign:
        """A design by its name or file; see ``Backend.load_design``."""
        return load_design(name)

    def limits(self, design: Design) -> ParameterLimits:
        """Returns the limits of a design's HE parameters; see ``Backend.limits``."""
        return parameter_limits(cast("RpauDesign", design))

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> Executable:
        """Schedules a graph, or finds the schedule in the cache; see ``Backend.compile``."""
        return compile_cached(graph, cast("RpauDesign", design), seeded)

    def fit(self, graph: SubroutineGraph, seeded: Collection[str] | None = None) -> Executable:
        """Schedules a graph for the smallest design that runs it; see ``Backend.fit``."""
        return compile_for_smallest(graph, seeded)

    def open(
        self, kind: str, design: Design | None, via: str = PORTS
    ) -> Accelerator | Coprocessors:
        """The model, or the simulated RTL by its ports or its bus; see ``Backend.open``."""
        point = cast("RpauDesign", design)
        if kind == "model" and via != PORTS:
            raise DeviceError(f"only device rtl has a bus: open {kind} without via={via!r}")

        def make(one: RpauDesign) -> Device:
            if kind == "model":
                return ModelDevice(one)
            return RegisterDevice(one, SimulatedBus(one)) if via == AXI_LITE else RtlDevice(one)

        if point.coprocessors > 1:
            return Coprocessors(point, make)
        return Accelerator(make(point))

    def open_card(self, design: Design, port: SerialPort | CardFiles) -> Accelerator | CardMachine:
        """The device on a board, or the coprocessors of cards; see ``Backend.open_card``."""
        point = cast("RpauDesign", design)
        if isinstance(port, CardFiles):
            openers: list[Opener] = [
                XdmaFiles(path) if Path(f"{path}_user").exists() else SocketPort(path)
                for path in port.paths
            ]
            return CardMachine(point, openers)
        from ringsmith.backends.rpau.device.serial_line import SerialLine

        bus = CardBus(SerialLine(port.path, port.baud), -(-point.word_bits // 8))
        try:
            return Accelerator(RegisterDevice(point, bus, CARD))
        except BaseException:
            bus.close()
            raise

    def simulate_card(self, design: Design, kind: str, memory: int) -> RpauCard:
        """Coprocessors behind a DMA; see ``Backend.simulate_card``."""
        point = cast("RpauDesign", design)
        if kind not in ("model", "rtl"):
            raise DeviceError(f"a simulated card has a model or rtl behind it, and no {kind!r}")
        return RpauCard(point, ModelDevice if kind == "model" else RtlDevice, memory)

    def explain(self, executable: AnyExecutable) -> Explanation:
        """Cycles by HE node; see ``Backend.explain``."""
        own = cast("Executable", executable)
        return Explanation(f"on design {own.design.name}", own.cycles_by_node)

    def write(self, executable: AnyExecutable) -> str:
        """The executable as its own file has it."""
        return cast("Executable", executable).to_json()

    def read(self, content: object, graph: SubroutineGraph) -> Executable:
        """The executable of a text, checked; see ``Backend.read``."""
        executable = read_executable(cast("str", content))
        check_made_of(executable, graph)
        return executable

    def inspector(self) -> Inspector:
        """Its inspector; see ``Backend.inspector``."""
        from ringsmith.backends.rpau.debug.inspector import RpauInspector

        return RpauInspector()

    def explorer(self) -> Explorer:
        """Its design points; see ``Backend.explorer``."""
        from ringsmith.backends.rpau.explore import RpauExplorer

        return RpauExplorer()

    def exporter(self) -> Exporter:
        """Its exporter; see ``Backend.exporter``."""
        from ringsmith.backends.rpau.export.exporter import RpauExporter

        return RpauExporter()


BACKEND = RpauBackend()


def check_made_of(executable: Executable, graph: SubroutineGraph) -> None:
    """Checks, as far as possible, that an executable has the inputs and outputs of a graph.

    Raises:
        ProgramError: Otherwise; says what differs.
    """
    for what, found, wanted in (
        ("ring", executable.n, graph.n),
        ("primes", executable.primes, graph.primes),
        ("roots", executable.roots, graph.roots),
        ("inputs", _limbs(executable.inputs), {k: {*t.base} for k, t in graph.inputs.items()}),
        ("outputs", _limbs(executable.outputs), {k: {*t.base} for k, t in graph.outputs.items()}),
    ):
        if found != wanted:
            raise ProgramError(f"the executable's {what} differ from the graph's: compile it again")
    for run in executable.runs:
        for load in run.keys:
            if load.digit >= graph.keys.get(load.key, 0):
                raise ProgramError(
                    f"the executable takes a key {load.key!r} that the graph has not"
                )
        if any(seed.key not in graph.keys for seed in run.seeds):
            raise ProgramError("the executable takes a seed of a key that the graph has not")


def _limbs(values: Mapping[str, Mapping[int, int]]) -> dict[str, set[int]]:
    return {name: set(limbs) for name, limbs in values.items()}
