"""Compiles the modules beside it with heir-opt, and stores what tests of the reader start from.

    python tests/heir/make.py

Each module of ``modules/`` is compiled to the vector level and to the schemes that ``PROGRAMS``
names; ``compiled/NAME-LEVEL.mlir.zst`` holds the text. ``weighted-split`` encodes its clear
argument in a function of its own, as HEIR's Python front end has it.
"""

from dataclasses import dataclass
from pathlib import Path

import zstandard

from ringsmith.heir.compiler import Lowering, compiled, module_text
from ringsmith.heir.module import Scheme

HERE = Path(__file__).parent
VECTOR = "vector"


@dataclass(frozen=True)
class Program:
    """How a module is compiled.

    Attributes:
        schemes: The schemes of the scheme level.
        slots: Slots of a vector.
        plain_modulus: t of BFV and BGV.
    """

    schemes: tuple[Scheme, ...] = (Scheme.CKKS,)
    slots: int = 1024
    plain_modulus: int = 65537

    @property
    def levels(self) -> tuple[str, ...]:
        """What it is compiled to."""
        return (VECTOR, *self.schemes)

    def lowering(self, level: str) -> Lowering:
        """Returns how it is compiled to a level."""
        scheme = None if level == VECTOR else Scheme(level)
        return Lowering(scheme, self.slots, self.plain_modulus)


_BFV = (Scheme.BFV,)
PROGRAMS = {
    "dot_f32": Program(),
    "dot_i16": Program((Scheme.BFV, Scheme.BGV)),
    "box_blur": Program(_BFV, plain_modulus=786433),
    "roberts_cross": Program(_BFV, 256, 786433),
    "simple_sum": Program(_BFV),
    "matmul": Program(),
    "matvec": Program(),
    "conv2d": Program(),
    "sigmoid": Program(),
    "eight_products": Program(slots=8),
    "two_vectors": Program(slots=8),
    "weighted": Program(),
}


def stored(name: str, level: str) -> Path:
    """Returns the file of a compiled module."""
    return HERE / "compiled" / f"{name}-{level}.mlir.zst"


def text_of(name: str, level: str) -> str:
    """Returns a compiled module as it is stored."""
    return zstandard.ZstdDecompressor().decompress(stored(name, level).read_bytes()).decode()


def module_of(name: str) -> Path:
    """Returns the file of an input module."""
    return HERE / "modules" / f"{name}.mlir"


def main() -> None:
    """Compiles all modules."""
    for name, program in PROGRAMS.items():
        for level in program.levels:
            text, _ = module_text(module_of(name), program.lowering(level))
            packed = zstandard.ZstdCompressor(level=19).compress(text.encode())
            stored(name, level).write_bytes(packed)
    split = tuple(
        each.replace("enable-split-preprocessing=false", "enable-split-preprocessing=true")
        for each in PROGRAMS["weighted"].lowering(Scheme.CKKS).options(1024)
    )
    path = module_of("weighted")
    text = compiled(path.read_text(), path, split)
    packed = zstandard.ZstdCompressor(level=19).compress(text.encode())
    stored("weighted", "split").write_bytes(packed)


if __name__ == "__main__":
    main()
