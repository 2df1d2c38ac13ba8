"""Architecture ``rpau`` as a backend."""

from collections.abc import Collection, Mapping
from typing import cast

from ringsmith.backends.base import (
    AXI_LITE,
    PORTS,
    Backend,
    Design,
    Explanation,
)
from ringsmith.backends.base import Executable as AnyExecutable
from ringsmith.backends.cards.interface import CARD
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.rpau.card.device import RpauCards
from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.compiler.choose import compile_for_smallest
from ringsmith.backends.rpau.compiler.executable import (
    Executable,
    KeyLoad,
    SeedLoad,
    check_executable,
)
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.design import (
    ARCHITECTURE,
    RpauDesign,
    load_design,
    named_designs,
)
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.device import CAPABILITIES, Coprocessors, RpauDevice
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.params import ParameterLimits


class RpauBackend(Backend):
    """Designs, compiler and devices of architecture ``rpau``."""

    name = ARCHITECTURE
    capabilities = CAPABILITIES
    kinds = ("model", "rtl", CARD)
    field = "executable"
    file_record = Executable

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

    def open(self, kind: str, design: Design | None, via: str = PORTS) -> RpauDevice | Coprocessors:
        """The model, or the simulated RTL by its ports or its bus; see ``Backend.open``."""
        point = cast("RpauDesign", design)
        if kind == "model" and via != PORTS:
            raise DeviceError(f"only device rtl has a bus: open {kind} without via={via!r}")

        def make(one: RpauDesign) -> Coprocessor:
            if kind == "model":
                return ModelCoprocessor(one)
            return (
                RegisterCoprocessor(one, SimulatedBus(one))
                if via == AXI_LITE
                else RtlCoprocessor(one)
            )

        if point.coprocessors > 1:
            return Coprocessors(point, make)
        return RpauDevice(make(point))

    def cards(self) -> RpauCards:
        """Boards, and cards of coprocessors; see ``Backend.cards``."""
        return RpauCards()

    def explain(self, executable: AnyExecutable) -> Explanation:
        """Cycles by HE node; see ``Backend.explain``."""
        own = cast("Executable", executable)
        return Explanation(f"on design {own.design.name}", own.cycles_by_node)

    def write(self, executable: AnyExecutable) -> Executable:
        """The executable itself."""
        return cast("Executable", executable)

    def read(self, content: object, graph: SubroutineGraph) -> Executable:
        """The executable, checked; see ``Backend.read``."""
        executable = cast("Executable", content)
        check_executable(executable)
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
            shape = graph.keys.get(load.key)
            if (
                shape is None
                or load.digit >= shape.digits
                or not _primes(load, executable) <= {*shape.base}
            ):
                raise ProgramError(
                    f"the executable takes a key {load.key!r} that the graph has not"
                )
        for seed in run.seeds:
            shape = graph.keys.get(seed.key)
            if shape is None or not _primes(seed, executable) <= {*shape.base}:
                raise ProgramError("the executable takes a seed of a key that the graph has not")


def _primes(load: KeyLoad | SeedLoad, executable: Executable) -> set[int]:
    """The primes whose limbs of a key are loaded, or expanded."""
    slots = (executable.order.slot(load.modulus_bank, rpau) for rpau in bits_of(load.mask))
    return {executable.limbs[slot] for slot in slots}


def _limbs(values: Mapping[str, Mapping[int, int]]) -> dict[str, set[int]]:
    return {name: set(limbs) for name, limbs in values.items()}
