"""What an accelerator is given: instructions, constants, and the place of every polynomial.

An executable holds no residue of any input and no key: those are handed over at run time. It is a
JSON file, so that it can be looked at, kept and checked.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from ringsmith.arch.rpau.assembler import check_program
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.timeline import HALT
from ringsmith.errors import ProgramError

FORMAT = "ringsmith-rpau-executable"
VERSION = 2


@dataclass(frozen=True)
class KeyLoad:
    """Limbs of ``key[digit][half]`` that go to key-store ``index`` of the RPAUs in ``mask``.

    Each takes the limb of its place with ``prime_set``.
    """

    key: str
    digit: int
    half: int
    prime_set: int
    index: int
    mask: int


Places = Mapping[int, Mapping[int, int]]
"""Value -> work polynomial by RPAU."""


@dataclass(frozen=True)
class Run:
    """What the device does between two times that the host touches its memories.

    Attributes:
        words: Instruction words, ``halt`` last.
        starts: For each instruction, the cycle in which it issues, counted from the start command.
        origins: For each instruction, the HE operation that it serves.
        cycles: Clock cycles from the start command to completion.
        peak_polys: The most work polynomials in use at once in one RPAU.
        keys: What the key store must hold.
        loads: Values that the host writes before the run.
        stores: Values that the host reads after it.
    """

    words: tuple[int, ...]
    starts: tuple[int, ...]
    origins: tuple[str, ...]
    cycles: int
    peak_polys: int
    keys: tuple[KeyLoad, ...]
    loads: Places
    stores: Places


@dataclass(frozen=True)
class Executable:
    """A scheduled program of one design: one run, or several where it does not fit at once.

    The host knows polynomials as limbs of numbered values. Values that are no input came to be on
    the device and are spilled to the host between runs.

    Attributes:
        design: The design that it was scheduled for.
        primes: Prime of each limb.
        roots: The primes' 2N-th roots of unity.
        limbs: The limb at each place. Place p is RPAU p mod R with prime set p div R, R the RPAUs
            of the design; limb l has place l, and may have others beyond those of all limbs.
        constants: Constant file of each place.
        inputs: Input name -> value by limb of the input.
        outputs: Output name -> value by limb of the output.
        runs: In the order of execution.
    """

    design: RpauDesign
    primes: tuple[int, ...]
    roots: tuple[int, ...]
    limbs: tuple[int, ...]
    constants: tuple[tuple[int, ...], ...]
    inputs: Mapping[str, Mapping[int, int]]
    outputs: Mapping[str, Mapping[int, int]]
    runs: tuple[Run, ...]

    @property
    def cycles(self) -> int:
        """Clock cycles of all runs; what the host does between them is not counted."""
        return sum(run.cycles for run in self.runs)

    @property
    def words(self) -> tuple[int, ...]:
        """The instruction words of all runs."""
        return tuple(word for run in self.runs for word in run.words)

    @property
    def origins(self) -> tuple[str, ...]:
        """For each instruction of all runs, the HE operation that it serves."""
        return tuple(origin for run in self.runs for origin in run.origins)

    @property
    def starts(self) -> tuple[int, ...]:
        """For each instruction of all runs, its cycle, as if run followed run at once."""
        ends = accumulate((run.cycles for run in self.runs), initial=0)
        return tuple(
            end + cycle for run, end in zip(self.runs, ends, strict=False) for cycle in run.starts
        )

    @property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """For each instruction but ``halt``, its origin and its share of the cycles.

        Instructions overlap, so a cycle belongs to the one that was issued last: the controller
        then waits for it, or for something before it. The cycles of fetching the first instruction
        and of ``halt`` belong to the instruction beside them; all spans add up to ``cycles``.
        """
        spans: list[tuple[str, int]] = []
        begin = 0
        for origin, end in zip(self.origins, (*self.starts[1:], self.cycles), strict=True):
            if origin != HALT:
                spans.append((origin, end - begin))
            elif spans:
                spans[-1] = (spans[-1][0], spans[-1][1] + end - begin)
            begin = end
        return tuple(spans)

    @property
    def host_transfers(self) -> int:
        """Limbs of N words that cross to or from the host between two runs, keys included."""
        between = [run.stores for run in self.runs[:-1]] + [run.loads for run in self.runs[1:]]
        limbs = sum(len(places) for values in between for places in values.values())
        held: dict[int, KeyLoad] = {}
        for number, run in enumerate(self.runs):
            for load in run.keys:
                if number and held.get(load.index) != load:
                    limbs += load.mask.bit_count()
                held[load.index] = load
        return limbs

    def to_json(self) -> str:
        """The executable as a JSON file."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1)

    @staticmethod
    def from_json(text: str) -> "Executable":
        """Reads what ``to_json`` wrote.

        Raises:
            ProgramError: If the text is not an executable of this version, or does not fit its own
                design.
        """
        try:
            table: dict[str, Any] = json.loads(text)
            if (table.pop("format"), table.pop("version")) != (FORMAT, VERSION):
                raise ProgramError(
                    f"not a {FORMAT} file of version {VERSION}: compile the program again"
                )
            executable = _from_table(table)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(str(error)) from error
        check_executable(executable)
        return executable


def check_executable(executable: Executable) -> None:
    """Checks that an executable is whole and fits its own design.

    Raises:
        ProgramError: Otherwise; says where.
    """
    design = executable.design
    primes, limbs = executable.primes, executable.limbs
    if not executable.runs or len(executable.roots) != len(primes):
        raise _damaged("it has no run, or not one root a prime")
    own = limbs[: len(primes)] == tuple(range(len(primes)))
    if not own or len(limbs) > design.limbs or not set(limbs) <= set(range(len(primes))):
        raise _damaged(f"its limbs do not lie in the {design.limbs} prime sets of its design")
    if len(executable.constants) != len(limbs):
        raise _damaged("it has not one constant file a place")
    for limb, constants in zip(limbs, executable.constants, strict=True):
        if len(constants) > design.constants or not all(0 <= c < primes[limb] for c in constants):
            raise _damaged("a constant file is too long, or holds what is no residue")
    known = {place for each in executable.inputs.values() for place in _limbs(each, design)}
    for run in executable.runs:
        check_program(run.words, design)
        if not len(run.words) == len(run.starts) == len(run.origins):
            raise _damaged("its instructions, starts and origins differ in number")
        for key in run.keys:
            inside = (0 <= key.index < design.key_polys, 0 <= key.prime_set < design.prime_sets)
            if not all(inside) or key.mask >> design.rpaus:
                raise _damaged("a key lies outside the key store")
        for values in (run.loads, run.stores):
            for places in values.values():
                if any(
                    not (0 <= slot < design.work_polys and 0 <= rpau < design.rpaus)
                    for rpau, slot in places.items()
                ):
                    raise _damaged("a value lies outside the work memory")
        if not {(v, rpau) for v, places in run.loads.items() for rpau in places} <= known:
            raise _damaged("it loads a value that the host does not have")
        known |= {(v, rpau) for v, places in run.stores.items() for rpau in places}
    if not {place for each in executable.outputs.values() for place in _limbs(each, design)} <= (
        known
    ):
        raise _damaged("an output is never stored")


def _limbs(values: Mapping[int, int], design: RpauDesign) -> set[tuple[int, int]]:
    """The (value, RPAU) pairs of an input or an output."""
    return {(value, limb % design.rpaus) for limb, value in values.items()}


def _damaged(why: str) -> ProgramError:
    return ProgramError(f"damaged executable ({why}): compile the program again")


def _from_table(table: dict[str, Any]) -> Executable:
    return Executable(
        design=RpauDesign(**table["design"]),
        primes=tuple(table["primes"]),
        roots=tuple(table["roots"]),
        limbs=tuple(table["limbs"]),
        constants=tuple(tuple(values) for values in table["constants"]),
        inputs={name: _numbered(values) for name, values in table["inputs"].items()},
        outputs={name: _numbered(values) for name, values in table["outputs"].items()},
        runs=tuple(_run(entry) for entry in table["runs"]),
    )


def _run(entry: dict[str, Any]) -> Run:
    return Run(
        words=tuple(entry["words"]),
        starts=tuple(entry["starts"]),
        origins=tuple(entry["origins"]),
        cycles=int(entry["cycles"]),
        peak_polys=int(entry["peak_polys"]),
        keys=tuple(KeyLoad(**load) for load in entry["keys"]),
        loads={int(value): _numbered(places) for value, places in entry["loads"].items()},
        stores={int(value): _numbered(places) for value, places in entry["stores"].items()},
    )


def _numbered(places: dict[str, int]) -> dict[int, int]:
    """A mapping from RPAUs, whose numbers JSON made strings."""
    return {int(rpau): int(place) for rpau, place in places.items()}
