"""Ctrl-C in the middle of a long run: it ends at once, and what the device is good for afterwards.

Each run here would take minutes or for ever. A child process says when it runs and gets SIGINT.
"""

import itertools
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ringsmith.hdl.library import slices

MOST_SECONDS = 5.0
"""From the signal to the end of the process, on a loaded machine; 0.2 s on one that is not."""

PROGRAMS = """
    import sys
    from dataclasses import replace
    from pathlib import Path

    import numpy as np

    from ringsmith.backends.rpau.isa.assembler import encode
    from ringsmith.backends.rpau.design.design import RpauDesign, load_design
    from ringsmith.backends.rpau.isa.instruction_set import instruction
    from ringsmith.backends.rpau.debug.random_program import random_program
    from ringsmith.backends.rpau.design.register_table import Register
    from ringsmith.backends.rpau.device import rtl
    from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
    from ringsmith.hdl.block import Block
    from ringsmith.backends.rpau.device.interface import AddressSpace
    from ringsmith.backends.rpau.device.model import ModelCoprocessor
    from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
    from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
    from ringsmith.hdl.verilate import build_block

    SMALL = RpauDesign(
        name="small", log_n=8, word_bits=40, rpaus=3, cores=2, dyadic_cores=1, work_polys=8,
        key_polys=5, constants=8, program_words=128, reduction="barrett", prng="trivium", seeds=2,
    )

    def words_of(*names):
        return np.array([encode(instruction(name, 1)) for name in names], dtype=np.uint64)

    def check_usable(device):
        device.load_program(words_of("nop", "halt"))
        assert device.run(1000).instructions == 2
        print("usable", flush=True)

    def gate():
        source = Path(sys.argv[1]) / "gate.sv"
        source.write_text("module gate (input a_i, output y_o); assign y_o = !a_i; endmodule")
        return build_block("gate", [source])

    def report_running():
        print("running", flush=True)
"""

RTL = """
    device = RtlCoprocessor(load_design("nano"))
    device.load_program(words_of("halt"))
    everywhere = words_of(*["nop"] * device.design.program_words)  # no halt: it never ends
    device._call("load_program", 0, everywhere.ctypes.data_as(rtl._POINTER), everywhere.size)
    report_running()
    try:
        device.run(10**15)
    finally:
        check_usable(device)
"""
BUS = """
    bus = SimulatedBus(SMALL, assertions=True)
    device = RegisterCoprocessor(SMALL, bus)
    device.load_program(words_of("halt"))
    bus.write(Register.PROGRAM_ADDRESS, 0)
    bus.write_words(Register.PROGRAM_DATA, words_of(*["nop"] * SMALL.program_words))
    report_running()
    try:
        device.run(10**15)
    finally:
        check_usable(device)
"""
TRANSFER = """
    bus = SimulatedBus(SMALL, assertions=True)
    device = RegisterCoprocessor(SMALL, bus)
    report_running()
    try:
        bus.write_words(Register.PROGRAM_DATA, np.zeros(10**8, np.uint64))
    finally:
        device.reset()
        check_usable(device)
"""
MODEL = """
    design = replace(load_design("nano"), log_n=16, program_words=1 << 16)
    device = ModelCoprocessor(design)
    for space, rpau, index, words in random_program(design, 1, 10).loads():
        device.write(AddressSpace[space], rpau, index, words)
    for rpau in range(design.rpaus):
        device.write(AddressSpace.POLY, rpau, 0, np.zeros(design.n, np.uint64))
    ntt = encode(instruction("ntt", (1 << design.rpaus) - 1, dst=0, a=0))
    last = words_of("halt")[0]
    device.load_program(np.array([*[ntt] * 60_000, last], dtype=np.uint64))
    report_running()
    try:
        device.run(10**15)
    finally:
        check_usable(device)
"""
BLOCK = """
    from ringsmith.errors import DeviceError
    block = Block(gate())
    report_running()
    try:
        block.step(10**15)
    finally:
        try:
            block.step(1)
        except DeviceError as error:
            print(error, flush=True)
"""
COMMAND = """
    from ringsmith.cli.main import app

    @app.command()
    def forever():
        block = Block(gate())
        report_running()
        block.step(10**15)

    app(["forever"])
"""


def stopped(script: str, folder: Path) -> tuple[int, str, str]:
    """Runs a script, sends it SIGINT when it says that it runs; status, output and errors.

    Raises:
        AssertionError: If it takes longer than MOST_SECONDS to end.
    """
    text = textwrap.dedent(PROGRAMS) + textwrap.dedent(script)
    with subprocess.Popen(
        [sys.executable, "-c", text, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        time.sleep(0.5)  # so that it is in the middle of the run
        still_runs = process.poll() is None
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        try:
            output, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert line == "running\n", errors
        assert still_runs, errors
        assert time.monotonic() - started < MOST_SECONDS
        return process.returncode, output, errors


@pytest.mark.parametrize(
    "script", [RTL, BUS, TRANSFER, MODEL], ids=["rtl", "bus", "words", "model"]
)
def test_ctrl_c_stops_a_run_and_the_device_can_be_used_again(script: str, tmp_path: Path) -> None:
    status, output, errors = stopped(script, tmp_path)
    assert status == -signal.SIGINT
    assert output == "usable\n"
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


def test_ctrl_c_stops_a_block_which_must_be_made_anew(tmp_path: Path) -> None:
    status, output, _ = stopped(BLOCK, tmp_path)
    assert status == -signal.SIGINT
    assert output == "this block is closed, or was stopped while it ran: make a new one\n"


def test_a_command_that_ctrl_c_stops_says_one_line(tmp_path: Path) -> None:
    status, output, errors = stopped(COMMAND, tmp_path)
    assert (status, output, errors) == (130, "", "ringsmith: stopped by Ctrl-C\n")


def test_slices_cover_all_steps_in_order_and_follow_the_time_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    found = []
    for begin, count in slices(1_000_000):
        found.append((begin, count))
        now += count * 1e-5  # 100,000 steps a second
    assert found[0] == (0, 64)
    assert all(begin == last + size for (last, size), (begin, _) in itertools.pairwise(found))
    assert sum(found[-1]) == 1_000_000
    assert {count for _, count in found[8:-1]} <= {9_999, 10_000}
    assert list(slices(0)) == []
    assert list(slices(3, first=10)) == [(0, 3)]
