"""A verilated block in Python: its ports as NumPy arrays, one row a cycle."""

import ctypes
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from ringsmith.errors import DeviceError
from ringsmith.hdl.library import load_library, slices
from ringsmith.progress import Task

Words = npt.NDArray[np.uint64]

_POINTER = ctypes.POINTER(ctypes.c_uint64)


@dataclass(frozen=True)
class Port:
    """One port: `lanes` elements (more than one for an unpacked array) of `width` bits each."""

    index: int
    name: str
    is_input: bool
    width: int
    lanes: int

    def accept(self, values: npt.ArrayLike, rows: int | None) -> Words:
        """Checks values for this port and returns them as (rows, lanes) words, or (lanes,) words.

        Raises:
            DeviceError: If the shape is wrong or a value needs more bits than the port has.
        """
        try:
            words = np.asarray(values).astype(np.uint64, casting="same_kind", copy=False)
        except (TypeError, OverflowError):
            words = self._from_integers(values)
        if words.size and self.width < 64 and int(words.max()) >> self.width:
            raise DeviceError(
                f"port {self.name} holds {self.width} bits and was given {int(words.max())}: "
                f"keep values below 2^{self.width}"
            )
        shape = (self.lanes,) if rows is None else (rows, self.lanes)
        if words.size != int(np.prod(shape)):
            raise DeviceError(
                f"port {self.name} takes {' x '.join(map(str, shape))} values and was given an "
                f"array of shape {words.shape}"
            )
        return np.ascontiguousarray(words.reshape(shape))

    def _from_integers(self, values: npt.ArrayLike) -> Words:
        numbers = np.asarray(values, dtype=object)
        flat = [int(number) for number in numbers.ravel()]
        wrong = next((number for number in flat if number < 0 or number >> 64), None)
        if wrong is not None:
            raise DeviceError(
                f"port {self.name} holds unsigned words of {self.width} bits and was given {wrong}"
            )
        return np.array(flat, dtype=np.uint64).reshape(numbers.shape)


def _load(library: Path) -> ctypes.CDLL:
    functions = load_library(library)
    handle = ctypes.c_void_p
    functions.rsb_new.argtypes = [ctypes.c_char_p, ctypes.c_int]
    functions.rsb_new.restype = handle
    functions.rsb_free.argtypes = [handle]
    functions.rsb_free.restype = None
    functions.rsb_error.argtypes = [handle]
    functions.rsb_error.restype = ctypes.c_char_p
    functions.rsb_port_count.argtypes = [handle]
    functions.rsb_port.argtypes = [handle, ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 3]
    functions.rsb_port.restype = ctypes.c_char_p
    for name in ("rsb_poke", "rsb_peek"):
        getattr(functions, name).argtypes = [handle, ctypes.c_int, _POINTER]
        getattr(functions, name).restype = None
    functions.rsb_eval.argtypes = [handle]
    functions.rsb_step.argtypes = [handle, ctypes.c_uint64]
    ports = (ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(_POINTER))
    functions.rsb_run.argtypes = (handle, ctypes.c_uint64, *ports, *ports)
    if hasattr(functions, "rsb_write_coverage"):
        functions.rsb_write_coverage.argtypes = [handle, ctypes.c_char_p]
    return functions


def _pointer(words: Words) -> "ctypes._Pointer[ctypes.c_uint64]":
    return words.ctypes.data_as(_POINTER)


class Block:
    """One instance of a block built by `verilate.build_block`. Close it, or use it in a `with`.

    Args:
        library: What `build_block` returned.
        clock: The clock input; a block that has no such port is taken as combinational.
        seed: Chooses the values of what has no reset, in builds with assertions.

    Raises:
        ToolError: If the library cannot be loaded.
    """

    def __init__(self, library: Path, clock: str = "clk_i", seed: int = 1) -> None:
        self._functions = _load(library)
        self._handle: int | None = self._functions.rsb_new(clock.encode(), seed)
        self.ports: dict[str, Port] = {}
        for index in range(self._functions.rsb_port_count(self._handle)):
            shape = [ctypes.c_int() for _ in range(3)]
            name = self._functions.rsb_port(self._handle, index, *map(ctypes.byref, shape)).decode()
            is_input, width, lanes = (number.value for number in shape)
            self.ports[name] = Port(index, name, bool(is_input), width, lanes)
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Frees the instance; more calls do nothing."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            self._functions.rsb_free(handle)

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs but the clock."""
        return [
            port.name for port in self.ports.values() if port.is_input and port.name != self._clock
        ]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [port.name for port in self.ports.values() if not port.is_input]

    def poke(self, name: str, value: npt.ArrayLike) -> None:
        """Sets an input (all lanes of an array); it takes effect at the next eval, step or run.

        Raises:
            DeviceError: If there is no such input, or the value does not fit.
        """
        port = self._input(name)
        words = port.accept(value, None)
        self._functions.rsb_poke(self._open(), port.index, _pointer(words))

    def peek(self, name: str) -> Words:
        """A port's elements as they are now, shape (lanes,).

        Raises:
            DeviceError: If there is no such port.
        """
        port = self._port(name)
        words = np.zeros(port.lanes, dtype=np.uint64)
        self._functions.rsb_peek(self._open(), port.index, _pointer(words))
        return words

    def eval(self) -> None:
        """Settles combinational logic without a clock edge.

        Raises:
            DeviceError: If an assertion fails.
        """
        self._check(self._functions.rsb_eval(self._open()))

    def step(self, cycles: int = 1) -> None:
        """Clocks a number of cycles, one rising edge each; inputs keep their values.

        Raises:
            DeviceError: If an assertion fails.
        """
        with self._closed_if_stopped():
            for _, count in slices(cycles):
                self._check(self._functions.rsb_step(self._open(), count))

    def run(
        self,
        inputs: Mapping[str, npt.ArrayLike],
        outputs: Iterable[str] | None = None,
        cycles: int | None = None,
        task: Task | None = None,
    ) -> dict[str, Words]:
        """Streams values through the block: row t is driven in cycle t.

        Outputs are sampled in each cycle just before the rising edge, after the cycle's inputs have
        settled: a result of latency L to the inputs of row t stands in row t + L.

        Args:
            inputs: Arrays of shape (T,), or (T, lanes) for array ports. Inputs not named keep
                the values they have.
            outputs: Names of the outputs to record; all of them if not given.
            cycles: T, where no input says it. More cycles than T repeat each input's last row.
            task: Advances by the cycles that have passed.

        Returns:
            uint64 arrays of shape (T,), or (T, lanes) for array ports.

        Raises:
            DeviceError: If a port does not exist, a shape or value does not fit, or an assertion
                fails.
        """
        lengths = {name: np.shape(values)[0] for name, values in inputs.items()}
        if len(set(lengths.values())) > 1:
            raise DeviceError(f"inputs of different lengths: {lengths}; give each one row a cycle")
        rows = next(iter(lengths.values()), 0)
        total = rows if cycles is None else cycles
        if total < rows or total < 1:
            raise DeviceError(
                f"{total} cycles for {rows} rows of input: give at least one, and all rows"
            )
        driven = {
            self._input(name): self._pad(self._input(name).accept(values, rows), total)
            for name, values in inputs.items()
        }
        names = self.outputs if outputs is None else list(outputs)
        sampled = {
            self._port(name): np.empty((total, self._port(name).lanes), np.uint64) for name in names
        }
        with self._closed_if_stopped():
            for first, count in slices(total):
                rows = slice(first, first + count)
                both = (*_data(driven, rows), *_data(sampled, rows))
                self._check(self._functions.rsb_run(self._open(), count, *both))
                if task is not None:
                    task.advance(count)
        return {
            port.name: words[:, 0] if port.lanes == 1 else words for port, words in sampled.items()
        }

    def write_coverage(self, path: Path) -> None:
        """Writes the counts of a build with ``Instrument.COVERAGE``, as a file of Verilator's.

        Raises:
            DeviceError: If the build counts nothing.
        """
        if not hasattr(self._functions, "rsb_write_coverage"):
            raise DeviceError("this block counts no coverage: build it with Instrument.COVERAGE")
        self._check(self._functions.rsb_write_coverage(self._open(), os.fsencode(path)))

    @staticmethod
    def _pad(words: Words, total: int) -> Words:
        return np.ascontiguousarray(np.pad(words, ((0, total - len(words)), (0, 0)), mode="edge"))

    def _open(self) -> int:
        if self._handle is None:
            raise DeviceError("this block is closed, or was stopped while it ran: make a new one")
        return self._handle

    def _port(self, name: str) -> Port:
        if name not in self.ports:
            raise DeviceError(f"no port {name!r}: the block has {', '.join(self.ports)}")
        return self.ports[name]

    def _input(self, name: str) -> Port:
        if name not in self.inputs:
            raise DeviceError(f"no input {name!r} to drive: the block has {', '.join(self.inputs)}")
        return self.ports[name]

    @contextmanager
    def _closed_if_stopped(self) -> Iterator[None]:
        """Closes the block where Ctrl-C stops it: its state is that of any cycle."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _check(self, status: int) -> None:
        if status != 0:
            text = self._functions.rsb_error(self._open()).decode()
            self.close()
            raise DeviceError(text)


def _data(
    arrays: Mapping[Port, Words], rows: slice
) -> tuple[int, ctypes.Array[ctypes.c_int], object]:
    """Port indices and pointers to these rows of the data, as `rsb_run` takes them."""
    indices = (ctypes.c_int * len(arrays))(*(port.index for port in arrays))
    pointers = (_POINTER * len(arrays))(*(_pointer(words[rows]) for words in arrays.values()))
    return len(arrays), indices, pointers
