"""Types and attributes of a module: what of their text the importer needs."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ringsmith.heir.text import ModuleText, split

MAX_ELEMENTS = 1 << 26
"""Elements of a tensor: 512 MiB of doubles."""

_TENSOR = re.compile(r"tensor<((?:[\d?]++x)*+)(.*)>$", re.S)
_REFERENCE = re.compile(r"[!#][A-Za-z_][\w.$]*")
_FLOAT = {"f16": "<f2", "f32": "<f4", "f64": "<f8"}
_INTEGER = re.compile(r"(?:[su]?i(\d+)|index)$")
_ARRAY = re.compile(r"array<i\d+(?::(.*))?>$", re.S)


class Kind(Enum):
    """What an element is."""

    FLOAT = "float"
    INTEGER = "integer"
    OTHER = "other"


@dataclass(frozen=True)
class Type:
    """A scalar or tensor type.

    Attributes:
        shape: Dimensions; None: a scalar.
        element: Text of the element's type.
        kind: What the element is.
        bits: Width of an integer; 64 of an index; 0 of anything else.
    """

    shape: tuple[int, ...] | None
    element: str
    kind: Kind
    bits: int

    @property
    def elements(self) -> int:
        """Numbers that a value holds."""
        return math.prod(self.shape or ())


@dataclass(frozen=True)
class CipherType:
    """What the type of a ciphertext says.

    Attributes:
        level: Index of the last prime that is present.
        scale: log2 of the nominal scale (CKKS), scale modulo t (BGV).
        size: Polynomials.
    """

    level: int
    scale: int
    size: int


class Types:
    """Looks types and attributes of one module up, each once."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module
        self._types: dict[str, Type] = {}
        self._ciphers: dict[str, CipherType] = {}

    def resolved(self, text: str) -> str:
        """Returns what an alias stands for; other text as it is."""
        for _ in range(16):
            if text not in self._module.aliases:
                return text
            text = self._module.aliases[text]
        return text

    def type_of(self, text: str, line: int) -> Type:
        """Returns a type.

        Raises:
            HeirError: When a tensor has a dimension that is not known, or is too large.
        """
        found = self._types.get(text)
        if found is None:
            found = self._types[text] = self._parsed(text, line)
        return found

    def cipher_of(self, text: str, line: int) -> CipherType:
        """Returns what a ciphertext's type says.

        Raises:
            HeirError: When it is no ciphertext's type, or lacks its level.
        """
        found = self._ciphers.get(text)
        if found is not None:
            return found
        if not self.resolved(text).startswith("!lwe.lwe_ciphertext<"):
            raise self._module.error(line, f"the type {text!r:.60} is no ciphertext's")
        level = self.search(r"current = (\d{1,4})\b", text)
        if level is None:
            raise self._module.error(
                line, f"the ciphertext type {text!r:.60} names no level (modulus_chain)"
            )
        scale = self.search(r"scaling_factor = (-?\d{1,20})\b", text)
        size = self.search(r"\bsize = (\d{1,4})\b", text)
        found = CipherType(int(level), int(scale or 0), int(size or 2))
        self._ciphers[text] = found
        return found

    def search(self, pattern: str, text: str) -> str | None:
        """Returns a group found in a text, or in the aliases that it reaches."""
        found = next((m for t in self._reached(text) if (m := re.search(pattern, t))), None)
        return None if found is None else found[1]

    def _reached(self, text: str) -> Iterator[str]:
        seen: set[str] = set()
        waiting = [text]
        while waiting:
            part = waiting.pop(0)
            yield part
            for name in _REFERENCE.findall(part):
                if name in self._module.aliases and name not in seen:
                    seen.add(name)
                    waiting.append(self._module.aliases[name])

    def _parsed(self, text: str, line: int) -> Type:
        whole = self.resolved(text)
        if whole.startswith("!secret.secret<"):
            return self._parsed(whole[len("!secret.secret<") : -1], line)
        match = _TENSOR.match(whole)
        shape: tuple[int, ...] | None = None
        element = whole
        if match is not None:
            if "?" in match[1]:
                raise self._module.error(line, f"{whole!r:.60} has an unknown dimension: fix it")
            sizes = [size for size in match[1].split("x") if size]
            if any(len(size) > 10 for size in sizes) or len(sizes) > 16:
                raise self._module.error(line, f"{whole!r:.60} is too large a tensor")
            shape = tuple(map(int, sizes))
            element = self.resolved((split(match[2]) or [""])[0])
            if math.prod(shape) > MAX_ELEMENTS:
                raise self._module.error(
                    line,
                    f"{whole!r:.60} has {math.prod(shape)} elements, and at most {MAX_ELEMENTS} "
                    "are taken: split the tensor",
                )
        integer = _INTEGER.match(element)
        if integer is not None:
            return Type(shape, element, Kind.INTEGER, int((integer[1] or "64")[:6]))
        if element in _FLOAT or element == "bf16":
            return Type(shape, element, Kind.FLOAT, 0)
        return Type(shape, element, Kind.OTHER, 0)

    # ---- constants -------------------------------------------------------------------------

    def integers(self, text: str, line: int) -> list[int]:
        """Returns the numbers of ``array<i64: 1, 2>``."""
        match = _ARRAY.match(self.resolved(text))
        if match is None:
            raise self._module.error(line, f"{text!r:.60} is no array of integers")
        try:
            return [int(part) for part in split(match[1] or "")]
        except ValueError:
            raise self._module.error(line, f"{text!r:.60} is no array of integers") from None

    def integer(self, text: str, line: int) -> int:
        """Returns the number of ``3 : index``."""
        try:
            return int(text.partition(":")[0])
        except ValueError:
            raise self._module.error(line, f"{text!r:.60} is no integer") from None

    def constant(self, text: str, kind: Type, line: int) -> float | int | NDArray[np.number]:
        """Returns a scalar, or a tensor of int64 or float64, of an ``arith.constant``.

        Raises:
            HeirError: When it is no literal, or its numbers do not fit its type.
        """
        text = self.resolved(text)
        if kind.kind is Kind.OTHER:
            raise self._module.error(line, f"a constant of type {kind.element!r:.60}: not known")
        if kind.shape is None:
            return self._scalar(text.partition(" : ")[0], kind, line)
        if text.startswith("dense_resource<"):
            key = text[len("dense_resource<") : text.find(">")].strip('"')
            digits = self._module.resources.get(key)
            if digits is None:
                raise self._module.error(
                    line,
                    f"the bytes of dense_resource<{key:.40}> are missing: print the module "
                    "without --mlir-print-local-scope",
                )
            return self._raw(digits[2 + 8 :], kind, line)
        if text.startswith('dense<"0x'):
            start = len('dense<"0x')
            return self._raw(text[start : text.find('"', start)], kind, line)
        if text.startswith("dense<"):
            end = text.rfind("> : ")
            return self._listed(text[len("dense<") : end], kind, line)
        raise self._module.error(line, f"{text!r:.60} is no constant that is known")

    def _scalar(self, text: str, kind: Type, line: int) -> float | int:
        text = text.strip()
        if text in ("true", "false"):
            return int(text == "true")
        try:
            if kind.kind is Kind.INTEGER:
                return int(text)
            if text.startswith("0x"):
                raw = bytes.fromhex(text[2:])
                return float(np.frombuffer(raw, f">f{len(raw)}")[0])
            return float(text)
        except (ValueError, TypeError):
            raise self._module.error(line, f"{text!r:.60} is no number") from None

    def _listed(self, text: str, kind: Type, line: int) -> NDArray[np.number]:
        dtype = np.int64 if kind.kind is Kind.INTEGER else np.float64
        flat = text.replace("[", " ").replace("]", " ")
        words = flat.replace(",", " ").split()
        try:
            values = np.array([self._scalar(word, kind, line) for word in words], dtype)
        except OverflowError:
            raise self._module.error(line, "a constant has integers of more than 64 bits") from None
        return self._shaped(values, kind, line)

    def _raw(self, digits: str, kind: Type, line: int) -> NDArray[np.number]:
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            raise self._module.error(line, "a constant holds no hexadecimal digits") from None
        if kind.kind is Kind.INTEGER and kind.bits == 1:
            bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
            if len(data) == 1 and kind.elements > 8:
                bits = bits[:1]
            return self._shaped(bits[: kind.elements].astype(np.int64), kind, line)
        if kind.kind is Kind.INTEGER:
            width = next((w for w in (1, 2, 4, 8) if kind.bits <= 8 * w), 0)
            dtype = f"<i{width}"
        else:
            dtype, width = _FLOAT.get(kind.element, ""), int(_FLOAT.get(kind.element, "<f0")[2:])
        if not width or len(data) % width:
            raise self._module.error(
                line, f"a constant of {len(data)} bytes does not hold elements of {kind.element}"
            )
        values = np.frombuffer(data, dtype)
        wide = values.astype(np.int64 if kind.kind is Kind.INTEGER else np.float64)
        return self._shaped(wide, kind, line)

    def _shaped(self, values: NDArray[np.number], kind: Type, line: int) -> NDArray[np.number]:
        assert kind.shape is not None
        if values.size == 1:
            return np.broadcast_to(values.reshape(()), kind.shape)
        if values.size != kind.elements:
            raise self._module.error(
                line, f"a constant has {values.size} numbers, and its type {kind.elements}"
            )
        return values.reshape(kind.shape)
