"""Compiling encrypted programs and running them on the CPU, the model or the simulated RTL."""

from ringsmith.backends.base import CompiledGraph, Device, GraphResult, RunReport
from ringsmith.backends.handles import Handle, KeysHandle, Traffic
from ringsmith.runtime.compiled import (
    Compiled,
    RunResult,
    compile_for_smallest_design,
    compile_graph,
    compile_program,
    named_keys,
    open_device,
    run_graph,
    submit_graph,
)
from ringsmith.runtime.explain import explain
from ringsmith.runtime.precomputed_keys import AnyKeys, PrecomputedKeys, precompute_keys
from ringsmith.runtime.sanitize import Sanitizer

__all__ = [
    "AnyKeys",
    "Compiled",
    "CompiledGraph",
    "Device",
    "GraphResult",
    "Handle",
    "KeysHandle",
    "PrecomputedKeys",
    "RunReport",
    "RunResult",
    "Sanitizer",
    "Traffic",
    "compile_for_smallest_design",
    "compile_graph",
    "compile_program",
    "explain",
    "named_keys",
    "open_device",
    "precompute_keys",
    "run_graph",
    "submit_graph",
]
