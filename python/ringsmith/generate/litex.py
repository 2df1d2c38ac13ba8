"""A LiteX module around a design: added last."""

from collections.abc import Sequence

from ringsmith.backends.exporter import Hardware
from ringsmith.generate.packaging import Names


def litex_files(names: Names, hardware: Hardware, sources: Sequence[str]) -> dict[str, str]:
    """The files of ``litex/``."""
    return {}
