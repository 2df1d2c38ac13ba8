"""Programs on the ``cpu`` device, ready to be timed: what a user's program runs.

Each operation is a compiled program of its own, run by ``Compiled.run`` with precomputed keys.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from bench.cpu.sets import (
    EXPANDED,
    HOISTED,
    PRODUCT,
    WORDS,
    BenchSet,
    Operands,
    ciphertext,
    key_words,
    parameters_of,
)
from bench.cpu.timing import Timed, timed
from ringsmith import _core, runtime
from ringsmith.errors import ToolError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.operations import Key, Op
from ringsmith.lower import CiphertextPort, Lowered
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKey,
    OnTheFlyKeys,
    Residues,
)
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds
from ringsmith.schemes.registry import scheme_of
from ringsmith.schemes.writer import OperationWriter, Polynomials

Work = Callable[[], list[Residues]]
"""Computes once, and returns the ciphertexts."""

KEY_SEED = bytes(range(10))
"""The seed of the key expanded on the fly."""

BOTH = ("multiply_relinearize", "rotate", "add")
"""Operations of both schemes."""

_PARTS = MappingProxyType(
    {
        "multiply_relinearize": (Op.MULTIPLY, Op.RELINEARIZE),
        PRODUCT: (Op.MULTIPLY, Op.RELINEARIZE, Op.RESCALE),
        HOISTED: (Op.ROTATE,),
    }
)
"""What a name stands for that is not a program's operation."""

CKKS = (*BOTH, "rescale", "multiply", "multiply_plain", PRODUCT)
"""Operations of CKKS."""


@dataclass(frozen=True)
class KeyForms:
    """multiply_relinearize by a key in another form, and by the same key precomputed.

    Attributes:
        operation: Its name with the other form: ``WORDS`` or ``EXPANDED``.
        other: The operation by the other form.
        precomputed: The operation by the precomputed key.
        other_bytes: Memory that the key takes in the other form.
        precomputed_bytes: Memory that the precomputed key takes.
    """

    operation: str
    other: Timed
    precomputed: Timed
    other_bytes: int
    precomputed_bytes: int


def works(operands: Operands) -> dict[str, Work]:
    """Every operation of a set, and several rotations of one ciphertext in one program."""
    names = BOTH if operands.item.plain_modulus else CKKS
    found = {name: _work(operands, name, operands.elements[:1]) for name in names}
    return found | {HOISTED: _work(operands, HOISTED, operands.elements)}


def singles(operands: Operands) -> Work:
    """The rotations of ``HOISTED``, each by a program of its own."""
    keys = dict(zip(operands.elements, operands.galois, strict=True))
    one = {element: _work(operands, "rotate", [element]) for element in keys}
    return lambda: [rotated for element in operands.elements for rotated in one[element]()]


def _work(operands: Operands, operation: str, elements: Sequence[int]) -> Work:
    galois = dict(zip(operands.elements, operands.galois, strict=True))
    keys = runtime.PrecomputedKeys(operands.relin, galois)
    plaintexts = {"p": operands.plain} if operation == "multiply_plain" else {}
    program = _program(operands.parameters, operation, elements, plaintexts)
    return partial(_run, program, runtime.open_device("cpu"), (operands.a, operands.b), keys)


def _run(
    program: runtime.Compiled,
    device: runtime.Device,
    residues: Sequence[Residues],
    keys: runtime.AnyKeys,
) -> list[Residues]:
    """Runs a program on as many ciphertexts as it takes."""
    named = zip(program.lowered.inputs, residues, strict=False)
    outputs = program.run(device, {name: Ciphertext(data, 1.0) for name, data in named}, keys)
    return [output.data for output in outputs.outputs.values()]


def _program(
    parameters: CkksParameters | BfvParameters,
    operation: str,
    elements: Sequence[int],
    plaintexts: dict[str, Residues],
) -> runtime.Compiled:
    """One operation as ``compile_program`` makes a program of it."""
    limbs, parts = parameters.limbs, _PARTS.get(operation) or (Op(operation),)
    records = [op.record for op in parts]
    relinearizes = any(record.key is Key.RELINEARIZATION for record in records)
    rotations = elements if records[0].key is Key.GALOIS else ()
    needs = KeyNeeds(limbs if relinearizes else None, dict.fromkeys(rotations, limbs))
    graph = SubroutineGraph.for_parameters(
        parameters, needs.shapes(parameters), products=records[0].multiplies
    )
    writer = scheme_of(parameters).writer(graph, parameters)
    names = ("x", "y")[: records[0].encrypted]
    operands = [writer.input(name, 2, limbs) for name in names]
    plain = [writer.input_polynomial(name, limbs) for name in plaintexts]
    results = [
        _written(writer, parts, operands, plain[0] if plain else None, element)
        for element in rotations or (None,)
    ]
    outputs = {f"z{number}": result for number, result in enumerate(results)}
    for name, result in outputs.items():
        writer.output(result, name)
    lowered = Lowered(
        graph,
        plaintexts,
        {name: _port(name, 2, limbs) for name in names},
        {
            name: _port(name, len(result), len(graph.type_of(result[0]).base))
            for name, result in outputs.items()
        },
        needs,
        parameters.parameters_id,
    )
    return runtime.Compiled(lowered, runtime.compile_graph(graph))


def _written(
    writer: OperationWriter,
    parts: Sequence[Op],
    operands: Sequence[Polynomials],
    plain: int | None,
    element: int | None,
) -> Polynomials:
    """Writes operations, each of what the one before it yields."""
    values = list(operands)
    for op in parts:
        values = [writer.write(op, values, plain=plain, element=element)]
    return values[0]


def _port(name: str, size: int, limbs: int) -> CiphertextPort:
    return CiphertextPort(tuple(f"{name}.{number}" for number in range(size)), limbs, 1.0)


def key_forms(item: BenchSet) -> Iterator[KeyForms]:
    """multiply_relinearize by a full key and by one expanded on the fly, each against precomputed.

    One is for use before the next is asked for: only two forms of the key are in memory. Raises
    ToolError if they compute different words.
    """
    rng = np.random.default_rng(0)
    context = _core.Context(item.n, item.primes, item.special, item.dnum)
    program = _program(parameters_of(item), "multiply_relinearize", (), {})
    device, residues = runtime.open_device("cpu"), [ciphertext(rng, item) for _ in range(2)]
    words = key_words(rng, context)
    for digit, limb in np.ndindex(context.dnum, len(context.primes)):
        q = context.primes[limb]
        words[digit, 1, limb] = _core.expand_key_half(KEY_SEED, digit, limb, q, item.n)
    precomputed = _core.PrecomputedKey(context, words)
    by_precomputed = partial(_run, program, device, residues, runtime.PrecomputedKeys(precomputed))
    (expected,) = by_precomputed()

    def compared(operation: str, keys: runtime.AnyKeys, size: int) -> KeyForms:
        by_other = partial(_run, program, device, residues, keys)
        if not np.array_equal(by_other()[0], expected):
            raise ToolError(
                f"set {item.name}: {operation} computes other words than by the precomputed key"
            )
        return KeyForms(operation, timed(by_other), timed(by_precomputed), size, precomputed.nbytes)

    yield compared(WORDS, EvaluationKeys(KeySwitchKey(words.view())), words.nbytes)
    half = words.reshape(-1, *words.shape[2:])[: context.dnum]
    for digit in range(context.dnum):  # moved together in place
        half[digit] = words[digit, 0]
    expanded = OnTheFlyKey(half, KEY_SEED)
    yield compared(EXPANDED, OnTheFlyKeys(expanded), half.nbytes + len(KEY_SEED))
