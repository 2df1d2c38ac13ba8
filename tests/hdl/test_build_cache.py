"""What the cache of built simulations does when a build or a file of it is broken."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ringsmith.errors import ToolError
from ringsmith.hdl import build_cache
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.toolchain import run_tools
from ringsmith.hdl.verilate import build_block

GATE = "module gate (input logic a_i, output logic y_o); assign y_o = !a_i; endmodule\n"
KEY = fingerprint(["a build of these tests"])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of one test."""
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RINGSMITH_PRECOMPILE")  # headers cost more than a single build saves
    return tmp_path / "cache"


def write_answer(work: Path) -> None:
    (work / "answer").write_text("forty-two")
    (work / "folder").mkdir()
    (work / "folder" / "more").write_bytes(bytes(1000))


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("name", ["answer", "folder/more", "digests.json"])
@pytest.mark.parametrize("damage", [flip_a_bit, truncate, Path.unlink])
def test_a_damaged_folder_is_built_anew_with_a_warning(
    damage: Callable[[Path], None], name: str
) -> None:
    folder = built("a", KEY, write_answer)
    damage(folder / name)
    with pytest.warns(UserWarning, match=r"cached .*/a-\w+ is damaged: building it anew"):
        assert built("a", KEY, write_answer) == folder
    assert (folder / "answer").read_text() == "forty-two"
    assert (folder / "folder" / "more").read_bytes() == bytes(1000)
    with warnings.catch_warnings(action="error"):
        built("a", KEY, write_answer)


def test_a_file_is_read_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    built("a", KEY, write_answer)
    read = []
    digest = build_cache._digest
    monkeypatch.setattr(build_cache, "_digest", lambda file: read.append(file) or digest(file))
    for _ in range(3):
        built("a", KEY, write_answer)
    assert sorted(file.name for file in read) == ["answer", "more"]


def test_what_a_build_made_is_on_the_disk_before_it_gets_its_name(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    steps = []
    sync, rename = build_cache._sync, Path.rename
    monkeypatch.setattr(build_cache, "_sync", lambda path: steps.append(path.name) or sync(path))

    def spy(path: Path, target: Path) -> Path:
        steps.append("rename")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", spy)
    built("a", KEY, write_answer)
    before = set(steps[: steps.index("rename")])
    assert before >= {"answer", "more", "folder", "digests.json", f".a-{KEY}.building"}
    assert steps[-1] == cache.name


def child(script: str, cache: Path, **variables: str) -> subprocess.Popen[str]:
    """A Python process that says on its output how far it is."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "RINGSMITH_CACHE": str(cache), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


SLOW_BUILD = """
    from ringsmith.hdl import build_cache, toolchain
    def build(work):
        (work / "half").write_text("written")
        tool = 'echo $$ > $PIDS/tool; sleep 1000 & echo $! > $PIDS/grandchild; wait'
        toolchain.run_tools([["/bin/sh", "-c", tool]] * 2, work)
    build_cache.built("slow", "0" * 24, build)
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("nothing happened in 30 s")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_build_that_is_killed_leaves_no_tool_and_no_file(
    number: signal.Signals, cache: Path, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("tool", "grandchild")]
    with child(SLOW_BUILD, cache, PIDS=str(tmp_path)) as process:
        wait_until(lambda: all(file.exists() and file.read_text().strip() for file in files))
        process.send_signal(number)
    assert process.returncode == -number
    wait_until(lambda: not any(is_running(int(file.read_text())) for file in files))
    (cache / ".ssh").mkdir()  # a cache may be in a folder that holds other things
    (cache / "poetry.lock").touch()
    built("a", KEY, write_answer)  # another build, too, removes what was left
    assert {path.name for path in cache.iterdir()} == {f"a-{KEY}", ".ssh", "poetry.lock"}


def test_a_build_that_another_process_makes_is_left_alone(cache: Path, tmp_path: Path) -> None:
    grandchild = tmp_path / "grandchild"
    with child(SLOW_BUILD, cache, PIDS=str(tmp_path)) as process:
        wait_until(grandchild.exists)
        built("a", KEY, write_answer)
        assert (cache / f".slow-{'0' * 24}.building" / "half").read_text() == "written"
        process.kill()


def test_folders_of_a_limited_name_that_were_not_used_for_longest_are_removed_first(
    cache: Path,
) -> None:
    def build(work: Path) -> None:
        (work / "data").write_bytes(bytes(1000))

    def kept(name: str) -> list[int]:
        return [i for i, key in enumerate(keys) if (cache / f"{name}-{key}").exists()]

    keys = [fingerprint([str(i)]) for i in range(5)]
    built("other", keys[0], build)
    built("some-more", keys[1], build)
    size = sum(file.stat().st_size for file in (cache / f"other-{keys[0]}").iterdir())
    for key in keys[:3]:
        built("some", key, build, 3 * size)
    assert kept("some") == [0, 1, 2]
    built("some", keys[0], build, 3 * size)
    built("some", keys[3], build, 3 * size)
    assert kept("some") == [0, 2, 3]
    built("some", keys[4], build, size - 1)  # larger than the limit: the caller needs it
    assert kept("some") == [4]
    assert (kept("other"), kept("some-more")) == ([0], [1])
    assert len(list(cache.iterdir())) == 3  # no lock is left


def test_a_tool_that_fails_ends_the_others(tmp_path: Path) -> None:
    slow = ["/bin/sh", "-c", "echo $$ > pid; exec sleep 1000"]
    fails = ["/bin/sh", "-c", "until [ -s pid ]; do sleep 0.05; done; echo an error; exit 3"]
    with pytest.raises(ToolError, match=r"(?s)sh failed with status 3:\nan error"):
        run_tools([slow, fails], tmp_path)
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_tools_give_all_they_print_in_the_order_of_the_commands(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 20000 ]; do echo word$1; i=$((i+1)); done"
    commands = [["/bin/sh", "-c", script, "sh", str(number)] for number in range(5)]
    printed = run_tools(commands, tmp_path)
    assert printed == [f"word{number}\n" * 20_000 for number in range(5)]


def full(work: Path) -> None:
    """A compiler that got half of a file."""
    raise ToolError("g++ failed with status 1:\nbundle-0.cpp:7: expected ';' at end of input")


def test_a_full_disk_is_named_instead_of_what_the_compiler_says(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    with pytest.raises(ToolError, match="expected ';' at end of input"):
        built("a", KEY, full)

    def no_space(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", no_space)
    wanted = rf"the disk is full: [\d.]+ MB are left .* {cache} .*set RINGSMITH_CACHE"
    with pytest.raises(ToolError, match=wanted):
        built("a", KEY, full)
    monkeypatch.setattr(Path, "write_text", no_space)
    with pytest.raises(ToolError, match=wanted):
        built("a", KEY, write_answer)
    assert not list(cache.iterdir())


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """Mounts a small file system; skips where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [20, 100])  # Verilator, then the compiler finds it full
def test_a_disk_that_is_full_in_the_middle_of_a_build_is_named(
    kilobytes: int, cache: Path, tmp_path: Path
) -> None:
    source = tmp_path / "gate.sv"
    source.write_text(GATE)
    with small_disk(cache, kilobytes):
        with pytest.raises(ToolError, match=r"the disk is full: 0\.\d MB are left"):
            build_block("gate", [source])
        assert not list(cache.iterdir())


def test_a_limit_of_the_size_of_files_is_named(cache: Path) -> None:
    script = """
        import resource
        from ringsmith.hdl import build_cache, toolchain
        from ringsmith.errors import ToolError
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        fill = ["/bin/sh", "-c", "head -c 200000 /dev/zero > large"]
        try:
            build_cache.built("a", "0" * 24, lambda work: toolchain.run_tool(fill, work))
        except ToolError as error:
            print(error)
    """
    with child(script, cache) as process:
        printed = process.communicate()[0]
    assert "larger than the limit of this process: raise the limit (ulimit -f)" in printed
