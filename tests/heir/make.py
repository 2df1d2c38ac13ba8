"""Compiles the modules of examples/heir, and stores what tests of the reader start from.

    python -m tests.heir.make

Each module is compiled to the vector level and to its schemes; ``compiled/NAME-LEVEL.mlir.zst``
holds the text. ``weighted-split`` encodes its clear argument in a function of its own, as HEIR's
Python front end has it.
"""

from pathlib import Path

import zstandard

from bench.heir_modules import Module, read_modules
from ringsmith.heir.compiler import Lowering, compiled, module_text
from ringsmith.heir.module import Scheme

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "heir"
VECTOR = "vector"

PROGRAMS: dict[str, Module] = {each.name: each for each in read_modules(EXAMPLES / "modules.toml")}


def levels(name: str) -> tuple[str, ...]:
    """Returns what a module is compiled to."""
    return (VECTOR, *PROGRAMS[name].schemes)


def lowering(name: str, level: str) -> Lowering:
    """Returns how a module is compiled to a level."""
    return PROGRAMS[name].lowering(None if level == VECTOR else Scheme(level))


def stored(name: str, level: str) -> Path:
    """Returns the file of a compiled module."""
    return HERE / "compiled" / f"{name}-{level}.mlir.zst"


def text_of(name: str, level: str) -> str:
    """Returns a compiled module as it is stored."""
    return zstandard.ZstdDecompressor().decompress(stored(name, level).read_bytes()).decode()


def module_of(name: str) -> Path:
    """Returns the file of an input module."""
    return PROGRAMS[name].file


def main() -> None:
    """Compiles all modules."""
    for name in PROGRAMS:
        for level in levels(name):
            text, _ = module_text(module_of(name), lowering(name, level))
            packed = zstandard.ZstdCompressor(level=19).compress(text.encode())
            stored(name, level).write_bytes(packed)
    split = tuple(
        each.replace("enable-split-preprocessing=false", "enable-split-preprocessing=true")
        for each in lowering("weighted", Scheme.CKKS).options(1024)
    )
    path = module_of("weighted")
    text = compiled(path.read_text(), path, split)
    packed = zstandard.ZstdCompressor(level=19).compress(text.encode())
    stored("weighted", "split").write_bytes(packed)


if __name__ == "__main__":
    main()
