"""Where a scheduled program's cycles go, by HE operation."""

from collections import Counter
from dataclasses import dataclass

from ringsmith.backends.base import Executable


@dataclass(frozen=True)
class Share:
    """One kind of operation in a program.

    Attributes:
        operation: Its name, such as ``rotate``.
        count: How often it occurs.
        instructions: Issued for it.
        cycles: From the issue of each of its instructions to the next issue of any; all shares add
            up to the program's cycles.
    """

    operation: str
    count: int
    instructions: int
    cycles: int


def breakdown(executable: Executable) -> list[Share]:
    """Returns the shares of a program, the largest first; see ``Executable.spans``."""
    cycles: Counter[str] = Counter()
    instructions: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for origin, spent in executable.spans:
        operation = origin.partition(":")[0]
        cycles[operation] += spent
        instructions[operation] += 1
        places.setdefault(operation, set()).add(origin)
    return [
        Share(operation, len(places[operation]), instructions[operation], spent)
        for operation, spent in cycles.most_common()
    ]
