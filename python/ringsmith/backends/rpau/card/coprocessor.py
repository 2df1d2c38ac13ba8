"""A coprocessor of a simulated card: a device behind its register page and its host port."""

from collections.abc import Callable, Sequence
from threading import RLock

import numpy as np

from ringsmith.backends.rpau.compiler.timeline import HALT
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.conversions import addresses
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import (
    ARCHITECTURE,
    CAPABILITIES,
    MAGIC,
    VERSION_MAJOR,
    VERSION_MINOR,
    Control,
    Refused,
    Register,
    Status,
)
from ringsmith.backends.rpau.device.interface import (
    BEAT_BITS,
    AddressSpace,
    Coprocessor,
    KeyStream,
    Words,
)
from ringsmith.backends.rpau.device.spaces import space_shape
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.progress import Task

MOST_CYCLES = 1 << 40
"""No program of a simulated card is given up before; its host stops it."""

_WORD = 0xFFFF_FFFF
_WRITABLE = {
    Register.PROGRAM_ADDRESS: 17,
    Register.HOST_SPACE: 8,
    Register.HOST_UNIT: 8,
    Register.HOST_INDEX: 16,
    Register.HOST_WORD: 17,
    Register.RING: 5,
    Register.KEYS: 1,
}
"""Plain registers, and their bits."""


class Stopped(Exception):  # noqa: N818 - unwinds a program that its host has stopped
    """Unwinds the run of a program."""


class _Watch(Task):
    """Stops a program where its device tells how far it is."""

    def __init__(self, stopping: Callable[[], bool]) -> None:
        super().__init__("running on a simulated card", None, "cycles")
        self._stopping = stopping

    def advance(self, steps: int = 1) -> None:
        """Unwinds the run of a program that is to stop."""
        if self._stopping():
            raise Stopped


class CardCoprocessor:
    """A coprocessor, and the registers of its page (docs/reference/registers.md).

    Several threads may call it.

    Attributes:
        coprocessor: What computes.
        busy: Whether a program runs.
        moving: Whether a list is worked on.
        resetting: Whether a reset was asked for and is not done.
        cycles: Of the last program.
        start: Called when registers start a program.
        reset: Called when registers ask for a reset.
    """

    def __init__(
        self, design: RpauDesign, make: Callable[[RpauDesign], Coprocessor], *, data_path: bool
    ) -> None:
        self._design, self._make, self._data_path = design, make, data_path
        self._lock = RLock()
        reported = rtl.capabilities(design)
        self._capabilities = {
            capability.address: reported[capability.name] for capability in CAPABILITIES
        }
        self._reported = self._read_only()
        self.start: Callable[[], None] = lambda: None
        self.reset: Callable[[], None] = lambda: None
        self.vacate()

    def vacate(self) -> None:
        """Begins anew with a device that holds nothing."""
        with self._lock:
            self.coprocessor = self._make(self._design)
            self.busy = self.moving = self.resetting = self.bad_opcode = False
            self.cycles = self.instructions = 0
            self.arrivals = 0
            self._refused = Refused(0)
            self._plain = dict.fromkeys(_WRITABLE, 0)
            self._ring = self._design.log_n
            self._loaded = False
            self._program: dict[int, int] = {}
            self._lower: dict[int, int] = {}
            self._tables: dict[tuple[int, int, int], dict[int, int]] = {}
            self._seen: dict[tuple[int, int], Words] = {}

    def cleared(self) -> None:
        """Is as after a reset; memories keep their contents."""
        with self._lock:
            self.busy = self.resetting = False
            self._refused = Refused(0)
            self._lower.clear()

    # ---- the host port -------------------------------------------------------------------------

    def choose_ring(self, log_degree: int) -> None:
        """Chooses the ring of what follows; 0: the device's own.

        Raises:
            DeviceError: If the device does not run it.
        """
        wanted = log_degree or self._design.log_n
        if wanted != self._ring:
            self.coprocessor.set_ring(wanted)
            self._ring = wanted
            self._seen.clear()

    def place_words(self, space: AddressSpace, unit: int, index: int) -> int | None:
        """Words at an address; None if there is no such address."""
        try:
            count, words = space_shape(self._design, space, self._ring)
        except DeviceError:
            return None
        units = 1 if space is AddressSpace.CONVERSION else self._design.rpaus
        return words if index < count and unit < units else None

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes all words at an address."""
        with self._lock:
            self._seen.pop((unit, index), None)
            self.coprocessor.write(space, unit, index, words)

    def read(self, unit: int, index: int) -> Words:
        """Reads a work polynomial; zeros if it was never written."""
        with self._lock:
            try:
                return self.coprocessor.read(AddressSpace.POLY, unit, index)
            except DeviceError:
                size = self.place_words(AddressSpace.POLY, unit, index) or 0
                return np.zeros(size, dtype=np.uint64)

    def run(self, stream: KeyStream | None, stopping: Callable[[], bool]) -> int:
        """Runs the program to its end, and returns its cycles.

        Raises:
            Stopped: When it is to stop.
            DeviceError: If the device finds a fault in it.
        """
        if not self._load():
            raise DeviceError("no program is loaded, or none that the device has")
        try:
            report = self.coprocessor.run(MOST_CYCLES, _Watch(stopping), stream)
        finally:
            self._seen.clear()
        with self._lock:
            self.cycles, self.instructions = report.cycles, report.instructions
        return report.cycles

    # ---- registers -----------------------------------------------------------------------------

    def read_register(self, address: int) -> int:
        """Reads a register. Raises DeviceError if it does not exist or is only written."""
        with self._lock:
            if address in self._reported:
                return self._reported[address]()
            if address in _WRITABLE:
                return self._plain[Register(address)]
            if address in self._capabilities:
                return self._capabilities[address]
            raise DeviceError(f"there is no register to read at {address:#05x} of a coprocessor")

    def write_register(self, address: int, value: int) -> None:
        """Writes a register. Raises DeviceError if it does not exist or is only read."""
        with self._lock:
            if address == Register.CONTROL:
                self._command(Control(value & 3))
            elif address == Register.REFUSED:
                self._refused &= ~Refused(value & 15)
            elif address in _WRITABLE:
                self._set(Register(address), value)
            elif address & ~4 in (Register.PROGRAM_DATA, Register.HOST_DATA):
                self._half(address, value & _WORD)
            else:
                raise DeviceError(f"there is no register to write at {address:#05x}")

    def _read_only(self) -> dict[int, Callable[[], int]]:
        """Registers that are only read."""
        return {
            Register.MAGIC: lambda: MAGIC,
            Register.VERSION: lambda: VERSION_MAJOR << 16 | VERSION_MINOR,
            Register.ARCHITECTURE: lambda: ARCHITECTURE,
            Register.CAPABILITY_COUNT: lambda: len(CAPABILITIES),
            Register.STATUS: self._status,
            Register.REFUSED: lambda: int(self._refused),
            Register.CYCLES: lambda: self.cycles & _WORD,
            Register.CYCLES + 4: lambda: self.cycles >> 32,
            Register.INSTRUCTIONS: lambda: self.instructions & _WORD,
            Register.INSTRUCTIONS + 4: lambda: self.instructions >> 32,
            Register.HOST_DATA: lambda: self._word() & _WORD,
            Register.HOST_DATA + 4: self._next_word,
            Register.DATA_PATH: lambda: BEAT_BITS if self._data_path else 0,
            Register.KEY_ARRIVALS: lambda: self.arrivals,
        }

    @property
    def _ready(self) -> bool:
        return not (self.busy or self.moving or self.resetting)

    def _status(self) -> int:
        found = Status(0)
        for bit, holds in (
            (Status.BUSY, self.busy),
            (Status.RESETTING, self.resetting),
            (Status.BAD_OPCODE, self.bad_opcode),
            (Status.MOVING, self.moving),
        ):
            found |= bit if holds else Status(0)
        return int(found)

    def _command(self, command: Control) -> None:
        if command & Control.RESET:
            self.resetting = True
            self.reset()
        elif command & Control.START:
            if self._ready and self._rings() and self._load():
                self.busy = True
                self.start()
            elif not self._ready:
                self._refused |= Refused.BUSY

    def _rings(self) -> bool:
        """Whether the device runs the ring that is chosen."""
        try:
            self.choose_ring(self._plain[Register.RING])
        except DeviceError:
            self._refused |= Refused.PLACE
            return False
        return True

    def _set(self, register: Register, value: int) -> None:
        self._plain[register] = value & (1 << _WRITABLE[register]) - 1
        if register is Register.RING and self._ready:
            self._rings()

    def _half(self, address: int, value: int) -> None:
        """Takes half of a word of 64 bits, and the word with its upper half."""
        register = address & ~4
        if address == register:
            self._lower[register] = value
        elif register not in self._lower:
            self._refused |= Refused.ORDER
        elif not self._ready:
            self._refused |= Refused.BUSY
        else:
            word = value << 32 | self._lower.pop(register)
            if register == Register.PROGRAM_DATA:
                self._instruction(word)
            else:
                self._table_word(word)

    def _instruction(self, word: int) -> None:
        """Stores an instruction; a program is whole with the last of its words."""
        at = self._plain[Register.PROGRAM_ADDRESS]
        if at >= self._design.program_words:
            self._refused |= Refused.PLACE
            return
        self._program[at] = word
        self._plain[Register.PROGRAM_ADDRESS] = at + 1
        self._loaded = False

    def _load(self) -> bool:
        """Loads the program that was written, up to its halt; whether there is one."""
        if self._loaded:
            return True
        words: list[int] = []
        while (word := self._program.get(len(words))) is not None:
            words.append(word)
            try:
                if decode(word).operation.name == HALT:
                    break
            except ProgramError:
                return False
        try:
            self.coprocessor.load_program(np.array(words, dtype=np.uint64))
        except DeviceError:
            return False
        self._loaded = True
        return True

    def _place(self) -> tuple[AddressSpace, int, int, Sequence[int]] | None:
        """What host_data reaches, and the addresses of its words; None if nothing."""
        number = self._plain[Register.HOST_SPACE]
        unit, index = self._plain[Register.HOST_UNIT], self._plain[Register.HOST_INDEX]
        if number not in [*AddressSpace]:
            return None
        space = AddressSpace(number)
        words = self.place_words(space, unit, index)
        if words is None:
            return None
        known = addresses(self._design) if space is AddressSpace.CONVERSION else range(words)
        return space, unit, index, known

    def _table_word(self, word: int) -> None:
        """Stores a word of a table or polynomial, which the device takes with its last word."""
        place, at = self._place(), self._plain[Register.HOST_WORD]
        if place is None or (at not in place[3]):
            self._refused |= Refused.PLACE
            return
        space, unit, index, known = place
        held = self._tables.setdefault((space, unit, index), {})
        if at == known[0]:
            held.clear()
        held[at] = word
        self._plain[Register.HOST_WORD] = at + 1
        if at != known[-1]:
            return
        self._tables.pop((space, unit, index))
        if len(held) != len(known):
            self._refused |= Refused.ORDER
            return
        try:
            self.write(space, unit, index, np.array([held[i] for i in known], dtype=np.uint64))
        except DeviceError:
            self._refused |= Refused.VALUE

    def _word(self) -> int:
        """The word that host_data reads."""
        place, at = self._place(), self._plain[Register.HOST_WORD]
        if not self._ready:
            self._refused |= Refused.BUSY
            return 0
        if place is None or place[0] is not AddressSpace.POLY or at not in place[3]:
            self._refused |= Refused.PLACE
            return 0
        unit, index = place[1], place[2]
        if (unit, index) not in self._seen:
            self._seen[unit, index] = self.read(unit, index)
        return int(self._seen[unit, index][at])

    def _next_word(self) -> int:
        upper = self._word() >> 32
        self._plain[Register.HOST_WORD] = self._plain[Register.HOST_WORD] + 1 & 0x1FFFF
        return upper
