"""Architecture ``stream`` as a backend."""

from collections.abc import Collection
from typing import cast

from ringsmith.backends.base import (
    PORTS,
    Backend,
    Design,
    Executable,
    Explanation,
)
from ringsmith.backends.explorer import Explorer
from ringsmith.backends.exporter import Exporter
from ringsmith.backends.inspector import Inspector
from ringsmith.backends.stream.compiler.compile import compile_graph
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.backends.stream.design.design import (
    ARCHITECTURE,
    StreamDesign,
    load_stream_design,
    named_stream_designs,
    parameter_limits,
)
from ringsmith.backends.stream.device.device import CAPABILITIES, StreamDevice
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.errors import DeviceError
from ringsmith.graph import SubroutineGraph
from ringsmith.params import ParameterLimits


class StreamBackend(Backend):
    """Designs, compiler and devices of architecture ``stream``, whose host is the CPU."""

    name = ARCHITECTURE
    capabilities = CAPABILITIES
    kinds = ("model", "rtl")
    field = "stream"
    file_record = StreamDesign

    def designs(self) -> list[str]:
        """Names of the designs that come with Ringsmith."""
        return named_stream_designs()

    def load_design(self, name: str) -> StreamDesign:
        """A design by its name or file; see ``Backend.load_design``."""
        return load_stream_design(name)

    def limits(self, design: Design) -> ParameterLimits:
        """What HE parameters a design takes."""
        return parameter_limits(cast("StreamDesign", design))

    def compile(
        self, graph: SubroutineGraph, design: Design, seeded: Collection[str] | None = None
    ) -> StreamExecutable:
        """Cuts a graph into rounds; see ``Backend.compile``."""
        return compile_graph(graph, cast("StreamDesign", design))

    def open(self, kind: str, design: Design | None, via: str = PORTS) -> StreamDevice:
        """The model or the simulated RTL, with the CPU; see ``Backend.open``."""
        point = cast("StreamDesign", design)
        if via != PORTS:
            raise DeviceError(f"design {point.name} has no bus: open it without via={via!r}")
        return StreamDevice(StreamModel(point) if kind == "model" else StreamRtl(point))

    def explain(self, executable: Executable) -> Explanation:
        """Products and their cycles; see ``Backend.explain``."""
        own = cast("StreamExecutable", executable)
        return Explanation(
            f"on design {own.design.name}: {own.products} products of residue polynomials in "
            f"{own.cycles} cycles, the rest on the CPU"
        )

    def write(self, executable: Executable) -> StreamDesign:
        """The design: a graph is cut into rounds anew when its file is read."""
        return cast("StreamExecutable", executable).design

    def read(self, content: object, graph: SubroutineGraph) -> StreamExecutable:
        """The graph's rounds for the design in its file."""
        return compile_graph(graph, cast("StreamDesign", content))

    def inspector(self) -> Inspector:
        """How it is looked into; see ``Backend.inspector``."""
        from ringsmith.backends.stream.debug.inspector import StreamInspector

        return StreamInspector()

    def explorer(self) -> Explorer:
        """Its design points; see ``Backend.explorer``."""
        from ringsmith.backends.stream.explore import StreamExplorer

        return StreamExplorer()

    def exporter(self) -> Exporter:
        """How its designs are written out; see ``Backend.exporter``."""
        from ringsmith.backends.stream.export.exporter import StreamExporter

        return StreamExporter()


BACKEND = StreamBackend()
