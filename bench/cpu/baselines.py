"""Other libraries: Lattigo, the crate ``tfhe-ntt`` and Microsoft SEAL, ready to be timed.

Lattigo and ``tfhe-ntt`` are built once from the sources in ``native``, into the cache. What runs in
a process of its own is asked for one operation at a time, and answers with its seconds.
"""

import ctypes
import hashlib
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bench.cpu.sets import ROTATION, BenchSet
from bench.cpu.timing import Timed, timed
from ringsmith.apps.seal_baseline import seal_version
from ringsmith.errors import ToolError
from ringsmith.hdl.build_cache import cache_root

_ENDING = 5.0
"""Seconds in which a child that says nothing more has ended."""
READY = "ready"
"""The line that a child prints before it is asked anything."""


@contextmanager
def asked(command: Sequence[str], names: Iterable[str], who: str) -> Iterator[dict[str, Timed]]:
    """Starts a child and asks it for operations; it ends with the block.

    The child prints ``READY``, then reads a name a line, does that once, and prints the CPU seconds
    that it took. Raises ToolError when it does not start, stops, or is killed for its memory.
    """
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        if child.stdout.readline().strip() != READY:
            raise _stopped(child, f"{who} does not start")
        try:
            yield {name: partial(_ask, child, who, name) for name in names}
        finally:
            child.stdin.close()


def _ask(child: "subprocess.Popen[str]", who: str, name: str) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        print(name, file=child.stdin, flush=True)
    except BrokenPipeError:
        raise _stopped(child, f"{who} stopped before {name}") from None
    answer = child.stdout.readline()
    if not answer:
        raise _stopped(child, f"{who} stopped in {name}")
    return float(answer)


def _stopped(child: "subprocess.Popen[str]", what: str) -> ToolError:
    """Returns the error of a child that says nothing more: an operating system kills for memory."""
    try:
        killed = child.wait(_ENDING) == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        killed = False
    if killed:
        return ToolError(
            f"{what}: it was killed for memory: name a smaller ring, or end other programs"
        )
    return ToolError(f"{what}: see its message above")


# ---- programs that are built here ----------------------------------------------------------------

SOURCES = Path(__file__).with_name("native")

_SECONDS = 600
"""After which a build is given up: a tool that waits for a network that is not there."""

_TOLD = 300
"""Characters of a tool's message that errors carry."""


def why_missing(baseline: str, tool: str, prepare: Callable[[], object]) -> str | None:
    """Returns a line that says why a baseline is left out; None where it can be measured."""
    if shutil.which(tool) is None:
        return f"{baseline} is left out: there is no {tool} on PATH"
    try:
        prepare()
    except ToolError as error:
        return f"{baseline} is left out: {error}"
    return None


def build(name: str, command: Sequence[str], product: str) -> Path:
    """Copies the sources ``native/<name>`` into the cache and runs a build command there.

    Returns the product's path; built before from the same sources, it is used again. Raises
    ToolError when the command fails, cannot be started, or takes too long.
    """
    files = sorted(path for path in (SOURCES / name).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    folder = cache_root() / f"baseline-{name}-{digest}"
    if not (folder / product).exists():
        shutil.copytree(SOURCES / name, folder, dirs_exist_ok=True)
        words = " ".join(command)
        try:
            result = subprocess.run(
                [shutil.which(command[0]) or command[0], *command[1:]],  # the one that was found
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{words} was stopped after {_SECONDS} s") from None
        except OSError as error:
            raise ToolError(f"{words} cannot be started: {error.strerror}") from None
        if result.returncode != 0 or not (folder / product).exists():
            said = " ".join(result.stderr.split())[-_TOLD:] or f"made no {product}"
            raise ToolError(f"{words} failed: {said}")
    return folder / product


# ---- Lattigo -------------------------------------------------------------------------------------


LATTIGO_OPERATIONS = (
    *("multiply_relinearize", "rotate", "rescale"),
    *("multiply", "multiply_plain", "add"),
)

LATTIGO = "Lattigo v6.2.0"
"""The module and its version."""


def lattigo_missing() -> str | None:
    """Says why Lattigo is left out; None: it can be measured. Builds it at the first call."""
    return why_missing("Lattigo", "go", lattigo_program)


def lattigo_program() -> Path:
    """Returns the program that times Lattigo; built at the first call. Raises ToolError."""
    return build("lattigo", ["go", "build", "-o", "baseline", "."], "baseline")


@contextmanager
def lattigo_operations(item: BenchSet) -> Iterator[dict[str, Timed]]:
    """Lattigo's operations, by the names of ours; none for BFV, whose variant differs.

    Raises ToolError when go cannot build the program, or it does not start.
    """
    if item.plain_modulus:
        yield {}
        return
    program = lattigo_program()
    log_n = item.n.bit_length() - 1
    arguments = [str(number) for number in (log_n, item.special, *item.primes)]
    command = [str(program), *arguments]
    with asked(command, LATTIGO_OPERATIONS, f"Lattigo with set {item.name}") as found:
        yield found


# ---- tfhe-ntt ------------------------------------------------------------------------------------


TFHE = "tfhe-ntt 0.7.1"
"""The crate and its version."""


def tfhe_missing() -> str | None:
    """Says why the crate is left out; None: it can be measured. Builds it at the first call."""
    return why_missing("tfhe-ntt", "cargo", _tfhe)


def _tfhe() -> Path:
    return build(
        "tfhe_ntt", ["cargo", "build", "--release", "--quiet"], "target/release/libbaseline_ntt.so"
    )


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_tfhe()))
    for bits in (32, 64):
        getattr(library, f"plan_{bits}").restype = ctypes.c_void_p
    return library


def tfhe_transforms(n: int, q: int) -> dict[str, Timed]:
    """Both transforms of one limb in place, in the narrowest words that the crate has.

    Raises ToolError when cargo cannot build the crate.
    """
    library = _library()
    bits = 32 if q < 1 << 32 else 64
    word = ctypes.c_uint32 if bits == 32 else ctypes.c_uint64
    plan = ctypes.c_void_p(getattr(library, f"plan_{bits}")(ctypes.c_size_t(n), word(q)))
    if not plan.value:
        return {}
    limb = np.random.default_rng(0).integers(0, q, n, dtype=np.uint64)
    limb = limb.astype(np.uint32 if bits == 32 else np.uint64)
    pointer = ctypes.c_void_p(limb.ctypes.data)
    arguments = (plan, pointer, ctypes.c_size_t(n))

    def run(name: str, keep: object) -> object:
        return getattr(library, f"{name}_{bits}")(*arguments), keep

    return {
        "ntt": timed(partial(run, "forward", limb)),
        "intt": timed(partial(run, "inverse", limb)),
    }


# ---- Microsoft SEAL ------------------------------------------------------------------------------


def seal_name() -> str:
    """``seal-python`` and its version."""
    return f"seal-python {seal_version()}"


def seal_operations(item: BenchSet) -> dict[str, Timed]:
    """SEAL's operations, by the names of ours; none for keys that SEAL cannot make."""
    if item.special != 1 or item.dnum:
        return {}
    import seal

    scheme = seal.scheme_type.bfv if item.plain_modulus else seal.scheme_type.ckks
    raw = seal.EncryptionParameters(scheme)
    raw.set_poly_modulus_degree(item.n)
    raw.set_coeff_modulus([seal.Modulus(q) for q in item.primes])
    if item.plain_modulus:
        raw.set_plain_modulus(item.plain_modulus)
    context = seal.SEALContext(raw, True, seal.sec_level_type.none)
    generator = seal.KeyGenerator(context)
    evaluator = seal.Evaluator(context)
    encryptor = seal.Encryptor(context, generator.create_public_key())
    relin_keys = generator.create_relin_keys()
    galois_keys = seal.GaloisKeys()
    generator.create_galois_keys([ROTATION], galois_keys)
    plain = seal.Plaintext()
    if item.plain_modulus:
        plain = seal.BatchEncoder(context).encode(np.arange(item.n, dtype=np.int64))
    else:
        seal.CKKSEncoder(context).encode([0.5] * (item.n // 2), 2.0**20, plain)
    a, b = encryptor.encrypt(plain), encryptor.encrypt(plain)

    def multiply_relinearize() -> object:
        return evaluator.relinearize(evaluator.multiply(a, b), relin_keys)

    rotate = evaluator.rotate_rows if item.plain_modulus else evaluator.rotate_vector
    work: dict[str, Callable[[], object]] = {
        "multiply_relinearize": multiply_relinearize,
        "rotate": partial(rotate, a, ROTATION, galois_keys),
        "add": partial(evaluator.add, a, b),
    }
    if not item.plain_modulus:
        work["rescale"] = partial(evaluator.rescale_to_next, a)
        work["multiply"] = partial(evaluator.multiply, a, b)
        work["multiply_plain"] = partial(evaluator.multiply_plain, a, plain)
    return {name: timed(function) for name, function in work.items()}
