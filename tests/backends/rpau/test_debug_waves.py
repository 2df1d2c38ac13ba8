"""Waves of a window of a program: the recorded signals are those of the traced cycles."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith import _core
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.debug.compare import load_random
from ringsmith.backends.rpau.debug.random_program import random_program
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.debug.waves import record, window_of
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.recording import TOP_SCOPE, WavesCoprocessor
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ProgramError, ToolError
from ringsmith.graph import Form, SubroutineGraph

DESIGN = replace(
    load_design("nano"),
    name="small",
    log_n=8,
    word_bits=30,
    rpaus=2,
    cores=1,
    dyadic_cores=1,
    work_polys=5,
    key_polys=4,
    constants=8,
)
CONTROLLER = f"{TOP_SCOPE}.u_controller"
PERIOD = WavesCoprocessor.PERIOD_NS


class Vcd:
    """The one-bit signals and all times of a VCD file."""

    def __init__(self, path: Path) -> None:
        header, _, body = path.read_text().partition("$enddefinitions $end")
        assert "$timescale" in header
        self.scopes: list[str] = []
        self.signals: dict[str, str] = {}
        inside: list[str] = []
        declaration = r"\$(scope|upscope|var)(?: (\w+))? *(\S*) *(\S*) *(\S*)"
        for kind, _, one, code, name in re.findall(declaration, header):
            if kind == "scope":
                inside.append(one)
                self.scopes.append(".".join(inside))
            elif kind == "upscope":
                inside.pop()
            elif one == "1":
                self.signals[".".join([*inside, name])] = code
        self.times: list[int] = []
        self.changes: dict[str, list[tuple[int, str]]] = {}
        for line in body.splitlines():
            if line.startswith("#"):
                self.times.append(int(line[1:]))
            elif line.startswith(("0", "1")):
                self.changes.setdefault(line[1:], []).append((self.times[-1], line[0]))

    def value(self, name: str, time: int) -> str:
        """A signal's value at a time."""
        past = [value for when, value in self.changes[self.signals[name]] if when <= time]
        return past[-1]


def issue_cycles(vcd: Vcd, first: int, last: int) -> list[int]:
    """Cycles in which the controller issues; its signals settle in the middle of a cycle."""
    middle = PERIOD // 2
    return [
        c
        for c in range(first, last + 1)
        if vcd.value(f"{CONTROLLER}.issue", PERIOD * c + middle) == "1"
    ]


def test_the_controller_issues_in_the_recorded_window_when_the_trace_says(tmp_path: Path) -> None:
    program = random_program(DESIGN, 11, 40)
    path = tmp_path / "window.vcd"
    first, last = program.starts[5], program.starts[12]
    coprocessor = WavesCoprocessor(DESIGN, path, first=first, last=last, scope=CONTROLLER, depth=1)
    load_random(coprocessor, program)
    assert coprocessor.run(10**7).cycles == program.cycles
    coprocessor.close()
    vcd = Vcd(path)
    assert vcd.scopes[-1].startswith(CONTROLLER)
    assert (vcd.times[0], vcd.times[-1]) == (PERIOD * first, PERIOD * (last + 1))
    assert issue_cycles(vcd, first, last) == list(program.starts[5:13])


@pytest.fixture(scope="module")
def in_runs() -> Executable:
    """A program that does not fit the work memory at once, and so has several runs."""
    primes = tuple(_core.prime_search(30, DESIGN.n, 2))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (1,))
    values = [graph.input(f"x{i}", (0, 1)) for i in range(6)]
    squares = [graph.mul(value, value) for value in values]
    total = squares[0]
    for value in [*squares[1:], *values]:
        total = graph.add(total, value)
    graph.output(total, "y")
    executable = compile_graph(graph, DESIGN)
    assert len(executable.runs) > 1
    return executable


def test_a_trace_of_several_runs_is_one_after_the_other(in_runs: Executable) -> None:
    trace = Trace.of_executable(in_runs)
    assert [event.start for event in trace.events] == list(in_runs.starts)
    assert trace.cycles == in_runs.cycles
    assert trace == Trace.of_model(in_runs)


def test_a_window_in_a_later_run_is_recorded_in_the_cycles_of_the_whole_program(
    in_runs: Executable, tmp_path: Path
) -> None:
    trace = Trace.of_executable(in_runs)
    index = len(in_runs.runs[0].words)  # the first instruction of the second run
    window = window_of(trace, index, index + 2)
    path = tmp_path / "later.vcd"
    assert record(in_runs, path, window, scope=CONTROLLER, depth=1) == in_runs.cycles
    vcd = Vcd(path)
    starts = [event.start for event in trace.events if window[0] <= event.start <= window[1]]
    assert issue_cycles(vcd, *window) == starts


@pytest.mark.parametrize("log_degree", [8, 9, 10])
def test_programs_of_every_ring_are_traced_and_recorded(log_degree: int, tmp_path: Path) -> None:
    design = replace(DESIGN, log_n=9, larger_rings=1, smaller_rings=1)
    n = 1 << log_degree
    primes = tuple(_core.prime_search(30, n, 2))
    graph = SubroutineGraph(n, primes, tuple(_core.smallest_root(q, n) for q in primes), (1,))
    graph.output(graph.ntt(graph.input("x", (0, 1), Form.COEFF)), "y")
    executable = compile_graph(graph, design)
    trace = Trace.of_executable(executable)
    assert trace == Trace.of_model(executable)
    path = tmp_path / "ring.vcd"
    assert record(executable, path, (0, 30), scope=CONTROLLER, depth=1) == executable.cycles
    starts = [event.start for event in trace.events if event.start <= 30]
    assert issue_cycles(Vcd(path), 0, 30) == starts


def test_without_a_depth_everything_is_recorded(in_runs: Executable, tmp_path: Path) -> None:
    path = tmp_path / "all.vcd"
    record(in_runs, path, (0, 3))
    vcd = Vcd(path)
    assert {TOP_SCOPE, CONTROLLER, f"{TOP_SCOPE}.gen_rpau[1].u_rpau.u_main"} <= set(vcd.scopes)
    assert vcd.times[-1] == 4 * PERIOD
    assert vcd.value("TOP.start_i", PERIOD // 2) == "1"


def test_a_window_of_instructions_lasts_until_their_units_are_idle(in_runs: Executable) -> None:
    trace = Trace.of_executable(in_runs)
    first, last = window_of(trace, 1, 3)
    assert first == trace.events[1].start
    assert last == max(event.end for event in trace.events[1:4])
    with pytest.raises(ProgramError, match="instructions 3 … 2 are no window"):
        window_of(trace, 3, 2)
    with pytest.raises(ProgramError, match=r"no window of a program of \d+"):
        window_of(trace, 0, len(trace.events))


def test_what_cannot_be_recorded_is_refused(in_runs: Executable, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="the window begins in cycle 1000000000"):
        record(in_runs, tmp_path / "late.vcd", (10**9, 10**9 + 1))
    with pytest.raises(DeviceError, match=r"the window 5 … 4 holds no cycle"):
        record(in_runs, tmp_path / "empty.vcd", (5, 4))
    with pytest.raises(DeviceError, match=r"cannot be written: Is a directory"):
        record(in_runs, tmp_path, (1, 2))


def test_a_target_is_checked_before_the_build_and_keeps_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ToolError("no compiler")

    monkeypatch.setattr("ringsmith.backends.rpau.device.rtl.RtlCoprocessor.__init__", fail)
    with pytest.raises(DeviceError, match="cannot be written: No such file"):
        WavesCoprocessor(DESIGN, tmp_path / "missing" / "x.vcd", first=0, last=1)
    old = tmp_path / "old.vcd"
    old.write_text("earlier waves")
    for path in (old, tmp_path / "new.vcd"):
        with pytest.raises(ToolError):
            WavesCoprocessor(DESIGN, path, first=0, last=1)
    assert old.read_text() == "earlier waves"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one window"),
        (["--cycles", "1:2", "--instructions", "1:2"], "name one window"),
        (["--operation", "rescale", "--cycles", "7"], "write FIRST:LAST"),
    ],
)
def test_the_waves_command_wants_exactly_one_window(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(app, ["waves", str(tmp_path / "x.vcd"), *arguments])
    assert done.exit_code == 2
    assert message in done.output


def test_the_waves_command_records_a_saved_program(in_runs: Executable, tmp_path: Path) -> None:
    program, target = tmp_path / "program.json", tmp_path / "waves.vcd"
    program.write_text(in_runs.to_json())
    options = ["--instructions", "0:1", "--scope", CONTROLLER, "--depth", "1"]
    done = CliRunner().invoke(app, ["waves", str(target), str(program), *options])
    assert done.exit_code == 0, done.output
    assert f"of {in_runs.cycles:,}, 10 ns each" in done.output
    assert issue_cycles(Vcd(target), *in_runs.starts[:2]) == list(in_runs.starts[:2])
