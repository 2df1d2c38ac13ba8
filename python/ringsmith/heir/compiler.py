"""HEIR's compiler ``heir-opt``, from the package ``heir_py``: compiles an input module.

A result is kept in the cache folder, under a key of the input, the options and the version. All
results together have a limit.
"""

import importlib.metadata
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

import zstandard

from ringsmith import progress
from ringsmith.errors import ToolError
from ringsmith.files import read_bounded
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.processes import run_together
from ringsmith.heir.module import PLAIN_MODULUS, VERSIONS, Scheme
from ringsmith.heir.text import MAX_BYTES, HeirError

DEFAULT_SLOTS = 1024
"""Slots S that are tried first where none are asked for; doubled while HEIR cannot pack."""
LARGEST_SLOTS = 1 << 14

LEVEL_BUDGET = 36
"""Levels before HEIR inserts bootstrapping: what a CKKS modulus at N = 2^16 carries."""

_QUIET = ("--mlir-print-op-on-diagnostic=false", "--mlir-disable-diagnostic-notes")
TIDY = (
    *("--full-loop-unroll", "--forward-insert-to-extract", "--remove-unused-pure-call"),
    *("--canonicalize", "--cse", "--symbol-dce", "--lower-affine"),
)
_PREPARE = (
    *("--inline-activations", "--activation-canonicalizations", "--linalg-canonicalizations"),
    *("--linalg-fuse-linear-ops", "--drop-unit-dims", "--fold-constant-tensors", "--canonicalize"),
    *("--symbol-dce", "--sccp", "--cse", "--linalg-canonicalizations"),
    *("--reduction-canonicalizations", "--softmax-canonicalizations"),
)
_TIDY_VECTORS = (
    *("--full-loop-unroll", "--canonicalize", "--cse", "--symbol-dce", "--lower-affine"),
)
GENERIC = "--mlir-print-op-generic"
_FILE = "module.mlir.zst"

MAX_KEPT_BYTES = 256 << 20
"""What all results in the cache folder may hold."""

_HARMLESS = "Unable to find backend attribute"
_UNPACKED = "unrealized_conversion_cast"


@dataclass(frozen=True)
class Lowering:
    """How an input module is compiled.

    Attributes:
        scheme: The scheme that it is lowered to; None: the vector level.
        slots: Slots S; None: the smallest from 1,024 that HEIR packs with.
        plain_modulus: t of BFV and BGV.
    """

    scheme: Scheme | None = None
    slots: int | None = None
    plain_modulus: int = PLAIN_MODULUS

    def options(self, slots: int) -> tuple[str, ...]:
        """Returns the passes of ``heir-opt``, printing of the generic form in."""
        packing = f"min-slot-count={slots} unroll-fhe-kernel-loops=true"
        if self.scheme is None:
            vectors = f"--mlir-to-secret-arithmetic={packing}"
            return (*_QUIET, *_PREPARE, vectors, *_TIDY_VECTORS, GENERIC)
        lowered = f"{packing} enable-split-preprocessing=false"
        if self.scheme is Scheme.CKKS:
            passes = f"--torch-linalg-to-ckks={lowered} greedy-level-budget={LEVEL_BUDGET}"
        else:
            passes = f"--mlir-to-{self.scheme}={lowered} plaintext-modulus={self.plain_modulus}"
        return (*_QUIET, passes, *TIDY, GENERIC)


def module_text(path: Path, lowering: Lowering) -> tuple[str, str]:
    """Returns a compiled module in generic form: the file's own, or what HEIR makes of it.

    Args:
        path: An input module (linalg, affine, arith, tensor), or a compiled one.
        lowering: How an input module is compiled.

    Returns:
        The text, and what errors call it.

    Raises:
        HeirError: When the file is no text, or HEIR refuses it.
        ToolError: When ``heir-opt`` is needed and not there.
    """
    data = read_bounded(path, MAX_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise HeirError(
            f"{path}: no text: give MLIR's textual form, not bytecode (leave out --emit-bytecode)"
        ) from None
    name = f"{path}"
    generic = '"builtin.module"(' in text
    if generic and ("heir.interface" in text or _is_lowered(text)):
        return text, name
    if "heir.interface" in text:
        return compiled(text, path, (*_QUIET, *TIDY, GENERIC)), f"{name} (generic form)"
    if not re.search(r"\bfunc\.func\b", text):
        raise HeirError(f"{path}: no function (func.func) in it: give a module of MLIR")
    if "secret.secret" not in text:
        raise HeirError(f"{path}: no argument is secret: mark one {{secret.secret}}")
    if lowering.slots is not None:
        return compiled(text, path, lowering.options(lowering.slots)), f"{name} (compiled)"
    slots = DEFAULT_SLOTS
    while True:
        try:
            found = compiled(text, path, lowering.options(slots))
            if _UNPACKED not in found or slots >= LARGEST_SLOTS:
                return found, f"{name} (compiled)"
        except HeirError as error:
            if slots >= LARGEST_SLOTS or not _too_few_slots(str(error)):
                raise
        slots *= 2
        progress.note(f"HEIR cannot pack {path.name} into {slots // 2} slots: trying {slots}")


def is_input(text: str) -> bool:
    """Whether a module is an input of ``heir-opt``, not a compiled one."""
    generic = '"builtin.module"(' in text
    return "heir.interface" not in text and not (generic and _is_lowered(text))


def _is_lowered(text: str) -> bool:
    """Whether HEIR, of any version, was here before."""
    return bool(
        re.search(r'"(?:secret|ckks|bgv|lwe|openfhe|lattigo|kernel|tensor_ext|mgmt)\.\w+"\(', text)
        or re.search(r"\bclient\.\w+ =", text)
    )


def _too_few_slots(message: str) -> bool:
    return _UNPACKED in message or "ended by signal" in message


@dataclass(frozen=True)
class HeirOpt:
    """The compiler that is installed.

    Attributes:
        program: Its file.
        version: Its version.
    """

    program: Path
    version: str


def heir_opt() -> HeirOpt:
    """Returns the compiler that is installed.

    Raises:
        ToolError: When ``heir_py`` is not installed, or another version is.
    """
    hint = "pip install 'ringsmith[heir]'"
    # The package is not imported: it changes how other modules are imported.
    found = importlib.util.find_spec("heir")
    if found is None or not found.submodule_search_locations:
        raise ToolError(
            f"an input module is compiled by heir-opt, and heir_py is not installed: {hint}, "
            "or give a compiled module"
        )
    version = importlib.metadata.version("heir_py")
    if version not in VERSIONS:
        raise ToolError(
            f"heir_py {version} is installed, and {' or '.join(VERSIONS)} is read: {hint}"
        )
    return HeirOpt(Path(found.submodule_search_locations[0]) / "heir-opt", version)


def compiled(text: str, path: Path, options: tuple[str, ...]) -> str:
    """What ``heir-opt`` makes of a module, or made of it before."""
    tool = heir_opt()
    key = fingerprint([f"heir_py {tool.version}", *options, text])

    def build(work: Path) -> None:
        (work / "module.mlir").write_text(text)
        _run([str(tool.program), "module.mlir", *options, "-o", "compiled.mlir"], work, path)
        compiled = work / "compiled.mlir"
        data = read_bounded(compiled, MAX_BYTES)
        (work / _FILE).write_bytes(zstandard.ZstdCompressor(level=9).compress(data))
        compiled.unlink()
        (work / "module.mlir").unlink()

    folder = built("heir", key, build, MAX_KEPT_BYTES)
    packed = (folder / _FILE).read_bytes()
    unpacked = zstandard.ZstdDecompressor().decompress(packed, max_output_size=MAX_BYTES)
    return unpacked.decode()


def _run(command: list[str], work: Path, path: Path) -> None:
    ends: list[tuple[int, str]] = []
    with progress.task(f"heir-opt compiles {path.name}", unit="seconds") as task:

        def tick() -> None:
            task.advance(0)

        run_together(
            [command],
            work,
            os.environ,
            lambda _, status, output: ends.append((status, output)),
            tick,
        )
    status, output = ends[0]
    if status:
        raise HeirError(_message(status, output, path))


def _message(status: int, output: str, path: Path) -> str:
    """What HEIR says of a module that it refuses, in one line."""
    for line in output.splitlines():
        found = re.match(r"\S*?module\.mlir:(\d+):\d+: error: (.*)", line)
        if found and _HARMLESS not in line:
            return f"{path}:{found[1]}: heir-opt refuses it: {found[2]:.300}"
    if status < 0:
        return f"{path}: heir-opt was ended by signal {-status}: double --slots, or simplify it"
    first = next((line for line in output.splitlines() if _HARMLESS not in line), "no message")
    return f"{path}: heir-opt fails with status {status}: {first:.300}"
