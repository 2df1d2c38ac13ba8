"""Builds a verilated design as a shared library behind a plain C interface, once, and keeps it.

The library holds the design, Verilator's run-time library and a C++ wrapper; its symbols are hidden
except what the wrapper exports, so that many designs can be loaded into one process.
"""

import itertools
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ringsmith.devices import block_wrapper
from ringsmith.devices.build_cache import built, fingerprint
from ringsmith.devices.instrument import Instrument
from ringsmith.devices.sources import rtl_root, sim_root
from ringsmith.devices.toolchain import compiler, run_tool, run_verilator, verilator

# Fast: no assertions, and what has no value may take any. Checked: assertions on, and X is random.
_FAST = ("--x-assign", "fast", "--x-initial", "fast", "--noassert")
_CHECKED = ("--x-assign", "unique", "--x-initial", "unique", "--assert")
_VERILATE = ("--cc", "-O3", "--no-timing", "--quiet")

_COMPILE = (
    "-std=c++20",
    "-march=native",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-gnu-unique",  # or the dynamic linker would share inline statics between designs
    "-fcf-protection=none",
    "-faligned-new",
    "-w",  # generated code
    "-DVERILATOR=1",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
)
_MACROS = ("COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_SAIF", "TRACE_VCD")
_LINK = ("-shared", "-pthread", "-Wl,-Bsymbolic", "-Wl,--no-undefined")
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")

# Generated files up to this many bytes together are compiled as one: reading Verilator's headers
# costs more than the code of a small block.
_UNITY_BYTES = 400_000


@dataclass(frozen=True)
class _Recipe:
    """Everything that decides what a build yields, sources' contents apart."""

    top: str
    sources: tuple[Path, ...]
    parameters: tuple[tuple[str, str], ...]
    assertions: bool
    flags: tuple[str, ...]
    instrument: Instrument = Instrument.NONE

    def verilator_arguments(self) -> list[str]:
        values = [f"-G{name}={value}" for name, value in self.parameters]
        files = [str(rtl_root() / "verilator.vlt"), *map(str, self.sources)]
        names = ["--top-module", self.top, "--prefix", f"V{self.top}"]
        return [*self._options(), *names, *values, *files]

    def facts(self) -> list[str]:
        parameters = [f"{name}={value}" for name, value in self.parameters]
        return [self.top, *parameters, *self._options(), *_tool_facts(self.instrument)]

    def _options(self) -> list[str]:
        mode = _CHECKED if self.assertions else _FAST
        return [*_VERILATE, *mode, *self.instrument.value.verilator, *self.flags]


def _tool_facts(instrument: Instrument) -> list[str]:
    tool, cxx = verilator(), compiler()
    return [tool.version, cxx.version, cxx.native, *_compile_options(instrument), *_LINK]


def _compile_options(instrument: Instrument) -> list[str]:
    on = instrument.value.macros
    return [*_COMPILE, *(f"-DVM_{macro}={int(macro in on)}" for macro in _MACROS)]


def _recipe(
    top: str,
    sources: Iterable[Path],
    parameters: Mapping[str, int | str] | None,
    assertions: bool,
    flags: Sequence[str],
) -> _Recipe:
    values = tuple(
        (name, f'"{value}"' if isinstance(value, str) else str(value))
        for name, value in sorted((parameters or {}).items())
    )
    files = tuple(Path(source).absolute() for source in sources)
    return _Recipe(top, files, values, assertions, tuple(flags))


def build_design(
    top: str,
    sources: Sequence[Path],
    parameters: Mapping[str, int | str] | None = None,
    *,
    wrapper: Sequence[Path],
    assertions: bool = False,
    instrument: Instrument = Instrument.NONE,
    flags: Sequence[str] = (),
) -> Path:
    """Builds a design with a C++ wrapper written for it.

    Args:
        top: The top module; its C++ class is `V<top>`.
        sources: SystemVerilog files, packages before their users (`sources.rtl_sources`).
        parameters: The top's parameters: integers, or strings as they are, without quotes.
        wrapper: The wrapper's C++ files. They may include `V<top>.h`, `verilated.h` and, from
            `sim/harness`, `stop.h`; what they export must have default visibility. Headers
            that they include from their own folders count into the key.
        assertions: Assertions and random values for X, at a lower speed.
        instrument: What the simulation can record; the wrapper asks the macros `VM_TRACE` and
            `VM_COVERAGE` for it.
        flags: More Verilator options, such as `--no-inline-module`.

    Returns:
        The shared library, in the cache.

    Raises:
        ToolError: If a tool is missing or fails, or a file cannot be read.
    """
    recipe = replace(_recipe(top, sources, parameters, assertions, flags), instrument=instrument)
    return _library(recipe, [Path(file).absolute() for file in wrapper], None)


def build_block(
    top: str,
    sources: Sequence[Path],
    parameters: Mapping[str, int | str] | None = None,
    *,
    assertions: bool = False,
    flags: Sequence[str] = (),
) -> Path:
    """Builds a block for `Block`: the wrapper is made from its ports.

    Arguments and result are those of `build_design`.

    Raises:
        ToolError: If a tool is missing or fails, a file cannot be read, or a port is wider than
            64 bits.
    """
    recipe = _recipe(top, sources, parameters, assertions, flags)
    return _library(recipe, [sim_root() / "harness" / "block.cpp"], block_wrapper.wrapper_source)


def lint(
    sources: Sequence[Path], top: str, parameters: Mapping[str, int | str] | None = None
) -> None:
    """Checks a design with all of Verilator's warnings; `rtl/verilator.vlt` holds the waivers.

    Raises:
        ToolError: With Verilator's text, if there is any warning, or the tool is missing.
    """
    recipe = _recipe(top, sources, parameters, False, ("--lint-only", "-Wall"))
    arguments = [word for word in recipe.verilator_arguments() if word != "--cc"]
    run_verilator(arguments, rtl_root())


def _library(
    recipe: _Recipe, wrapper: Sequence[Path], generate: Callable[[Path, str], str] | None
) -> Path:
    """Builds and caches; `generate` makes more wrapper code from the header and the syntax tree."""
    folders = sorted({file.parent for file in wrapper})
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    own = [Path(__file__), Path(block_wrapper.__file__), rtl_root() / "verilator.vlt"]
    files = [*recipe.sources, *wrapper, *headers, *_harness(), *own]
    key = fingerprint(recipe.facts(), files)

    def build(work: Path) -> None:
        run_verilator([*recipe.verilator_arguments(), "-Mdir", work / "cpp"], work)
        sources = list(wrapper)
        if generate is not None:
            interface = _interface(recipe, work)
            made = work / "cpp" / "wrapper.cpp"
            made.write_text(generate(work / "cpp" / f"V{recipe.top}.h", interface))
            sources.append(made)
        objects = _compile_design(work / "cpp", sources, folders, recipe.instrument)
        objects += sorted(_runtime(recipe.instrument).glob("*.o"))
        library = work / f"lib{recipe.top}.so"
        run_tool([compiler().program, *_LINK, "-o", library, *objects], work)
        shutil.rmtree(work / "cpp")

    return built(recipe.top, key, build) / f"lib{recipe.top}.so"


def _interface(recipe: _Recipe, work: Path) -> str:
    """Verilator's syntax tree of the design, as JSON: it holds the directions of all ports."""
    arguments = [word for word in recipe.verilator_arguments() if word != "--cc"]
    run_verilator([*arguments, "--json-only", "-Mdir", work / "cpp" / "json"], work)
    return (work / "cpp" / "json" / f"V{recipe.top}.tree.json").read_text()


def _harness() -> list[Path]:
    return [sim_root() / "harness" / name for name in ("stop.h", "stop.cpp")]


def _runtime(instrument: Instrument) -> Path:
    """The folder of the objects that all designs share: Verilator's library and our handlers."""
    names = [*_RUNTIME, *instrument.value.runtime]
    sources = [verilator().include / name for name in names]
    sources.append(sim_root() / "harness" / "stop.cpp")

    def build(work: Path) -> None:
        # None of it runs in every cycle, and -O2 would cost the first build ten seconds.
        jobs = [(source, "-O0") for source in sources]
        _compile(jobs, work, [sim_root() / "harness"], instrument)

    key = fingerprint(_tool_facts(instrument), [Path(__file__), *sources, *_harness()])
    return built("verilator-runtime", key, build)


def _compile_design(
    folder: Path, wrapper: Sequence[Path], include: Sequence[Path], instrument: Instrument
) -> list[Path]:
    """Compiles a verilated design: what runs every cycle optimized, what runs once not."""
    fast = instrument.value.optimization
    folders = [folder, sim_root() / "harness", *include]
    generated = sorted(folder.glob("V*.cpp"))
    if sum(file.stat().st_size for file in generated) <= _UNITY_BYTES:
        unity = folder / "unity.cpp"
        unity.write_text("".join(f'#include "{source}"\n' for source in [*generated, *wrapper]))
        return _compile([(unity, fast)], folder, folders, instrument)
    jobs = [(file, "-O0" if file.stem.endswith("__Slow") else fast) for file in generated]
    jobs += [(file, fast) for file in wrapper]
    return _compile(jobs, folder, folders, instrument)


def _compile(
    jobs: Sequence[tuple[Path, str]],
    target: Path,
    include: Sequence[Path],
    instrument: Instrument,
) -> list[Path]:
    """Compiles (source, optimization) pairs on all cores, large ones first; returns the objects."""
    tool = verilator()
    folders = [f"-I{path}" for path in (*include, tool.include, tool.include / "vltstd")]

    def compile_one(number: int, source: Path, optimization: str) -> Path:
        result = target / f"{source.stem}-{number}.o"
        options = [*_compile_options(instrument), optimization, *folders]
        run_tool([compiler().program, *options, "-c", source, "-o", result], target)
        return result

    largest_first = sorted(jobs, key=lambda job: -job[0].stat().st_size)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(compile_one, itertools.count(), *zip(*largest_first, strict=True)))
