"""Batches of random products on a new device each, so that any of them fails again alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ringsmith.backends.stream.debug.compare import PRIMES, compare_batch
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.rtl import StreamRtl

DEVICES = ("rtl",)

_FEWEST, _MOST = 2, 8
"""Products of a batch."""


@dataclass(frozen=True)
class RandomBatches:
    """Products of mixed primes, back to back, on the simulated RTL and on the model.

    Attributes:
        design: The design.
    """

    design: StreamDesign
    programs: ClassVar[str] = "batches of random products"

    def run(self, seed: int) -> Mapping[str, int]:
        """See ``Verification.run``."""
        random = np.random.default_rng(seed)
        numbers = random.integers(0, PRIMES, random.integers(_FEWEST, _MOST + 1)).tolist()
        device = StreamRtl(self.design)
        try:
            found = compare_batch(device, self.design, numbers, random)
        finally:
            device.block.close()
        return {"products": found.products, "cycles": found.cycles, "words": found.words}
