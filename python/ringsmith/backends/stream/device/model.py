"""The model of a stream device: core's products, and the cycles of the generator's schedule."""

from collections.abc import Sequence

from ringsmith.backends.stream.design import package
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.interface import (
    ResidueProduct,
    StreamReport,
    checked_descriptors,
)
from ringsmith.backends.stream.model.batch import CoreProducts, batch_cycles, batch_schedule


class StreamModel:
    """Makes the products that the RTL makes, and says in which cycles it would.

    Args:
        design: The design point.
    """

    name = "model"

    def __init__(self, design: StreamDesign) -> None:
        self.design = design
        self._core = CoreProducts(design.n)

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Makes products; see ``interface.StreamCoprocessor``.

        Raises:
            DeviceError: If an operand is of another length or not below its prime, or the design
                does not take a prime.
        """
        checked_descriptors(batch, self.design)
        products = [self._core.product(each.prime, each.a, each.b) for each in batch]
        design = self.design
        delay = package.core_cycles(design.cfg)
        starts = [started + delay for started in batch_schedule(design, len(batch)).started]
        return StreamReport(products, starts, batch_cycles(design, len(batch)))
