"""A device behind its register block: all its operations as register accesses."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import (
    ARCHITECTURE,
    CAPABILITIES,
    MAGIC,
    VERSION_MAJOR,
    Control,
    Refused,
    Register,
    Status,
)
from ringsmith.backends.rpau.device.checks import (
    check_capabilities,
    checked_words,
    report_of,
    stopped,
)
from ringsmith.backends.rpau.device.interface import (
    BEAT_BITS,
    SPACES,
    AddressSpace,
    DataPath,
    KeyPoly,
    KeyStream,
    RegisterBus,
    SegmentReport,
    Words,
    polynomial_address,
)
from ringsmith.backends.rpau.device.spaces import (
    check_read,
    check_ring,
    check_stream,
    check_write,
    space_runs,
    space_shape,
)
from ringsmith.errors import DeviceError
from ringsmith.progress import Task

_RESET_LOOKS, _RESET_SECONDS = 1000, 1.0  # both: a simulated device may wait for a processor
_PAUSE = 64  # cycles between two looks at a device that runs


class RegisterCoprocessor:
    """A device that is driven through its registers (docs/reference/registers.md).

    Polynomials cross the data path, where the device has one and the host is connected to it.

    Taking over a device resets it: unfinished work of a previous host is lost, its memories
    keep what they hold.
    """

    def __init__(self, design: RpauDesign, bus: RegisterBus, name: str = "rtl") -> None:
        """Checks that the device is of the design, and resets it.

        Args:
            design: What the device should be.
            bus: The device's bus; closed with the device.
            name: What the device is called.

        Raises:
            DeviceError: If it is no Ringsmith device or one of another design, naming every value
                that differs, or if it does not come out of its reset.
        """
        self.name = name
        self._design = design
        self._bus = bus
        self._log_degree = design.log_n
        self._loaded = False
        self._check()
        self._data = self._data_path()
        self.reset()
        self.set_ring(design.log_n)

    @property
    def design(self) -> RpauDesign:
        """The design that the device says it was built from."""
        return self._design

    @property
    def streams(self) -> bool:
        """Whether keys may come while a program runs, over the data path."""
        return self._design.key_stream and self._data is not None

    def close(self) -> None:
        """Closes the bus. The device cannot be used afterwards."""
        self._bus.close()

    def reset(self) -> None:
        """Stops the device in any state; memories keep their contents.

        Raises:
            DeviceError: If it does not come out of its reset.
        """
        self._bus.write(Register.CONTROL, Control.RESET)
        end, looks = time.monotonic() + _RESET_SECONDS, 0
        while looks < _RESET_LOOKS or time.monotonic() < end:
            if not self._bus.read(Register.STATUS):
                return
            looks += 1
        raise DeviceError("the device does not come out of its reset: reset its bus")

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring; see ``interface.Coprocessor``."""
        check_ring(self._design, log_degree)
        self._bus.write(Register.RING, log_degree)
        self._log_degree = log_degree

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table; see ``interface.Coprocessor``."""
        words = check_write(self._design, space, unit, index, words, self._log_degree)
        action = f"writing address space {space.name} of RPAU {unit}"
        if self._data is not None and space in SPACES:
            address = polynomial_address(self._design.n, space, unit, index)
            with self._bursts(action):
                self._data.write_block(address, words)
        else:
            for address, taken in space_runs(self._design, space, words):
                self._move(space, unit, index, address)
                self._bus.write_words(Register.HOST_DATA, taken)
        self._check_refused(action)

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads one work polynomial; see ``interface.Device``."""
        check_read(self._design, space, unit, index)
        count = space_shape(self._design, space, self._log_degree)[1]
        action = f"reading address space {space.name} of RPAU {unit}"
        if self._data is not None:
            address = polynomial_address(self._design.n, space, unit, index)
            with self._bursts(action):
                words = self._data.read_block(address, count)
        else:
            self._move(space, unit, index)
            words = self._bus.read_words(Register.HOST_DATA, count)
        self._check_refused(action)
        return words

    def load_program(self, words: Words) -> None:
        """Loads instruction words; see ``interface.Device``."""
        words = checked_words(words, self._design)
        self._loaded = False  # until all of it is there
        self._bus.write(Register.PROGRAM_ADDRESS, 0)
        self._bus.write_words(Register.PROGRAM_DATA, words)
        self._check_refused("loading the program")
        self._loaded = True

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs the loaded program to its halt; see ``interface.Coprocessor``.

        Keys that come while it runs cross the data path, which the host must be connected to.
        """
        if not self._loaded:
            raise DeviceError("no program is loaded: call load_program first")
        come: tuple[KeyPoly, ...] = ()
        if stream is not None:
            come = check_stream(self._design, stream, self._log_degree).polys
            if self._data is None:
                raise DeviceError(
                    "keys that come while a program runs cross the data path, and the host is not "
                    "connected to it: write them before"
                )
        try:
            self._start(stream is not None)
            self._send(come)
            cycles = self._wait(max_cycles, task, stream)
        except DeviceError:
            raise
        except BaseException:  # Ctrl-C
            self.reset()
            raise
        failed = bool(self._bus.read(Register.STATUS) & Status.BAD_OPCODE)
        return report_of(cycles, self._counter(Register.INSTRUCTIONS), failed)

    def _start(self, streamed: bool) -> None:
        """Starts the program, whose keys come while it runs, or are there."""
        if self._design.key_stream:
            self._bus.write(Register.KEYS, streamed)
        self._bus.write(Register.CONTROL, Control.START)
        self._check_refused("starting the program")

    def _wait(self, max_cycles: int, task: Task | None, stream: KeyStream | None) -> int:
        """Waits for the end of the program, and returns the cycles that it took."""
        cycles, busy = 0, True
        while busy:
            busy = bool(self._bus.read(Register.STATUS) & Status.BUSY)
            before, cycles = cycles, self._counter(Register.CYCLES)
            if task is not None:
                task.advance(cycles - before)
            if cycles > max_cycles:
                arrivals = self._bus.read(Register.KEY_ARRIVALS) if stream is not None else 0
                if busy:
                    self.reset()
                raise stopped(max_cycles, stream, arrivals & 0xFFFF, arrivals >> 16)
            if busy:
                self._bus.pause(_PAUSE)
        return cycles

    def _send(self, polys: Sequence[KeyPoly]) -> None:
        """Writes keys while the program runs that awaits them."""
        for poly in polys:
            assert self._data is not None
            address = polynomial_address(self._design.n, AddressSpace.KEY, poly.unit, poly.index)
            with self._bursts(f"writing {poly.name} while the program runs"):
                self._data.write_block(address, poly.words)

    def _counter(self, register: Register) -> int:
        return int(self._bus.read_words(register, 1)[0])

    def _move(self, space: AddressSpace, unit: int, index: int, word: int = 0) -> None:
        self._bus.write(Register.HOST_SPACE, space)
        self._bus.write(Register.HOST_UNIT, unit)
        self._bus.write(Register.HOST_INDEX, index)
        self._bus.write(Register.HOST_WORD, word)

    @contextmanager
    def _bursts(self, action: str) -> Iterator[None]:
        """Gives an error of the data path the reasons that the device has for it."""
        try:
            yield
        except DeviceError:
            self._check_refused(action)
            raise

    def _data_path(self) -> DataPath | None:
        """The device's data path, where it has the one that this Ringsmith knows."""
        return self._bus.data if self._bus.read(Register.DATA_PATH) == BEAT_BITS else None

    def _check_refused(self, action: str) -> None:
        refused = self._bus.read(Register.REFUSED)
        if refused:
            self._bus.write(Register.REFUSED, refused)
            reasons = " and ".join(str(reason.name).lower() for reason in Refused(refused))
            raise DeviceError(
                f"the device refused {action} ({reasons}): see docs/reference/registers.md"
            )

    def _check(self) -> None:
        """Compares the device's capability registers with the design."""
        found = self._bus.read(Register.MAGIC)
        if found != MAGIC:
            raise DeviceError(
                f"no Ringsmith device answers at this address: register magic holds {found:#010x} "
                f"and not {MAGIC:#010x}"
            )
        major = self._bus.read(Register.VERSION) >> 16
        if major != VERSION_MAJOR:
            raise DeviceError(
                f"the device has version {major} of the register map and this Ringsmith knows "
                f"version {VERSION_MAJOR}: install the Ringsmith that the device was built with"
            )
        architecture = self._bus.read(Register.ARCHITECTURE)
        if architecture != ARCHITECTURE:
            raise DeviceError(
                f"the device says that its architecture is number {architecture} and design "
                f"{self._design.name} has {ARCHITECTURE}: open it as what it is"
            )
        count = min(self._bus.read(Register.CAPABILITY_COUNT), len(CAPABILITIES))
        reported = [self._bus.read(capability.address) for capability in CAPABILITIES[:count]]
        check_capabilities(
            self._design, reported, "open it as the design that it is, or load the right one"
        )
