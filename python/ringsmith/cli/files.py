"""Files that a command writes when its work is done."""

from pathlib import Path


def check_targets(*targets: Path | None, source: Path | None = None) -> None:
    """Refuses files that cannot be written, or are ``source``, before the work for them starts."""
    from ringsmith.files import check_target

    for target in targets:
        if target is not None:
            check_target(target, overwrite=True, inputs=[source])


def write_text(path: Path, text: str) -> None:
    """Writes a text, whole or not at all; an existing file is replaced."""
    from ringsmith.files import write_whole

    write_whole(path, text.encode(), overwrite=True)
