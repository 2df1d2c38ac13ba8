"""Every reader of foreign data: good inputs, inputs that take memory, and their bound."""

import itertools
import json
import os
import socket
import struct
import tempfile
import threading
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from tests.core.shared import wrapped
from tests.fuzz import heir_modules, mutations
from tests.fuzz.mutations import container
from tests.graph.random_graphs import every_op
from tests.networks import models

from ringsmith import client, interop, platforms
from ringsmith.backends.cards import messages
from ringsmith.backends.cards.port import Claim
from ringsmith.backends.cards.server import CardServer
from ringsmith.backends.registry import inspector_of
from ringsmith.backends.rpau.compiler import executable
from ringsmith.backends.types import CompiledGraph
from ringsmith.backends.vector.compiler import compile as vector_compile
from ringsmith.client import secret_file
from ringsmith.design_files import text as design_text
from ringsmith.errors import DeviceError
from ringsmith.files.arrays import array_bytes, read_array
from ringsmith.files.container import pack, padded
from ringsmith.files.records import Encoder
from ringsmith.graph import from_json, to_json
from ringsmith.graph.operations import Op
from ringsmith.heir import Wish, program_of, trace_module
from ringsmith.heir.tape import NUMBERS_A_BYTE
from ringsmith.interop import object_file
from ringsmith.interop.bundle import Bundle, read_bundle, write_bundle
from ringsmith.interop.key_seeds import KeySeeds, read_key_seeds, write_key_seeds
from ringsmith.lower import lower_operation
from ringsmith.networks import from_onnx
from ringsmith.objects import Ciphertext, EvaluationKeys
from ringsmith.params import CkksParameters, KeyNeeds, parameter_set
from ringsmith.params.files import parameters_file, parameters_text
from ringsmith.program import ClientKit, Program, trace
from ringsmith.runtime import compile_graph, compile_program, compiled_file
from ringsmith.runtime.designs import named_design
from ringsmith.schemes import program_file

Mutate = Callable[[Sequence[bytes], np.random.Generator], bytes]

MOST = 256 << 20
"""Bytes of memory that a reader takes at most, in addition to its own bound."""
FACTOR = 64
"""Bytes of memory for each byte of input."""
LEAST = 16 << 20
"""What a short input may take: modules that are imported, tables that are made once, and steps of
decompression."""


@dataclass(frozen=True)
class Reader:
    """A reader of foreign data.

    Attributes:
        name: What it reads.
        read: Reads an input; raises errors of ours alone.
        seeds: Good inputs.
        worst: Inputs that are made to take memory.
        own: The bound of an input's size in place of that of ``MOST`` and ``FACTOR``; None: that.
        mutate: Damages one of the seeds.
    """

    name: str
    read: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    worst: Callable[[], Sequence[bytes]] = tuple
    own: Callable[[int], int] | None = None
    mutate: Mutate = mutations.mixed

    def bound(self, size: int) -> int:
        """Bytes of memory that reading ``size`` bytes may take."""
        return self.own(size) if self.own else max(LEAST, min(max(MOST, 2 * size), FACTOR * size))


# ---- what the good inputs are made of --------------------------------------------------------


@cache
def parameters() -> CkksParameters:
    """A small parameter set, which SEAL knows, too."""
    return CkksParameters.create(
        n=1024, prime_bits=(25, 25), special_bits=26, scale_bits=20, security=None
    )


@cache
def wide() -> CkksParameters:
    """Parameters of many primes, each of them is a digit of a key."""
    return CkksParameters.create(
        n=1024, prime_bits=(25,) * 100, special_bits=26, scale_bits=20, security=None
    )


@cache
def shape() -> interop.SealParameters:
    return interop.SealParameters.from_parameters(parameters())


@cache
def program() -> Program:
    return trace(lambda x: (x * np.linspace(0, 1, 8)).rotate(1) + x, parameters(), {"x": 8})


@cache
def keys() -> tuple[client.SecretKey, object, EvaluationKeys]:
    return client.generate_keys(parameters(), KeyNeeds(2, {3: 2}), seeded=True)


@cache
def ciphertext() -> Ciphertext:
    return program().encrypt(keys()[1], {"x": np.arange(8)})["x"]


@cache
def folder() -> Path:
    """A folder for files of readers that take a path; it is left to the system."""
    return Path(tempfile.mkdtemp())


def by_path(
    read: Callable[[Path], object], name: str, mode: int = 0o600
) -> Callable[[bytes], object]:
    """A reader of bytes that takes a path."""

    def found(data: bytes) -> object:
        path = folder() / name
        path.write_bytes(data)
        path.chmod(mode)
        return read(path)

    return found


# ---- inputs made to take memory --------------------------------------------------------------


def texts(limit: int) -> list[str]:
    """JSON values of about ``limit`` characters that make many objects, or large ones."""
    one_entry, many = '{"":0},', ",".join(f'"{i}":0' for i in range(limit // 10))
    return [
        "[" + "[]," * (limit // 3) + "0]",
        "[" + "{}," * (limit // 3) + "0]",
        "[" + one_entry * (limit // 7) + "0]",
        "[" + "1e9," * (limit // 4) + "0]",
        '["' + "x" * limit + '"]',
        '["' + "é" * (limit // 2) + '"]',
        '["' + "x" * (limit - 8) + '😀"]',
        "[" * limit,
        "{" + many + "}",
    ]


def stuffed(name: str, limit: int, body: int) -> list[bytes]:
    """Containers of a format with texts of about ``limit`` bytes, and with arrays of ``body``."""
    head = f'{{"format":"{name}","version":1,"content":'
    arrays = [
        (f'[["|u1",[{body}]]]', bytes(body)),
        ("[" + ",".join(['["|u1",[0]]'] * (limit // 12)) + "]", b""),
        ('[["<f8",[1099511627776]]]', b""),
        (f'[["<c16",[{body >> 8},8,2]]]', bytes(body)),
    ]
    return [
        *(container(f'{head}{text},"arrays":[]}}'.encode()) for text in texts(limit)),
        *(container(_aligned(f'{head}0,"arrays":{each}}}'), rest) for each, rest in arrays),
        b"\x89RSMITH\n" + struct.pack("<IIQQ32s", 1, 0, body, 64, bytes(32)) + bytes(64),
        _bomb(body),
    ]


def _aligned(text: str) -> bytes:
    return text.encode() + b" " * (-len(text.encode()) % 8)


def _bomb(limit: int) -> bytes:
    """A container whose stream makes more than its header says."""
    packed = zstandard.compress(bytes(limit * 2))
    head = mutations.HEADER.pack(b"\x89RSMITH\n", 1, 0, limit, len(packed), bytes(32))
    return head + packed


def seal_bombs(limit: int) -> list[bytes]:
    """SEAL's objects whose streams make far more than any object has, and counts beyond them."""
    counts = struct.pack("<Q", 1 << 60) * 64
    bombs = [
        (2, zstandard.compress(bytes(limit))),
        (1, zlib.compress(bytes(limit))),
        (0, counts),
        (2, zstandard.compress(counts * 1000)),
    ]
    return [wrapped(data, method) for method, data in bombs]


def _kit(kit: ClientKit) -> bytes:
    """A kit's file; ``to_bytes`` need not take it."""
    content = Encoder(program_file.VARIANTS, arrays=(arrays := [])).encode(kit, ClientKit, "kit")
    return pack(program_file.KIT, 1, content, arrays)


def kits() -> list[bytes]:
    """Kits of many keys, outputs and numbers that are not there."""
    good = program().client_kit()
    keys = KeyNeeds(1, dict.fromkeys(range(3, 1 << 17, 2), 1))
    ports = {f"y{i}": good.outputs["result"] for i in range(9000)}
    return [
        *stuffed(program_file.KIT, 1 << 20, 1 << 24),
        *stuffed(program_file.KIT, 1 << 23, 1 << 26),
        program_file.to_bytes(replace(good, outputs=ports)),
        *(_kit(replace(good, key_needs=keys, outputs=each)) for each in (good.outputs, ports)),
    ]


def graphs() -> list[bytes]:
    head, first, *_ = to_json(lower_operation("square", parameters(), 2)).splitlines()
    return [
        *(text.encode() for text in texts(1 << 21)),
        *(f"{head}\n{text}\n".encode() for text in texts(1 << 16)),
        "\n".join([head, *map(_graph_node, range(4000))]).encode(),
        "\n".join([head, first, *map(_sum, range(1, 200_000))]).encode(),
    ]


def _sum(identity: int) -> str:
    return json.dumps({"id": identity, "op": "add", "operands": [0, 0], "attrs": {}})


def _graph_node(identity: int) -> str:
    attributes = {"name": f"x{identity}", "base": [0] * 100, "form": "ntt"}
    return json.dumps({"id": identity, "op": "input", "operands": [], "attrs": attributes})


def programs() -> list[bytes]:
    """Programs of many nodes, inputs or primes, each of few bytes, and with zeros behind them."""
    found = [*stuffed(program_file.PROGRAM, 1 << 21, 1 << 24)]
    found += stuffed(program_file.PROGRAM, 1 << 23, 1 << 27)
    nodes = program().nodes
    kind = replace(nodes[0], op=Op.ADD, operands=(0, 0), name=None)
    for count in (1 << 12, 1 << 14, 1 << 16, 1 << 18):
        ends = {"id": count - 1, "operands": (count - 2,), "op": Op.OUTPUT, "name": "result"}
        sums = (replace(kind, id=i) for i in range(1, count - 1))
        data = _written(replace(program(), nodes=(nodes[0], *sums, replace(kind, **ends))))
        found.append(data)  # a file's size bounds the memory: few nodes in a large one take little
        found += [
            container_of_size(data, s) for s in (1 << 20, 1 << 22) if s >> 6 <= count <= s >> 4
        ]
    inputs = [replace(nodes[0], id=i, name=f"x{i}") for i in range(1 << 12)]
    lengths = {f"x{i}": 4 for i in range(1 << 12)}
    found.append(_written(replace(program(), nodes=tuple(inputs), lengths=lengths)))
    return found


def _written(changed: Program) -> bytes:
    """A program's file; tracing need not make it."""
    arrays: list[np.ndarray] = []
    return pack(program_file.PROGRAM, 1, program_file.program_columns(changed, arrays), arrays)


def container_of_size(data: bytes, size: int) -> bytes:
    """A container with as many zeros behind it as make ``size`` bytes, or its own."""
    return padded(data, FACTOR * size)


def compiled_files() -> list[bytes]:
    """Compiled programs of many operations, each of them makes many subroutines."""
    found = [*stuffed(compiled_file.FORMAT, 1 << 22, 1 << 27)]
    squares = trace(lambda x: x * x, wide(), {"x": 8})
    first, product, switched, *_, last = squares.nodes
    for count in (100, 1000, 10_000):
        many = [replace(product, id=i) for i in range(1, count)]
        many += [replace(switched, id=count + i, operands=(i + 1,)) for i in range(count - 1)]
        ends = {"limbs": switched.limbs, "scale": switched.scale, "operands": (2 * count - 2,)}
        nodes = (first, *many, replace(last, id=2 * count - 1, **ends))
        arrays: list[np.ndarray] = []
        content = {
            "program": program_file.program_columns(replace(squares, nodes=nodes), arrays),
            "graph": "",
            "schedule": {},
        }
        data = pack(compiled_file.FORMAT, 1, content, arrays)
        found += [data, *(container_of_size(data, size) for size in (1 << 20, 1 << 22))]
    return [*found, *_long_executables()]


def _long_executables() -> list[bytes]:
    """Compiled programs of more instructions than they need, most of them alike."""
    design = replace(named_design("nano"), name="long", log_n=10, program_words=1 << 16)
    compiled = compile_program(program(), design)
    executable: Any = compiled.compiled_graph.executable
    (run,) = executable.runs
    found = []
    for times in (10, 50, 500):
        longer = replace(
            run,
            words=run.words[:-1] * times + run.words[-1:],
            starts=run.starts[:1] * times * (len(run.words) - 1) + run.starts[-1:],
            origins=run.origins[:-1] * times + run.origins[-1:],
        )
        graph = CompiledGraph(compiled.lowered.graph, replace(executable, runs=(longer,)))
        found.append(compiled_file.to_bytes(compiled.lowered, graph))
    return found


def tables() -> list[bytes]:
    """TOML of as many bytes as are read, and more."""
    return [
        b"a = [" + b"[]," * 21_000 + b"]",
        b"a = [" + b"{}," * 21_000 + b"]",
        b"a = [" + b"[" * 60_000,
        b"".join(f"a{i}=1\n".encode() for i in range(7500)),
        b"".join(f"[a{i}]\n".encode() for i in range(7500)),
        b"".join(b"[[a]]\n" for _ in range(10_000)),
        b"a." * 30_000 + b"a=1",
        b'a = "' + b"\\u00e9" * 10_000 + b'"',
        b"a = " + b"9" * 60_000,
        b"a = 0x" + b"f" * 60_000,
        b'architecture = "rpau"\nlog_n = 0x' + b"f" * 60_000,
        bytes(1 << 20),
    ]


def npy_files() -> list[bytes]:
    head = b"\x93NUMPY\x01\x00"
    shapes = ("(1099511627776,)", "(0, 1099511627776)", "(1,) * 9", "()" * 999, "(" * 5000)
    return [
        *(
            head + struct.pack("<H", len(text)) + text
            for text in (
                f"{{'descr': '<f8', 'fortran_order': False, 'shape': {each}, }}\n".encode()
                for each in shapes
            )
        ),
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31) + b" " * 4096,
        array_bytes(np.zeros(1 << 20, np.uint8)),
    ]


# ---- a card's socket -------------------------------------------------------------------------


class _Card:
    """A card of two channels with no memory to speak of."""

    name = "nano"
    claims = (Claim(0, 0, 4096), Claim(1, 4096, 4096))

    def __init__(self) -> None:
        self.memory = bytearray(8192)

    def channel_of(self, address: int) -> int | None:
        if address >= 1024:
            raise DeviceError(f"no register {address}")
        return None if address < 64 else address // 64 % 2

    def read_registers(self, addresses: Sequence[int]) -> list[int]:
        return [0 for _ in addresses]

    def write_registers(self, pairs: Sequence[tuple[int, int]]) -> None:
        pass

    def write_memory(self, address: int, data: bytes) -> None:
        self.memory[address : address + len(data)] = data

    def read_memory(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address : address + size])

    def on_interrupt(self, call: Callable[[int], None]) -> None:
        pass

    def allow(self, channel: int, ranges: Sequence[tuple[int, int]]) -> None:
        pass

    def vacate(self, channel: int) -> None:
        pass

    def report(self) -> dict[str, object]:
        return {}

    def close(self) -> None:
        pass


@cache
def card() -> tuple[Path, list[BaseException]]:
    """A card's socket, and what ended its threads."""
    ended: list[BaseException] = []

    def note(failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            ended.append(failure.exc_value)

    threading.excepthook = note
    path = folder() / "card"
    threading.Thread(target=CardServer(_Card(), path).serve, daemon=True).start()
    return path, ended


def talk(data: bytes) -> object:
    """Sends messages to a card, and takes its answers; its threads end without an error."""
    path, ended = card()
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(str(path))
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            while line.recv(1 << 16):
                pass
        except (ConnectionError, BrokenPipeError):
            pass  # it was hung up
    if ended:
        raise ended.pop()
    return None


def _message(operation: int, number: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack("<BxxxIQ", operation, len(payload), number) + payload


def _opening(kind: int) -> bytes:
    token = bytes(messages.TOKEN_BYTES)
    return _message(1, 0, messages.OPENING.pack(messages.MAGIC, messages.VERSION, kind, 0, token))


def conversations() -> list[bytes]:
    session = _opening(messages.Kind.SESSION)
    return [
        session + _message(2) + _message(4) + _message(5) + _message(3),
        session + _message(2) + _message(2) + _message(3, 1),
        *(_opening(kind) + _message(6, 0, bytes(8)) for kind in range(1, 5)),
    ]


def long_messages() -> list[bytes]:
    most = messages.MOST_PAYLOAD
    return [
        _message(1, 0, bytes(most)),
        struct.pack("<BxxxIQ", 1, most, 0),
        struct.pack("<BxxxIQ", 1, (1 << 32) - 1, 0),
        _opening(0) + b"".join(_message(7, 0, bytes(most)) for _ in range(3)),
        _opening(0) + _message(2) * 200,
    ]


# ---- all of them -----------------------------------------------------------------------------


def _seal_files() -> list[bytes]:
    thing, key = ciphertext(), keys()[2]
    assert key.relin is not None
    return [
        interop.write_parameters(shape()),
        interop.write_ciphertext(thing, shape()),
        interop.write_relin_keys(key.relin, shape()),
        interop.write_galois_keys(key.galois, shape()),
    ]


_SEAL_READERS: tuple[Callable[[bytes], object], ...] = (
    interop.read_parameters,
    lambda data: interop.read_ciphertext(data, shape()),
    lambda data: interop.read_relin_keys(data, shape()),
    lambda data: interop.read_galois_keys(data, shape()),
)
"""All but ``describe``, which knows no parameters and so no size of an object."""
_TURNS = itertools.count()


def _read_seal(data: bytes) -> object:
    """With one reader after the other."""
    return _SEAL_READERS[next(_TURNS) % len(_SEAL_READERS)](data)


def _secret_key() -> list[bytes]:
    path = folder() / "secret-seed.rsx"
    path.unlink(missing_ok=True)
    secret_file.save_secret_key(path, keys()[0], parameters())
    return [path.read_bytes()]


def _manifest(data: bytes) -> object:
    """A bundle with another manifest."""
    path = folder() / "bundle"
    if not path.exists():
        write_bundle(path, Bundle("fuzz", shape(), keys()[2]))
    (path / "manifest.json").write_bytes(data)
    return read_bundle(path)


def _manifests() -> list[bytes]:
    path = folder() / "bundle-seed"
    if not path.exists():
        write_bundle(path, Bundle("fuzz", shape(), keys()[2]))
    return [(path / "manifest.json").read_bytes()]


def _compiled() -> list[bytes]:
    found = []
    for design in (None, "nano"):
        path = folder() / f"{design}.rsc"
        nano = trace(lambda x: x + x, "nano", {"x": 8})
        compile_program(program() if design is None else nano, design=design).save(
            path, overwrite=True
        )
        found.append(path.read_bytes())
    return found


def _objects() -> list[bytes]:
    return [
        object_file.object_bytes(ciphertext(), parameters()),
        object_file.object_bytes(keys()[2], parameters()),
    ]


def _read_object(data: bytes) -> object:
    kind = (Ciphertext, EvaluationKeys)[next(_TURNS) % 2]
    return object_file.object_from_bytes(data, kind, parameters())


def _graphs() -> list[bytes]:
    lowered = (lower_operation(each, parameters(), 2) for each in ("square", "add"))
    return [to_json(graph).encode() for graph in (*lowered, every_op())]


def _executable(design: str) -> bytes:
    """The file of an executable as ``ringsmith trace --save`` writes it."""
    graph = lower_operation("add", parameter_set("nano"), 2)
    executable: Any = compile_graph(graph, design).executable
    return inspector_of(executable.design, "").text(executable).encode()


def _card_file(path: Path) -> object:
    platforms.load_platform.cache_clear()  # type: ignore[attr-defined]
    return platforms.load_platform(str(path))


def _utf8(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """A reader of text; bytes that are no text are replaced."""
    return lambda data: read(data.decode(errors="replace"))


def _heir(seeds: Sequence[bytes], rng: np.random.Generator) -> bytes:
    text = seeds[rng.integers(len(seeds))]
    if rng.integers(2):
        return heir_modules.damaged(text.decode(), rng).encode()
    return mutations.reworded(text, rng)


def _read_heir(text: str) -> object:
    return program_of(trace_module(text, "module", placeholders=True), Wish())


_OBJECT = object_file.FORMAT


def networks() -> list[bytes]:
    """Networks of ONNX."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, 1, 3, 3))
    nodes = [
        models.node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        models.node("Relu", "c", "r"),
        models.node("Reshape", "r s", "y"),
    ]
    convolution = models.model(
        nodes, {"x": (1, 1, 4, 4)}, ["y"], {"w": weights, "s": np.array([1, -1])}
    )
    return [each.SerializeToString() for each in (models.mlp(rng), convolution)]


def large_networks() -> list[bytes]:
    """Networks of many nodes, long names, and tensors that are not there."""
    many = [models.node("Neg", f"x{i}", f"x{i + 1}") for i in range(15_000)]
    long = [models.node("Neg", "x0", "y" * (1 << 20))]
    found = [models.model(many, {"x0": (2,)}, ["x15000"])]
    found.append(models.model(long, {"x0": (1 << 12, 1 << 12)}, ["y" * (1 << 20)]))
    for dims in ([1 << 60], [1 << 30, 1 << 30, 1 << 30], [1 << 26]):
        (given,) = [models.model(long, {"x0": (2,)}, ["y" * (1 << 20)], {"c": np.ones(2)})]
        given.graph.initializer[0].dims[:] = dims
        found.append(given)
    return [each.SerializeToString() for each in found]


READERS: tuple[Reader, ...] = (
    Reader("networks of ONNX", from_onnx, networks, large_networks),
    Reader("SEAL's files", _read_seal, _seal_files, lambda: seal_bombs(1 << 26) * 5),
    Reader("SEAL file's kind", interop.describe, _seal_files, lambda: seal_bombs(1 << 28)),
    Reader(
        "kit",
        lambda data: program_file.from_bytes(data, kits_only=True),
        lambda: [program_file.to_bytes(program().client_kit())],
        kits,
    ),
    Reader(
        "program",
        program_file.from_bytes,
        lambda: [program_file.to_bytes(program())],
        programs,
    ),
    Reader("compiled program", compiled_file.from_bytes, _compiled, compiled_files),
    Reader(
        "object",
        _read_object,
        _objects,
        lambda: [*stuffed(_OBJECT, 1 << 13, 1 << 16), *stuffed(_OBJECT, 1 << 22, 1 << 25)] * 2,
    ),
    Reader(
        "secret key",
        by_path(lambda path: secret_file.load_secret_key(path, parameters()), "secret.rsx"),
        _secret_key,
        lambda: [
            *stuffed(secret_file.FORMAT, 1 << 14, 1 << 14),
            *stuffed(secret_file.FORMAT, 1 << 22, 1 << 25),
        ],
    ),
    Reader("bundle", _manifest, _manifests, lambda: [t.encode() for t in texts(60_000)]),
    Reader(
        "key seeds",
        by_path(read_key_seeds, "seeds.json"),
        lambda: [write_key_seeds(KeySeeds.of(keys()[2]))],
        lambda: [text.encode() for text in texts(1 << 21)],
    ),
    Reader("subroutine graph", _utf8(from_json), _graphs, graphs),
    Reader(
        "executable of rpau",
        _utf8(executable.read_executable),
        lambda: [_executable("nano")],
        lambda: [text.encode() for limit in (1 << 16, 1 << 22) for text in texts(limit)],
    ),
    Reader(
        "executable of vector",
        _utf8(vector_compile.read_executable),
        lambda: [_executable("vector-small")],
        lambda: [text.encode() for text in texts(1 << 22)],
    ),
    Reader(
        "HEIR's module",
        _utf8(_read_heir),
        lambda: [text.encode() for text in heir_modules.texts()],
        heir_modules.worst,
        own=lambda size: max(MOST, 8 * NUMBERS_A_BYTE * size) + FACTOR * size,
        mutate=_heir,
    ),
    Reader(
        "design",
        by_path(lambda path: named_design(str(path)), "mine.toml"),
        lambda: [
            design_text(name).encode() for name in ("nano", "heaws6", "rpm", "vector-small", "octo")
        ],
        tables,
    ),
    Reader(
        "card's file",
        by_path(_card_file, "card.toml"),
        lambda: [
            (Path(platforms.__file__).parent / f"{name}.toml").read_bytes()
            for name in platforms.platform_names()[:4]
        ],
        tables,
    ),
    Reader(
        "parameters",
        by_path(parameters_file, "parameters.toml"),
        lambda: [parameters_text(parameters()).encode()],
        tables,
    ),
    Reader(
        "array",
        by_path(read_array, "array.npy"),
        lambda: [array_bytes(np.arange(6.0).reshape(2, 3)), array_bytes(np.arange(3))],
        npy_files,
    ),
    Reader("card's socket", talk, conversations, long_messages),
)


def named(name: str) -> Reader:
    """A reader by its name."""
    return next(each for each in READERS if each.name == name)


def quiet() -> None:
    """Keeps warnings of small parameters to itself, and one thread."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("RINGSMITH_THREADS", "1")
