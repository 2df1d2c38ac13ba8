"""Programs and client kits as files: the same program comes back, and no damage goes unseen."""

import dataclasses
import hashlib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import Program, inner_product
from ringsmith.errors import InteropError, ProgramError, RingsmithError
from ringsmith.files.budget import Budget
from ringsmith.files.container import DTYPES, MAGIC, Container, pack, unpack
from ringsmith.files.records import IN_MEMORY, Encoder, fields_of
from ringsmith.graph import to_json
from ringsmith.lower import lower
from ringsmith.params import BfvParameters, CkksParameters, parameter_set
from ringsmith.program import BfvProgram, CkksProgram, Node, Plain, SourceLine, trace
from ringsmith.program.kit import ClientKit
from ringsmith.schemes.program_file import MAX_FILE, PROGRAM, VERSIONS, from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

ANYTHING = {"ringsmith-program": 1, "ringsmith-client-kit": 1}


def unpacked(data: bytes) -> Container:
    return unpack(data, "it", ANYTHING, Budget(MAX_FILE), "a program or kit")


def ckks(**options: Any) -> CkksParameters:  # noqa: ANN401 - what create takes
    arguments = {"prime_bits": (36, 26, 26), "special_bits": 37, "scale_bits": 26} | options
    return CkksParameters.create(n=1024, security=None, **arguments)


def bfv(**options: Any) -> BfvParameters:  # noqa: ANN401 - what create takes
    arguments = {"prime_bits": (36, 36, 36), "special_bits": 37, "plain_bits": 14} | options
    return BfvParameters.create(n=1024, security=None, **arguments)


def mixed(x: Any, y: Any) -> Any:  # noqa: ANN401 - encrypted vectors
    products = x * y - [0.1, -0.0, 1e-3, 0]
    logit = inner_product(products, [1.25, -2, 3e-2, 1], 4) + y.conjugate() * 1j
    return {"a": logit, "b": (x.rotate(-2) + 0.7) * np.linspace(-1, 1, 512)}


def whole(x: Any, y: Any) -> Any:  # noqa: ANN401 - encrypted vectors
    return {"a": inner_product(x * y - 3, np.arange(4), 4), "b": x.swap_columns() - y.rotate(3)}


PROGRAMS: dict[str, Callable[[], Program]] = {
    "ckks": lambda: trace(mixed, ckks(), {"x": 4, "y": None}, outputs={"b": None}),
    "fused": lambda: trace(  # the inner product, one number, is spread over one level
        mixed, ckks(prime_bits=(36, 26, 26, 26)), {"x": 4, "y": 4}, fused_rescale=True
    ),
    "digits": lambda: trace(
        lambda x: x * x,
        CkksParameters.create(
            n=1024,
            prime_bits=(30, 30, 30, 30),
            special_bits=(31, 31),
            scale_bits=30,
            dnum=2,
            declared_security=80,
            name="hybrid",
        ),
    ),
    "bfv": lambda: trace(whole, bfv(), {"x": 4, "y": None}),
    "hps": lambda: trace(whole, bfv(multiplication="hps", error_deviation=10.0), {"x": 4, "y": 4}),
    "words": lambda: trace(
        whole, bfv(special_bits=(), relinearization="word", word_bits=27), {"x": 4, "y": 4}
    ),
    "residue digits": lambda: trace(
        whole, bfv(special_bits=(), relinearization="residue"), {"x": 4, "y": 4}
    ),
    "auto": lambda: trace(lambda x: x * [0.5, 1, 0.25] + 1, "auto", {"x": 3}),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Program:
    return PROGRAMS[request.param]()


def digest(program: Program) -> str:
    """What a program is lowered to, constants in it."""
    lowered = lower(program)
    digest = hashlib.blake2b(to_json(lowered.graph).encode())
    for name, array in lowered.plaintexts.items():
        digest.update(name.encode() + array.tobytes())
    digest.update(repr((lowered.inputs, lowered.outputs, lowered.keys)).encode())
    return digest.hexdigest()


def loaded(program: Program) -> Program:
    found = Program.from_bytes(program.to_bytes())
    assert isinstance(found, Program)
    return found


def test_a_loaded_program_is_the_program(program: Program) -> None:
    found = loaded(program)
    assert type(found) is type(program)
    assert digest(found) == digest(program)
    assert found.parameters == program.parameters
    assert found.key_needs == program.key_needs
    folder = f"{Path(__file__).parent}{os.sep}"
    assert found.explain() == program.explain().replace(folder, "")
    inputs = {name: np.arange(1, min(length, 3) + 1) for name, length in program.lengths.items()}
    clear = program.evaluate(inputs)
    for name, values in program.simulate(inputs).items():
        again = found.simulate(inputs)[name]
        assert again.tobytes() == values.tobytes()
        assert again.dtype == values.dtype
        meant = found.evaluate(inputs)[name]  # a file has no arrays: it is simulated
        assert np.allclose(meant, clear[name], rtol=0, atol=1e-12)
        assert (meant.dtype, meant.shape) == (clear[name].dtype, clear[name].shape)
    assert found.to_bytes() == program.to_bytes()


def test_plain_numbers_come_back_to_the_bit() -> None:
    values = [-0.0, 5e-324, 1 / 3, np.nextafter(1, 2), -123456.789]
    program = trace(lambda x: x + values, ckks(), {"x": 5})
    arrays = [node.plain.values for node in loaded(program).nodes if node.plain is not None]
    assert arrays[0][:5].tobytes() == np.array(values).tobytes()
    assert not arrays[0].flags.writeable


def test_a_file_names_no_folder(tmp_path: Path) -> None:
    script = tmp_path / "Private Folder" / "deep" / "score.py"
    script.parent.mkdir(parents=True)
    text = "def score(x):\n    return x.rotate(2500) * [0.5, 0.25] + x\n"
    script.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(script), "exec"), names)  # noqa: S102 - the test's own text
    program = trace(names["score"], "auto", {"x": 2})
    assert "Private Folder" in str(program)
    assert "Private Folder" in program.choice  # a smaller ring was refused at the user's line
    container = unpacked(program.to_bytes())
    text = repr(container.content)
    assert "score.py" in text
    assert "Private" not in text
    assert "deep" not in text
    assert "score.py:2: rotation by 2500" in loaded(program).choice


def test_every_field_of_a_program_is_in_its_file() -> None:
    """A field with init=False would be forgotten; one of an unknown type stops the writing."""
    for kind in (Node, Plain, SourceLine, CkksProgram, BfvProgram, CkksParameters, BfvParameters):
        named = {f.name for f in dataclasses.fields(kind) if not f.metadata.get(IN_MEMORY)}
        assert {field.name for field, _ in fields_of(kind)} == named, kind

    @dataclasses.dataclass(frozen=True)
    class Later:
        known: int
        added: memoryview | None = None

    assert Encoder().encode(Later(1), Later) == {"known": [1]}
    with pytest.raises(TypeError, match=r"memoryview as .* is not written to files"):
        Encoder().encode(Later(1, memoryview(b"")), Later)


# ---- damage ------------------------------------------------------------------------------------

WRONG = (None, True, -1, 0, 3, 2**63, 10**30, 0.5, 1e308, "", "x", [], [0], [[]], {}, {"x": 1})


def mutations(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Copies of a JSON value with one part of it wrong, missing, twice, or too much."""
    yield from (wrong for wrong in WRONG if wrong != value or type(wrong) is not type(value))
    if isinstance(value, dict):
        yield value | {"unknown": 1}
        for key, item in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from (value | {key: changed} for changed in mutations(item))
    elif isinstance(value, list):
        yield [*value, *value[:1]]
        for index, item in enumerate(value):
            yield value[:index] + value[index + 1 :]
            yield from (
                [*value[:index], changed, *value[index + 1 :]] for changed in mutations(item)
            )


def read(data: bytes) -> Program | ClientKit | None:
    """What bytes hold; None: they are refused, in one line that names the file."""
    message = ""
    try:
        return from_bytes(data, "it.rsp")
    except InteropError as error:
        message = str(error)
    assert message.startswith("it.rsp: ")
    assert "\n" not in message
    return None


@pytest.mark.parametrize("name", ["ckks", "bfv"])
def test_a_mutated_program_is_refused_in_one_line_or_is_a_program(name: str) -> None:
    if name == "ckks":
        program: Program = trace(lambda x: (x * x).rotate(2) * [0.5, 1], ckks(), {"x": 4})
    else:
        program = trace(lambda x: (x * x).rotate(2) - [7, 1], bfv(), {"x": 4})
    whole = unpacked(program.to_bytes())
    refused = taken = 0
    for content in mutations(whole.content):
        found = read(pack(PROGRAM, 1, content, whole.arrays))
        refused += found is None
        if found is not None:
            taken += 1
            assert isinstance(found, Program), content
            try:
                found.client_kit()
            except ProgramError as error:  # such as of a factor 0
                assert "is the same for all inputs" in str(error)  # noqa: PT017 - it may be one
            with suppress(RingsmithError):  # such as a name that graphs do not take
                lower(found)
    print(f"{refused} refused, {taken} taken")
    assert refused > 1000
    assert taken < refused / 20  # another name, line or length is another program


def test_a_mutated_kit_is_refused_in_one_line_or_is_a_kit() -> None:
    kit = trace(lambda x: (x * x).rotate(2), ckks(), {"x": 4}).client_kit()
    whole = unpacked(to_bytes(kit))
    refused = 0
    for content in mutations(whole.content):
        found = read(pack(whole.format, 1, content, ()))
        refused += found is None
        assert found is None or isinstance(found, ClientKit)
    assert refused > 300


def test_every_damaged_byte_is_seen_or_changes_nothing(rng: np.random.Generator) -> None:
    """A zstd stream has a few bits that mean nothing; the digest is of what it makes."""
    data = PROGRAMS["ckks"]().to_bytes()
    unseen = 0
    for position in [*range(64), *rng.integers(64, len(data), 200).tolist()]:
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        found = read(bytes(damaged))
        assert found is None or to_bytes(found) == data
        unseen += found is not None
    assert unseen < 10
    for end in [*range(70), *rng.integers(70, len(data), 50).tolist()]:
        with pytest.raises(InteropError):
            from_bytes(data[:end])
    with pytest.raises(InteropError, match="bytes were added"):
        from_bytes(data + b"\0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"format": 1', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"a": 1, "a": 1}', "one key twice"),
        (b'{"format": NaN}', "NaN is no number"),
        (b"\xff", "is not JSON"),
        (b"[]", "is not an object of"),
    ],
)
def test_text_that_is_none_is_refused(
    text: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("json.dumps", lambda *_, **__: text.decode("latin-1"))
    data = pack(PROGRAM, 1, {}, ())
    monkeypatch.undo()
    if text == b"\xff":  # pack encodes: two bytes that are text again
        message = "is not JSON"
    with pytest.raises(InteropError, match=message):
        from_bytes(data)


@pytest.mark.parametrize(
    ("described", "message"),
    [
        (["<f8"], "is not .type, shape."),
        (["<f4", [1]], "of a known type"),
        (["<f8", [-1]], "is not one of an array"),
        (["<f8", [1 << 6]], "ends beyond the body"),
        (["<f8", [1 << 6, 1 << 6, 1 << 6, 1 << 6]], "ends beyond the body"),
        (["<f8", [0]], "stand behind its arrays"),
        (["<f8", [1, 1, 1, 1, 1]], "is not one of an array"),
        (["<f8", 1], "is not one of an array"),
        ([["<f8"], [1]], "of a known type"),
    ],
)
def test_arrays_that_are_none_are_refused(
    described: list[Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    dumps = json.dumps
    monkeypatch.setattr(
        "json.dumps", lambda top, **options: dumps(top | {"arrays": [described]}, **options)
    )
    data = pack(PROGRAM, 1, {}, [np.zeros(1)])
    monkeypatch.undo()
    with pytest.raises(InteropError, match=message):
        from_bytes(data)
    assert described[0] not in DTYPES or message != "of a known type"


def test_a_version_that_is_not_known_is_named() -> None:
    data = pack(PROGRAM, VERSIONS[PROGRAM] + 1, {}, ())
    with pytest.raises(InteropError, match=r"version 2 of ringsmith-program, and this .* reads 1"):
        from_bytes(data)
    with pytest.raises(InteropError, match="its format is 'other'"):
        from_bytes(pack("other", 1, {}, ()))


def test_a_bomb_of_compression_is_refused_before_it_is_unpacked() -> None:
    data = bytearray(PROGRAMS["bfv"]().to_bytes())
    data[16:24] = (1 << 40).to_bytes(8, "little")
    with pytest.raises(InteropError, match="its body of 1099511627776 bytes takes more than"):
        from_bytes(bytes(data))
    import zstandard

    data[16:24] = (1 << 10).to_bytes(8, "little")
    packed = zstandard.ZstdCompressor().compress(bytes(1 << 28))
    data[24:32] = len(packed).to_bytes(8, "little")
    with pytest.raises(InteropError, match="does not make the 1024 bytes of its header"):
        from_bytes(bytes(data[:64]) + packed)


def test_numbers_that_compress_to_nothing_are_followed_by_zeros() -> None:
    """Masks of 39 MB compress to some kB, and a reader takes 16 MiB for those."""
    parameters = parameter_set("nano")

    def masked(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
        return sum((x * (np.arange(4096) == i) for i in range(1, 1200)), x * np.ones(4096))

    data = trace(masked, parameters).to_bytes()
    assert data.endswith(bytes(1 << 18))
    assert len(data) > (1200 * 4096 * 8) >> 6
    found = Program.from_bytes(data)
    assert isinstance(found, Program)
    assert found.to_bytes() == data
    zeros = int.from_bytes(data[12:16], "little")
    with pytest.raises(InteropError, match=r"takes more than the .* bytes of memory that a file"):
        from_bytes(data[:12] + bytes(4) + data[16:-zeros])


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    fifo, empty, text = tmp_path / "fifo", tmp_path / "empty", tmp_path / "text"
    os.mkfifo(fifo)
    empty.write_bytes(b"")
    text.write_text("a program\n")
    for path, message in (
        (fifo, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        (empty, "is empty"),
        (text, "does not begin as Ringsmith's files do"),
    ):
        with pytest.raises(InteropError, match=message) as raised:
            Program.load(path)
        assert str(raised.value).startswith(f"{path}: ")
    huge = tmp_path / "huge"
    huge.write_bytes(MAGIC)
    os.truncate(huge, MAX_FILE + 1)
    with pytest.raises(InteropError, match="more than 1073741824 bytes"):
        Program.load(huge)


def test_a_file_is_not_written_over_unasked(tmp_path: Path) -> None:
    path = tmp_path / "x.rsp"
    path.write_text("mine")
    program = PROGRAMS["bfv"]()
    with pytest.raises(InteropError, match=r"exists and is not overwritten: .* overwrite=True"):
        program.save(path)
    assert path.read_text() == "mine"
    program.save(path, overwrite=True)
    assert isinstance(Program.load(path), BfvProgram)
    assert [each.name for each in tmp_path.iterdir()] == ["x.rsp"]


def test_loading_warns_of_security_as_making_the_parameters_did() -> None:
    data = trace(lambda x: x + 1, ckks()).to_bytes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Program.from_bytes(data)
    assert [str(each.message).partition(":")[0] for each in caught] == ["custom"]
    data = trace(lambda x: x + 1, parameter_set("nano")).to_bytes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Program.from_bytes(data)
    assert caught == []


def test_a_product_with_zero_is_refused_in_a_file_as_in_a_traced_program() -> None:
    parameters = BfvParameters.create(
        n=4096, prime_bits=(36, 36), special_bits=37, plain_modulus=65537
    )

    def zeroed(node: Node) -> Node:
        if node.plain is None:
            return node
        plain = dataclasses.replace(node.plain, values=np.zeros_like(node.plain.values))
        return dataclasses.replace(node, plain=plain)

    for function in (lambda x: x * 3 + x, lambda x: x * np.arange(1, 9) + x):
        program = trace(function, parameters, {"x": 8})
        changed = dataclasses.replace(program, nodes=tuple(map(zeroed, program.nodes)))
        with pytest.raises(ProgramError, match="multiplies by 0, and its ciphertext hides nothing"):
            changed.to_bytes()


def test_negatives_of_constant_products_are_written(tmp_path: Path) -> None:
    """The negative of an array of no dimensions is a number of NumPy's, and no array."""
    program = trace(lambda x: 1 - 0.5 * x, parameter_set("nano"), {"x": 4})
    program.save(tmp_path / "x.rsp")
    read = Program.load(tmp_path / "x.rsp")
    assert isinstance(read, Program)
    found = read.evaluate({"x": [0, 1, 2, -4]})["result"][:4]
    assert np.allclose(found, [1, 0.5, 0, 3], atol=1e-9)


def test_constants_that_are_planned_as_one_are_written() -> None:
    program = trace(lambda x: 0.5 * (0.25 * x), "nano", {"x": 4})
    again = Program.from_bytes(program.to_bytes())
    assert isinstance(again, Program)
    assert again.describe() == program.describe().replace(__file__, Path(__file__).name)


def test_arrays_keep_their_shapes_in_files_and_kits() -> None:
    program = trace(lambda x, y: {"a": x @ y, "b": x.T}, "nano", {"x": (3, 5), "y": (5,)})
    x, y = np.arange(15).reshape(3, 5) / 15, np.ones(5)
    again = Program.from_bytes(program.to_bytes())
    assert isinstance(again, Program)
    for found in (program.evaluate({"x": x, "y": y}), again.evaluate({"x": x, "y": y})):
        assert np.allclose(found["a"], x @ y)
        assert np.allclose(found["b"], x.T)
    client = program.client_kit()
    assert {name: each.shape for name, each in client.packed_inputs.items()} == {
        "x": (3, 5),
        "y": (5,),
    }
