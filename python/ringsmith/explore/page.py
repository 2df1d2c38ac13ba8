"""page"""

from typing import Any


def page_of(*a: Any) -> str:
    return ""
