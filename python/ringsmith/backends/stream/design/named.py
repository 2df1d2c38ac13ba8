"""The named designs of the stream architecture."""

from ringsmith import design_files
from ringsmith.backends.stream.design.design import ARCHITECTURE, StreamDesign


def named_stream_designs() -> list[str]:
    """Names of the stream designs that come with Ringsmith."""
    return design_files.named(ARCHITECTURE)


def load_stream_design(name: str) -> StreamDesign:
    """Loads a stream design by its name, or the path of its TOML file.

    Raises:
        ParameterError: If there is no such design, or it is of another architecture.
    """
    return design_files.load(name, ARCHITECTURE, StreamDesign)
