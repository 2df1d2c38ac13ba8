"""Writes the table of docs/guide/heir.md: HEIR's plan beside ours, for each program.

    python -m tests.heir.table

Everything is counted, nothing timed. Networks are compiled by heir-opt, which takes minutes.
"""

import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.heir.make import PROGRAMS, VECTOR, text_of

from ringsmith.graph.operations import Op
from ringsmith.heir import PlanBy, Traced, Wish, program_of, trace_module
from ringsmith.heir.compiler import Lowering, module_text
from ringsmith.heir.importing import key_bytes
from ringsmith.heir.module import Scheme
from ringsmith.program import Program

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "heir.md"
BEGIN, END = "<!-- counted by tests/heir/table.py -->\n", "<!-- end -->\n"
HEAD = """\
| program | plan | N | data primes | rotations | products of two, with a plaintext | digits of key \
switching | rotation keys | bytes of keys |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
Tracing = Callable[[str], Traced]


def small(name: str) -> Tracing:
    """Returns what traces a stored program at a level."""
    clear = {"arg1": np.arange(8) / 4 - 1} if name == "weighted" else None
    return lambda level: trace_module(text_of(name, level), name, clear)


def network(name: str, slots: int) -> Tracing:
    """Returns what compiles and traces a network of examples/heir at a level."""
    write = runpy.run_path(str(ROOT / "examples" / "heir" / "networks.py"))["write"]
    folder = Path(tempfile.mkdtemp())
    write(name, folder)
    weights = ("w1", "b1", "w2", "b2") if name == "perceptron" else ()
    clear = {f"arg{i}": np.load(folder / f"{file}.npy") for i, file in enumerate(weights)}

    def traced(level: str) -> Traced:
        scheme = None if level == VECTOR else Scheme(level)
        text, file = module_text(folder / f"{name}.mlir", Lowering(scheme, slots))
        return trace_module(text, file, clear)

    return traced


NETWORKS = {"perceptron": 1024, "lola": 2048}


def rows(name: str, tracing: Tracing, level: str, plain_modulus: int | None) -> str:
    """Returns the rows of a program: HEIR's plan, ours, and ours with fewer keys."""
    scheme, vector = tracing(level), tracing(VECTOR)
    t = plain_modulus if vector.whole else None
    plans = {
        "HEIR's": program_of(scheme, Wish(PlanBy.HEIR)),
        "ours": program_of(vector, Wish(plain_modulus=t)),
        "ours, fewer keys": program_of(vector, Wish(plain_modulus=t, fewer_keys=True)),
    }
    label = f"{name}, {level.upper()}"
    return "".join(_row(label, plan, program) for plan, program in plans.items())


def _row(label: str, plan: str, program: Program) -> str:
    ops = [node.op for node in program.nodes]
    products = sum(op.record.multiplies for op in ops)
    digits = sum(
        program.nodes[n.operands[0]].limbs for n in program.nodes if n.op.record.key is not None
    )
    needs, parameters = program.key_needs, program.parameters
    return (
        f"| {label} | {plan} | {parameters.n:,} | {parameters.limbs} | {ops.count(Op.ROTATE)} | "
        f"{products}, {ops.count(Op.MULTIPLY_PLAIN)} | {digits} | {len(needs.galois)} | "
        f"{key_bytes(parameters, needs):,} |\n"
    )


def small_rows() -> list[str]:
    """Returns the rows of the stored programs."""
    return [
        rows(name, small(name), level, program.plain_modulus)
        for name, program in PROGRAMS.items()
        for level in program.schemes
    ]


def network_rows() -> list[str]:
    """Returns the rows of the networks."""
    return [rows(name, network(name, s), "ckks", None) for name, s in NETWORKS.items()]


def main() -> None:
    """Writes the table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    table = HEAD + "".join([*small_rows(), *network_rows()])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


if __name__ == "__main__":
    main()
