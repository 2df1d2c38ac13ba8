"""``ringsmith explore``: searches, records, engines, pages, errors."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from threading import Event, Thread
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from ringsmith import parameter_set, platforms, trace
from ringsmith.backends.explorer import OperationCost, Usage
from ringsmith.backends.registry import named_design
from ringsmith.cli.main import app
from ringsmith.engines import Processes, engine
from ringsmith.errors import InteropError, ToolError
from ringsmith.explore.evaluate import Evaluator, work_of
from ringsmith.explore.points import Job, Record, Tried, front
from ringsmith.explore.request import Request, architectures
from ringsmith.explore.search import FINE, Search
from ringsmith.platforms import load_platform

SMALL = ("--params", "framework-set3", "--ops", "rescale", "--platform", "u280", "--arch", "vector")
REQUEST = Request("u280", ("vector",), "framework-set3", ("rescale",))


def explore(*words: object, status: int = 0) -> Result:
    done = CliRunner().invoke(app, ["explore", *map(str, words)])
    assert done.exit_code == status, done.output
    return done


def point(name: str, milliseconds: float, dsps: int, luts: int = 1) -> Tried:
    cost = OperationCost(1, milliseconds, True, {"compute": 1}, {}, 0)
    usage = Usage(luts, 1, dsps, 1, 1)
    return Tried("vector", (("name", name),), name, "", "", usage, 1, {"add": cost})


# ---- the front ---------------------------------------------------------------------------------


def test_a_front_has_what_nothing_is_at_least_as_good_as() -> None:
    points = [point("slow", 4, 1), point("fast", 1, 4), point("worse", 4, 2), point("same", 1, 4)]
    bad = Tried("vector", (), "no", "too large", "capacity", Usage(0, 0, 0, 0, 0))
    assert [each.name for each in front([*points, bad])] == ["fast", "slow"]
    assert front([bad]) == []


def test_what_binds_is_what_takes_most_cycles() -> None:
    def binds(cycles: int, **bounds: int) -> str:
        return OperationCost(cycles, 1, True, bounds, {}, 0).binds

    assert binds(100, compute=90, memory=20, capacity=10) == "compute"
    assert binds(100, compute=50, memory=60, capacity=10) == "memory"
    assert binds(100, compute=50, memory=20, capacity=70) == "capacity"
    assert binds(100, compute=30, memory=20) == "waiting"


# ---- searches ----------------------------------------------------------------------------------


def test_the_command_finds_a_front_and_writes_json_page_and_report(tmp_path: Path) -> None:
    names = ("points.json", "page.html", "report.md", "design.toml")
    files = [tmp_path / name for name in names]
    record = tmp_path / "tried.jsonl"
    options = ("--json", files[0], "--page", files[1], "--report", files[2], "--record", record)
    options += ("--save-design", files[3])
    done = explore(*SMALL, *options, "--workers", 1, "--compare", "framework")
    assert "points tried" in done.output
    assert "What binds" in done.output
    found = json.loads(files[0].read_text())
    on_front = [each for each in found["points"] if each["front"]]
    assert on_front
    assert all(each["exact"] and not each["reason"] for each in on_front)
    assert all(each["reason"] for each in found["points"] if each["milliseconds"] is None)
    assert {each["kind"] for each in found["points"]} == {"", "illegal", "capacity"}
    check_page(files[1].read_text(), len(on_front))
    fastest = min(on_front, key=lambda each: each["milliseconds"])
    assert named_design(str(files[3])).name == fastest["name"]
    report = files[2].read_text()
    assert report.startswith("## rescale of framework-set3 on Alveo U280\n")
    assert "`framework`, named" in report
    before = record.read_text()
    typed = ["explore", *SMALL, "--record", str(record), "--workers", "1"]
    again = CliRunner().invoke(app, typed)
    assert record.read_text() == before  # nothing was tried twice
    assert "points tried" in again.output


def check_page(text: str, on_front: int) -> None:
    """The page's pictures are whole, and it needs nothing from outside."""
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(pictures) == 4 + 2 * on_front + 1  # by objective, each design's two, the timeline
    for each in pictures:
        ElementTree.fromstring(each)  # noqa: S314 - our own page
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert text.count('<tr data-point="') == on_front
    assert 'class="bar"' in pictures[-1]


def test_the_papers_sample_design_is_among_the_points_and_none_is_better_by_chance() -> None:
    """Its 256 ALUs, rows of 256 words and 16 MiB are a point of the doubling search."""
    evaluator = Evaluator(REQUEST)
    values = {
        "log_lanes": 8,
        "log_radix": 2,
        "clusters": 1,
        "banks": 4,
        "bank_rows": 4096,
        "reduction": "barrett",
    }
    tried = evaluator.tried(Job("vector", tuple(values.items()), exact=True))
    named = evaluator.named("framework")
    assert tried.feasible
    assert (tried.usage, named.reason) == (tried.usage, "")
    assert tried.usage is not None
    assert named.usage is not None
    assert (tried.usage.dsps, tried.usage.urams) == (named.usage.dsps, named.usage.urams)
    assert tried.milliseconds == pytest.approx(named.milliseconds, rel=0.05)


def test_the_fine_search_goes_on_from_doubling() -> None:
    evaluator, record = Evaluator(REQUEST), Record(None, REQUEST)

    def found(kind: str, limit: int) -> Sequence[Tried]:
        own = engine("processes", work_of(evaluator), 1)
        return Search(evaluator, own, record, kind, limit).run().points

    coarse = {each.key for each in found("doubling", 0)}
    fine = found(FINE, len(coarse) + 60)
    assert coarse < {each.key for each in fine}
    assert not {dict(each.values)["clusters"] for each in fine} <= {1, 2, 4, 8}


def test_a_limit_leaves_points_out_and_says_so() -> None:
    done = explore(*SMALL, "--limit", 70, "--workers", 1)
    assert re.search(r"\d+ points were left out by --limit", done.output)
    assert "70 points tried" in done.output


def test_a_program_is_explored_on_a_card_of_ones_own(tmp_path: Path) -> None:
    program = trace(lambda x: x * x + 1.0, parameter_set("nano"), {"x": 8})
    file = tmp_path / "net.rsp"
    program.save(file)
    card = tmp_path / "mine.toml"
    card.write_text((Path(platforms.__file__).parent / "zcu102.toml").read_text())
    done = explore("--program", file, "--platform", card, "--arch", "rpau", "--limit", 80)
    assert "Front" in done.output


# ---- records and engines -------------------------------------------------------------------------


def jobs(count: int) -> list[Job]:
    from ringsmith.explore.request import explorer
    from ringsmith.explore.search import _doubled

    task = Evaluator(REQUEST).task("vector")
    return [*_doubled("vector", explorer("vector").space(task))][:count]


def test_a_record_that_was_cut_off_is_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    record, evaluator = Record(path, REQUEST), Evaluator(REQUEST)
    record.begin({})
    for job in jobs(3):
        record.add(evaluator.tried(job))
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert len(Record(path, REQUEST).points) == 2
    assert path.read_text() == "".join(whole.splitlines(keepends=True)[:-1])
    again = Record(path, REQUEST)
    again.begin({})
    again.add(evaluator.tried(jobs(3)[2]))
    assert path.read_text() == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}\n", "no record of explored points"),
        ("a\nb\n", "line 1: no JSON"),
        ("[]\n", "line 1: no object"),
    ],
)
def test_another_file_is_no_record(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(InteropError, match=said):
        Record(path, REQUEST)


def test_a_record_of_another_request_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    Record(path, REQUEST).begin({})
    other = Request("u250", ("vector",), "framework-set3", ("rescale",))
    with pytest.raises(InteropError, match=r"another request .rescale of framework-set3 on u280"):
        Record(path, other)


def test_a_record_of_another_version_or_another_card_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, card = tmp_path / "tried.jsonl", tmp_path / "mine.toml"
    text = resources.files(platforms).joinpath("u280.toml").read_text()
    card.write_text(text)
    request = Request(str(card), ("vector",), "framework-set3", ("rescale",))
    Record(path, request).begin({})
    assert Record(path, request).points == []
    card.write_text(re.sub(r"read_pause = \d+", "read_pause = 1", text))
    load_platform.cache_clear()  # type: ignore[attr-defined]
    with pytest.raises(InteropError, match=r"of another version of vector or of .*mine.toml"):
        Record(path, request)


def test_a_worker_process_that_is_killed_loses_nothing_and_repeats_nothing() -> None:
    own = Processes(work_of(Evaluator(REQUEST)), 2)
    wanted = jobs(64)
    try:
        results = own.run(wanted)
        first, _ = next(results)
        os.kill(own.process_ids[0], signal.SIGKILL)
        done = [first, *(job for job, _ in results)]
    finally:
        own.close()
    assert len(done) == len(wanted)
    assert set(done) == set(wanted)


def ray_workers() -> list[int]:
    """Process ids of the Ray workers below this process."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    parents = {int(pid): int(parent) for pid, parent, *_ in rows}

    def ours(pid: int) -> bool:
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parents.get(pid, 0)
        return False

    named = [int(pid) for pid, _, *args in rows if args and args[0].startswith("ray::attempt")]
    return [pid for pid in named if ours(pid)]


@pytest.mark.full
def test_a_ray_worker_that_is_killed_loses_nothing_and_repeats_nothing() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ringsmith[ray]'")
    if shutil.which("ps") is None:
        pytest.skip("ps is not installed, which finds Ray's workers")
    evaluator = Evaluator(REQUEST)
    own = engine("ray", work_of(evaluator), 3)
    wanted, killed, seen = jobs(128), list[int](), set[int]()
    ended = Event()

    def kill() -> None:
        """Kills the first worker that is seen at work, and notes all."""
        while not ended.is_set():
            there = ray_workers()
            seen.update(there)
            if there and not killed:
                os.kill(there[0], signal.SIGKILL)
                killed.append(there[0])
            time.sleep(0.02)

    killer = Thread(target=kill, daemon=True)
    killer.start()
    try:
        found = list(own.run(wanted))
    finally:
        ended.set()
        own.close()
        killer.join(10)
    assert killed
    assert len(seen) >= 3  # several worked, and another one took the dead one's place
    assert sorted(job.key for job, _ in found) == sorted(job.key for job in wanted)
    expected = {job: evaluator.tried(job) for job in wanted}
    assert dict(found) == expected


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ToolError, match=r"pip install 'ringsmith.ray.'"):
        engine("ray", work_of(Evaluator(REQUEST)), 2)


# ---- errors --------------------------------------------------------------------------------------

ON = ("--platform", "u280")
SET = ("--params", "framework-set3", "--ops", "rotate")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*ON, *SET, "--program", "x.rsp"), "give either a program"),
        (ON, "give either a program"),
        ((*ON, "--program", "x.rsp", "--ops", "rotate"), "a program has its own operations"),
        ((*ON, "--params", "framework-set3"), "no operations of framework-set3: name some"),
        ((*ON, "--params", "framework-set3", "--ops", "bootstrap"), "is called 'bootstrap'"),
        ((*ON, "--params", "attic", "--ops", "rotate"), "no parameter set is called 'attic'"),
        (("--platform", "u999", *SET), "no platform 'u999': choose one of"),
        ((*ON, *SET, "--arch", "systolic"), "no architecture 'systolic': choose one of"),
        ((*ON, *SET, "--arch", "cpu"), "'cpu' is not explored: choose from rpau, stream, vector"),
        ((*ON, *SET, "--search", "random"), "no search 'random': choose one of doubling, fine"),
        ((*ON, *SET, "--engine", "slurm"), "no engine 'slurm'"),
        ((*ON, *SET, "--limit", "-1"), "limit = -1 is negative"),
        ((*ON, *SET, "--mhz", "-5"), "a clock of -5.0 MHz"),
        ((*ON, *SET, "--arch", ","), "no architecture: choose from"),
        ((*ON, *SET, "--arch", "vector", "--limit", "1"), "255 points were not tried: raise"),
        ((*ON, *SET, "--page", "/no/folder/page.html"), "/no/folder is no folder: make it first"),
        ((*ON, *SET, "--page", "."), ".: cannot be written"),
        ((*ON, *SET, "--record", "/no/folder/tried"), "/no/folder is no folder: make it first"),
        ((*ON, *SET, "--record", "."), ".: cannot be written"),
    ],
)
def test_bad_input_is_refused_in_a_line(words: tuple[str, ...], said: str) -> None:
    done = explore(*words, "--workers", 1, status=2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_platform_that_is_too_small_says_what_it_misses_most(tmp_path: Path) -> None:
    card = tmp_path / "small.toml"
    text = resources.files(platforms).joinpath("u280.toml").read_text()
    card.write_text(re.sub(r"urams = \d+", "urams = 0", text))
    done = explore(*SET, "--platform", card, "--arch", "vector", "--workers", 1, status=2)
    assert "no design for rotate of framework-set3 fits" in done.stderr
    assert re.search(r"the smallest design, vector-\S+, misses URAM: \d+ of 0", done.stderr)


def test_architectures_that_cannot_say_why() -> None:
    words = ("--params", "framework-set2", "--ops", "rotate", "--platform", "u280")
    done = explore(*words, "--arch", "rpau,stream", "--workers", 1, status=2)
    assert "rpau: architecture rpau has digits of one prime alone" in done.stderr
    assert "stream: N = 2^16 is outside 2^8 … 2^15" in done.stderr


def test_all_architectures_but_the_cpu_are_explored() -> None:
    assert {"rpau", "stream", "vector"} <= {*architectures()}


BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


MEASURED = """<script>
const root = document.documentElement, style = getComputedStyle(document.body);
root.dataset.found = [root.scrollWidth <= innerWidth, style.backgroundColor, style.color].join("|");
</script></body>"""
"""Notes whether the page is as wide as its window, and its colours."""


def shown(page: Path, profile: Path, *flags: str) -> str:
    """The page as a browser has it after its scripts have run."""
    assert BROWSER is not None
    usual = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
    done = subprocess.run(
        [BROWSER, *usual, f"--user-data-dir={profile}", *flags, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


@pytest.mark.full
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_browser_shows_the_page_light_and_dark_and_on_a_narrow_screen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    explore(*SMALL, "--page", page, "--workers", 1)
    page.write_text(page.read_text().replace("</body>", MEASURED))
    for flags, colours in (
        (("--window-size=1000,800",), "rgb(255, 255, 255)|rgb(28, 36, 48)"),
        (("--window-size=400,800",), "rgb(255, 255, 255)|rgb(28, 36, 48)"),
        (("--blink-settings=preferredColorScheme=0",), "rgb(13, 17, 23)|rgb(230, 237, 243)"),
    ):
        found = shown(page, tmp_path / "profile", *flags)
        assert len(re.findall(r'<section data-details="\d+"(?! hidden)', found)) == 1
        assert len(re.findall(r'<figure data-objective="\d+"(?! hidden)', found)) == 1
        assert f'data-found="true|{colours}"' in found, flags
