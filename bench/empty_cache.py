"""A cache folder that is empty: what is measured is built anew."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory


@contextmanager
def empty_cache() -> Iterator[None]:
    """Has everything that is kept lie in an empty folder meanwhile; restores the environment."""
    before = dict(os.environ)
    with TemporaryDirectory() as folder:
        os.environ["RINGSMITH_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
