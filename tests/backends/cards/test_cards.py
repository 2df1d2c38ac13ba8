"""A simulated card and its driver: results, sharing by processes, limits, and what is killed."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from tests.forks import forked

from ringsmith import compile_program, open_device, trace
from ringsmith.backends.cards import messages
from ringsmith.backends.cards.interface import CardFiles, SerialPort, card_port
from ringsmith.backends.cards.server import CardServer
from ringsmith.backends.cards.socket_files import SocketPort
from ringsmith.backends.cards.xdma import XdmaFiles
from ringsmith.backends.jobs import JobState
from ringsmith.backends.registry import backend_of
from ringsmith.backends.rpau.card.device import CardDevice
from ringsmith.backends.rpau.card.simulated import RpauCard
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.card_table import MAGIC, CardRegister
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.errors import DeviceError, DeviceLostError
from ringsmith.params import BfvParameters
from ringsmith.runtime import Compiled

SECONDS = 60
DESIGN = replace(
    load_design("heaws6"),
    name="card2-small",
    log_n=10,
    coprocessors=2,
    work_uram_polys=0,
    key_ram="block",
)

PARAMETERS = BfvParameters.create(
    n=DESIGN.n,
    prime_bits=(30,) * 4,
    special_bits=(30,),
    plain_bits=17,
    security=None,
    multiplication="hps",
)


class Work:
    """A program, its keys and inputs, and what the cpu makes of them."""

    def __init__(self) -> None:
        program = trace(lambda x, y: x * y + x, PARAMETERS, {"x": 4, "y": 4})
        secret, public, self.keys = program.generate_keys(seeded=True)
        del secret
        self.inputs = program.encrypt(public, {"x": [1, 2, 3, 4], "y": [5, 6, 7, 8]})
        self.compiled: Compiled = compile_program(program, DESIGN)
        cpu = compile_program(program).run(open_device("cpu"), self.inputs, self.keys)
        (self.expected,) = cpu.outputs.values()

    def check(self, result) -> None:  # noqa: ANN001
        """Compares a result with the cpu's."""
        (found,) = result.outputs.values()
        np.testing.assert_array_equal(found.data, self.expected.data)


@pytest.fixture(scope="module")
def work() -> Work:
    return Work()


@pytest.fixture
def path(tmp_path: Path) -> Iterator[str]:
    """A card in this process, behind a socket."""
    server = CardServer(RpauCard(DESIGN, ModelCoprocessor, 16 << 20), tmp_path / "card.sock")
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield str(tmp_path / "card.sock")
    server.close()
    thread.join(SECONDS)


def start(folder: Path, name: str = "card.sock") -> tuple[subprocess.Popen[str], str]:
    """A card in a process of its own."""
    design = folder / "small.toml"
    values = "".join(f"{k} = {json.dumps(v)}\n" for k, v in asdict(DESIGN).items())
    design.write_text('architecture = "rpau"\n' + values)
    ringsmith = str(Path(sys.executable).with_name("ringsmith"))
    words = ("card", str(design), "--socket", str(folder / name), "--memory", "0.015625")
    process = subprocess.Popen([ringsmith, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "a simulated card of card2-small" in process.stdout.readline()
    return process, str(folder / name)


def device(*paths: str, **options: float) -> CardDevice:
    return CardDevice(DESIGN, [SocketPort(path) for path in paths], **options)


def test_a_card_computes_what_the_cpu_does_and_keeps_keys(path: str, work: Work) -> None:
    one = open_device("card", DESIGN, port=path)
    first = work.compiled.run(one, work.inputs, work.keys)
    again = work.compiled.run(one, work.inputs, work.keys)
    for result in (first, again):
        work.check(result)
    assert first.cycles == work.compiled.compiled_graph.executable.cycles  # type: ignore[union-attr]
    assert again.report.bytes_to_device < first.report.bytes_to_device
    assert again.report.key_words == 0 < first.report.key_words
    inputs = sum(value.data.size for value in work.inputs.values())
    assert inputs * 4 <= again.report.bytes_to_device < inputs * 4 + 8192  # and the lists
    outputs = work.expected.data.size
    assert outputs * 4 <= again.report.bytes_to_host < outputs * 4 + 4096
    assert {"to_card", "wait", "compute", "to_host"} <= again.report.stages.keys()


@pytest.mark.full
def test_a_card_of_simulated_rtl_takes_the_cycles_that_the_model_counts(
    tmp_path: Path, work: Work
) -> None:
    card = backend_of(DESIGN).cards().simulate(DESIGN, "rtl", 16 << 20)
    server = CardServer(card, tmp_path / "card.sock")
    threading.Thread(target=server.serve, daemon=True).start()
    one = device(str(tmp_path / "card.sock"))
    jobs = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(4)]
    results = [job.wait(10 * SECONDS) for job in jobs]
    for result in results:
        work.check(result)
    executable = work.compiled.compiled_graph.executable
    assert {result.cycles for result in results} == {executable.cycles}  # type: ignore[union-attr]
    one.close()
    server.close()


def test_a_program_of_several_runs_is_counted_whole(tmp_path: Path) -> None:
    design = replace(DESIGN, program_words=128)
    program = trace(lambda x, y: (x * y) * (x - y) + x.rotate(1), PARAMETERS, {"x": 4, "y": 4})
    compiled = compile_program(program, design)
    runs = compiled.compiled_graph.executable.runs
    assert not all(run.stores for run in runs), "one of the runs leaves its results on the device"
    _, public, keys = program.generate_keys(seeded=True)
    inputs = program.encrypt(public, {"x": [1, 2, 3, 4], "y": [5, 6, 7, 8]})
    expected = compiled.run(open_device("model", design), inputs, keys)
    card = RpauCard(design, ModelCoprocessor, 16 << 20)
    server = CardServer(card, tmp_path / "card.sock")
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        owner = CardDevice(design, [SocketPort(str(tmp_path / "card.sock"))])
        for _ in range(2):
            before = sum(channel.computed for channel in card._channels)
            found = compiled.run(owner, inputs, keys)
            after = sum(channel.computed for channel in card._channels)
            assert found.cycles * 5000 == after - before, "cycles of 5 ns, of all runs"
            assert found.cycles >= expected.cycles
            for name, output in expected.outputs.items():
                np.testing.assert_array_equal(found.outputs[name].data, output.data)
    finally:
        server.close()
        thread.join(SECONDS)


def test_threads_of_several_clients_share_a_cards_coprocessors(path: str, work: Work) -> None:
    one = device(path)
    jobs = [
        work.compiled.submit(one, work.inputs, work.keys, client=f"client {i % 3}")
        for i in range(24)
    ]
    for job in jobs:
        work.check(job.wait(SECONDS))
    (report,) = one.reports()
    lists = [channel["lists"] for channel in report["channels"]]  # type: ignore[index,union-attr]
    assert all(count > 4 for count in lists), lists
    one.close()


def test_several_devices_share_a_card_and_give_channels_back(path: str, work: Work) -> None:
    devices = [device(path) for _ in range(3)]  # more than there are coprocessors
    with ThreadPoolExecutor(6) as pool:
        for result in pool.map(
            lambda one: work.compiled.run(one, work.inputs, work.keys), devices * 4
        ):
            work.check(result)
    for one in devices:
        one.close()


def test_several_cards_are_one_device(tmp_path: Path, work: Work) -> None:
    started = [start(tmp_path, f"{name}.sock") for name in ("a", "b")]
    paths = [each for _, each in started]
    assert card_port(",".join(paths)) == CardFiles(tuple(paths))
    one = open_device("card", DESIGN, port=",".join(paths))
    jobs = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(16)]
    for job in jobs:
        work.check(job.wait(SECONDS))
    reports = one.reports()  # type: ignore[attr-defined]
    assert all(sum(each["lists"] for each in report["channels"]) for report in reports)
    for process, _ in started:
        process.terminate()
        assert process.wait(SECONDS) == 0


def test_a_forked_child_is_refused_its_parents_card_and_opens_its_own(
    tmp_path: Path, work: Work
) -> None:
    process, path = start(tmp_path)
    one = open_device("card", DESIGN, port=path)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    begun = os.getpid()

    def child() -> None:
        refused = f"device card was opened by process {begun}, and this is process {os.getpid()}"
        for use in (work.compiled.run, work.compiled.submit):
            with pytest.raises(DeviceError, match=f"{refused}.*call open_device in this process"):
                use(one, work.inputs, work.keys)
        one.close()  # type: ignore[attr-defined]
        own = open_device("card", DESIGN, port=path)
        for _ in range(8):
            work.check(work.compiled.run(own, work.inputs, work.keys))
        own.close()  # type: ignore[attr-defined]

    with one._change:  # type: ignore[attr-defined]  # as another thread may, at the fork
        assert forked(child, child) == [0, 0]
    for _ in range(8):
        work.check(work.compiled.run(one, work.inputs, work.keys))
    one.close()  # type: ignore[attr-defined]
    process.terminate()
    assert process.wait(SECONDS) == 0


def test_a_child_that_outlives_its_parent_keeps_no_channel(path: str) -> None:
    program = f"""
import os, sys, time
from ringsmith.backends.cards.socket_files import SocketPort
port = SocketPort({path!r}).open()
assert all(port.claim(1) for _ in range(2))
if os.fork() == 0:
    time.sleep(60)
print("claimed", flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "claimed\n"
    task = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    (child,) = map(int, task.read_text().split())
    parent.kill()
    parent.wait()
    try:
        port = SocketPort(path).open()
        assert port.claim(SECONDS) is not None, "the card has noticed that its client is gone"
        port.close()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_child_neither_uses_nor_unlocks_the_driver_files_of_its_parents_card(
    tmp_path: Path,
) -> None:
    prefix = str(tmp_path / "xdma0")
    for part in ("user", "h2c_0", "c2h_0", "events_0"):
        Path(f"{prefix}_{part}").touch()
    port = XdmaFiles(prefix).open()
    claim = port.claim(0)
    assert claim is not None

    def child() -> None:
        with pytest.raises(DeviceError, match="is closed"):
            port.read_register(0)
        assert XdmaFiles(prefix).open().claim(0) is None, "the parent has it"

    assert forked(child) == [0]
    port.release(claim.channel)
    again = XdmaFiles(prefix).open()
    assert again.claim(0) is not None
    with pytest.raises(DeviceError, match="is not claimed: claim it first"):
        again.wait_interrupt(7, 0.0)
    again.close()
    with pytest.raises(DeviceLostError, match="is closed: open the card again"):
        again.wait_interrupt(claim.channel, 0.0)
    port.close()


def test_jobs_go_on_elsewhere_when_one_of_two_cards_is_killed(tmp_path: Path, work: Work) -> None:
    (first, a), (second, b) = start(tmp_path, "a.sock"), start(tmp_path, "b.sock")
    one = device(a, b)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    jobs = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(30)]
    first.kill()
    first.wait()
    for job in jobs:
        work.check(job.wait(SECONDS))
    one.close()
    second.terminate()
    assert second.wait(SECONDS) == 0


def test_a_card_that_comes_back_is_opened_again(tmp_path: Path, work: Work) -> None:
    process, path = start(tmp_path)
    one = device(path)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    jobs = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(8)]
    process.kill()
    process.wait()
    process, _ = start(tmp_path)
    for job in jobs:
        work.check(job.wait(SECONDS))
    one.close()
    process.terminate()
    assert process.wait(SECONDS) == 0


def test_a_card_that_stays_away_ends_the_job_with_an_error(
    tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringsmith.backends.rpau.card.device._BACK_SECONDS", 0.2)
    process, path = start(tmp_path)
    one = device(path)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    process.kill()
    process.wait()
    with pytest.raises(DeviceLostError, match="no card answers at"):
        work.compiled.run(one, work.inputs, work.keys)


def test_a_client_that_is_killed_frees_its_channels(path: str, work: Work) -> None:
    code = (
        "import sys; from ringsmith.backends.cards.socket_files import SocketPort\n"
        f"port = SocketPort({path!r}).open()\n"
        "print([port.claim(1).channel for _ in range(2)], flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "[0, 1]\n"
    port = SocketPort(path).open()
    assert port.claim(0.05) is None
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    one = device(path)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    one.close()
    port.close()


def test_what_a_client_has_not_claimed_it_does_not_reach(path: str) -> None:
    mine, other = SocketPort(path).open(), SocketPort(path).open()
    assert mine.read_register(CardRegister.MAGIC) == MAGIC
    claim, its = mine.claim(1), other.claim(1)
    assert claim is not None
    assert its is not None
    mine.write_memory(claim.first, b"secret of mine" * 10)
    assert mine.read_memory(claim.first, 14) == b"secret of mine"
    for attempt in (
        lambda: other.read_memory(claim.first, 14),
        lambda: other.write_memory(claim.first, b"x"),
        lambda: other.read_memory(its.first + its.size - 4, 8),
        lambda: other.write_register(0x100 + 0x40 * claim.channel, 0),
        lambda: other.read_register(4096 * (claim.channel + 1)),
        lambda: other.write_register(CardRegister.MAGIC, 1),
    ):
        with pytest.raises(DeviceError, match=r"not claimed|has claimed"):
            attempt()
    mine.release(claim.channel)
    again = other.claim(1)
    assert again is not None
    assert other.read_memory(again.first, 14) == bytes(14)  # emptied for the next client
    mine.close()
    other.close()


def test_messages_that_are_none_end_their_connection_alone(path: str, work: Work) -> None:
    good = SocketPort(path).open()
    opening = messages.OPENING.pack(messages.MAGIC, messages.VERSION, 0, 0, bytes(16))
    rubbish = [
        b"GET / HTTP/1.1\r\n\r\n" + bytes(64),
        struct.pack("<BxxxIQ", 1, 0xFFFFFFFF, 0),  # four GiB of payload
        struct.pack("<BxxxIQ", 1, len(opening), 0) + opening[:-3] + b"abc",
        struct.pack("<BxxxIQ", 9, 4, 0) + bytes(4),  # no opening
        struct.pack("<BxxxIQ", 1, len(opening), 0) + opening.replace(b"\1\0", b"\7\0", 1),
    ]
    for data in rubbish:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(SECONDS)
            line.connect(path)
            with contextlib.suppress(ConnectionError):  # what was not read is a reset
                line.sendall(data)
                line.shutdown(socket.SHUT_WR)
                while line.recv(4096):
                    pass
    assert good.read_register(CardRegister.MAGIC) == MAGIC
    good.close()
    one = device(path)
    work.check(work.compiled.run(one, work.inputs, work.keys))
    one.close()


def test_a_job_is_cancelled_while_it_waits_and_while_it_runs(path: str, work: Work) -> None:
    one = device(path)
    jobs = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(12)]
    for job in jobs[::2]:
        job.cancel()
    for job in jobs[1::2]:
        work.check(job.wait(SECONDS))
    assert {job.poll() for job in jobs[::2]} <= {JobState.CANCELLED, JobState.DONE}
    assert JobState.CANCELLED in {job.poll() for job in jobs[::2]}
    work.check(work.compiled.run(one, work.inputs, work.keys))
    one.close()


def test_a_job_that_waits_too_long_is_reported_so(path: str, work: Work) -> None:
    one, port = device(path, wait_seconds=0.2), SocketPort(path).open()
    assert [port.claim(1) is not None for _ in range(2)] == [True, True]
    blocked = [work.compiled.submit(one, work.inputs, work.keys) for _ in range(6)]
    with pytest.raises(DeviceError, match=r"has waited 0\.2 seconds for a place"):
        blocked[-1].wait(SECONDS)
    port.close()
    work.check(blocked[0].wait(SECONDS))
    one.close()


def test_keys_that_do_not_fit_replace_each_other(tmp_path: Path, work: Work) -> None:
    size = sum(key.data.nbytes for key in (work.keys.relin,) if key is not None)
    card = RpauCard(DESIGN, ModelCoprocessor, 2 * (2 << 20))
    server = CardServer(card, tmp_path / "card.sock")
    threading.Thread(target=server.serve, daemon=True).start()
    one = device(str(tmp_path / "card.sock"))
    others = [Work() for _ in range(2 + (4 << 20) // size)]
    for each in [*others, *others]:
        each.check(each.compiled.run(one, each.inputs, each.keys))
    one.close()
    server.close()


def test_what_is_no_card_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(DeviceLostError, match="start one with ringsmith card"):
        device(str(tmp_path / "nothing.sock"))
    with pytest.raises(DeviceError, match="has 2 coprocessors, and design heaws6 has 6"):
        open_device("card", "heaws6", port=path)
    other = replace(DESIGN, work_polys=DESIGN.work_polys - 1, name="other")
    program = trace(lambda x: x + x, PARAMETERS, {"x": 4})
    _, public, keys = program.generate_keys()
    with pytest.raises(DeviceError, match="work_polys"):
        compile_program(program, other).run(
            CardDevice(other, [SocketPort(path)]), program.encrypt(public, {"x": [1]}), keys
        )
    with pytest.raises(DeviceError, match="a card answers at"):
        CardServer(RpauCard(DESIGN, ModelCoprocessor, 16 << 20), Path(path))
    (tmp_path / "file").write_text("not a socket")
    with pytest.raises(DeviceError, match="is another file"):
        CardServer(RpauCard(DESIGN, ModelCoprocessor, 16 << 20), tmp_path / "file")
    assert card_port("/dev/ttyUSB0", 9600) == SerialPort("/dev/ttyUSB0", 9600)


# ---- device files --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> XdmaFiles:
    """A stand-in for a card's device files: plain files, and pipes for its interrupts."""
    prefix = tmp_path / "xdma0"
    memory = Path(f"{prefix}_h2c_0")
    memory.write_bytes(bytes(1 << 20))
    Path(f"{prefix}_c2h_0").symlink_to(memory)
    Path(f"{prefix}_user").write_bytes(bytes(64 << 10))
    for number in range(2):
        os.mkfifo(f"{prefix}_events_{number}")
    return XdmaFiles(str(prefix), memory=1 << 20)


def opened_events(files: XdmaFiles, number: int) -> int:
    """The driver's end of an interrupt's file: a pipe blocks until both are there."""
    return os.open(f"{files.prefix}_events_{number}", os.O_RDWR)


def test_device_files_carry_registers_memory_and_interrupts(files: XdmaFiles) -> None:
    driver = [opened_events(files, number) for number in range(2)]
    port = files.open()
    port.write_register(0x104, 0xDEADBEEF)
    assert port.read_register(0x104) == 0xDEADBEEF
    assert Path(f"{files.prefix}_user").read_bytes()[0x104:0x108] == b"\xef\xbe\xad\xde"
    words = np.array([1, 1 << 40, (1 << 64) - 1], dtype=np.uint64)
    port.write_words(0x50, words)
    assert port.read_words(0x50, 1)[0] == words[-1]
    claim = port.claim(1)
    assert claim is not None
    data = bytes(range(256)) * 1024
    port.write_memory(claim.first + 64, data)
    assert port.read_memory(claim.first + 64, len(data)) == data
    assert not port.wait_interrupt(claim.channel, 0)
    os.write(driver[claim.channel], b"\1\0\0\0")
    assert port.wait_interrupt(claim.channel, SECONDS)
    port.close()
    for number in driver:
        os.close(number)


def test_device_files_keep_processes_apart_by_locks(files: XdmaFiles) -> None:
    driver = [opened_events(files, number) for number in range(2)]
    one, two = files.open(), files.open()
    first, second = one.claim(1), two.claim(1)
    assert first is not None
    assert second is not None
    assert first.channel != second.channel
    assert first.first + first.size <= second.first or second.first + second.size <= first.first
    start = time.monotonic()
    assert one.claim(0.05) is None
    assert time.monotonic() - start >= 0.05
    two.close()
    assert one.claim(1) is not None
    one.close()
    for number in driver:
        os.close(number)


def test_missing_device_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"xdma7_user cannot be opened .* load the card's driver"):
        XdmaFiles(str(tmp_path / "xdma7")).open()
