"""What is compared: the parameter sets of the RPM paper's tables 4 to 6, and their designs."""

from dataclasses import dataclass
from functools import cached_property

from ringsmith.backends.stream.design.design import StreamDesign, load_stream_design
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import RELIN_KEY, lower_operation
from ringsmith.params import BfvParameters, CkksParameters
from ringsmith.schemes.bfv.writer import BfvWriter

PAPER = "rpm"
SOFTWARE_BITS = 47
"""Bits of a prime of the paper's software, and of ours on the CPU alone."""


@dataclass(frozen=True)
class Case:
    """A row of the paper's tables 4, 5 and 6.

    Attributes:
        name: What records call it: the multiplicative depth, and what differs from w = 2, s = 30.
        log_n: log2 of the ring degree.
        log_q: Bits of the ciphertext modulus, S_q in the paper.
        lanes: Words a cycle, w.
        word_bits: Bits of a prime, s.
    """

    name: str
    log_n: int
    log_q: int
    lanes: int = 2
    word_bits: int = 30

    @property
    def limbs(self) -> int:
        """Primes of q, k."""
        return -(-self.log_q // self.word_bits)

    @property
    def design(self) -> StreamDesign:
        """The device.

        Raises:
            ParameterError: If there is no such design.
        """
        rpm = load_stream_design(PAPER)
        if (rpm.log_n, rpm.lanes, rpm.word_bits) == (self.log_n, self.lanes, self.word_bits):
            return rpm
        return StreamDesign(f"{PAPER}-{self.name}", self.log_n, self.lanes, self.word_bits)

    @property
    def work(self) -> "Work":
        """What the host computes: the same for every w."""
        return Work(self.log_n, self.log_q, self.word_bits)

    @property
    def software(self) -> "Work":
        """The same operation on the CPU alone, with fewer, wider primes."""
        return Work(self.log_n, self.log_q, SOFTWARE_BITS)


@dataclass(frozen=True)
class Work:
    """A BFV multiplication with relinearization as Halevi, Polyakov and Shoup have it, and t = 2.

    A digit is a residue, and keys have no special prime: k products for each half and prime.

    Attributes:
        log_n: log2 of the ring degree.
        log_q: Bits of q.
        word_bits: Bits of a word; q has the fewest primes of so many bits, all about equally wide.
    """

    log_n: int
    log_q: int
    word_bits: int

    @cached_property
    def parameters(self) -> BfvParameters:
        """The ring and its primes; 128-bit secure, for there is no special prime."""
        limbs = -(-self.log_q // self.word_bits)
        bits, wider = divmod(self.log_q, limbs)
        return BfvParameters.create(
            n=1 << self.log_n,
            prime_bits=[bits + 1] * wider + [bits] * (limbs - wider),
            plain_modulus=2,
            multiplication="hps",
            relinearization="word",
            word_bits=self.word_bits,
        )

    @cached_property
    def graph(self) -> SubroutineGraph:
        """Multiply and relinearize as subroutines."""
        limbs = range(self.parameters.limbs)
        keys = {RELIN_KEY: len(limbs)}
        graph = SubroutineGraph.for_parameters(self.parameters, keys, products=True)
        writer = BfvWriter(graph, self.parameters)
        x, y = (writer.input(name, 2, len(limbs)) for name in "xy")
        *pair, last = writer.multiply(x, y)
        digits = [graph.ntt(graph.mod_up(last, digit, limbs)) for digit in limbs]
        for half, polynomial in enumerate(pair):
            switched = graph.ksk_inner_product(digits, RELIN_KEY, half, limbs)
            graph.output(graph.add(polynomial, graph.intt(switched)), f"z.{half}")
        return graph


@dataclass(frozen=True)
class Approximate(Work):
    """The same ring and q in CKKS: product, relinearization with a special prime, rescaling."""

    @cached_property
    def approximate(self) -> CkksParameters:
        """The parameters; the special prime is as wide as the widest of q."""
        limbs = -(-self.log_q // self.word_bits)
        bits, wider = divmod(self.log_q, limbs)
        return CkksParameters.create(
            n=1 << self.log_n,
            prime_bits=[bits + 1] * wider + [bits] * (limbs - wider),
            special_bits=bits + bool(wider),
            scale_bits=bits - 1,
            security=None,
        )

    @cached_property
    def graph(self) -> SubroutineGraph:
        """Product, relinearization and rescaling as subroutines."""
        of = self.approximate
        return lower_operation("multiply_relinearize_rescale", of, of.limbs)


CKKS = ("L1", "L10", "L20-s51")
"""Rows that are computed in CKKS, too."""

CASES = (
    Case("L1", 12, 94),
    Case("L5", 13, 141),
    Case("L10", 14, 235),
    Case("L20", 14, 376),
    Case("L30", 15, 564),
    *(Case(f"L20-w{lanes}", 14, 376, lanes=lanes) for lanes in (4, 8, 16)),
    *(Case(f"L20-s{bits}", 14, 376, word_bits=bits) for bits in (41, 51, 58, 62)),
)

SOFTWARE_SETS = {case.name: "L20" for case in CASES if case.name.startswith("L20-")}
"""Rows whose software is another row's: the same ring and modulus."""

BESIDE = tuple(Case(f"L1-w{lanes}", 12, 94, lanes=lanes) for lanes in (4, 8))
"""No rows of the tables: what is counted of these designs is held against their synthesis, too."""
