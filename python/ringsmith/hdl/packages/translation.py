"""Functions of SystemVerilog packages, translated into Python's syntax trees.

Only what such functions are made of is translated: unsigned numbers of up to 32 bits, single bits,
packed structures as arguments, ``if``, ``case``, counting loops and calls. All else is refused.
Python's numbers have no width: a function whose SystemVerilog overflows, or subtracts below zero,
is another one in Python.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from pyslang import ast as slang

from ringsmith.errors import ToolError

Node: TypeAlias = Any
"""Of pyslang, which has no types: a symbol, a type, a statement or an expression."""

_OPERATORS: Mapping[str, type[ast.operator]] = MappingProxyType(
    {
        "Add": ast.Add,
        "Subtract": ast.Sub,
        "Multiply": ast.Mult,
        "Divide": ast.FloorDiv,
        "Mod": ast.Mod,
        "BinaryAnd": ast.BitAnd,
        "BinaryOr": ast.BitOr,
        "BinaryXor": ast.BitXor,
        "LogicalShiftLeft": ast.LShift,
        "LogicalShiftRight": ast.RShift,
    }
)
_COMPARISONS: Mapping[str, type[ast.cmpop]] = MappingProxyType(
    {
        "Equality": ast.Eq,
        "Inequality": ast.NotEq,
        "LessThan": ast.Lt,
        "LessThanEqual": ast.LtE,
        "GreaterThan": ast.Gt,
        "GreaterThanEqual": ast.GtE,
    }
)
_LOGICAL: Mapping[str, type[ast.boolop]] = MappingProxyType(
    {"LogicalAnd": ast.And, "LogicalOr": ast.Or}
)
_TAKEN = frozenset({"sum", "min", "max", "range", "int", "bool", "len", "round"})
"""Names of Python's that a variable gets an underscore behind."""


def snake_case(name: str) -> str:
    """``LogN`` becomes ``log_n``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def class_name(structure: str) -> str:
    """``stream_cfg_t`` becomes ``StreamCfg``."""
    return "".join(part.capitalize() for part in structure.removesuffix("_t").split("_"))


def path_of(symbol: Node) -> str:
    """``package::name``, without the enumeration of a value."""
    return f"{symbol.hierarchicalPath.partition('::')[0]}::{symbol.name}"


def python_type(kind: Node) -> str:
    """The type of a number or a structure: an argument's, a field's or a result's.

    Raises:
        ToolError: If it is neither, or is no unsigned number of up to 32 bits.
    """
    if kind.isStruct:
        return class_name(kind.name)
    if not kind.isIntegral or kind.isSigned or kind.bitWidth > 32:
        raise ToolError(f"type {kind} is not translated: take int unsigned, bit or a structure")
    return "bool" if kind.bitWidth == 1 else "int"


@dataclass
class Translation:
    """What the functions of one package become, and what they use.

    Attributes:
        package: Its name.
        modules: Package -> the Python module of its translation.
        used: Paths, ``package::name``, of functions, numbers and enumerations' values.
        fields: Structure -> all its fields -> their types; empty for one that is not read.
    """

    package: str
    modules: Mapping[str, str]
    used: list[str] = field(default_factory=list)
    fields: dict[str, dict[str, str]] = field(default_factory=dict)

    def function(self, each: Node, doc: str) -> ast.FunctionDef:
        """A function, with a docstring if ``doc`` is not empty.

        Raises:
            ToolError: If it has something that is not translated; names it and the function.
        """
        try:
            arguments = [f"{_variable(a.name)}: {python_type(a.type)}" for a in each.arguments]
            for argument in each.arguments:
                if argument.type.isStruct:
                    self._declare(argument.type)
            body = self._statements([each.body])
            returns = python_type(each.returnType)
        except ToolError as error:
            raise ToolError(f"{each.hierarchicalPath}: {error}") from None
        (made,) = ast.parse(f"def {each.name}({', '.join(arguments)}) -> {returns}: ...").body
        assert isinstance(made, ast.FunctionDef)
        made.body = [*([ast.Expr(ast.Constant(doc))] if doc else []), *body]
        return made

    def reference(self, symbol: Node, python_name: str) -> ast.expr:
        """The name of what a package has, with its module if that is another package's."""
        path = path_of(symbol)
        package = path.partition("::")[0]
        if package not in self.modules:
            raise ToolError(f"uses {path}, whose package has no module in Python: give it one")
        if path not in self.used:
            self.used.append(path)
        if package == self.package:
            return ast.Name(python_name)
        return ast.Attribute(ast.Name(self.modules[package].rpartition(".")[2]), python_name)

    def _declare(self, kind: Node) -> dict[str, str]:
        """The fields of a structure, in which its order is known."""
        if kind.name not in self.fields:
            names = [snake_case(each.name) for each in kind.canonicalType]
            self.fields[kind.name] = dict.fromkeys(names, "")
        return self.fields[kind.name]

    # ---- statements

    def _statements(self, given: list[Node]) -> list[ast.stmt]:
        return [made for each in given for made in self._statement(each)]

    def _statement(self, each: Node) -> Iterator[ast.stmt]:
        match each:
            case slang.StatementList():
                counted = {v.name for s in each.list for v in getattr(s, "loopVars", ())}
                for inner in each.list:
                    declares = isinstance(inner, slang.VariableDeclStatement)
                    if not (declares and inner.symbol.name in counted):
                        yield from self._statement(inner)
            case slang.BlockStatement():
                yield from self._statement(each.body)
            case slang.VariableDeclStatement():
                if each.symbol.initializer is not None:
                    value = self._expression(each.symbol.initializer)
                    yield ast.Assign([ast.Name(_variable(each.symbol.name))], value)
            case slang.ExpressionStatement():
                yield self._assignment(each.expr)
            case slang.ReturnStatement():
                yield ast.Return(self._expression(each.expr))
            case slang.ConditionalStatement() if len(each.conditions) == 1:
                test = self._expression(each.conditions[0].expr)
                other = [each.ifFalse] if each.ifFalse is not None else []
                yield from _branch(test, self._statements([each.ifTrue]), self._statements(other))
            case slang.CaseStatement():
                yield from self._case(each)
            case slang.ForLoopStatement():
                yield self._loop(each)
            case _:
                raise ToolError(f"{_text(each)} is not translated")

    def _assignment(self, each: Node) -> ast.stmt:
        if not isinstance(each, slang.AssignmentExpression):
            raise ToolError(f"{_text(each)} is not translated")
        target = self._expression(each.left)
        if not isinstance(target, ast.Name):
            raise ToolError(f"{_text(each)}: an assignment to a part is not translated")
        if not each.isCompound:
            return ast.Assign([target], self._expression(each.right))
        right = _inside(each.right)
        operator = _OPERATORS[right.op.name]
        return ast.AugAssign(target, operator(), self._expression(right.right))

    def _case(self, each: Node) -> list[ast.stmt]:
        made = self._statements([each.defaultCase]) if each.defaultCase is not None else []
        for item in reversed(list(each.items)):
            tests: list[ast.expr] = [
                ast.Compare(self._expression(each.expr), [ast.Eq()], [self._expression(value)])
                for value in item.expressions
            ]
            test = ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0]
            made = list(_branch(test, self._statements([item.stmt]), made))
        return made

    def _loop(self, each: Node) -> ast.stmt:
        """``for (int unsigned i = a; i < b; i++)``."""
        refused = ToolError(f"loop {_text(each)}: only one that counts up by 1 is translated")
        if len(each.loopVars) != 1 or len(each.steps) != 1:
            raise refused
        (variable,), (step,), stop = each.loopVars, each.steps, each.stopExpr
        counts = (
            isinstance(stop, slang.BinaryExpression)
            and stop.op.name == "LessThan"
            and isinstance(step, slang.UnaryExpression)
            and step.op.name in {"Postincrement", "Preincrement"}
        )
        if not counts or any(_symbol(e) != variable.name for e in (stop.left, step.operand)):
            raise refused
        first, end = self._expression(variable.initializer), self._expression(stop.right)
        start = [] if isinstance(first, ast.Constant) and first.value == 0 else [first]
        return ast.For(
            target=ast.Name(_variable(variable.name)),
            iter=ast.Call(ast.Name("range"), [*start, end], []),
            body=self._statements([each.body]),
            orelse=[],
        )

    # ---- expressions

    def _expression(self, each: Node) -> ast.expr:
        match each:
            case slang.IntegerLiteral():
                number = int(each.value)
                return ast.Constant(bool(number) if each.type.bitWidth == 1 else number)
            case slang.NamedValueExpression():
                return self._named(each.symbol)
            case slang.MemberAccessExpression():
                return self._field(each)
            case slang.ConversionExpression():
                return self._converted(each)
            case slang.ConditionalExpression() if len(each.conditions) == 1:
                return ast.IfExp(
                    self._expression(each.conditions[0].expr),
                    self._expression(each.left),
                    self._expression(each.right),
                )
            case slang.UnaryExpression() if each.op.name == "LogicalNot":
                return ast.UnaryOp(ast.Not(), self._expression(each.operand))
            case slang.BinaryExpression():
                return self._binary(each)
            case slang.CallExpression():
                return self._call(each)
            case _:
                raise ToolError(f"{_text(each)} is not translated")

    def _named(self, symbol: Node) -> ast.expr:
        if isinstance(symbol, (slang.ParameterSymbol, slang.EnumValueSymbol)):
            return self.reference(symbol, snake_case(symbol.name).upper())
        return ast.Name(_variable(symbol.name))

    def _field(self, each: Node) -> ast.expr:
        name = snake_case(each.member.name)
        self._declare(each.value.type)[name] = python_type(each.member.type)
        return ast.Attribute(self._expression(each.value), name)

    def _converted(self, each: Node) -> ast.expr:
        before, after = each.operand.type, each.type
        if not after.isIntegral or before.bitWidth > after.bitWidth:
            raise ToolError(f"{_text(each.operand)}: a conversion to fewer bits is not translated")
        return self._expression(each.operand)

    def _binary(self, each: Node) -> ast.expr:
        operator = each.op.name
        left, right = self._expression(each.left), self._expression(each.right)
        if operator in _COMPARISONS:
            return ast.Compare(left, [_COMPARISONS[operator]()], [right])
        if operator in _LOGICAL:
            same = isinstance(left, ast.BoolOp) and isinstance(left.op, _LOGICAL[operator])
            before = left.values if isinstance(left, ast.BoolOp) and same else [left]
            return ast.BoolOp(_LOGICAL[operator](), [*before, right])
        if operator not in _OPERATORS:
            raise ToolError(f"operator {operator} of {_text(each)} is not translated")
        if operator in {"Divide", "Mod"} and each.type.isSigned:
            raise ToolError(f"{_text(each)}: a signed division is not translated")
        return ast.BinOp(left, _OPERATORS[operator](), right)

    def _call(self, each: Node) -> ast.expr:
        arguments = [self._expression(a) for a in each.arguments]
        if not each.isSystemCall:
            return ast.Call(self.reference(each.subroutine, each.subroutineName), arguments, [])
        if each.subroutineName != "$clog2":
            raise ToolError(f"{each.subroutineName} is not translated")
        below = ast.BinOp(arguments[0], ast.Sub(), ast.Constant(1))
        return ast.Call(ast.Attribute(below, "bit_length"), [], [])


def _text(each: Node) -> str:
    return str(each.syntax).strip()


def _variable(name: str) -> str:
    return f"{name}_" if name in _TAKEN else name


def _inside(each: Node) -> Node:
    """An expression without the conversions around it."""
    while isinstance(each, slang.ConversionExpression):
        each = each.operand
    return each


def _symbol(each: Node) -> str | None:
    """The name of a variable; None: the expression is no variable."""
    inner = _inside(each)
    return inner.symbol.name if isinstance(inner, slang.NamedValueExpression) else None


def _branch(test: ast.expr, then: list[ast.stmt], other: list[ast.stmt]) -> Iterator[ast.stmt]:
    """An ``if``; what follows a return needs no ``else``."""
    if isinstance(then[-1], ast.Return):
        yield ast.If(test, then, [])
        yield from other
    else:
        yield ast.If(test, then, other)
