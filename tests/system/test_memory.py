"""Memory: what a process may still take, and keys that do not fit."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ringsmith import client, memory, progress
from ringsmith.errors import ParameterError
from ringsmith.memory import available, in_words
from ringsmith.params import CkksParameters, KeyNeeds

MB = 1_000_000


def machine(folder: Path, groups: str, free_kib: int = 8_000_000) -> tuple[Path, Path]:
    """What a kernel tells: 8 GiB free, and a process in control groups."""
    proc, mounted = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    mounted.mkdir()
    (proc / "meminfo").write_text(f"MemTotal: 16000000 kB\nMemAvailable: {free_kib} kB\n")
    (proc / "self" / "cgroup").write_text(groups)
    return proc, mounted


def group(folder: Path, **files: str) -> None:
    """Files of a control group; a point of their names is written _."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{text}\n")


def test_without_limits_a_process_may_take_what_the_machine_has(tmp_path: Path) -> None:
    assert available(*machine(tmp_path, "0::/\n")) == 8_000_000 * 1024


def test_a_control_group_limits_and_the_smallest_around_it(tmp_path: Path) -> None:
    proc, mounted = machine(tmp_path, "0::/a/b\n")
    group(mounted / "a" / "b", memory_max="max", memory_current="400000000")
    assert available(proc, mounted) == 8_000_000 * 1024
    group(mounted / "a", memory_max="1000000000", memory_current="900000000")
    assert available(proc, mounted) == 100 * MB
    group(mounted / "a", memory_stat="anon 1\ninactive_file 50000000\nactive_file 7000000")
    assert available(proc, mounted) == 157 * MB


def test_a_control_group_of_version_1_limits(tmp_path: Path) -> None:
    proc, mounted = machine(tmp_path, "3:cpu,cpuacct:/x\n4:memory:/job\n0::/\n")
    group(
        mounted / "memory" / "job",
        memory_limit_in_bytes="500000000",
        memory_usage_in_bytes="520000000",
        memory_stat="inactive_file 1\ntotal_inactive_file 30000000\ntotal_active_file 0",
    )
    assert available(proc, mounted) == 10 * MB
    group(mounted / "memory" / "job", memory_usage_in_bytes="600000000")
    assert available(proc, mounted) == 0


def test_a_system_that_does_not_tell_limits_nothing(tmp_path: Path) -> None:
    assert available(tmp_path, tmp_path) is None


def test_bytes_in_words() -> None:
    assert [in_words(count) for count in (12, 1200, 2_500_000, 9_378_463_744)] == [
        "12 bytes",
        "1.2 kB",
        "2.5 MB",
        "9.38 GB",
    ]


def test_keys_that_do_not_fit_are_refused_before_any_is_made(
    small: CkksParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = KeyNeeds(relin=small.limbs)
    size = needs.bytes(small) + 3 * len(small.primes) * 8 * small.n
    monkeypatch.setattr(memory, "available", lambda: size - 1)
    monkeypatch.delattr("ringsmith._core.secret.generate_secret_key")
    with pytest.raises(
        ParameterError, match=rf"^1 evaluation keys and the key pair take {in_words(size)}, and"
    ):
        client.generate_keys(small, needs)
    monkeypatch.undo()
    monkeypatch.setattr(memory, "available", lambda: size)
    assert client.generate_keys(small, needs)[2].relin is not None


def test_each_key_that_is_made_is_said(small: CkksParameters) -> None:
    told = []

    class Kept:
        def started(self, task: progress.Task) -> None:
            told.append(task.what)

        def moved(self, task: progress.Task) -> None:
            told.append(progress.steps(task))

        def ended(self, task: progress.Task) -> None: ...

        def noted(self, line: str) -> None: ...

    with progress.reported_to(Kept()):
        client.generate_keys(small, KeyNeeds(2, {3: 2, 9: 2}))
    assert told == ["making evaluation keys", *(f"{i} of 3 keys" for i in (1, 2, 3))]


LIMITED = """
import resource, sys
import ringsmith as rs
from ringsmith import client
from ringsmith.params import KeyNeeds, parameter_set
of = parameter_set("boot-test")
needs = KeyNeeds(galois={5**i: of.limbs for i in range(1, 6)})
client.generate_keys(of, KeyNeeds(relin=1))  # tables of the ring, which stay
pages = resource.getpagesize()
taken, resident = (int(word) * pages for word in open("/proc/self/statm").read().split()[:2])
if sys.argv[1] == "limit":
    resource.setrlimit(resource.RLIMIT_AS, (taken + needs.bytes(of) // 2,) * 2)
client.generate_keys(of, needs)
[peak] = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
grown = int(peak) * 1024 - resident
size = needs.bytes(of)
assert 0.9 * size < grown < size + 2 * size // needs.count, (grown, size)
"""
"""Makes five keys, with address space for half of them, or counts what they take at most."""


def limited(how: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "ignore", "-c", LIMITED, how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_limit_of_the_process_is_kept() -> None:
    done = limited("limit")
    found = re.search(
        r"ParameterError: 5 evaluation keys .* take (\S+) MB, .* (\S+) MB more", done.stderr
    )
    assert found is not None, done.stderr
    assert float(found[1]) > 1.8 * float(found[2])


def test_making_keys_makes_no_second_copy_of_them() -> None:
    done = limited("free")
    assert done.returncode == 0, done.stderr
