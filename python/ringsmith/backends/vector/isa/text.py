"""Instructions as text, a line each; ``docs/reference/isa-vector.md`` shows some."""

from ringsmith.backends.vector.isa.instructions import (
    X_STREAM,
    Automorph,
    Computing,
    Constant,
    Limb,
    Load,
    Operation,
    Point,
    Result,
    Same,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
)


def load_text(load: Load) -> str:
    """A load: ``load y0 <- key relin(0, 1, 2), 64 rows``."""
    target = f"table@{load.row}" if load.stream is None else stream_name(load.stream)
    parts = [f"load {target} <- {limb_text(load.limb)}", f"{load.rows} rows"]
    if load.after_store is not None:
        cluster, count = load.after_store
        parts.append(f"after store {count} of cluster {cluster}")
    if load.after_computing:
        parts.append(f"after computing {load.after_computing}")
    return ", ".join(parts)


def store_text(store: Store) -> str:
    """A store: ``store r0 -> output c0(3), 64 rows``."""
    return f"store r{store.stream} -> {limb_text(store.limb)}, {store.rows} rows"


def computing_text(own: Computing) -> str:
    """An instruction of list computing, with its gap and the tables that it waits for."""
    return f"{operation_text(own.operation)}  gap {own.gap} tables {own.tables}"


def operation_text(operation: Operation) -> str:
    """What an instruction of list computing does."""
    if isinstance(operation, Transform):
        entries = (
            f"q{each.prime} {_place(each.target)} <- {_place(each.source)} by {each.table}"
            for each in operation.entries
        )
        return f"{'intt' if operation.inverse else 'ntt'} {'; '.join(entries)}"
    if isinstance(operation, Automorph):
        return (
            f"automorph q{operation.prime} {_place(operation.target)} <- "
            f"{_place(operation.source)} by {operation.element}"
        )
    return f"point {_point(operation)}"


def stream_name(number: int) -> str:
    """A load stream: ``x``, ``y0`` or ``y1``."""
    return "x" if number == X_STREAM else f"y{number}"


def limb_text(limb: Limb) -> str:
    """A limb in memory: ``input a(3)``."""
    name = f" {limb.name}" if limb.name else ""
    index = ", ".join(map(str, limb.index))
    return f"{limb.kind}{name}({index})" + (" scaled" if limb.scaled else "")


def _point(operation: Point) -> str:
    x = _place(operation.x)
    return "; ".join(_result(x, each) for each in operation.results)


def _result(x: str, result: Result) -> str:
    targets = [] if result.target is None else [_place(result.target)]
    targets += ["memory"] if result.store else []
    sign = "-" if result.subtract else "+"
    z = "" if result.z is None else f" {sign} {_place(result.z, x)}"
    return f"q{result.prime} {', '.join(targets)} <- {x}*{_place(result.y, x)}/f{z}"


def _place(source: Source, x: str = "") -> str:
    if isinstance(source, Slot):
        return f"b{source.bank}:{source.index}"
    if isinstance(source, Stream):
        return stream_name(source.number)
    if isinstance(source, Constant):
        return f"{source.word:#x}"
    assert isinstance(source, Same)
    return x
