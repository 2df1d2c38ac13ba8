"""Architecture ``vector`` as a backend."""

from collections.abc import Collection
from typing import cast

from ringsmith import design_files
from ringsmith.backends.base import PORTS, Backend, Design, Executable, Explanation
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import ARCHITECTURE, VectorDesign, parameter_limits
from ringsmith.backends.vector.device.device import CAPABILITIES, VectorDevice
from ringsmith.errors import DeviceError
from ringsmith.graph import SubroutineGraph
from ringsmith.params import ParameterLimits


class VectorBackend(Backend):
    """Designs, compiler and devices of architecture ``vector``."""

    name = ARCHITECTURE
    capabilities = CAPABILITIES
    kinds = ("model", "rtl")
    field = "vector"
    file_record = VectorDesign

    def designs(self) -> list[str]:
        """Names of the designs that come with Ringsmith."""
        return design_files.named(ARCHITECTURE)

    def load_design(self, name: str) -> VectorDesign:
        """A design by its name or file; see ``Backend.load_design``."""
        return design_files.load(name, ARCHITECTURE, VectorDesign)

    def limits(self, design: Design) -> ParameterLimits:
        """What HE parameters a design takes."""
        return parameter_limits(cast("VectorDesign", design))

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> VectorExecutable:
        """Compiles a graph; see ``Backend.compile``."""
        return compile_graph(graph, cast("VectorDesign", design))

    def open(self, kind: str, design: Design | None, via: str = PORTS) -> VectorDevice:
        """The model, or the simulated RTL of one cluster; see ``Backend.open``."""
        point = cast("VectorDesign", design)
        if via != PORTS:
            raise DeviceError(f"design {point.name} has no bus: open it without via={via!r}")
        return VectorDevice(point, kind)

    def explain(self, executable: Executable) -> Explanation:
        """Cycles by HE operation; see ``Backend.explain``."""
        own = cast("VectorExecutable", executable)
        return Explanation(
            f"on design {own.design.name}: {own.cycles} cycles, {own.transforms} transforms, "
            f"{own.bytes_read / 2**20:.1f} MiB read from memory and "
            f"{own.bytes_written / 2**20:.1f} MiB written",
            own.cycles_by_node,
        )

    def inspector(self) -> Inspector:
        """Areas and timing; see ``Backend.inspector``."""
        from ringsmith.backends.vector.debug.inspector import VectorInspector

        return VectorInspector()

    def write(self, executable: Executable) -> VectorDesign:
        """The design: a graph is compiled anew when its file is read."""
        return cast("VectorExecutable", executable).design

    def read(self, content: object, graph: SubroutineGraph) -> VectorExecutable:
        """The graph, compiled for the design in its file."""
        return compile_graph(graph, cast("VectorDesign", content))

    def explorer(self) -> Explorer:
        """Its design points; see ``Backend.explorer``."""
        from ringsmith.backends.vector.explore import VectorExplorer

        return VectorExplorer()

    def exporter(self) -> Exporter:
        """How its designs are written out; see ``Backend.exporter``."""
        from ringsmith.backends.vector.export.exporter import VectorExporter

        return VectorExporter()


BACKEND = VectorBackend()
"""Design points of the vector architecture, its compiler and model."""
