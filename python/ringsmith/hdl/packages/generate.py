"""Writes Python modules of what ``rtl/packages.toml`` names of SystemVerilog packages.

``python -m ringsmith.hdl.packages.generate`` writes into the checkout; with ``--check`` it only
compares and exits with 1 when something differs. It needs pyslang and ruff, which are among the
development packages.
"""

import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyslang import SourceManager, syntax
from pyslang import ast as slang

from ringsmith.errors import ToolError
from ringsmith.hdl.generated import GeneratedFiles, notice, prose
from ringsmith.hdl.packages.translation import (
    Node,
    Translation,
    class_name,
    path_of,
    python_type,
    snake_case,
)
from ringsmith.hdl.sources import COMMON, rtl_root

SOURCE = "rtl/packages.toml"
COMMAND = "python -m ringsmith.hdl.packages.generate"

_COMMENT = re.compile(r"((?:^ *// [^\n]*\n)+)\Z", re.M)


def translate(texts: Iterable[str], wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Python modules, not yet formatted.

    Args:
        texts: The sources of the packages, each before those that import it.
        wanted: Package -> ``module``, its Python module, and ``names``, what that has at least:
            functions, numbers, values of enumerations, and structures that are parameters.

    Returns:
        Module -> its text without a docstring, for every package with a module.

    Raises:
        ToolError: If the sources have errors, or something has no translation.
    """
    compilation = slang.Compilation()
    manager = SourceManager()
    manager.addUserDirectories(str(rtl_root() / COMMON))
    for text in texts:
        compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text, manager))
    if errors := [str(each.code) for each in compilation.getAllDiagnostics() if each.isError()]:
        raise ToolError(f"the packages have errors: {', '.join(errors)}")
    modules = {package: str(entry["module"]) for package, entry in wanted.items()}
    made = {package: Translation(package, modules) for package in wanted}
    todo = [f"{package}::{name}" for package, entry in wanted.items() for name in entry["names"]]
    symbols: dict[str, Node] = {}
    functions: dict[str, ast.FunctionDef] = {}
    for path in todo:  # grows: what is used comes along
        if path in symbols:
            continue
        package, _, name = path.partition("::")
        symbol = compilation.getPackage(package).lookupName(name)
        if symbol is None or path_of(symbol) != path:
            raise ToolError(f"{path} does not exist: correct {SOURCE}")
        symbols[path] = symbol
        if isinstance(symbol, slang.TypeAliasType):
            functions[path] = _record(symbol)
        if isinstance(symbol, slang.SubroutineSymbol):
            functions[path] = made[package].function(symbol, _comment(symbol))
            todo += made[package].used
    return {
        modules[package]: _module(
            each,
            [s for path, s in symbols.items() if path.startswith(f"{package}::")],
            functions,
        )
        for package, each in made.items()
    }


def _comment(symbol: Node) -> str:
    """The comment in front of a function, as a docstring; empty if there is none."""
    start = symbol.syntax.sourceRange.start
    manager = symbol.compilation.sourceManager
    before = manager.getSourceText(start.buffer)[: start.offset].rpartition("\n")[0] + "\n"
    found = _COMMENT.search(before)
    if not found:
        return ""
    text = " ".join(line.strip().removeprefix("// ") for line in found[1].splitlines())
    lines = textwrap.wrap(text, 90)
    return "\n    ".join([*lines, ""] if len(lines) > 1 else lines)


def _module(
    translation: Translation, symbols: list[Node], functions: Mapping[str, ast.FunctionDef]
) -> str:
    """Imports, numbers, structures and functions, in the package's order."""
    ordered = sorted(symbols, key=lambda each: int(each.location.offset))
    numbers = [each for each in ordered if path_of(each) not in functions]
    packages = {path.partition("::")[0] for path in translation.used} - {translation.package}
    others = sorted(translation.modules[package].rpartition(".")[::2] for package in packages)
    parts = [f"from {folder} import {name}" for folder, name in others]
    if any(isinstance(each, slang.TypeAliasType) for each in symbols):
        parts.append("from ringsmith.hdl.record import Field, Record")
    if translation.fields:
        parts.insert(0, "from typing import NamedTuple\n")
    parts += [f"{snake_case(each.name).upper()} = {int(each.value.value)}" for each in numbers]
    parts += [_structure(kind, fields) for kind, fields in translation.fields.items()]
    made = [functions[path_of(e)] for e in ordered if path_of(e) in functions]
    parts += [ast.unparse(ast.fix_missing_locations(each)) for each in made]
    return "\n".join(parts) + "\n"


def _record(kind: Node) -> ast.FunctionDef:
    """A function that returns a structure as a parameter's value, of all its fields by name.

    Raises:
        ToolError: If a field is no unsigned number of up to 32 bits.
    """
    fields = [(each.name, each.type) for each in kind.canonicalType]
    arguments = ", ".join(f"{snake_case(name)}: {python_type(of)}" for name, of in fields)
    values = ", ".join(f'Field("{name}", {of.bitWidth}, {snake_case(name)})' for name, of in fields)
    (made,) = ast.parse(
        f"def {kind.name.removesuffix('_t')}(*, {arguments}) -> Record:\n"
        f'    """A ``{kind.name}``, as the value of a parameter."""\n'
        f"    return Record(({values},))\n"
    ).body
    assert isinstance(made, ast.FunctionDef)
    return made


def _structure(kind: str, fields: Mapping[str, str]) -> str:
    """A named tuple of the fields that functions read."""
    lines = [f"    {name}: {each}" for name, each in fields.items() if each]
    doc = f'    """What functions read of a ``{kind}``."""\n'
    return "\n".join([f"class {class_name(kind)}(NamedTuple):", doc, *lines])


def _formatted(text: str, path: str, root: Path) -> str:
    """A module's text in the repository's format."""
    for command in (["check", "--fix-only", "--select", "I"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", path, "-"],
            input=text,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ToolError(f"ruff does not format {path}: {done.stderr.strip()}")
        text = done.stdout
    return text


def _path(module: str) -> str:
    return f"python/{module.replace('.', '/')}.py"


def render(root: Path) -> Mapping[str, str]:
    """The modules of a checkout: their texts, by their paths in it.

    Raises:
        ToolError: If the packages have errors, or something of them has no translation.
    """
    known = tomllib.loads((root / SOURCE).read_text(encoding="utf-8"))
    texts = [(root / "rtl" / path).read_text(encoding="utf-8") for path in known["sources"]]
    made = translate(texts, known["packages"])
    files = {}
    for package, entry in known["packages"].items():
        path = _path(entry["module"])
        said = "\n".join(prose(notice((SOURCE, "rtl/"), COMMAND)))
        head = f'"""What Python uses of ``{package}``.\n\n{said}\n"""\n'
        files[path] = _formatted(f"{head}\n{made[entry['module']]}", path, root)
    return files


GENERATED = GeneratedFiles((SOURCE, "rtl/"), COMMAND, render)


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the modules; returns the exit status."""
    return GENERATED.main(arguments, __doc__.splitlines()[0] if __doc__ else None)


if __name__ == "__main__":
    sys.exit(main())
