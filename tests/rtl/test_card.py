"""A card at a serial port: a verilated board behind a pseudo-terminal, byte for byte."""

import errno
import json
import os
import pty
import tty
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from tests.rtl.card import simulated_board
from tests.rtl.card.simulated_board import HOST_BAUD, SimulatedBoard

from ringsmith import CkksParameters, compile_program, open_device, trace
from ringsmith.backends.registry import inspector_of
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device import card
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.device.serial_line import SerialLine
from ringsmith.errors import DeviceError
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.netlist import kind
from ringsmith.hdl.sources import rtl_sources
from ringsmith.runtime.evaluator import Evaluator

DESIGN = RpauDesign(
    name="small",
    log_n=10,
    word_bits=30,
    rpaus=3,
    cores=1,
    dyadic_cores=1,
    work_polys=6,
    key_polys=2,
    constants=16,
    program_words=256,
    reduction="barrett",
    prng="trivium",
    seeds=2,
)


@pytest.fixture(scope="module")
def board() -> Iterator[SimulatedBoard]:
    with SimulatedBoard(simulated_board.build(DESIGN)) as simulated:
        yield simulated


def opened(board: SimulatedBoard, design: RpauDesign = DESIGN) -> RpauDevice:
    device = open_device("card", design, port=board.port, baud=HOST_BAUD)
    assert isinstance(device, RpauDevice)
    return device


def test_an_encrypted_product_on_a_card_equals_the_core(
    board: SimulatedBoard, rng: np.random.Generator
) -> None:
    parameters = CkksParameters.create(
        n=DESIGN.n, prime_bits=(30, 24), special_bits=30, scale_bits=24, security=None
    )
    program = trace(lambda x, y: x * y, parameters, {"x": 8, "y": 8})
    compiled = compile_program(program, DESIGN)
    secret, public, keys = program.generate_keys()
    x, y = rng.uniform(-1, 1, (2, 8))
    inputs = program.encrypt(public, {"x": x, "y": y})
    device = opened(board)
    assert device.name == "card"
    found = compiled.run(device, inputs, keys)
    wanted = compiled.run(open_device("cpu"), inputs, keys)
    np.testing.assert_array_equal(found.outputs["result"].data, wanted.outputs["result"].data)
    assert found.cycles == compiled.run(open_device("model", DESIGN), inputs, keys).cycles
    evaluator = Evaluator(parameters, None, "card", DESIGN, board.port, HOST_BAUD)
    device.coprocessor.close()
    total = evaluator.run("add", inputs["x"], inputs["y"])
    wanted_total = Evaluator(parameters).run("add", inputs["x"], inputs["y"])
    np.testing.assert_array_equal(total.data, wanted_total.data)
    result = program.decrypt(secret, found.outputs)["result"]
    np.testing.assert_allclose(result[:8], x * y, atol=1e-2)


def test_another_design_is_refused_with_what_differs(board: SimulatedBoard) -> None:
    with pytest.raises(DeviceError, match="says cores = 1 and design small has cores = 2: open it"):
        opened(board, replace(DESIGN, cores=2))
    opened(board).coprocessor.close()  # the port is free again


def test_a_second_program_does_not_get_the_port(board: SimulatedBoard) -> None:
    device = opened(board)
    with pytest.raises(DeviceError, match=r"another program has port .* open: end it first"):
        opened(board)
    device.coprocessor.close()


@pytest.mark.parametrize("skew", [-0.02, 0.02])
def test_an_adapter_whose_clock_differs_is_understood(
    skew: float, rng: np.random.Generator
) -> None:
    words = rng.integers(0, 1 << DESIGN.word_bits, DESIGN.n, dtype=np.uint64)
    with SimulatedBoard(simulated_board.build(DESIGN), skew) as simulated:
        device = opened(simulated).coprocessor
        sent = len(simulated.received)
        device.write(AddressSpace.POLY, 1, 2, words)
        # Four frames of 256 words of four bytes, four registers of the place, and `refused`.
        assert len(simulated.received) - sent == 4 * (11 + 4 * 256) + 4 * (11 + 4) + 11
        np.testing.assert_array_equal(device.read(AddressSpace.POLY, 1, 2), words)
        device.close()


def test_a_cable_that_is_pulled_out_ends_the_session(rng: np.random.Generator) -> None:
    words = rng.integers(0, 1 << DESIGN.word_bits, DESIGN.n, dtype=np.uint64)
    with SimulatedBoard(simulated_board.build(DESIGN)) as simulated:
        device = opened(simulated).coprocessor
        simulated.unplug()
        with pytest.raises(DeviceError, match=r"is gone.*: connect the cable and open the device"):
            device.write(AddressSpace.POLY, 0, 0, words)
        device.close()
        with pytest.raises(DeviceError, match="is closed: open the device again"):
            device.write(AddressSpace.POLY, 0, 0, words)


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """A pseudo-terminal: what a board would hold of it, and the port's name."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "_PATIENCE", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_port_without_a_board_is_reported(terminal: tuple[int, str]) -> None:
    with pytest.raises(DeviceError, match=r"nothing answers at .* at 115200 baud: give the board"):
        open_device("card", DESIGN, port=terminal[1], baud=115200)


@pytest.mark.usefixtures("impatient")
def test_a_wrong_rate_is_reported(terminal: tuple[int, str], rng: np.random.Generator) -> None:
    master, port = terminal
    noise = rng.bytes(20).replace(b"\x5a", b"\x00")

    def garble() -> None:
        for _ in range(card.ATTEMPTS):
            os.read(master, 100)
            os.write(master, noise)

    garbling = Thread(target=garble, daemon=True)
    garbling.start()
    with pytest.raises(DeviceError, match="bytes came and no answer among them: give the rate"):
        open_device("card", DESIGN, port=port, baud=115200)
    garbling.join()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "card"}, "device card needs the port that it is connected to: give port="),
        ({"kind": "rtl", "port": "/dev/null"}, "device rtl has no port /dev/null: leave"),
        ({"kind": "cpu", "port": "/dev/null"}, "device cpu has no port"),
        ({"kind": "card", "port": "/dev/null"}, "/dev/null cannot be opened as a serial port"),
        ({"kind": "card", "port": "/dev/absent"}, "there is no port /dev/absent: is the board's"),
        ({"kind": "card", "port": "/dev/null", "baud": 12345}, "cannot have 12345 baud: choose on"),
        ({"kind": "card", "design": "rpm", "port": "/dev/null"}, "rpm .* has no device 'card'"),
    ],
    ids=str,
)
def test_ports_that_cannot_be_used_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        open_device(**arguments)


def test_a_port_of_another_user_is_refused(
    monkeypatch: pytest.MonkeyPatch, terminal: tuple[int, str]
) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(DeviceError, match="may not be opened by this user: join the group"):
        SerialLine(terminal[1], 9600)


def test_every_byte_crosses_a_port_as_it_is(terminal: tuple[int, str]) -> None:
    master, port = terminal
    line, every = SerialLine(port, 9600), bytes(range(256))
    line.send(every)
    found = b""
    while len(found) < 256:
        found += os.read(master, 300)
    assert found == every
    os.write(master, every)
    found = b""
    while len(found) < 256:
        found += line.receive(1.0)
    assert found == every
    assert line.receive(0.0) == b""
    line.close()


# Coprocessors behind a card's DMA: whole runs from host memory to host memory, and what may fail

# The bench itself is bus/card_bench.py; the host that drives the card, bus/card_host.py.


BENCH = Path(__file__).parent / "bus" / "card_bench.py"
SMALL = {"log_n": 10, "work_uram_polys": 0, "key_ram": "block"}


@pytest.mark.full
@pytest.mark.parametrize("bits", [32, 64, 128, 256, 512])
def test_yosys_reads_a_card(tmp_path: Path, bits: int) -> None:
    """As synthesis does; what is inside the accelerators is read with their own tops."""
    values = rtl.card_parameters(replace(load_design("heaws6"), host_bits=bits, coprocessors=2))
    found = elaborated(
        rtl.CARD_TOP,
        rtl_sources(*rtl.CARD_FOLDERS),
        [f"{name}={value}" for name, value in values.items()],
        tmp_path,
        boxes=[rtl.TOP],
    )
    assert rtl.CARD_TOP in found["modules"]
    assert {"rs_dma", "rs_rpau_shell", rtl.TOP} <= {*map(kind, found["modules"])}


@pytest.mark.full
def test_a_design_of_several_coprocessors_is_written_as_a_card() -> None:
    design = replace(load_design("heaws6"), **{**SMALL, "coprocessors": 2, "name": "card2-small"})
    text = inspector_of(design, "is not written as Verilog").verilog(design)
    assert f"module {rtl.CARD_TOP}(" in text
    assert f"module {rtl.BUS_TOP}(" not in text


@pytest.mark.parametrize(
    "coprocessors", [2, pytest.param(6, marks=pytest.mark.full)], ids="{}-coprocessors".format
)
def test_a_card_computes_and_fails_as_its_pages_say(
    run_bench: Callable[..., None], coprocessors: int
) -> None:
    rpaus = 4 if coprocessors == 2 else 7  # one more than primes
    name = f"card{coprocessors}-small"
    change = {**SMALL, "coprocessors": coprocessors, "rpaus": rpaus, "name": name}
    design = replace(load_design("heaws6"), **change)
    shape = (coprocessors, design.host_bits, 4, design.word_bits, 9, 4000, 5000, 0)
    run_bench(
        BENCH,
        rtl.CARD_TOP,
        rtl_sources(*rtl.CARD_FOLDERS),
        rtl.card_parameters(design),
        ["bus_*", "*_i", "*_o", "s_axil*", "m_axi*", "host_*", "start"],
        {"RINGSMITH_BENCH": json.dumps(shape), "RINGSMITH_CARD": json.dumps(change)},
    )
