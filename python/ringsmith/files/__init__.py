"""Files for every package: bounded reading, whole writing, and Ringsmith's own containers."""

from ringsmith.files.disk import (
    PUBLIC_MODE,
    SECRET_MODE,
    check_target,
    new_folder,
    open_regular,
    read_bounded,
    whole_file,
    write_whole,
)
from ringsmith.files.target import Target, check_targets

__all__ = [
    "PUBLIC_MODE",
    "SECRET_MODE",
    "Target",
    "check_target",
    "check_targets",
    "new_folder",
    "open_regular",
    "read_bounded",
    "whole_file",
    "write_whole",
]
