"""Builds a verilated design as a shared library behind a plain C interface, once, and keeps it.

The library holds the design, Verilator's run-time library and a C++ wrapper; its symbols are hidden
except what the wrapper exports, so that many designs can be loaded into one process.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ringsmith import progress
from ringsmith.hdl import block_wrapper
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import include_folders, rtl_root, sim_root
from ringsmith.hdl.toolchain import (
    compiler,
    run_tool,
    run_tools,
    run_verilator,
    verilator,
)

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

_PRECOMPILE = "RINGSMITH_PRECOMPILE"
"""If this variable is set, Verilator's headers are compiled once for all designs: 3 s and 90 MB in
the cache, which save half a second of each part of a design. For tests."""
_HEADERS = ("verilated.h", "verilated_dpi.h", "array", "cstring", "memory", "string", "vector")

# Source files up to this many bytes together are compiled as one: reading Verilator's headers costs
# as much as several 100,000 bytes of generated code. A design below the first limit is one file.
_WHOLE_BYTES = 400_000
_BUNDLE_BYTES = 1_000_000
_UNOPTIMIZED_BYTES = 10_000_000  # without optimization, headers cost as much as far more of it


@dataclass(frozen=True)
class _Recipe:
    """Everything that determines the result of a build, except the sources' contents."""

    top: str
    sources: tuple[Path, ...]
    parameters: tuple[tuple[str, str], ...]
    assertions: bool
    flags: tuple[str, ...]
    instrument: Instrument = Instrument.NONE

    def verilator_arguments(self) -> list[str]:
        values = [f"-G{name}={value}" for name, value in self.parameters]
        files = [str(rtl_root() / "verilator.vlt"), *map(str, self.sources)]
        include = [f"-I{folder}" for folder in include_folders(self.sources)]
        names = ["--top-module", self.top, "--prefix", f"V{self.top}"]
        return [*self._options(), *include, *names, *values, *files]

    def properties(self) -> list[str]:
        parameters = [f"{name}={value}" for name, value in self.parameters]
        own = [*parameters, *self._options(), self.instrument.value.optimization]
        return [self.top, *own, *_tool_properties(self.instrument)]

    def _options(self) -> list[str]:
        mode = _CHECKED if self.assertions else _FAST
        return [*_VERILATE, *mode, *self.instrument.value.verilator, *self.flags]


def _tool_properties(instrument: Instrument) -> list[str]:
    tool, cxx = verilator(), compiler()
    return [tool.version, cxx.version, cxx.native, *_compile_options(instrument), *_LINK]


def _compile_options(instrument: Instrument) -> list[str]:
    on = instrument.value.macros
    return [*_COMPILE, *(f"-DVM_{macro}={int(macro in on)}" for macro in _MACROS)]


def _recipe(
    top: str,
    sources: Iterable[Path],
    parameters: Values | None,
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
    parameters: Values | None = None,
    *,
    wrapper: Sequence[Path],
    assertions: bool = False,
    instrument: Instrument = Instrument.NONE,
    flags: Sequence[str] = (),
    title: str = "",
) -> Path:
    """Builds a design with a C++ wrapper written for it.

    Args:
        top: The top module; its C++ class is `V<top>`.
        sources: SystemVerilog files, packages before their users (`sources.rtl_sources`).
        parameters: The top's parameters: integers, records, or strings as they are, without quotes.
        wrapper: The wrapper's C++ files. They may include `V<top>.h`, `verilated.h` and, from
            `sim/hdl`, `stop.h`; what they export must have default visibility. Headers
            that they include from their own folders count into the key.
        assertions: Assertions and random values for X, at a lower speed.
        instrument: What the simulation can record; the wrapper asks the macros `VM_TRACE` and
            `VM_COVERAGE` for it.
        flags: More Verilator options, such as `--no-inline-module`.
        title: What people call the design, for the progress shown; empty: ``top``.

    Returns:
        The shared library, in the cache.

    Raises:
        ToolError: If a tool is missing or fails, or a file cannot be read.
    """
    recipe = replace(_recipe(top, sources, parameters, assertions, flags), instrument=instrument)
    return _library(recipe, [Path(file).absolute() for file in wrapper], None, title or top)


def build_block(
    top: str,
    sources: Sequence[Path],
    parameters: Values | None = None,
    *,
    assertions: bool = False,
    instrument: Instrument = Instrument.NONE,
    flags: Sequence[str] = (),
    title: str = "",
) -> Path:
    """Builds a block for `Block`: the wrapper is made from its ports.

    Arguments and result are those of `build_design`.

    Raises:
        ToolError: If a tool is missing or fails, a file cannot be read, or a port is wider than
            64 bits.
    """
    recipe = replace(_recipe(top, sources, parameters, assertions, flags), instrument=instrument)
    wrapper = [sim_root() / "hdl" / "block.cpp"]
    return _library(recipe, wrapper, block_wrapper.wrapper_source, title or top)


def lint(
    sources: Sequence[Path],
    top: str,
    parameters: Values | None = None,
    macros: Sequence[str] = (),
) -> None:
    """Checks a design with all of Verilator's warnings; `rtl/verilator.vlt` holds the waivers.

    Raises:
        ToolError: With Verilator's text, if there is any warning, or the tool is missing.
    """
    flags = ("--lint-only", "-Wall", *(f"-D{macro}" for macro in macros))
    recipe = _recipe(top, sources, parameters, False, flags)
    arguments = [word for word in recipe.verilator_arguments() if word != "--cc"]
    run_verilator(arguments, rtl_root())


def _library(
    recipe: _Recipe,
    wrapper: Sequence[Path],
    generate: Callable[[Path, str], str] | None,
    title: str,
) -> Path:
    """Builds and caches; `generate` makes more wrapper code from the header and the syntax tree."""
    folders = sorted({file.parent for file in wrapper})
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    own = [Path(__file__), Path(block_wrapper.__file__), rtl_root() / "verilator.vlt"]
    files = [*recipe.sources, *wrapper, *headers, *_harness(), *own]
    key = fingerprint(recipe.properties(), files)

    def build(work: Path) -> None:
        with progress.task(f"translating the RTL of {title} to C++ with Verilator") as task:
            run_verilator([*recipe.verilator_arguments(), "-Mdir", work / "cpp"], work, task)
        sources = list(wrapper)
        if generate is not None:
            interface = _interface(recipe, work)
            made = work / "cpp" / "wrapper.cpp"
            made.write_text(generate(work / "cpp" / f"V{recipe.top}.h", interface))
            sources.append(made)
        bundles = _bundles(work / "cpp", sources, recipe.instrument)
        include = [work / "cpp", sim_root() / "hdl", *folders]
        compiling = f"compiling the simulation of {title}"
        objects = _compile(bundles, work / "cpp", include, recipe.instrument, compiling)
        objects += sorted(_runtime(recipe.instrument).glob("*.o"))
        library = work / f"lib{recipe.top}.so"
        link: list[str | Path] = [compiler().program, *_LINK, "-o", library, *objects]
        run_tool(link, work, {"TMPDIR": str(work / "cpp")})
        shutil.rmtree(work / "cpp")

    return built(recipe.top, key, build) / f"lib{recipe.top}.so"


def _interface(recipe: _Recipe, work: Path) -> str:
    """Verilator's syntax tree of the design, as JSON: it holds the directions of all ports."""
    arguments = [word for word in recipe.verilator_arguments() if word != "--cc"]
    run_verilator([*arguments, "--json-only", "-Mdir", work / "cpp" / "json"], work)
    return (work / "cpp" / "json" / f"V{recipe.top}.tree.json").read_text()


def _harness() -> list[Path]:
    return [sim_root() / "hdl" / name for name in ("stop.h", "stop.cpp")]


def _runtime(instrument: Instrument) -> Path:
    """The folder of the objects that all designs share: Verilator's library and our handlers."""
    names = [*_RUNTIME, *instrument.value.runtime]
    sources = [verilator().include / name for name in names]
    sources.append(sim_root() / "hdl" / "stop.cpp")

    def build(work: Path) -> None:
        # None of it runs in every cycle, and -O2 would cost the first build ten seconds.
        bundles = [_Bundle((source,), "-O0") for source in sources]
        title = "compiling Verilator's library"
        _compile(bundles, work, [sim_root() / "hdl"], instrument, title)

    key = fingerprint(_tool_properties(instrument), [Path(__file__), *sources, *_harness()])
    return built("verilator-runtime", key, build)


@dataclass(frozen=True)
class _Bundle:
    """Source files that are compiled as one, and how."""

    sources: tuple[Path, ...]
    optimization: str

    @property
    def size(self) -> int:
        return sum(source.stat().st_size for source in self.sources)


def _bundles(folder: Path, wrapper: Sequence[Path], instrument: Instrument) -> list[_Bundle]:
    """What to compile of a verilated design: what runs every cycle optimized, what runs once not.

    No bundle is larger than `_BUNDLE_BYTES` unless a file is; what takes longest comes first.
    """
    fast = instrument.value.optimization
    generated = sorted(folder.glob("V*.cpp"))
    whole = _Bundle((*generated, *wrapper), fast)
    if whole.size <= (_UNOPTIMIZED_BYTES if fast == "-O0" else _WHOLE_BYTES):
        return [whole]
    bundles: list[_Bundle] = []
    for file in [*sorted(generated, key=lambda file: -file.stat().st_size), *wrapper]:
        single = _Bundle((file,), "-O0" if file.stem.endswith("__Slow") else fast)
        for number, bundle in enumerate(bundles):
            alike = bundle.optimization == single.optimization
            if alike and bundle.size + single.size <= _BUNDLE_BYTES:
                bundles[number] = replace(bundle, sources=(*bundle.sources, file))
                break
        else:
            bundles.append(single)
    return sorted(bundles, key=lambda bundle: (bundle.optimization == "-O0", -bundle.size))


def _compile(
    bundles: Sequence[_Bundle],
    target: Path,
    include: Sequence[Path],
    instrument: Instrument,
    title: str,
) -> list[Path]:
    """Compiles bundles on all processors, in their order; returns the objects."""
    tool = verilator()
    folders = [f"-I{path}" for path in (*include, tool.include, tool.include / "vltstd")]
    commands: list[list[str | Path]] = []
    objects: list[Path] = []
    for number, bundle in enumerate(bundles):
        unity = target / f"bundle-{number}.cpp"
        unity.write_text("".join(f'#include "{source}"\n' for source in bundle.sources))
        objects.append(unity.with_suffix(".o"))
        options = [*_compile_options(instrument), bundle.optimization, *folders]
        options += _headers([*_compile_options(instrument), bundle.optimization])
        commands.append([compiler().program, *options, "-c", unity, "-o", objects[-1]])
    with progress.task(title, len(commands), "parts") as task:
        run_tools(commands, target, {"TMPDIR": str(target)}, task)
    return objects


def _headers(options: Sequence[str]) -> list[str]:
    """Options that include Verilator's headers as compiled before with the same options."""
    if not os.environ.get(_PRECOMPILE):
        return []
    tool, cxx = verilator(), compiler()
    text = "".join(f"#include <{header}>\n" for header in _HEADERS)

    def build(work: Path) -> None:
        header = work / "headers.h"
        header.write_text(text)
        folders = [f"-I{tool.include}", f"-I{tool.include / 'vltstd'}"]
        made: list[str | Path] = ["-x", "c++-header", header, "-o", work / "headers.h.gch"]
        run_tool([cxx.program, *options, *folders, *made], work, {"TMPDIR": str(work)})

    key = fingerprint([tool.version, cxx.version, cxx.native, *options, text])
    return ["-include", str(built("verilator-headers", key, build) / "headers.h")]
