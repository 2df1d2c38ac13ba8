"""Instructions as a cluster takes them: the structures of ``isa.yaml``."""

from collections.abc import Sequence

from ringsmith.backends.vector.isa.instruction_set import (
    INSTRUCTION,
    ISA,
    LOAD,
    ORIGIN,
    STORE,
    Value,
)
from ringsmith.backends.vector.isa.instructions import (
    STREAMS,
    Automorph,
    Computing,
    Constant,
    Entry,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
    sources,
)
from ringsmith.errors import ProgramError


def check_programs(programs: Sequence[Program]) -> None:
    """Refuses lists that are too long to be counted, and waits that are too long.

    Raises:
        ProgramError: If so; names the value, the limit and what to do.
    """
    counts = 1 << LOAD.field("after_store").width
    gaps = 1 << INSTRUCTION.field("gap").width
    for number, own in enumerate(programs):
        lists = {"loads": own.loads, "computing": own.computing, "stores": own.stores}
        for name, listed in lists.items():
            if len(listed) >= counts:
                raise ProgramError(
                    f"list {name} of cluster {number} has {len(listed)} instructions, and can have "
                    f"{counts - 1}: divide the program into smaller ones"
                )
        gap = max((each.gap for each in own.computing), default=0)
        if gap >= gaps:
            raise ProgramError(
                f"an instruction of cluster {number} has gap = {gap}, and can have {gaps - 1}: "
                "choose a smaller ring"
            )


def _slot(slot: Slot) -> Value:
    return {"bank": slot.bank, "index": slot.index}


def _source(source: Source | None) -> Value:
    if isinstance(source, Slot):
        return {"origin": ORIGIN.number("from_bank"), "slot": _slot(source)}
    if isinstance(source, Stream):
        return {"origin": ORIGIN.number("from_stream"), "slot": {"bank": source.number}}
    word = source is None or isinstance(source, Constant)
    return {"origin": ORIGIN.number("from_word" if word else "from_x")}


def _word(source: Source | None) -> int:
    return source.word if isinstance(source, Constant) else 0


def _entry(entry: Entry) -> Value:
    return {
        "prime": entry.prime,
        "table_row": entry.table,
        "source": _source(entry.source),
        "target": _slot(entry.target),
    }


def _result(result: Result) -> Value:
    return {
        "prime": result.prime,
        "subtract": int(result.subtract),
        "y": _source(result.y),
        "y_word": _word(result.y),
        "z": _source(result.z),
        "z_word": _word(result.z),
        "writes": int(result.target is not None),
        **({} if result.target is None else {"target": _slot(result.target)}),
        "stores": int(result.store),
    }


_NO_RESULT = Result(0, Constant(0), None, False, None)
_POINTS = ISA.value("max_points")


def _operation(operation: Operation, factors: Sequence[int]) -> Value:
    entries: tuple[Entry, ...] = ()
    point = Point(Slot(0, 0), ())
    element, inverse = 1, False
    if isinstance(operation, Transform):
        entries, inverse = operation.entries, operation.inverse
    elif isinstance(operation, Automorph):
        one = Constant(factors[operation.prime])
        copy = Result(operation.prime, one, None, False, operation.target)
        point, element = Point(operation.source, (copy,)), operation.element
    else:
        point = operation
    results = [*point.results, *[_NO_RESULT] * (_POINTS - len(point.results))]
    return {
        "point": int(not entries),
        "inverse": int(inverse),
        "last": max(0, len(entries) - 1),
        "entry": [_entry(entry) for entry in entries],
        "element": element,
        "x": _source(point.x),
        "result": [_result(result) for result in results],
    }


def instruction(own: Computing, factors: Sequence[int]) -> int:
    """An instruction of list ``computing``: the bits of structure ``instruction``.

    Args:
        own: The instruction.
        factors: By prime, the factor that leaves a word as it is: 1, or 2^W mod q where the
            multiplier divides by 2^W (Montgomery).

    Raises:
        ProgramError: If a value does not fit its field.
    """
    taken = [0] * STREAMS
    for source in sources(own.operation):
        if isinstance(source, Stream):
            taken[source.number] += 1
    operation = _operation(own.operation, factors)
    return INSTRUCTION.pack(
        {"gap": own.gap, "tables": own.tables, "limbs": taken, "operation": operation}
    )


def load(own: Load, address: int) -> int:
    """An instruction of list ``loads``: the bits of structure ``load``.

    Args:
        own: The load.
        address: Its first row in memory.

    Raises:
        ProgramError: If a value does not fit its field.
    """
    cluster, count = own.after_store or (0, 0)
    return LOAD.pack(
        {
            "to_table": int(own.stream is None),
            "stream": own.stream or 0,
            "rows": own.rows,
            "table_row": own.row,
            "address": address,
            "after_cluster": cluster,
            "after_store": count,
            "after_computing": own.after_computing,
        }
    )


def store(own: Store, address: int) -> int:
    """An instruction of list ``stores``: the bits of structure ``store``.

    Args:
        own: The store.
        address: Its first row in memory.

    Raises:
        ProgramError: If a value does not fit its field.
    """
    return STORE.pack({"stream": own.stream, "rows": own.rows, "address": address})
