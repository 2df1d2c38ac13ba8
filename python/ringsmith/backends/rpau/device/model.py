"""The model: exact contents and cycles of an RPAU accelerator, without simulating its RTL."""

from collections.abc import Callable

import numpy as np

from ringsmith.backends.rpau.compiler.timeline import Timing
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import arrival_cycles
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.spaces import check_read, check_ring, check_stream, check_write
from ringsmith.backends.rpau.isa.assembler import check_program, format_instruction
from ringsmith.backends.rpau.isa.instruction_set import Instruction
from ringsmith.backends.rpau.model import _model
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.progress import Task


class ModelCoprocessor:
    """A device that executes programs instruction by instruction in C++.

    It refuses what the hardware would answer with nonsense: hazards, reads of what was never
    written, words that are no residues of their RPAU's prime.

    Attributes:
        timing_only: Whether only cycles are computed. Such a device takes no contents, checks
            the issue and hazard rules, and cannot be read.
    """

    name = "model"

    def __init__(
        self, design: RpauDesign, *, timing_only: bool = False, timing: Timing | None = None
    ) -> None:
        """Makes a device with empty memories.

        Args:
            design: The design point.
            timing_only: Compute cycles only.
            timing: Latencies to use in place of the design's own.
        """
        self._design = design
        self._timing = timing
        self._log_degree = design.log_n
        self.timing_only = timing_only
        self._program: list[Instruction] = []
        self._model = _model.RpauModel(
            log_n=design.log_n,
            larger_rings=design.larger_rings,
            smaller_rings=design.smaller_rings,
            word_bits=design.word_bits,
            narrow_bits=design.narrow_bits,
            narrow_rpaus=design.narrow_rpaus,
            rpaus=design.rpaus,
            banks=design.bank_of_poly,
            key_polys=design.key_polys,
            constants=design.constants,
            modulus_banks=design.modulus_banks,
            dyadic=design.dyadic_cores > 0,
            link=design.link,
            stored_twiddles=design.twiddles == "stored",
            seeds=design.seeds,
            conversions=design.conversions,
            key_stream=design.key_stream,
            sparse_primes=_by_index(design),
            folded=_folded_bits(design, design.word_bits),
            narrow_folded=_folded_bits(design, design.narrow_bits),
            fetch_cycles=self._timing_now().fetch_cycles,
            latencies=self._timing_now().by_opcode(),
            timing_only=timing_only,
        )
        self._writers: dict[AddressSpace, Callable[[int, int, Words], None]] = {
            AddressSpace.POLY: self._model.write_poly,
            AddressSpace.KEY: self._model.write_key,
            AddressSpace.CONSTANT: self._model.write_constants,
            AddressSpace.MODULUS: self._model.write_modulus,
            AddressSpace.TWIDDLE_LO: self._model.write_twiddle_lo,
            AddressSpace.TWIDDLE_HI: self._model.write_twiddle_hi,
            AddressSpace.TWIDDLE: self._model.write_twiddles,
            AddressSpace.SEED: self._model.write_seed,
            AddressSpace.CONVERSION: self._model.write_conversion,
        }

    @property
    def design(self) -> RpauDesign:
        """The design point that the device was made for."""
        return self._design

    @property
    def streams(self) -> bool:
        """Whether keys may come while a program runs."""
        return self._design.key_stream

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring; see ``interface.Coprocessor``.

        What was written for another ring counts as never written.
        """
        check_ring(self._design, log_degree)
        if log_degree != self._log_degree:
            self._log_degree = log_degree
            fetch_cycles = self._timing_now().fetch_cycles
            self._model.set_ring(log_degree, fetch_cycles, self._timing_now().by_opcode())

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table; see ``interface.Coprocessor``.

        A timing-only device checks the access and drops the words.
        """
        words = check_write(self._design, space, unit, index, words, self._log_degree)
        if self.timing_only:
            return
        try:
            self._writers[space](unit, index, words)
        except _model.ModelError as error:
            raise DeviceError(
                f"address space {space.name} of RPAU {unit}: {error.args[0]}"
            ) from error

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads one work polynomial.

        Raises:
            DeviceError: On a wrong address space, unit or index, if the polynomial was never
                written, or if the device is timing-only.
        """
        check_read(self._design, space, unit, index)
        try:
            return self._model.read_poly(unit, index)
        except _model.ModelError as error:
            raise DeviceError(f"RPAU {unit}: {error.args[0]}") from error

    def load_program(self, words: Words) -> None:
        """Loads instruction words; see ``interface.Device``."""
        try:
            program = check_program([int(word) for word in words], self._design)
        except ProgramError as error:
            raise DeviceError(str(error)) from error
        self._model.load_program(np.ascontiguousarray(words, dtype=np.uint64))
        self._program = program

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs the loaded program to its halt; see ``interface.Coprocessor``."""
        if not self._program:
            raise DeviceError("no program is loaded: call load_program first")
        come, places = None, []
        if stream is not None:
            checked = check_stream(self._design, stream, self._log_degree)
            for poly in checked.polys:
                self.write(AddressSpace.KEY, poly.unit, poly.index, poly.words)
            come = (arrival_cycles(self._design), checked.arrivals)
            places = [(poly.unit, poly.index) for poly in checked.polys]
        done = 0

        def reached(cycle: int) -> None:
            nonlocal done
            if task is not None:
                task.advance(cycle - done)
            done = cycle

        try:
            cycles, instructions = self._model.run(max_cycles, come, places, reached)
        except _model.ModelError as error:
            message, index = error.args
            awaited = _awaited(self._program[index])
            if stream is not None and awaited > len(stream.arrivals):
                raise stream.missing(len(stream.arrivals), awaited) from error
            text = format_instruction(self._program[index])
            raise DeviceError(f"instruction {index} ({text}): {message}") from error
        reached(cycles)
        return SegmentReport(cycles, instructions)

    def trace(self) -> Words:
        """The cycle in which each instruction of the last run issued, in program order."""
        return self._model.starts()

    def _timing_now(self) -> Timing:
        return self._timing or Timing.of(self._design, self._log_degree)


def _awaited(instruction: Instruction) -> int:
    """For how many key polynomials an instruction waits."""
    return instruction["arrived"] if instruction.operation.awaits else 0


def _by_index(design: RpauDesign) -> list[int]:
    """The design's sparse primes, each at its index in the family, else 0."""
    primes = design.sparse_primes
    by_index = [0] * (max(primes.values(), default=-1) + 1)
    for prime, index in primes.items():
        by_index[index] = prime
    return by_index


def _folded_bits(design: RpauDesign, width: int) -> tuple[int, int] | None:
    """The bits of the two parts of mu for words of a width, where reduction folds."""
    if design.reduction != "folded" or width == 0:
        return None
    return folded.tail_bits(width), folded.scaled_bits(width)
