"""What the model refuses, and in which words."""

from dataclasses import replace

import numpy as np
import pytest
from tests.timings import BY_HAND

from ringsmith import _core
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.sparse import FAMILIES
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.backends.rpau.model import _model
from ringsmith.errors import DeviceError


def words_of(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)


def prepared(design: RpauDesign, text: str, skip: str = "") -> ModelCoprocessor:
    """A device with all memories of every RPAU loaded but address space ``skip``, and a program."""
    coprocessor = ModelCoprocessor(design, timing=BY_HAND)
    primes = _core.prime_search(design.word_bits, design.n, design.rpaus)
    for rpau, prime in enumerate(primes):
        tables = prime_tables(prime, _core.smallest_root(prime, design.n), design)
        ones = np.ones(design.n, dtype=np.uint64)
        contents = {
            **{space: [words] for space, words in tables.loads()},
            "CONSTANT": [ones[: design.constants]],
            "KEY": [ones] * (design.key_polys - 1),  # all but the last
            "POLY": [ones] * (design.work_polys - 1),  # all but p7
        }
        for space, entries in contents.items():
            for index, words in enumerate(entries):
                if space != skip:
                    coprocessor.write(AddressSpace[space], rpau, index, words)
    coprocessor.load_program(words_of(*assemble(text, design)))
    return coprocessor


@pytest.mark.parametrize(
    ("text", "index", "what"),
    [
        # The other unit of the same RPAU works on it: read or written, by either.
        (
            "ntt p0, p0 @0\ndmul p1, p0, p2 @0",
            1,
            "touches p0 of RPAU 0 in cycle 8, and instruction 0",
        ),
        ("ntt p0, p0 @0\ndmul p1, p2, p0 @0", 1, "touches p0 of RPAU 0"),
        ("ntt p0, p0 @0\ndmul p0, p1, p2 @0", 1, "touches p0 of RPAU 0"),
        ("mul p0, p1, p2 @0\ndmul p3, p1, p1 @0", 1, "touches p1 of RPAU 0"),
        ("mul p0, p1, p2 @0\ndmul p2, p3, p3 @0", 1, "touches p2 of RPAU 0"),
        ("dmac p0, p1, p2 @0-2\nnop\nadd p3, p0, p0 @2", 2, "touches p0 of RPAU 2"),
        ("dmac_key p0, p1, key2 @1\nautomorph p2, p1, g3 @0-1", 1, "touches p1 of RPAU 1"),
        # A broadcast touches a where it sends and dst elsewhere.
        ("dmul p0, p1, p1 @2\nbroadcast p0, p3, r0, q0, c0, c0 @0-2", 1, "touches p0 of RPAU 2"),
        ("dmul p0, p1, p1 @0\nbroadcast p2, p1, r0, q0, c0, c0 @0-2", 1, "touches p1 of RPAU 0"),
        # A wait for the wrong unit does not help.
        ("ntt p0, p0 @0\ndmul p1, p0, p2 @0 wait(dyadic)", 1, "works on it up to cycle 103"),
        # One read port of the key store, whatever polynomial is read.
        (
            "dmul_key p0, p1, key0 @0-1\nmul_key p2, p3, key1 @1-2",
            1,
            "reads the key store of RPAU 1 in cycle 8, and instruction 0",
        ),
        ("mac_key p0, p1, key0 @0\ndmac_key p2, p3, key0 @0", 1, "reads the key store of RPAU 0"),
        # One ring.
        (
            "broadcast p1, p0, r0, q0, c0, c0 @0-1\nbroadcast p1, p0, r2, q0, c0, c0 @2",
            1,
            "sends to other RPAUs",
        ),
        ("send p1, p0, r0 @0-1\nbroadcast p1, p0, r2, q0, c0, c0 @2", 1, "sends to other RPAUs"),
        ("broadcast p1, p0, r2, q0, c0, c0 @2\nsend p1, p0, r0 @0-1", 1, "sends to other RPAUs"),
        # A send, too, touches a where it sends and dst elsewhere.
        ("send p0, p3, r0 @0-2\nntt p0, p0 @2", 1, "touches p0 of RPAU 2 in cycle 8"),
        ("send p2, p1, r0 @0-2\ndmul p3, p1, p1 @0", 1, "touches p1 of RPAU 0"),
        ("daffine p2, p1, c0, c0 @0\nsend p3, p1, r0 @0-2", 1, "touches p1 of RPAU 0"),
    ],
)
def test_a_hazard_is_refused_with_its_instruction(
    small_design: RpauDesign, text: str, index: int, what: str
) -> None:
    coprocessor = prepared(small_design, f"{text}\nhalt")
    with pytest.raises(DeviceError) as caught:
        coprocessor.run(10**6)
    assert str(caught.value).startswith(
        f"instruction {index} ({text.splitlines()[index].split()[0]} "
    )
    assert what in str(caught.value)
    quick = ModelCoprocessor(small_design, timing_only=True, timing=BY_HAND)
    quick.load_program(words_of(*assemble(f"{text}\nhalt", small_design)))
    with pytest.raises(DeviceError) as caught_again:
        quick.run(10**6)
    assert str(caught_again.value) == str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "ntt p0, p0 @0\ndmul p1, p0, p2 @0 wait(main)",
        "ntt p0, p0 @0\ndmul p1, p0, p2 @1-2",
        "ntt p0, p0 @0\ndmul p1, p2, p2 @0",
        "dmul_key p0, p1, key0 @0\nmul_key p2, p3, key1 @1-2",
        "dmul_key p0, p1, key0 @0\nmul_key p2, p3, key1 @0 wait(dyadic)",
        "dmul p0, p1, p1 @0\nbroadcast p0, p3, r0, q0, c0, c0 @0-2",
        "dmul p0, p1, p1 @1\nbroadcast p2, p1, r0, q0, c0, c0 @0-2",
        "send p0, p3, r0 @0-2\nntt p0, p0 @2 wait(link)",
        "send p0, p3, r0 @0-2\nntt p0, p0 @0",
        "send p0, p3, r0 @0-1\nsend p0, p3, r0 @0-1",
    ],
)
def test_what_only_looks_like_a_hazard_runs(small_design: RpauDesign, text: str) -> None:
    assert prepared(small_design, f"{text}\nhalt").run(10**6).instructions == 3


@pytest.mark.parametrize(
    ("text", "skip", "what"),
    [
        ("add p0, p7, p1 @1", "", "RPAU 1: reads p7, which was never written"),
        ("mac p7, p0, p1 @1", "", "RPAU 1: reads p7, which was never written"),
        ("dmul p7, p0, p1 @0\nntt p7, p7 @1 wait(dyadic)", "", "RPAU 1: reads p7"),
        ("broadcast p0, p7, r2, q0, c0, c0 @0-2", "", "RPAU 2: reads p7, which was never written"),
        ("broadcast p7, p0, r2, q0, c0, c0 @0-2\nntt p7, p7 @2", "", "RPAU 2: reads p7"),
        ("send p0, p7, r2 @0-2", "", "RPAU 2: p7 was never written"),
        ("send p7, p0, r2 @0-2\nntt p7, p7 @2", "", "RPAU 2: reads p7"),
        ("dmul_key p0, p1, key4 @0", "", "RPAU 0: reads key4, which was never written"),
        ("ntt p0, p0 @0", "MODULUS", "RPAU 0: no modulus was loaded"),
        ("ntt p0, p0 @0", "TWIDDLE_LO", "RPAU 0: a twiddle table was never loaded"),
        ("intt p0, p0 @0", "TWIDDLE_HI", "RPAU 0: a twiddle table was never loaded: write both"),
        (
            "affine p0, p1, c3, c4 @0",
            "CONSTANT",
            "reads c3, and the constant file was never loaded",
        ),
    ],
)
def test_a_read_of_what_was_never_loaded_is_refused(
    small_design: RpauDesign, text: str, skip: str, what: str
) -> None:
    with pytest.raises(DeviceError) as caught:
        prepared(small_design, f"{text}\nhalt", skip).run(10**6)
    assert what in str(caught.value)
    assert str(caught.value).startswith(f"instruction {text.count(chr(10))} (")


@pytest.mark.parametrize(
    ("space", "text", "what"),
    [
        (
            AddressSpace.POLY,
            "add p1, p0, p2 @0",
            "reads p0, whose word 5 is {q} and must be below the modulus",
        ),
        (
            AddressSpace.KEY,
            "dmul_key p1, p2, key0 @0",
            "reads key0, whose word 5 is {q} and must be below",
        ),
        (AddressSpace.CONSTANT, "affine p1, p2, c5, c0 @0", "reads c5 = {q}, which must be below"),
        (AddressSpace.CONSTANT, "broadcast p1, p2, r1, q0, c0, c5 @0-1", "RPAU 0: reads c5 = {q}"),
        (
            AddressSpace.TWIDDLE_LO,
            "ntt p1, p1 @0",
            "word 5 of the low twiddle table is {q} and must be",
        ),
        (
            AddressSpace.TWIDDLE_HI,
            "intt p1, p1 @0",
            "word 5 of the high twiddle table is {q} and must be",
        ),
    ],
)
def test_a_word_that_is_no_residue_is_refused(
    small_design: RpauDesign, space: AddressSpace, text: str, what: str
) -> None:
    coprocessor = prepared(small_design, f"{text}\nhalt")
    (q,) = _core.prime_search(small_design.word_bits, small_design.n, 1)
    tables = prime_tables(q, _core.smallest_root(q, small_design.n), small_design)
    length = small_design.constants if space is AddressSpace.CONSTANT else small_design.n
    words = tables.twiddles.get(space.name, np.ones(length, dtype=np.uint64))
    words[5] = q
    coprocessor.write(space, 0, 0, words)
    with pytest.raises(DeviceError) as caught:
        coprocessor.run(10**6)
    assert what.format(q=q) in str(caught.value)


def test_residues_are_compared_with_a_modulus_that_came_later(small_design: RpauDesign) -> None:
    coprocessor = prepared(small_design, "affine p1, p0, c0, c0 @0\nadd p2, p1, p1 @0\nhalt")
    large, *_, small = _core.prime_search(small_design.word_bits, small_design.n, 9)
    coprocessor.write(AddressSpace.POLY, 0, 0, np.full(small_design.n, large - 2, dtype=np.uint64))
    coprocessor.run(10**6)
    tables = prime_tables(small, _core.smallest_root(small, small_design.n), small_design)
    coprocessor.write(AddressSpace.MODULUS, 0, 0, tables.modulus)
    with pytest.raises(
        DeviceError, match=f"reads p0, whose word 0 is {large - 2} and must be below"
    ):
        coprocessor.run(10**6)


def test_words_that_were_sent_are_residues_once_they_are_reduced(
    small_design: RpauDesign,
) -> None:
    rest = "{} p2, p1, c0, c0 @1 wait(link)\nntt p2, p2 @1 wait(dyadic)\nhalt"
    text = f"send p1, p0, r0 @0-1\n{rest}"
    large = _core.prime_search(small_design.word_bits, small_design.n, 1)[0]
    for name in ("affine", "reduce", "daffine"):
        coprocessor = prepared(small_design, text.format(name))
        coprocessor.write(
            AddressSpace.POLY, 0, 0, np.full(small_design.n, large - 1, dtype=np.uint64)
        )
        if name == "affine":
            with pytest.raises(DeviceError, match=f"RPAU 1: reads p1, whose word 0 is {large - 1}"):
                coprocessor.run(10**6)
        else:
            assert coprocessor.run(10**6).instructions == 4
        assert (coprocessor.read(AddressSpace.POLY, 1, 1) == large - 1).all()


def test_each_modulus_bank_has_its_own_tables_and_residues(small_design: RpauDesign) -> None:
    design = replace(small_design, modulus_banks=2)
    text = "affine p1, p0, c0, c0 @0\nreduce p2, p0, c0, c0 @0 q1\nadd p3, p2, p2 @0 q1\nhalt"
    coprocessor = prepared(design, text)
    large, *_, small = _core.prime_search(design.word_bits, design.n, 9)
    coprocessor.write(AddressSpace.POLY, 0, 0, np.full(design.n, large - 1, dtype=np.uint64))
    with pytest.raises(DeviceError, match=r"instruction 1 \(reduce.*: no modulus was loaded"):
        coprocessor.run(10**6)
    tables = prime_tables(small, _core.smallest_root(small, design.n), design)
    coprocessor.write(AddressSpace.MODULUS, 0, 1, tables.modulus)
    with pytest.raises(DeviceError, match=r"instruction 1 \(reduce.* file was never loaded"):
        coprocessor.run(10**6)
    coprocessor.write(AddressSpace.CONSTANT, 0, 1, np.ones(design.constants, dtype=np.uint64))
    coprocessor.run(10**6)
    assert (coprocessor.read(AddressSpace.POLY, 0, 3) == 2 * (large % small) % small).all()
    coprocessor.load_program(words_of(*assemble("affine p2, p0, c0, c0 @0 q1\nhalt", design)))
    with pytest.raises(DeviceError, match=f"reads p0, whose word 0 is {large - 1} and must be"):
        coprocessor.run(10**6)
    coprocessor.load_program(words_of(*assemble("ntt p2, p2 @0 q1\nhalt", design)))
    with pytest.raises(DeviceError, match="a twiddle table was never loaded"):
        coprocessor.run(10**6)
    with pytest.raises(DeviceError, match="address space MODULUS has no index 2"):
        coprocessor.write(AddressSpace.MODULUS, 0, 2, tables.modulus)


def test_a_sparse_design_refuses_another_modulus_and_index(small_design: RpauDesign) -> None:
    design = replace(small_design, word_bits=48, reduction="sparse", family="word48")
    coprocessor = ModelCoprocessor(design)
    prime, other = FAMILIES["word48"][:2]
    coprocessor.write(AddressSpace.MODULUS, 0, 0, words_of(prime, 0, 48, 0))
    for words in ((prime, 1, 48, 0), (prime, 0, 47, 0), (prime, 0, 48, 1), (other, 0, 48, 99)):
        with pytest.raises(DeviceError, match="its index among the design's sparse primes, not"):
            coprocessor.write(AddressSpace.MODULUS, 0, 0, words_of(*words))


@pytest.mark.parametrize("place", [0, 1, 77, 128, 255])
def test_a_wrong_word_of_the_stored_twiddles_is_refused(
    small_design: RpauDesign, place: int
) -> None:
    design = replace(small_design, twiddles="stored")
    coprocessor = prepared(design, "ntt p0, p0 @0\nhalt")
    (q,) = _core.prime_search(design.word_bits, design.n, 1)
    table = prime_tables(q, _core.smallest_root(q, design.n), design).twiddles["TWIDDLE"]
    table[place] ^= np.uint64(1)
    coprocessor.write(AddressSpace.TWIDDLE, 0, 0, table)
    with pytest.raises(DeviceError, match=r"of the stored twiddle table is .* a power of the root"):
        coprocessor.run(10**6)


def test_a_root_of_another_order_is_refused(small_design: RpauDesign) -> None:
    coprocessor = prepared(small_design, "ntt p0, p0 @0\nhalt")
    coprocessor.write(AddressSpace.TWIDDLE_LO, 0, 0, np.ones(16, dtype=np.uint64))
    coprocessor.write(AddressSpace.TWIDDLE_HI, 0, 0, np.ones(16, dtype=np.uint64))
    with pytest.raises(DeviceError, match=r"instruction 0 \(ntt p0, p0  @0\): RPAU 0: .*root"):
        coprocessor.run(10**6)


@pytest.mark.parametrize(
    ("space", "unit", "index", "words", "what"),
    [
        (
            AddressSpace.POLY,
            3,
            0,
            np.zeros(256, np.uint64),
            "there is no RPAU 3: design small has 0 … 2",
        ),
        (AddressSpace.POLY, -1, 0, np.zeros(256, np.uint64), "there is no RPAU -1"),
        (AddressSpace.POLY, 0, 8, np.zeros(256, np.uint64), "address space POLY has no index 8"),
        (AddressSpace.KEY, 0, 5, np.zeros(256, np.uint64), "address space KEY has no index 5"),
        (
            AddressSpace.CONSTANT,
            0,
            1,
            np.zeros(8, np.uint64),
            "address space CONSTANT has no index 1",
        ),
        (
            AddressSpace.POLY,
            0,
            0,
            np.zeros(255, np.uint64),
            "takes 256 words of type uint64, not uint64 (255,)",
        ),
        (AddressSpace.POLY, 0, 0, np.zeros((1, 256), np.uint64), "not uint64 (1, 256)"),
        (AddressSpace.POLY, 0, 0, np.zeros(256, np.int64), "not int64 (256,)"),
        (
            AddressSpace.POLY,
            0,
            0,
            np.full(256, 1 << 40, np.uint64),
            "word 0 is 1099511627776, and words of",
        ),
        (AddressSpace.MODULUS, 0, 0, words_of(1, 0, 1, 0), "address space MODULUS of RPAU 0: "),
        (AddressSpace.MODULUS, 0, 0, words_of(65537, 5, 17, 0), "modulus 65537 needs mu = "),
        (
            AddressSpace.MODULUS,
            0,
            0,
            words_of(65537, 1099494850815, 16, 0),
            ", k = 17 and index 0, not",
        ),
        (
            AddressSpace.MODULUS,
            0,
            0,
            words_of(65537, 1099494850815, 17, 1),
            "1099494850815, 17 and 1",
        ),
        (AddressSpace.TWIDDLE, 0, 0, np.ones(256, np.uint64), "design small has no address space"),
        (AddressSpace.TWIDDLE_LO, 0, 0, np.ones(256, np.uint64), "small takes 16 words of type"),
        (AddressSpace.SEED, 0, 0, np.ones(5, np.uint64), "design small has no address space"),
    ],
)
def test_a_wrong_write_is_refused(
    small_design: RpauDesign, space: AddressSpace, unit: int, index: int, words: Words, what: str
) -> None:
    coprocessor = ModelCoprocessor(small_design)
    with pytest.raises(DeviceError) as caught:
        coprocessor.write(space, unit, index, words)
    assert what in str(caught.value)


def test_a_wrong_read_is_refused(small_design: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(small_design)
    with pytest.raises(DeviceError, match="RPAU 1: p2 was never written"):
        coprocessor.read(AddressSpace.POLY, 1, 2)
    with pytest.raises(DeviceError, match="address space KEY cannot be read: only POLY can"):
        coprocessor.read(AddressSpace.KEY, 0, 0)
    with pytest.raises(DeviceError, match="address space POLY has no index 8"):
        coprocessor.read(AddressSpace.POLY, 0, 8)
    with pytest.raises(DeviceError, match="a timing-only model has no contents"):
        ModelCoprocessor(small_design, timing_only=True).read(AddressSpace.POLY, 0, 0)


def test_a_program_that_does_not_fit_is_refused(small_design: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(small_design)
    with pytest.raises(DeviceError, match="no program is loaded"):
        coprocessor.run(100)
    with pytest.raises(DeviceError, match="end it with one halt"):
        coprocessor.load_program(words_of(0))
    with pytest.raises(DeviceError, match=r"instruction 1: .* there is no opcode 63"):
        coprocessor.load_program(words_of(0, 63, 1))
    with pytest.raises(DeviceError, match="has 129 instructions and the program store"):
        coprocessor.load_program(words_of(*[0] * 128, 1))


def test_a_program_that_takes_too_long_is_refused(small_design: RpauDesign) -> None:
    coprocessor = prepared(small_design, "ntt p0, p0 @0\nhalt")
    assert coprocessor.run(104).cycles == 104
    with pytest.raises(
        DeviceError, match=r"instruction 1 \(halt\): issues in cycle 104, and the run"
    ):
        coprocessor.run(103)


def test_the_compiled_model_refuses_words_that_name_what_is_not_there() -> None:
    """Without the assembler's checks in front: nothing out of range reaches its memories."""
    model = _model.RpauModel(
        log_n=8,
        larger_rings=0,
        smaller_rings=0,
        word_bits=40,
        narrow_bits=0,
        narrow_rpaus=0,
        rpaus=3,
        banks=list(range(8)),
        key_polys=5,
        constants=8,
        modulus_banks=1,
        dyadic=False,
        link=False,
        seeds=0,
        conversions=0,
        key_stream=False,
        stored_twiddles=False,
        sparse_primes=[],
        folded=None,
        narrow_folded=None,
        fetch_cycles=4,
        latencies=[1] * 64,
        timing_only=False,
    )
    ntt = ISA.operation("ntt").opcode
    for word, what in [
        (63, "there is no opcode 63"),
        (ntt | 1 << 12 | 8 << 28, "operand 0 is 8 and must be below 8"),
        (ntt | 1 << 15, "the mask names an RPAU above 2"),
        (ntt | 1 << 9, "modulus bank 1 must be below 1"),
        (ISA.operation("dmul").opcode, "dmul: the design has no dyadic unit"),
        (ISA.operation("send").opcode, "send: the design has no link unit"),
        (ISA.operation("convert").opcode, "convert: the design has no converter"),
        (ISA.operation("await").opcode, "await: the design has no key stream"),
    ]:
        with pytest.raises(_model.ModelError) as caught:
            model.load_program(words_of(0, word))
        assert caught.value.args[1] == 1
        assert what in caught.value.args[0]
    model.load_program(words_of(0, 0))
    with pytest.raises(_model.ModelError, match="2 instructions and no halt"):
        model.run(100, None, [], lambda _: None)
    with pytest.raises(_model.ModelError, match="255 words were given and 256 are needed"):
        model.write_poly(0, 0, np.zeros(255, dtype=np.uint64))
    with pytest.raises(IndexError):
        model.write_poly(3, 0, np.zeros(256, dtype=np.uint64))
    with pytest.raises(IndexError):
        model.write_poly(0, 8, np.zeros(256, dtype=np.uint64))
