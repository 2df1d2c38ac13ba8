"""Compiling encrypted programs and running them on the CPU, the model or the simulated RTL."""

from ringsmith.runtime.compiled import (
    MACHINES,
    Compiled,
    RunResult,
    compile_for_smallest_design,
    compile_graph,
    compile_program,
    named_keys,
    open_device,
    run_graph,
)
from ringsmith.runtime.explain import cycles_by_node, explain
from ringsmith.runtime.machine import CompiledGraph, GraphResult, Machine
from ringsmith.runtime.prepared_keys import AnyKeys, PreparedKeys, prepare_keys

__all__ = [
    "MACHINES",
    "AnyKeys",
    "Compiled",
    "CompiledGraph",
    "GraphResult",
    "Machine",
    "PreparedKeys",
    "RunResult",
    "compile_for_smallest_design",
    "compile_graph",
    "compile_program",
    "cycles_by_node",
    "explain",
    "named_keys",
    "open_device",
    "prepare_keys",
    "run_graph",
]
