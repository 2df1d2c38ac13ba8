"""The page of what random programs covered of each architecture."""

import re
from collections.abc import Mapping, Sequence

_HEAD = """\
<!-- Written by `ringsmith coverage`; do not edit. -->
# Coverage

After reading this page you know which lines and bits of the RTL and which situations of an
instruction set random programs exercise, while model and RTL are compared.

"""


def page(sections: Mapping[str, str], order: Sequence[str], kept: str = "") -> str:
    """The page as Markdown.

    Args:
        sections: The sections that were measured, by architecture.
        order: All architectures that count, as the page has them.
        kept: The page that is replaced: what it says of the other architectures stays.
    """
    before = dict(re.findall(r"^(?=## Architecture `(\w+)`)(.*?)(?=^## |\Z)", kept, re.M | re.S))
    every = {**before, **sections}
    return _HEAD + "\n".join(every[name].rstrip("\n") + "\n" for name in order if name in every)
