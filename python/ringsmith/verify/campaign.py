"""A campaign: from its programs' numbers to what they found, and its report.

Each program has a number. Its seed follows from the campaign's seed and that number alone, and it
runs on a device of its own: a program that fails fails again alone, whichever worker it ran on.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ringsmith import progress
from ringsmith.backends.inspector import Verification
from ringsmith.backends.registry import inspector_of, source_files
from ringsmith.backends.types import Design
from ringsmith.engines import Work, check, engine
from ringsmith.errors import DeviceError, InteropError, ParameterError
from ringsmith.files.json_text import Lines
from ringsmith.hdl.sources import rtl_root, sim_root
from ringsmith.lower import lower_operation

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Campaign:
    """Random programs of a design.

    Attributes:
        design: The design.
        device: What is compared, such as ``rtl``.
        seed: What programs follow from, with their numbers; not negative.
    """

    design: Design
    device: str
    seed: int

    def seed_of(self, number: int) -> int:
        """The seed of a program."""
        return int(np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0])

    def verification(self) -> Verification:
        """What draws and runs programs.

        Raises:
            DeviceError: If the design has no such device; names those that it has.
            ProgramError: If its architecture has no random programs.
        """
        inspector = inspector_of(self.design, "has no random programs")
        if inspector.verified and self.device not in inspector.verified:
            raise DeviceError(
                f"device {self.device!r} of {self.design.name} is not verified: choose one of "
                f"{', '.join(inspector.verified)}"
            )
        return inspector.verification(self.design, self.device, lower_operation)

    @property
    def sources(self) -> str:
        """A digest of model, compiler and RTL, on which results depend, too."""
        files = source_files(self.design.architecture)
        for root in (rtl_root(), sim_root()):
            files += sorted(each for each in root.rglob("*") if each.is_file())
        found = sha256()
        for path in files:
            found.update(sha256(path.read_bytes()).digest())
        return found.hexdigest()[:16]

    @property
    def identity(self) -> str:
        """A digest of design, device and seed."""
        return sha256(repr(asdict(self)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Ran:
    """What a program found.

    Attributes:
        number: The program.
        equal: What was found equal: name in the plural -> how many; empty where it differs.
        difference: What differs; empty: nothing.
    """

    number: int
    equal: Mapping[str, int] = field(default_factory=dict)
    difference: str = ""

    def to_row(self) -> dict[str, Any]:
        """The program as JSON has it."""
        return asdict(self)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Ran":
        """The program of a row.

        Raises:
            InteropError: If it is not valid.
        """
        try:
            equal = {str(name): int(count) for name, count in row["equal"].items()}
            return cls(int(row["number"]), equal, str(row["difference"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InteropError(f"a row of a record is no program: {error}") from None


def work_of(campaign: Campaign) -> Work[Campaign, int, Ran]:
    """What workers know and do; a job is a program's number."""
    return Work(campaign, _started, _named)


def _started(campaign: Campaign) -> Callable[[int], Ran]:
    verification = campaign.verification()

    def run(number: int) -> Ran:
        try:
            return Ran(number, verification.run(campaign.seed_of(number)))
        except DeviceError as error:
            return Ran(number, difference=str(error))

    return run


def _named(number: int) -> str:
    return f"program {number}"


@dataclass(frozen=True)
class Report:
    """What a campaign found.

    Attributes:
        campaign: The campaign.
        programs: What its programs are, in the plural.
        ran: Every program that ran, by its number.
    """

    campaign: Campaign
    programs: str
    ran: tuple[Ran, ...]

    @property
    def failures(self) -> tuple[Ran, ...]:
        """Programs that differ."""
        return tuple(each for each in self.ran if each.difference)

    @property
    def equal(self) -> dict[str, int]:
        """What was found equal, over all programs."""
        total: dict[str, int] = {}
        for each in self.ran:
            for name, count in each.equal.items():
                total[name] = total.get(name, 0) + count
        return total

    def lines(self, design: str) -> Iterator[str]:
        """What was found, for people.

        Args:
            design: How the design was named, in the command that runs a program again.
        """
        own = self.campaign
        where = f"{own.design.name}, device {own.device}, seed {own.seed}"
        device = "" if own.device == "rtl" else f" --device {own.device}"
        for each in self.failures:
            yield f"{where}, program {each.number}: {each.difference}"
            again = f"{design} --seed {own.seed}{device} --only {each.number}"
            yield f"  again: ringsmith verify {again}"
        counts = ", ".join(f"{count:,} {name}" for name, count in self.equal.items())
        good = len(self.ran) - len(self.failures)
        yield f"{where}: {good:,} of {len(self.ran):,} {self.programs} as they should be" + (
            f": {counts}" if counts else ""
        )


FORMAT = "ringsmith-verify"
VERSION = 1
_HEAD = {"format": FORMAT, "version": VERSION}


def run_campaign(
    campaign: Campaign,
    numbers: Sequence[int],
    *,
    engine_name: str = "processes",
    workers: int = 1,
    record: Path | None = None,
) -> Report:
    """Runs programs of a campaign, those that a record has not.

    The first one runs here: it builds the simulation, which workers of this machine then find.

    Args:
        campaign: The campaign.
        numbers: The programs.
        engine_name: What runs programs.
        workers: Worker processes.
        record: A file of what programs found, which is gone on from; None: none is kept.

    Raises:
        DeviceError: If the design has no such device.
        ProgramError: If the design's architecture has no random programs.
        ParameterError: If an option is wrong.
        InteropError: If the record is another campaign's.
        ToolError: If a tool or an engine is missing or fails, or workers die.
    """
    if not numbers:
        raise ParameterError("no programs: give --programs N, at least 1")
    check(engine_name, workers)
    verification = campaign.verification()
    lines = _record(record, campaign)
    known = {each.number: each for each in map(Ran.of_row, lines.rows)}
    left = [number for number in numbers if number not in known]
    what = f"verifying {campaign.design.name} on {campaign.device}"
    with progress.task(what, len(left), verification.programs) as task:

        def found(each: Ran) -> None:
            known[each.number] = each
            lines.add(each.to_row())
            task.advance()

        work = work_of(campaign)
        own = work.start(campaign)
        if left:
            found(own(left.pop(0)))
        if left:
            started = engine(engine_name, work, min(workers, len(left)), own)
            try:
                for _, each in started.run(left):
                    found(each)
            finally:
                started.close()
    ran = tuple(known[number] for number in sorted(numbers))
    return Report(campaign, verification.programs, ran)


def _record(path: Path | None, campaign: Campaign) -> Lines:
    """Opens the file of a campaign's programs; writes its header if it is new."""
    lines = Lines(path, _HEAD, "verified programs")
    if (head := lines.head) is not None:
        if head.get("identity") != campaign.identity:
            raise InteropError(
                f"{path} is a record of another campaign (seed {head.get('seed')} of "
                f"{head.get('name')} on {head.get('device')}): give another file, or the same "
                "options"
            )
        if head.get("sources") != campaign.sources:
            raise InteropError(
                f"{path} is of another version of the RTL, model or compiler: give another file"
            )
    elif path is not None:
        lines.begin(
            {
                "identity": campaign.identity,
                "sources": campaign.sources,
                "name": campaign.design.name,
                "device": campaign.device,
                "seed": campaign.seed,
            }
        )
    return lines


def to_json(report: Report) -> str:
    """A report as JSON."""
    campaign = report.campaign
    values = asdict(cast("DataclassInstance", campaign.design))
    content = {
        **_HEAD,
        "design": {"architecture": campaign.design.architecture, **values},
        "device": campaign.device,
        "seed": campaign.seed,
        "programs": len(report.ran),
        "equal": report.equal,
        "failures": [each.to_row() for each in report.failures],
    }
    return json.dumps(content, indent=1) + "\n"
