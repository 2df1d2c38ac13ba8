"""Stream devices: the model and the RTL give core's products in the same cycles, or say why not."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design import generator
from ringsmith.backends.stream.design.design import (
    StreamDesign,
    load_stream_design,
    named_stream_designs,
)
from ringsmith.backends.stream.device.interface import ResidueProduct
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.backends.stream.model.batch import batch_cycles, batch_schedule
from ringsmith.errors import DeviceError, ParameterError

DESIGN = StreamDesign("devices", 8, 2, 30)
FramesOf = Callable[[StreamDesign, int, int], list[Any]]


def batch_of(frames: list[Any]) -> list[ResidueProduct]:
    """What a device is asked for."""
    return [ResidueProduct(frame.descriptor.q, frame.a, frame.b) for frame in frames]


@pytest.fixture(scope="module")
def rtl() -> StreamRtl:
    return StreamRtl(DESIGN)


def test_the_papers_proof_of_concept_is_a_named_design() -> None:
    assert named_stream_designs() == ["rpm"]
    assert load_stream_design("rpm") == StreamDesign("rpm", 12, 2, 30)


@pytest.mark.parametrize(
    ("name", "text"),
    [("nano", "is of architecture 'rpau', and a design of 'stream' is wanted"), ("x", "no design")],
)
def test_another_name_is_refused_with_those_there_are(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match=rf"{text}.*choose one of rpm"):
        load_stream_design(name)


@pytest.mark.parametrize("shape", [(8, 2, 30), (8, 4, 30), (9, 2, 60), (10, 16, 30)])
def test_a_long_batch_goes_on_as_its_beginning_does(shape: tuple[int, int, int]) -> None:
    design = StreamDesign("any", *shape)
    for count in (3, 24, 70):
        wanted = generator.schedule(*design.shape, design.slots, [0] * count)
        assert batch_schedule(design, count) == wanted
    assert batch_cycles(design, 0) == 0


def test_the_rtl_makes_the_models_products_in_the_models_cycles(
    frames_of: FramesOf, rtl: StreamRtl
) -> None:
    frames = iter(frames_of(DESIGN, 41, 20))
    for count in (1, 30, 10):  # a batch finds the device as idle as the one before did
        some = list(islice(frames, count))
        batch = batch_of(some)
        told, found = StreamModel(DESIGN).multiply(batch), rtl.multiply(batch)
        assert (found.starts, found.cycles) == (told.starts, told.cycles)
        assert set(found.intervals) <= {DESIGN.period}
        for frame, ours, model in zip(some, found.products, told.products, strict=True):
            assert np.array_equal(ours, frame.product)
            assert np.array_equal(model, frame.product)


def test_nothing_takes_no_cycle(rtl: StreamRtl) -> None:
    assert rtl.multiply([]) == StreamModel(DESIGN).multiply([])
    assert rtl.multiply([]).cycles == 0


def test_a_device_that_stalls_is_told_with_the_cycle() -> None:
    coprocessor = StreamRtl(DESIGN)
    coprocessor.block.poke("rst_ni", 0)
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    with pytest.raises(DeviceError, match=r"stalled: it was not ready for .* 0 of 1 in cycle"):
        coprocessor.multiply([ResidueProduct(q, zero, zero)])


@pytest.mark.parametrize(
    ("prime", "text"),
    [
        ((1 << 31) + 1, "product 1: prime 2147483649 has 32 bits and design devices takes"),
        (65539, "product 1: prime 65539 is 3 modulo 2N = 512, and design devices needs 1"),
        (513, "product 1: 513 is no prime"),
    ],
)
def test_a_prime_is_refused_with_a_reason(prime: int, text: str) -> None:
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    batch = [ResidueProduct(q, zero, zero), ResidueProduct(prime, zero, zero)]
    with pytest.raises(DeviceError, match=text):
        StreamModel(DESIGN).multiply(batch)


def test_operands_that_are_none_are_refused() -> None:
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    with pytest.raises(DeviceError, match=r"operand b has shape \(128,\)"):
        StreamModel(DESIGN).multiply([ResidueProduct(q, zero, zero[:128])])
    with pytest.raises(DeviceError, match=rf"the word {q}, which is not below its prime"):
        StreamModel(DESIGN).multiply([ResidueProduct(q, zero, zero + np.uint64(q))])
