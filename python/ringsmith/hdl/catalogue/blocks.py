"""Blocks of the RTL as their sources describe them: header, instances, packages that they name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_PACKAGE = re.compile(r"\brs_\w+_pkg\b")
_INSTANCE = re.compile(r"\b(rs_\w+)\s+(?:#\s*\(|\w+\s*\()")
_GENERATED = re.compile(r"Generated from (?:\S+/)?([\w.]+) by ")
_FUNCTION = re.compile(r"\b(rs_\w+_pkg::(?:[a-z]\w*|\w*Latency))\b")
_DEFINED = re.compile(
    r"\bfunction automatic .*?\b(\w+)\s*\(|\b(?:local)?param\w* .*?\b(\w+Latency) ="
)
_BARE = re.compile(r"(?<![\w:])[a-z]\w*_latency\b")
_WORD = re.compile(r"(?:latency|_cycles)\b", re.IGNORECASE)
_MODEL = re.compile(r"\bpython/ringsmith/[\w/]+/(?:cost|latency|timing)\.py\b")
_CYCLES = re.compile(r"\bcycles?\b")
_STATED = (
    re.compile(r"\b(?:L|[,;] l)atency(?: from \w+ to \w+)?:? ([^,;:()]+?)(?:[,;:(]|\.(?:\s|$)|$)"),
    re.compile(r"\b\w+_o comes (\w+ cycles? (?:after|later)[^.;,]*)"),
    re.compile(r"\b\w+_o (?:in cycle t \+ (\w+) is|is the word at \w+, (\w+))\b"),
    re.compile(r"\bstands at \w+_o (?:after ([^.;]+)|(\w+ cycles? later))"),
    re.compile(r"\b\w+_o is \w+_i behind (\w+ registers)"),
    re.compile(r"(?:^|, )(at once)\b"),
)
_COST = re.compile(r"\bCost(?P<where>[^:.]*):\s+(?P<text>.+?)(?=\.\s|\.$|$)")
_END = re.compile(r"[.](?:\s|$)|:$")
PACKAGE = "_pkg"
"""How the name of a package ends."""


@dataclass(frozen=True)
class Block:
    """A module or a package, which is a file of ``rtl/``.

    Attributes:
        name: Of the module and, with ``.sv``, of the file.
        folder: The folder of ``rtl/``.
        header: The paragraphs of the comment that the file begins with, each one line.
        instances: Modules that it has instances of, in the order of its text.
        packages: Packages that its text names, itself excepted.
        latencies: Functions of packages that its header names without the package.
        includes: Whether it includes a header.
    """

    name: str
    folder: str
    header: Sequence[str]
    instances: Sequence[str]
    packages: Sequence[str]
    latencies: Sequence[str]
    includes: bool = False

    @property
    def path(self) -> str:
        """The file, from the folder ``rtl/`` on."""
        return f"{self.folder}/{self.name}.sv"

    @property
    def is_package(self) -> bool:
        """Whether it is a package."""
        return self.name.endswith(PACKAGE)

    @property
    def summary(self) -> str:
        """What it computes: the first sentence of its header."""
        generated = _GENERATED.match(self.header[0])
        if generated:
            return f"Generated from `{generated[1]}`"
        return _END.split(self.header[0], maxsplit=1)[0]

    @property
    def latency(self) -> str:
        """Its latency: functions of packages, or what the header states; empty if it has none."""
        if self.is_package:
            return ""
        named = self._functions(_WORD)
        if not named and (stated := self._stated()):
            return stated
        found = named or self._functions(_CYCLES) or self.latencies or self._models()
        return ", ".join(f"`{name}`" for name in dict.fromkeys(found))

    def _functions(self, about: re.Pattern[str]) -> list[str]:
        """Functions of packages that the header names in sentences with some words."""
        return [
            name
            for sentence in self._sentences()
            if about.search(sentence)
            for name in _FUNCTION.findall(sentence)
        ]

    def _models(self) -> list[str]:
        """Files of a cost model that the header names: cycles that an instruction sets."""
        return [name for paragraph in self.header for name in _MODEL.findall(paragraph)]

    def _stated(self) -> str:
        """The latency that the header states in words or as a number."""
        for pattern in _STATED:
            for paragraph in self.header:
                if found := pattern.search(paragraph):
                    return next(each for each in found.groups() if each).strip()
        return ""

    @property
    def cost(self) -> str:
        """What its header says that it costs, in one sentence; empty if it does not."""
        found = next((match for each in self.header if (match := _COST.search(each))), None)
        if not found:
            return ""
        where = found["where"].lstrip(", ")
        return f"{where}: {found['text']}" if where else found["text"]

    def _sentences(self) -> Iterator[str]:
        for paragraph in self.header:
            yield from re.split(r"(?<=[.;])\s", paragraph)


def _paragraphs(text: str) -> tuple[str, ...]:
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    joined = "\n".join(lines).split("\n\n")
    return tuple(" ".join(part.split()) for part in joined if part.strip())


def read_blocks(rtl: Path) -> dict[str, Block]:
    """All blocks of ``rtl/`` by name, in the order of folders and names.

    Args:
        rtl: The folder ``rtl/`` of a checkout.
    """
    files = {path.stem: path for path in sorted(rtl.glob("*/*.sv"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    full = {name.partition("::")[2]: name for name in defined_in_packages(texts)}
    return {name: _read(path, texts, full) for name, path in files.items()}


def defined_in_packages(texts: Mapping[str, str]) -> list[str]:
    """Functions of all packages, and their parameters that are latencies: ``package::name``.

    Args:
        texts: Name of a block -> its source.
    """
    return [
        f"{block}::{function or parameter}"
        for block, text in texts.items()
        if block.endswith(PACKAGE)
        for function, parameter in _DEFINED.findall(text)
    ]


def _read(path: Path, texts: Mapping[str, str], full: Mapping[str, str]) -> Block:
    code = _COMMENT.sub("", texts[path.stem])
    known = texts.keys() - {path.stem}
    header = _paragraphs(texts[path.stem])
    bare = [full[name] for name in _BARE.findall(" ".join(header)) if name in full]
    instances = [name for name in instances_in(code) if name in known]
    packages = [name for name in dict.fromkeys(_PACKAGE.findall(code)) if name in known]
    return Block(
        path.stem,
        path.parent.name,
        header,
        instances,
        packages,
        bare,
        "`include" in code,
    )


def instances_in(text: str) -> list[str]:
    """Names of modules that a SystemVerilog text has instances of, each once."""
    return list(dict.fromkeys(_INSTANCE.findall(_COMMENT.sub("", text))))


def in_order(blocks: Mapping[str, Block]) -> list[Block]:
    """All blocks, each behind those that it uses; packages first, else by folder and name."""
    done: dict[str, Block] = {}

    def take(block: Block) -> None:
        if block.name in done:
            return
        for name in (*block.packages, *block.instances):
            take(blocks[name])
        done[block.name] = block

    for block in sorted(blocks.values(), key=lambda each: not each.is_package):
        take(block)
    return list(done.values())
