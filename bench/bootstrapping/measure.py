"""``ringsmith bench bootstrapping``: seconds, precision and memory, compared with other libraries.

Each library runs in a process of its own, on one thread, with true keys. It is asked by lines, and
answers each with a number:

- ``seconds``: bootstraps complex numbers of magnitudes up to 1 in all slots: CPU time;
- ``worst``, ``rms``: errors of the last result, over all slots;
- ``levels``: multiplications that are left after it;
- ``gigabytes``: memory, when all has run.
"""

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

from bench.bootstrapping.ours import set_of
from bench.cpu.baselines import LATTIGO, asked, lattigo_missing, lattigo_program
from bench.cpu.timing import Timed, interleaved
from bench.measure import OURS
from bench.record import Record, machine_state
from bench.run import Run
from ringsmith.backends.registry import REFERENCE
from ringsmith.errors import ParameterError, ToolError
from ringsmith.params import CkksParameters
from ringsmith.params.sets import CKKS_SETS
from ringsmith.progress import task

QUESTIONS = ("seconds", "worst", "rms", "levels", "gigabytes")
FEWEST_BITS = 8.0
"""Bits of precision below which a result is wrong, not imprecise."""


@dataclass(frozen=True)
class BenchSet:
    """A parameter set that bootstraps, in a ring of 2^log_n.

    Attributes:
        set: The name of the set.
        log_n: log2 N.
    """

    set: str
    log_n: int

    @classmethod
    def of(cls, text: str) -> "BenchSet":
        """Reads ``boot-64``, or ``boot-64@12`` for another ring. Raises ParameterError."""
        name, _, ring = text.partition("@")
        sets = {str(each): maker() for each, maker in CKKS_SETS.items() if "boot" in each}
        if name not in sets:
            raise ParameterError(
                f"no set that bootstraps is called {name}: choose from {', '.join(sets)}"
            )
        own = sets[name].n.bit_length() - 1
        if ring and (not ring.isdecimal() or not 10 <= int(ring) <= own):
            raise ParameterError(f"{text}: give log2 N of 10 … {own} after the @")
        return cls(name, int(ring or own))

    @property
    def parameters(self) -> CkksParameters:
        """The set in that ring."""
        return set_of(self.set, self.log_n)

    @property
    def text(self) -> str:
        """How records call it."""
        return f"{self.set}, N = 2^{self.log_n}"

    @property
    def levels(self) -> int:
        """Levels of programs."""
        return self.parameters.ladder.index(self.parameters.working_limbs)

    def level_bits(self) -> list[int]:
        """Bits of each level's modulus over that of the level below, from q_0."""
        of = self.parameters
        moduli = [math.prod(of.data_primes[:limbs]) for limbs in (0, *of.ladder)]
        return [round(math.log2(b // a)) for a, b in pairwise(moduli)]


# ---- what is asked -----------------------------------------------------------------------------


def _script(name: str) -> str:
    return str(Path(__file__).with_name(f"{name}.py"))


def ours(item: BenchSet) -> list[str]:
    """The command that runs ours."""
    return [sys.executable, _script("ours"), item.set, str(item.log_n)]


def lattigo(item: BenchSet) -> list[str]:
    """The command that runs Lattigo's bootstrapping with levels of our sizes, in words of 64 bits.

    Special primes are as many of 61 bits as have at most our size together. Of EvalMod the sizes
    are ours and Lattigo's.
    """
    stages, bits = item.parameters.bootstrapping, item.level_bits()
    assert stages is not None
    program, to_slots = item.levels + 1, len(bits) - stages.coeffs_to_slots
    special = math.log2(math.prod(item.parameters.special_primes))
    to_coefficients = bits[program : program + stages.slots_to_coeffs]
    lists = (
        [bits[0], *[round(math.log2(item.parameters.scale))] * item.levels],
        [max(to_coefficients)] * len(to_coefficients),
        bits[to_slots:],
        [61] * int(special / 61),
    )
    words = [",".join(map(str, each)) for each in lists]
    return [str(lattigo_program()), "bootstrap", str(item.log_n), *words]


def openfhe(item: BenchSet, python: str) -> list[str]:
    """The command that runs OpenFHE's bootstrapping with as many levels left."""
    stages = item.parameters.bootstrapping
    assert stages is not None
    numbers = (item.log_n, item.levels, stages.coeffs_to_slots, stages.slots_to_coeffs)
    script = _script("openfhe_baseline")
    words = ["env", "OMP_NUM_THREADS=1", python or sys.executable, script]
    return [*words, *map(str, numbers)]


def openfhe_version(python: str) -> str:
    """Returns the version of a Python's package openfhe. Raises ToolError when it has none."""
    left_out = f"OpenFHE is left out: {python or 'this Python'}"
    program = shutil.which(python or sys.executable)
    if program is None:
        raise ToolError(f"{left_out} is not on PATH")
    code = "import openfhe, importlib.metadata as m; print(m.version('openfhe'))"
    done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(
            f"{left_out} has no package openfhe: pip install openfhe, or name another Python "
            "with --set openfhe_python=PATH"
        )
    return done.stdout.strip()


# ---- the part ----------------------------------------------------------------------------------


def bootstrap(run: Run) -> Iterator[Record]:
    """Bootstrappings of parameter sets.

    Values of the part: ``sets``, names, with ``@`` and log2 N for another ring; ``budget``, seconds
    for each set; ``openfhe_python``, a Python that has OpenFHE, if not this one. Raises
    ParameterError when there is no such set; ToolError when a result is wrong.
    """
    items = [BenchSet.of(text) for text in run["sets"]]
    python = run["openfhe_python"]
    there: dict[str, Callable[[BenchSet], list[str]]] = {OURS: ours}
    if (missing := lattigo_missing()) is None:
        there[LATTIGO] = lattigo
    else:
        run.say(missing)
    try:
        there[f"OpenFHE {openfhe_version(python)}"] = partial(openfhe, python=python)
    except ToolError as error:
        run.say(str(error))
    with task("bootstrapping", len(items), "sets") as counted:
        for item in items:
            commands = {name: command(item) for name, command in there.items()}
            yield from compared(item, commands, run["budget"])
            counted.advance()


def compared(item: BenchSet, commands: Mapping[str, list[str]], budget: float) -> Iterator[Record]:
    """Records of one set: of every library, and how much faster ours is."""
    with ExitStack() as children:
        found = {
            name: children.enter_context(asked(command, QUESTIONS, f"{name}, {item.text}"))
            for name, command in commands.items()
        }
        seconds = {name: answers["seconds"] for name, answers in found.items()}
        mine = seconds.pop(OURS)
        times = interleaved(mine, seconds, budget) if seconds else {}
        for name, comparison in times.items():
            yield _record(item, "speedup", comparison.speedup, name)
            yield _record(item, "seconds", comparison.baseline_seconds, name)
        own = [each.seconds for each in times.values()] or [mine() for _ in range(4)][1:]
        yield _record(item, "seconds", median(own), OURS)
        for name, answers in found.items():
            yield from _answers(item, name, answers)


def _answers(item: BenchSet, name: str, answers: Mapping[str, Timed]) -> Iterator[Record]:
    """Records of a library but for its time. Raises ToolError when its result is wrong."""
    worst, rms = (-math.log2(answers[error]()) for error in ("worst", "rms"))
    if not worst >= FEWEST_BITS:
        raise ToolError(f"{name}, {item.text}: the worst slot is right to {worst:.1f} bits only")
    yield _record(item, "bits", worst, name)
    yield _record(item, "bits_rms", rms, name)
    yield _record(item, "levels", answers["levels"](), name)
    yield _record(item, "gigabytes", answers["gigabytes"](), name)


_MEMORY: Mapping[str, str] = {LATTIGO: "the heap after garbage collection"}


def _record(item: BenchSet, metric: str, value: float, name: str) -> Record:
    text = f"one thread, true keys, all slots compared, CPU time, {machine_state()}"
    if metric == "gigabytes":
        text = _MEMORY.get(name, "resident memory that the process has more than before it began")
    return Record(REFERENCE, item.text, "bootstrap", metric, value, REFERENCE, text, name)
