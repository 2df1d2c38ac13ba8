"""A claimed channel of a card and its coprocessor: one job computes while the next one is sent."""

import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Condition, Lock
from typing import Protocol

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import CompiledGraph, GraphResult, RunReport
from ringsmith.backends.cards.port import CardPort, Claim
from ringsmith.backends.handles import Resident, limits_of
from ringsmith.backends.keys import check_seed
from ringsmith.backends.rpau.card.bus import PortBus
from ringsmith.backends.rpau.card.descriptor import DESCRIPTOR_BYTES, ERROR_TEXT, Error, word_bytes
from ringsmith.backends.rpau.card.lists import (
    JobLayout,
    KeyDigests,
    KeyImage,
    Place,
    Primes,
    RunLists,
    Table,
    constant_loads,
    places_of,
    prime_loads,
    stored_places,
    table_bytes,
    table_list,
    word_type,
)
from ringsmith.backends.rpau.card.store import Block, CardStore
from ringsmith.backends.rpau.compiler.executable import Executable, Run
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import seed_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.card_table import (
    CHANNEL_BYTES,
    CHANNELS,
    ChannelControl,
    ChannelRegister,
    ChannelStatus,
)
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.types import OnDevice
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import KeySwitchKey, Residues

PAGE = 4096
"""Bytes of a page of registers."""

_LOOK = 0.05  # seconds after which the registers are looked at, whether an interrupt came or not
_STOPS = 200  # polls a channel that is being stopped


@dataclass
class _Contents:
    """What a coprocessor holds, as far as its host knows."""

    primes: Primes | None = None
    constants: tuple[tuple[int, ...], ...] | None = None
    conversions: dict[int, tuple[int, ...]] = field(default_factory=dict)
    program: Run | None = None
    keys: dict[int, tuple[object, bytes]] = field(default_factory=dict)
    seeds: dict[int, tuple[object, bytes]] = field(default_factory=dict)


@dataclass
class _Traffic:
    """What a job moved, and when it got where, in seconds of the host's clock."""

    to_card: int = 0
    to_host: int = 0
    streamed: int = 0
    key_words: int = 0
    put_back: int = 0
    cycles: int = 0
    marks: list[tuple[str, float]] = field(default_factory=list)

    def mark(self, what: str) -> None:
        """Notes that a part of the job has ended."""
        self.marks.append((what, time.monotonic()))

    def stages(self) -> dict[str, float]:
        """Seconds of each part."""
        found: dict[str, float] = {}
        for (_, before), (what, after) in zip(self.marks, self.marks[1:], strict=False):
            found[what] = found.get(what, 0.0) + after - before
        return found


class Owner(Protocol):
    """A device of cards, as what lies there has it."""

    def read_resident(self, resident: "CardResident") -> Residues:
        """Reads a resident, and counts its bytes."""
        ...


class Lane:
    """A channel of a card, claimed; threads may share it.

    A job's words are written to the card while the job before computes, and its results are read
    while the next one does. Programs run in the order in which jobs came.

    Attributes:
        failed: Whether it is lost.
        groups: Names of keys that jobs here have used, for the choice of the next job.

    Args:
        port: The card.
        claim: The channel.
        design: What the coprocessor should be.
        digests: Of keys, shared by all lanes.

    Raises:
        DeviceError: If the coprocessor is of another design, or does not come out of its reset.
    """

    def __init__(
        self, port: CardPort, claim: Claim, design: RpauDesign, digests: KeyDigests
    ) -> None:
        self.port, self.claim, self._design, self._digests = port, claim, design, digests
        self._registers = CHANNELS + CHANNEL_BYTES * claim.channel
        self._stop()
        bus = PortBus(port, PAGE * (claim.channel + 1))
        self._device = RegisterCoprocessor(design, bus, "card")
        self.store = CardStore(claim, digests.is_pinned)
        self._contents = _Contents()
        self._preparing = Lock()
        self._turns = Condition()
        self._queue: list[object] = []
        self.failed = False
        self.groups: set[str] = set()

    @property
    def word_bytes(self) -> int:
        """Bytes of a word in the card's memory."""
        return word_bytes(self._design)

    # ---- what stays ----------------------------------------------------------------------------

    def hold(
        self, device: Owner, label: str, shape: tuple[int, int], below: Sequence[int]
    ) -> "CardResident":
        """Allocates memory for a polynomial's residues and writes nothing.

        Raises:
            DeviceError: If the memory does not suffice, or the card's words are too narrow.
        """
        width = self.word_bytes
        if max(below, default=0) > 1 << 8 * width:
            raise DeviceError(
                f"{label} has residues of {(max(below) - 1).bit_length()} bits, and the card of "
                f"design {self._design.name} words of {8 * width}: take parameters for this design"
            )
        block = self.store.hold(shape[0] * shape[1] * width, label)
        return CardResident(device, self, block, label, shape, below)

    def put(self, resident: "CardResident", words: Residues) -> None:
        """Writes a polynomial's residues."""
        content = words.astype(word_type(self._design)).tobytes()
        self.port.write_memory(resident.block.address, content)

    def fetch(self, resident: "CardResident") -> Residues:
        """Reads a polynomial's residues."""
        raw = self.port.read_memory(resident.block.address, resident.nbytes)
        words = np.frombuffer(raw, dtype=word_type(self._design)).astype(np.uint64)
        return words.reshape(resident.shape)

    def _outputs_to_keep(
        self, device: Owner, executable: Executable, keep: Collection[str], graph: SubroutineGraph
    ) -> "dict[str, CardResident]":
        """Memory for outputs that stay, but for those that no list writes to a block of its own.

        Such an output is an input as it came, or another output too.
        """
        stored = stored_places(executable)
        counted = Counter(
            place
            for values in executable.outputs.values()
            for place in places_of(executable, values)
            if place in stored
        )
        return {
            name: self.hold(
                device,
                f"output {name!r}",
                (len(kind.base), graph.n),
                [graph.primes[limb] for limb in kind.base],
            )
            for name, kind in graph.outputs.items()
            if name in keep
            and all(counted[each] == 1 for each in places_of(executable, executable.outputs[name]))
        }

    # ---- jobs ----------------------------------------------------------------------------------

    def execute(
        self,
        device: Owner,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
        on_device: OnDevice,
    ) -> GraphResult:
        """Runs an executable; see ``Device.execute``.

        Inputs that lie on the device lie in this lane's memory, and no output is one as it came.
        """
        executable = compiled.executable
        assert isinstance(executable, Executable)  # its design is the device's
        traffic = _Traffic()
        traffic.mark("begin")
        kept = self._outputs_to_keep(device, executable, on_device.keep, compiled.graph)
        layout = JobLayout(
            executable,
            _addresses(executable, executable.inputs, on_device.inputs),
            _addresses(executable, executable.outputs, kept),
        )
        ticket = object()
        with ExitStack() as held:
            with self._preparing:
                job = held.enter_context(self.store.taken(layout.size))
                images = self._keys(executable, keys, held, traffic)
                raw, runs = layout.lists(job.address, images)
                sent = layout.upload(inputs, raw)
                self.port.write_memory(job.address, sent)
                traffic.to_card += len(sent)
                traffic.mark("to_card")
                with self._turns:
                    self._queue.append(ticket)
            with self._turn(ticket):
                traffic.mark("wait")
                self._load(executable, keys, traffic)
                traffic.mark("tables")
                for run in runs:
                    self._run(executable, run, keys, traffic)
                traffic.mark("compute")
            first, end = layout.received
            received = self.port.read_memory(job.address + first, end - first)
        traffic.to_host += len(received)
        outputs = layout.outputs(received)
        for name in set(on_device.keep) - kept.keys():
            kept[name] = again = self.hold(
                device, f"output {name!r}", outputs[name].shape, limits_of(outputs[name])
            )
            self.put(again, outputs[name])
            traffic.to_card += again.nbytes
            traffic.put_back += again.nbytes
        cycles = sum(layout.record(received, number).cycles for number in range(len(runs)))
        traffic.mark("to_host")
        graph = compiled.graph
        limbs = sum(len(graph.inputs[name].base) for name in graph.inputs.keys() - on_device.inputs)
        words_back = sum(words.size for words in outputs.values())
        report = RunReport(
            cycles,
            executable.instructions,
            host_transfers=executable.host_transfers,
            spilled_words=executable.spilled_words,
            key_words=traffic.key_words,
            bytes_to_device=traffic.to_card,
            bytes_to_host=traffic.to_host,
            input_bytes=limbs * graph.n * self.word_bytes + traffic.put_back,
            output_bytes=words_back * self.word_bytes,
            bytes_streamed=traffic.streamed,
            stages=traffic.stages(),
        )
        others = {name: words for name, words in outputs.items() if name not in kept}
        return GraphResult(others, report, {**kept})

    def close(self) -> None:
        """Gives the channel back."""
        try:
            self.port.release(self.claim.channel)
        except DeviceError:
            self.failed = True

    # ---- before a program ----------------------------------------------------------------------

    def _keys(
        self,
        executable: Executable,
        keys: Mapping[str, KeySwitchKey],
        held: ExitStack,
        traffic: _Traffic,
    ) -> dict[str, tuple[KeyImage, int]]:
        """Sees to it that keys lie in the card's memory, where they stay while the job runs."""
        found = {}
        loads = [load for run in executable.runs for load in run.keys]
        for name in dict.fromkeys(load.key for load in loads):
            key = keys[name]
            picture = KeyImage.of(executable, name, key, loads)

            def fill(at: int, key: Residues = key.data, picture: KeyImage = picture) -> None:
                content = picture.content(key, self._design)
                self.port.write_memory(at, content)
                traffic.to_card += len(content)

            kept = (self._digests.of(key.data), picture.halves, picture.base, picture.poly_bytes)
            block = held.enter_context(self.store.kept(kept, picture.size, fill))
            found[name] = (picture, block.address)
        return found

    @contextmanager
    def _turn(self, ticket: object) -> Iterator[None]:
        """Waits for a job's turn on the coprocessor, and ends it."""
        with progress.task("waiting for the coprocessor") as task:
            try:
                with self._turns:
                    while self._queue[0] is not ticket and not self.failed:
                        self._turns.wait(_LOOK)
                        task.advance(0)
                if self.failed:
                    raise DeviceLostError(
                        f"channel {self.claim.channel} of the card {self.port.name} was lost"
                    )
                yield
            finally:
                with self._turns:
                    self._queue.remove(ticket)
                    self._turns.notify_all()

    def _load(
        self, executable: Executable, keys: Mapping[str, KeySwitchKey], traffic: _Traffic
    ) -> None:
        """Writes the tables that the coprocessor lacks."""
        contents, primes = self._contents, Primes.of(executable)
        if contents.primes is None or contents.primes.log_degree != primes.log_degree:
            self._contents = contents = _Contents()
            self._device.set_ring(executable.log_degree)
        if contents.primes != primes:
            contents.primes = contents.constants = None
            contents.keys.clear()
            contents.seeds.clear()
            self._write_tables(("primes", primes), lambda: prime_loads(executable), traffic)
            contents.primes = primes
        if contents.constants != executable.constants:
            contents.constants = None
            name = ("constants", executable.constants, executable.order)
            self._write_tables(name, lambda: constant_loads(executable), traffic)
            contents.constants = executable.constants
        for index, words in enumerate(executable.conversions):
            if contents.conversions.get(index) != words:
                contents.conversions.pop(index, None)
                self._device.write(
                    AddressSpace.CONVERSION, 0, index, np.array(words, dtype=np.uint64)
                )
                traffic.to_card += 8 * len(words)
                contents.conversions[index] = words

    def _write_tables(
        self, name: object, tables: Callable[[], Sequence[Table]], traffic: _Traffic
    ) -> None:
        """Writes tables by a list, which is kept in the card's memory."""
        made = tables()
        before = table_bytes(self._design, made)
        size = before + len(made) * DESCRIPTOR_BYTES

        def fill(at: int) -> None:
            content = table_list(self._design, made, at)
            self.port.write_memory(at, content)
            traffic.to_card += len(content)

        with self.store.kept(("tables", name), size, fill) as block:
            self._carry_out(block.address + before, len(made), 10.0)
        traffic.streamed += before

    def _run(
        self,
        executable: Executable,
        lists: RunLists,
        keys: Mapping[str, KeySwitchKey],
        traffic: _Traffic,
    ) -> None:
        """Runs one run: its program, and its list, with the keys that are not there yet."""
        contents, run = self._contents, lists.run
        if contents.program is not run:
            contents.program = None
            self._device.load_program(np.array(run.words, dtype=np.uint64))
            traffic.to_card += 8 * len(run.words)
            contents.program = run
        self._load_seeds(executable, run, keys, traffic)
        wanted = [(load.index, (load, self._digests.of(keys[load.key].data))) for load in run.keys]
        resident = all(contents.keys.get(index) == key for index, key in wanted)
        address, count = lists.resident if resident else lists.streamed
        for index, _ in () if resident else wanted:
            contents.keys.pop(index, None)
        self._carry_out(address, count, self.port.patience)
        contents.keys |= dict(wanted)
        traffic.streamed += lists.operand_bytes + lists.result_bytes
        if not resident:
            traffic.streamed += lists.key_bytes
            size = min(executable.n, executable.design.n)
            traffic.key_words += size * sum(load.mask.bit_count() for load in run.keys)

    def _load_seeds(
        self,
        executable: Executable,
        run: Run,
        keys: Mapping[str, KeySwitchKey],
        traffic: _Traffic,
    ) -> None:
        """Writes the seeds that the coprocessor lacks, by registers."""
        held = self._contents.seeds
        for load in run.seeds:
            key = keys[load.key]
            if key.seed is not None and held.get(load.index) == (load, key.seed):
                continue
            held.pop(load.index, None)
            for rpau in bits_of(load.mask):
                limb = executable.limbs[executable.order.slot(load.modulus_bank, rpau)]
                seed = check_seed(load.key, key, limb, executable.primes[limb])
                words = seed_words(seed, limb)
                self._device.write(AddressSpace.SEED, rpau, load.index, words)
                traffic.to_card += 8 * words.size
                traffic.key_words += words.size
            held[load.index] = (load, seed)

    # ---- the channel ---------------------------------------------------------------------------

    def _carry_out(self, address: int, count: int, seconds: float) -> None:
        """Has the channel work through a list, and waits for its end."""
        port, at = self.port, self._registers
        port.write_words(at + ChannelRegister.LIST, np.array([address], dtype=np.uint64))
        port.write_register(at + ChannelRegister.CONTROL, ChannelControl.GO)
        deadline = time.monotonic() + seconds
        with progress.task("running on the card") as task:
            try:
                while self._runs():
                    task.advance(0)  # a cancelled job ends here
                    if time.monotonic() > deadline:
                        raise DeviceLostError(
                            f"channel {self.claim.channel} of the card {port.name} has not ended "
                            f"its list after {seconds:g} seconds: the coprocessor was reset"
                        )
            except BaseException:
                self._recover()
                raise
        if port.read_register(at + ChannelRegister.STATUS) & ChannelStatus.FAILED:
            error = Error(port.read_register(at + ChannelRegister.ERROR))
            completed = port.read_register(at + ChannelRegister.COMPLETED)
            self._recover()
            raise DeviceError(
                f"channel {self.claim.channel} of the card {port.name} has stopped at descriptor "
                f"{completed + 1} of {count}: {ERROR_TEXT[error]}"
            )

    def _runs(self) -> bool:
        """Whether the channel runs, after its next interrupt or a little while."""
        self.port.wait_interrupt(self.claim.channel, _LOOK)
        self.port.write_register(self._registers + ChannelRegister.REPORTED, 1)
        status = self.port.read_register(self._registers + ChannelRegister.STATUS)
        return bool(status & ChannelStatus.RUNNING)

    def _recover(self) -> None:
        """Stops the channel and resets the coprocessor; what it held of keys is not trusted."""
        self._contents.keys.clear()
        try:
            self._stop()
            self._device.reset()
        except DeviceError:
            self.lose()

    def _stop(self) -> None:
        """Stops the channel in any state."""
        at = self._registers
        self.port.write_register(at + ChannelRegister.CONTROL, ChannelControl.STOP)
        for _ in range(_STOPS):
            status = self.port.read_register(at + ChannelRegister.STATUS)
            if not status & ChannelStatus.RUNNING:
                self.port.write_register(at + ChannelRegister.REPORTED, 1)
                return
            time.sleep(_LOOK / 10)
        raise DeviceLostError(
            f"channel {self.claim.channel} of the card {self.port.name} does not stop"
        )

    def lose(self) -> None:
        """The channel is lost: jobs that wait here end."""
        with self._turns:
            self.failed = True
            self._turns.notify_all()


class CardResident(Resident):
    """A polynomial's residues in a card's memory.

    Attributes:
        lane: The channel whose memory it is.
        block: Where it lies.
    """

    def __init__(
        self,
        device: Owner,
        lane: Lane,
        block: Block,
        label: str,
        shape: tuple[int, int],
        below: Sequence[int],
    ) -> None:
        super().__init__(device, label, shape, below)
        self._owner, self.lane, self.block = device, lane, block
        weakref.finalize(self, lane.store.release, block).atexit = False

    @property
    def nbytes(self) -> int:
        """Bytes of its words; the block has whole pages."""
        return self.shape[0] * self.shape[1] * self.lane.word_bytes

    def read(self) -> Residues:
        """Reads the card; see ``Resident.read``."""
        return self._owner.read_resident(self)


def _addresses(
    executable: Executable,
    values: Mapping[str, Mapping[int, int]],
    residents: Mapping[str, Resident],
) -> dict[Place, int]:
    """Where each slot of inputs or outputs lies that are in blocks of their own."""
    size = min(executable.n, executable.design.n) * word_bytes(executable.design)
    found = {}
    for name, resident in residents.items():
        assert isinstance(resident, CardResident)
        for number, place in enumerate(places_of(executable, values[name])):
            found[place] = resident.block.address + number * size
    return found
