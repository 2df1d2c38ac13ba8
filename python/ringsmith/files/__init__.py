"""Files for every package: bounded reading, whole writing, and Ringsmith's own containers."""

from ringsmith.files.disk import (
    PUBLIC_MODE,
    SECRET_MODE,
    check_target,
    open_regular,
    read_bounded,
    write_whole,
)

__all__ = [
    "PUBLIC_MODE",
    "SECRET_MODE",
    "check_target",
    "open_regular",
    "read_bounded",
    "write_whole",
]
