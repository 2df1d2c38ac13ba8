"""What all tests share: the choice between quick and full, and the seed of random inputs."""

import os
import secrets
import signal
import zlib
from collections import Counter

import numpy as np
import pytest

pytest_plugins = ["tests.fixtures"]

SEED = int(os.environ.get("RINGSMITH_TEST_SEED") or secrets.randbits(32))
"""One number that every test's random inputs follow from; another in each run unless it is set."""

os.environ["RINGSMITH_TEST_SEED"] = str(SEED)  # so that worker processes agree on it
os.environ.setdefault("RINGSMITH_THREADS", "1")  # tests run in parallel already
os.environ.setdefault("RINGSMITH_PRECOMPILE", "1")  # tests build hundreds of designs

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and children would ignore Ctrl-C, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --full."""
    parser.addoption("--full", action="store_true", help="run the slow tests too")


def pytest_report_header() -> str:
    """Name the seed, so that a run can be repeated."""
    return f"random inputs: RINGSMITH_TEST_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out unless --full is given, and then run them last."""
    slow = [item for item in items if item.get_closest_marker("full")]
    quick = [item for item in items if not item.get_closest_marker("full")]
    if config.getoption("--full"):
        items[:] = quick + slow
    else:
        items[:] = quick
        config.hook.pytest_deselected(items=slow)


_took: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the seconds of a test."""
    _took[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the seconds of the quick tests, from which tests/check.py selects."""
    config = session.config
    if config.cache and not hasattr(config, "workerinput") and not config.getoption("--full"):
        rounded = {name: round(seconds, 2) for name, seconds in _took.items()}
        config.cache.set("ringsmith/seconds", config.cache.get("ringsmith/seconds", {}) | rounded)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that follow from SEED and the test's name alone."""
    name = zlib.crc32(request.node.nodeid.encode())
    print(f"RINGSMITH_TEST_SEED={SEED}")
    return np.random.default_rng([SEED, name])
