"""The stubs of the compiled module say what the module has: names, arguments, their order."""

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

import ringsmith
from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.backends.rpau.compiler import _scheduler
from ringsmith.backends.rpau.model import _model

STUBS = Path(ringsmith.__file__).parent


def signature(function: object) -> list[str]:
    """Argument names of a compiled function, from the first line of its documentation."""
    first_line = function.__doc__.splitlines()[0]
    arguments = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", first_line))
    inside = arguments[arguments.index("(") + 1 : arguments.rindex(") ->")]
    return [part.split(":")[0].split("=")[0].strip() for part in inside.split(", ") if part]


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("_core/__init__.pyi", _core),
        ("_core/bfv.pyi", bfv),
        ("_core/secret.pyi", secret),
        ("backends/rpau/compiler/_scheduler.pyi", _scheduler),
        ("backends/rpau/model/_model.pyi", _model),
    ],
    ids=["core", "bfv", "secret", "scheduler", "model"],
)
def test_stub_and_module_agree(file: str, module: ModuleType) -> None:
    public = {name for name in dir(module) if not name.startswith("_")}
    declared = set()
    for node in ast.parse((STUBS / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            declared.add(node.name)
            names = [argument.arg for argument in node.args.args]
            if node.args.kwonlyargs:
                names += ["*", *(argument.arg for argument in node.args.kwonlyargs)]
            assert signature(getattr(module, node.name)) == names, node.name
        elif isinstance(node, ast.ClassDef):
            declared.add(node.name)
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            found = {n for n in vars(getattr(module, node.name)) if not n.startswith("_")}
            assert {name for name in methods if not name.startswith("_")} == found
        elif isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            declared.add(node.target.id)
    assert declared == public - {"bfv", "secret"}
