"""Values of expressions over SystemVerilog packages, as elaborated."""

from collections.abc import Iterable, Sequence

import pyslang
from pyslang import ast, syntax

from ringsmith.hdl.sources import COMMON, rtl_root, rtl_sources


def values(
    sources: Iterable[str], expressions: Sequence[str], functions: Sequence[str] = ()
) -> list[int]:
    """Values of constant expressions over packages, and some functions."""
    compilation = ast.Compilation()
    manager = pyslang.SourceManager()
    manager.addUserDirectories(str(rtl_root() / COMMON))
    for text in sources:
        compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text, manager))
    names = [f"V{number}" for number in range(len(expressions))]
    lines = [*functions]
    lines += [f"localparam int {n} = {e};" for n, e in zip(names, expressions, strict=True)]
    text = "module asked;\n" + "\n".join(lines) + "\nendmodule"
    compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text, manager))
    errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
    assert not errors, pyslang.DiagnosticEngine.reportAll(compilation.sourceManager, errors)
    (module,) = (each for each in compilation.getRoot().topInstances if each.name == "asked")
    return [int(module.body.lookupName(name).value.value) for name in names]


def elaborated(expressions: Sequence[str], functions: Sequence[str] = ()) -> list[int]:
    """The same over the packages of ``rtl/``."""
    folders = ("mem", "arith", "prng", "ntt", "baseconv", "rpau", "stream", "vector")
    paths = [path for path in rtl_sources(*folders) if path.stem.endswith("_pkg")]
    return values([path.read_text(encoding="utf-8") for path in paths], expressions, functions)
