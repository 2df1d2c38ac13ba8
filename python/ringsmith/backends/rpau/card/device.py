"""Cards as a device: jobs of many threads on the coprocessors of one card or several.

A coprocessor has two jobs at a time: while one computes, the words of the next one are sent. A card
that is gone, or a list that does not end, interrupts the jobs that run there: each is started
again on another coprocessor, or on the same card when it is back, ``ATTEMPTS`` times in all.
"""

import contextlib
import time
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Condition, Thread
from typing import Protocol, cast

from ringsmith import progress
from ringsmith.backends.base import CompiledGraph, GraphResult
from ringsmith.backends.cards.interface import CARD, CardFiles, Cards, SerialPort
from ringsmith.backends.cards.port import CardPort
from ringsmith.backends.cards.socket_files import SocketPort
from ringsmith.backends.cards.xdma import XdmaFiles
from ringsmith.backends.handles import KeySet, Resident, limits_of
from ringsmith.backends.jobs import Device, Slots, Work, with_words
from ringsmith.backends.keys import AnyKey, whole_keys
from ringsmith.backends.rpau.card.lane import CardResident, Lane
from ringsmith.backends.rpau.card.lists import KeyDigests, places_of, stored_places
from ringsmith.backends.rpau.card.simulated import RpauCard
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.card import CardBus
from ringsmith.backends.rpau.device.card_table import MAGIC, VERSION_MAJOR, CardRegister
from ringsmith.backends.rpau.device.device import CAPABILITIES, RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.device.serial_line import SerialLine
from ringsmith.backends.types import NOTHING_ON_DEVICE, Design, OnDevice
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.forks import OneProcess
from ringsmith.objects import KeySwitchKey, Residues, keys_by_name

ATTEMPTS = 3
"""How often a job is started if its card is lost."""
JOBS_AHEAD = 2
"""Jobs that a coprocessor has: one that computes, and one whose words are sent."""

_CLAIM_SECONDS = 0.2
_BACK_SECONDS = 10.0
"""For how long a card that is gone is looked for again."""
_PAUSE = 0.05
_SHARE_SECONDS = 0.25
"""Between two looks whether other processes wait for an idle coprocessor."""


class Opener(Protocol):
    """How a card is reached: ``SocketPort``, ``XdmaFiles``."""

    def open(self) -> CardPort:
        """Opens it. Raises DeviceError if no card answers."""
        ...


@dataclass
class _Coprocessor:
    """A coprocessor of a card, claimed or not.

    Attributes:
        card: The card's number.
        lane: The claimed channel; None: it is not claimed now.
        jobs: Jobs that use it.
    """

    card: int
    lane: Lane | None = None
    jobs: int = 0


class CardDevice(Device):
    """Coprocessors behind cards' DMAs. Threads may share it; close it, or let it be collected.

    Several processes may use a card: each opens it for itself, claims channels when it has jobs for
    them, and gives one back when others wait and it has more than its share. A process that was
    forked later cannot use its parent's: each of the two would read the other's answers.

    Attributes:
        closed: Whether it was closed.
    """

    capabilities = CAPABILITIES
    name = CARD

    def __init__(
        self, design: RpauDesign, openers: Sequence[Opener], *, wait_seconds: float | None = None
    ) -> None:
        """Opens the cards, and checks what they say of themselves.

        Args:
            design: What their coprocessors should be.
            openers: How each is reached.
            wait_seconds: How long a job may wait for a coprocessor; None: as long as it takes.

        Raises:
            DeviceError: If no card answers, or another device.
        """
        self._design, self._openers = design, openers
        self._process = OneProcess(f"device {CARD}")
        self.closed = False
        self._digests = KeyDigests()
        self._change = Condition()
        self._ports: list[CardPort | None] = [None] * len(openers)
        self._coprocessors: list[_Coprocessor] = []
        for number in range(len(openers)):
            count = self._count_channels(self._opened(number))
            self._coprocessors += [_Coprocessor(number) for _ in range(count)]
        jobs = JOBS_AHEAD * len(self._coprocessors)
        super().__init__(slots=Slots(jobs, self._held, wait_seconds=wait_seconds))
        Thread(target=_share_idle, args=(weakref.ref(self),), daemon=True).start()

    def close(self) -> None:
        """Gives all channels back; in a forked process does nothing: they are its parent's."""
        if not self._process.is_here:
            return
        with self._change:
            self.closed = True
            ports, self._ports = self._ports, [None] * len(self._ports)
            for coprocessor in self._coprocessors:
                coprocessor.lane = None
        for port in ports:
            if port is not None:
                port.close()

    def __del__(self) -> None:
        if hasattr(self, "_coprocessors"):
            self.close()

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Runs a graph on a coprocessor; see ``Device.work``."""
        self._process.check()
        return self.work_on_residents(compiled, inputs, keys, NOTHING_ON_DEVICE)

    def work_on_residents(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        on_device: OnDevice,
    ) -> Work[GraphResult]:
        """Runs a graph where most of its residents lie; see ``Device.work_on_residents``."""
        self._process.check()
        compiled.check_made_for(self._design, self.name)
        whole = whole_keys(self.name, keys)

        def run(slot: int) -> GraphResult:
            wanted = self._nearest(on_device.inputs.values(), slot % len(self._coprocessors))
            return self._run(wanted, compiled, inputs, whole, on_device)

        return run

    # ---- residents -----------------------------------------------------------------------------

    def put_words(self, label: str, words: Residues) -> Resident:
        """Writes to the memory of the coprocessor that holds most and has space for it."""
        self._process.check()
        self._check_open(label)
        coprocessor, lane = self._claimed(self._fullest(words.size))
        try:
            found = lane.hold(self, label, (words.shape[0], words.shape[1]), limits_of(words))
            lane.put(found, words)
        finally:
            with self._change:
                coprocessor.jobs -= 1
        self._crossed(to_device=found.nbytes)
        return found

    def hold_keys(self, label: str, keys: KeySet) -> object:
        """Keeps keys on the cards, from the first job on that takes them."""
        every = keys_by_name(keys).values()
        return self._digests.pin(key.data for key in every if isinstance(key, KeySwitchKey))

    def read_resident(self, resident: CardResident) -> Residues:
        """Reads a resident, and counts its bytes.

        Raises:
            DeviceError: If the device is closed, or the card was lost.
        """
        self._process.check()
        self._check_there(resident)
        found = resident.lane.fetch(resident)
        self._crossed(to_host=resident.nbytes)
        return found

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise DeviceError(
                f"{what}: the device {self.name} was closed, and holds nothing any more: open it "
                "again, and put what you need there"
            )

    def _check_there(self, resident: CardResident) -> None:
        self._check_open(resident.label)
        if resident.lane.failed:
            raise DeviceError(
                f"{resident.label} was lost with the card {resident.lane.port.name}: put the "
                "ciphertext again, or run the program that made it"
            )

    def _nearest(self, residents: Iterable[Resident], otherwise: int) -> int:
        """The number of the coprocessor where most bytes of residents lie."""
        counted: Counter[Lane] = Counter()
        for each in residents:
            assert isinstance(each, CardResident)
            self._check_there(each)
            counted[each.lane] += each.nbytes
        if not counted:
            return otherwise
        (lane, _), *_ = counted.most_common(1)
        with self._change:
            lanes = [each.lane for each in self._coprocessors]
        return lanes.index(lane) if lane in lanes else otherwise

    def _fullest(self, words: int) -> int:
        """The number of the coprocessor that holds most and has space for that many words."""
        with self._change:
            lanes = [each.lane for each in self._coprocessors]
        held = [
            0 if lane is None else lane.store.held
            for lane in lanes
            if lane is None or lane.store.has_space(words * lane.word_bytes)
        ]
        fits = [
            number
            for number, lane in enumerate(lanes)
            if lane is None or lane.store.has_space(words * lane.word_bytes)
        ]
        return fits[held.index(max(held))] if held else 0

    def _located(
        self,
        lane: Lane,
        executable: Executable,
        inputs: Mapping[str, Residues],
        on_device: OnDevice,
    ) -> tuple[Mapping[str, Residues], OnDevice]:
        """Brings inputs to the host that lie with another coprocessor, or are outputs unchanged."""
        unchanged = {
            place
            for values in executable.outputs.values()
            for place in places_of(executable, values)
        } - stored_places(executable)
        there, brought = {}, {}
        for name, each in on_device.inputs.items():
            assert isinstance(each, CardResident)
            self._check_there(each)
            passed = unchanged.intersection(places_of(executable, executable.inputs[name]))
            if each.lane is lane and not passed:
                there[name] = each
            else:
                try:
                    brought[name] = each.read()
                except DeviceLostError as error:  # of another card than the job's
                    raise DeviceError(f"{each.label} cannot be read: {error}") from None
        return with_words(inputs, brought), OnDevice(there, on_device.keep)

    # ---- jobs ----------------------------------------------------------------------------------

    def group(self, keys: Mapping[str, AnyKey]) -> str:
        """A name for keys: a digest of their digests."""
        found = blake2b(digest_size=16)
        for name in sorted(keys):
            key = keys[name]
            if isinstance(key, KeySwitchKey):
                found.update(self._digests.of(key.data))
        return found.hexdigest()

    def reports(self) -> list[dict[str, object]]:
        """What simulated cards count; of a real one nothing."""
        self._process.check()
        return [self._opened(number).report() for number in range(len(self._openers))]

    def _held(self, slot: int) -> Collection[str]:
        lane = self._coprocessors[slot % len(self._coprocessors)].lane
        return lane.groups if lane is not None else ()

    def _run(
        self,
        wanted: int,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
        on_device: OnDevice,
    ) -> GraphResult:
        """Runs a job, again where a card is lost."""
        executable = compiled.executable
        assert isinstance(executable, Executable)  # its design is the device's
        trouble: DeviceLostError | None = None
        for started in range(ATTEMPTS):
            try:
                coprocessor, lane = self._claimed(wanted)
            except DeviceLostError as error:
                raise DeviceLostError(
                    f"no coprocessor could be claimed for the job, which was started {started} "
                    f"times before: {error}"
                ) from None
            try:
                given, there = self._located(lane, executable, inputs, on_device)
                result = lane.execute(self, compiled, given, keys, there)
            except DeviceLostError as error:
                trouble = error
                self._lost(coprocessor, lane)
            else:
                lane.groups.add(self.group(keys))
                return result
            finally:
                with self._change:
                    coprocessor.jobs -= 1
                self._share(coprocessor)
        raise DeviceLostError(
            f"the job was started {ATTEMPTS} times, and each time its card was lost; the last "
            f"time: {trouble}"
        ) from None

    # ---- claims --------------------------------------------------------------------------------

    def _claimed(self, wanted: int) -> tuple[_Coprocessor, Lane]:
        """A coprocessor for a job: the wanted one, or any other that this process has or gets."""
        deadline = time.monotonic() + _BACK_SECONDS
        with progress.task("claiming a coprocessor") as task:
            while True:
                task.advance(0)  # a cancelled job ends here
                trouble: DeviceLostError | None = None
                with self._change:
                    coprocessor = self._coprocessors[wanted]
                    try:
                        if coprocessor.lane is None or coprocessor.lane.failed:
                            self._claim(coprocessor)
                    except DeviceLostError as error:
                        trouble = error
                    if coprocessor.lane is None:  # other processes have them, or the card is gone
                        having = [each for each in self._coprocessors if each.lane is not None]
                        coprocessor = min(having, key=lambda one: one.jobs, default=coprocessor)
                    if coprocessor.lane is not None:
                        coprocessor.jobs += 1
                        return coprocessor, coprocessor.lane
                if trouble is not None and time.monotonic() > deadline:
                    raise trouble
                time.sleep(_PAUSE)

    def _claim(self, coprocessor: _Coprocessor) -> None:
        """Claims its channel, if it is free."""
        coprocessor.lane = None
        port = self._opened(coprocessor.card)
        try:
            claim = port.claim(_CLAIM_SECONDS)
            if claim is not None:
                coprocessor.lane = Lane(port, claim, self._design, self._digests)
        except DeviceLostError:
            self._forget(coprocessor.card)
            raise

    def share_idle(self) -> None:
        """Gives channels back that have nothing to do, where others wait."""
        for coprocessor in self._coprocessors:
            self._share(coprocessor)

    def _share(self, coprocessor: _Coprocessor) -> None:
        """Gives a channel back that others have a right to."""
        with self._change:
            lane = coprocessor.lane
            if lane is None or lane.failed or coprocessor.jobs or lane.store.held:
                return
            port = self._ports[coprocessor.card]
            try:
                if port is not None and port.surplus():
                    coprocessor.lane = None
                    lane.close()
            except DeviceError:
                coprocessor.lane = None

    def _lost(self, coprocessor: _Coprocessor, lane: Lane) -> None:
        """A channel, or the whole card, has been lost."""
        with self._change:
            lane.lose()
            if coprocessor.lane is lane:
                coprocessor.lane = None
                with contextlib.suppress(DeviceError):
                    lane.close()
            port = self._ports[coprocessor.card]
            if port is lane.port:
                try:
                    port.read_register(CardRegister.MAGIC)
                except DeviceError:
                    self._forget(coprocessor.card)

    def _forget(self, card: int) -> None:
        """Closes a card that does not answer; it is opened anew when it is next wanted."""
        port, self._ports[card] = self._ports[card], None
        for coprocessor in self._coprocessors:
            if coprocessor.card == card and coprocessor.lane is not None:
                coprocessor.lane.lose()
                coprocessor.lane = None
        if port is not None:
            port.close()

    def _opened(self, card: int) -> CardPort:
        """A card, opened where it is not."""
        found = self._ports[card]
        if found is None:
            found = self._openers[card].open()
            self._count_channels(found)
            self._ports[card] = found
        return found

    def _count_channels(self, port: CardPort) -> int:
        """Checks that a card is one of ours; how many coprocessors it has."""
        magic = port.read_register(CardRegister.MAGIC)
        if magic != MAGIC:
            raise DeviceError(
                f"{port.name}: no card of Ringsmith's: register magic holds {magic:#010x} and not "
                f"{MAGIC:#010x}"
            )
        major = port.read_register(CardRegister.VERSION) >> 16
        if major != VERSION_MAJOR:
            raise DeviceError(
                f"{port.name}: version {major} of the card's registers, and this Ringsmith knows "
                f"{VERSION_MAJOR}: install the Ringsmith that the card was built with"
            )
        count = port.read_register(CardRegister.COPROCESSORS)
        if count != self._design.coprocessors:
            raise DeviceError(
                f"{port.name}: the card has {count} coprocessors, and design {self._design.name} "
                f"has {self._design.coprocessors}: open it as what it is"
            )
        return count


def _share_idle(device: "weakref.ref[CardDevice]") -> None:
    """Looks now and then whether others wait for what a device does not use, while it is there."""
    while True:
        time.sleep(_SHARE_SECONDS)
        found = device()
        if found is None or found.closed:
            return
        found.share_idle()
        del found


# ---- Coprocessors of architecture ``rpau`` on boards and on cards --------------------------------


class RpauCards(Cards):
    """A device behind a serial line, or coprocessors behind a DMA."""

    def open(self, design: Design, port: SerialPort | CardFiles) -> RpauDevice | CardDevice:
        """The device on a board, or the coprocessors of cards; see ``Cards.open``."""
        point = cast("RpauDesign", design)
        if isinstance(port, CardFiles):
            openers: list[Opener] = [
                XdmaFiles(path) if Path(f"{path}_user").exists() else SocketPort(path)
                for path in port.paths
            ]
            return CardDevice(point, openers)
        bus = CardBus(SerialLine(port.path, port.baud), -(-point.word_bits // 8))
        try:
            return RpauDevice(RegisterCoprocessor(point, bus, CARD))
        except BaseException:
            bus.close()
            raise

    def simulate(self, design: Design, kind: str, memory: int) -> RpauCard:
        """Coprocessors behind a DMA; see ``Cards.simulate``."""
        point = cast("RpauDesign", design)
        if kind not in ("model", "rtl"):
            raise DeviceError(f"a simulated card has a model or rtl behind it, and no {kind!r}")
        return RpauCard(point, ModelCoprocessor if kind == "model" else RtlCoprocessor, memory)
