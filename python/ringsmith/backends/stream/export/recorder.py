"""The products that a host has made, recorded from a run on the model."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.interface import (
    ResidueProduct,
    StreamReport,
    checked_descriptors,
)
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.isa.descriptor import Descriptor
from ringsmith.objects import Residues


@dataclass(frozen=True)
class Made:
    """A product: what it is made from, and what must come out, (N,) words."""

    descriptor: Descriptor
    asked: ResidueProduct
    product: Residues


class Recorder:
    """The model of a stream device, which records its products; see ``StreamDevice``.

    Attributes:
        made: The products so far.
    """

    name = "model"

    def __init__(self, design: StreamDesign) -> None:
        self._model = StreamModel(design)
        self.made: list[Made] = []

    @property
    def design(self) -> StreamDesign:
        """The design that the device was made for."""
        return self._model.design

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Makes products."""
        report = self._model.multiply(batch)
        descriptors = checked_descriptors(batch, self.design)
        found = zip(descriptors, batch, report.products, strict=True)
        self.made += [Made(*each) for each in found]
        return report
