"""The instruction-level model of the RPAU architecture (this folder's C++)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

class ModelError(Exception):
    """What the model refuses; args: the text, and the index of the instruction at fault or None."""

class RpauModel:
    def __init__(
        self,
        *,
        log_n: int,
        larger_rings: int,
        smaller_rings: int,
        word_bits: int,
        narrow_bits: int,
        narrow_rpaus: int,
        rpaus: int,
        banks: Sequence[int],
        key_polys: int,
        constants: int,
        modulus_banks: int,
        dyadic: bool,
        link: bool,
        seeds: int,
        conversions: int,
        key_stream: bool,
        stored_twiddles: bool,
        sparse_primes: Sequence[int],
        folded: tuple[int, int] | None,
        narrow_folded: tuple[int, int] | None,
        fetch_cycles: int,
        latencies: Sequence[int],
        timing_only: bool,
    ) -> None: ...
    def set_ring(self, log_degree: int, fetch_cycles: int, latencies: Sequence[int], /) -> None: ...
    def write_poly(self, unit: int, index: int, words: NDArray[np.uint64], /) -> None: ...
    def write_key(self, unit: int, index: int, words: NDArray[np.uint64], /) -> None: ...
    def write_seed(self, unit: int, index: int, words: NDArray[np.uint64], /) -> None: ...
    def write_conversion(self, unit: int, index: int, words: NDArray[np.uint64], /) -> None: ...
    def write_modulus(self, unit: int, modulus_bank: int, words: NDArray[np.uint64], /) -> None: ...
    def write_constants(
        self, unit: int, modulus_bank: int, words: NDArray[np.uint64], /
    ) -> None: ...
    def write_twiddle_lo(
        self, unit: int, modulus_bank: int, words: NDArray[np.uint64], /
    ) -> None: ...
    def write_twiddle_hi(
        self, unit: int, modulus_bank: int, words: NDArray[np.uint64], /
    ) -> None: ...
    def write_twiddles(
        self, unit: int, modulus_bank: int, words: NDArray[np.uint64], /
    ) -> None: ...
    def read_poly(self, unit: int, index: int, /) -> NDArray[np.uint64]: ...
    def load_program(self, words: NDArray[np.uint64], /) -> None: ...
    def run(
        self,
        max_cycles: int,
        come: tuple[int, Sequence[int]] | None,
        places: Sequence[tuple[int, int]],
        reached: Callable[[int], None],
        /,
    ) -> tuple[int, int]:
        """``come``: the latency of an arrival, and the cycle of each; ``places``: RPAU, index."""
    def starts(self) -> NDArray[np.uint64]: ...
