"""Subroutine graphs compiled for an RPAU design give the reference interpreter's bits."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.interpreted import changed, run_both, switched

from ringsmith import _core
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable, read_executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.errors import ProgramError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.lower import lower
from ringsmith.params import KeyShape, ckks_set
from ringsmith.program import EncryptedVector, trace

SMALL = replace(
    load_design("nano"), name="small", log_n=8, rpaus=4, work_polys=24, key_polys=32, constants=128
)
RELIN = {"relin": 3}


def empty_graph(keys: dict[str, int] | None = None, design: RpauDesign = SMALL) -> SubroutineGraph:
    primes = [
        q
        for bits in (46, 41, 47, 48)[: design.rpaus]
        for q in _core.prime_search(bits, design.n, 1)
    ]
    roots = [_core.smallest_root(q, design.n) for q in primes]
    shapes = {name: KeyShape(digits) for name, digits in (keys or {}).items()}
    return SubroutineGraph(design.n, tuple(primes), tuple(roots), (len(primes) - 1,), shapes)


def random_graph(random: np.random.Generator, size: int) -> SubroutineGraph:
    """A random valid graph; each op that is legal for the values at hand has a chance."""
    graph = empty_graph({"galois:3": 3, "galois:5": 3})
    data = (0, 1, 2)
    values = [graph.input(f"x{i}", data, Form.NTT if i else Form.COEFF) for i in range(3)]
    while len(graph.nodes) < size:
        a, b = (int(random.choice(values)) for _ in range(2))
        kind = graph.type_of(a)
        op = random.choice(
            ["add", "sub", "neg", "mul", "form", "automorph", "switch", "rescale", "drop"]
        )
        if op in ("add", "sub", "mul") and graph.type_of(b) != kind:
            continue
        if op == "add":
            values.append(graph.add(a, b))
        elif op == "sub":
            values.append(graph.sub(a, b))
        elif op == "neg":
            values.append(graph.neg(a))
        elif op == "mul" and kind.form == Form.NTT:
            values.append(graph.mul(a, b))
        elif op == "form":
            values.append(graph.intt(a) if kind.form == Form.NTT else graph.ntt(a))
        elif op == "automorph" and kind.form == Form.NTT:
            values.append(graph.automorph(a, int(random.choice([3, 5, 2 * graph.n - 1]))))
        elif op == "switch" and kind.form == Form.NTT and 3 not in kind.base:
            values += switched(graph, a, f"galois:{random.choice([3, 5])}")
        elif op == "rescale" and len(kind.base) > 1:
            values.append(graph.mod_down(a, kind.base[-1]))
        elif op == "drop" and len(kind.base) > 1:
            values.append(graph.drop_limbs(a, kind.base[:-1]))
    values += [*switched(graph, values[1], "galois:3"), *switched(graph, values[1], "galois:5")]
    for index, value in enumerate(values[-6:]):
        graph.output(value, f"y{index}")
    return graph


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_equal_the_interpreter_and_take_the_predicted_cycles(seed: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_graph(random, size=int(random.integers(8, 40)))
    design = replace(SMALL, work_polys=64, key_polys=64)
    run_both(graph, design, random)


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_on_spare_rpaus_equal_the_interpreter(seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    graph = random_graph(random, size=int(random.integers(8, 40)))
    run_both(graph, replace(SMALL, rpaus=6, work_polys=64, key_polys=64), random)


@pytest.mark.parametrize(
    "change",
    [
        {"rpaus": 2, "modulus_banks": 2},
        {"rpaus": 2, "modulus_banks": 3},
        {"rpaus": 3, "modulus_banks": 2},
        {"rpaus": 4, "modulus_banks": 2},
        {"dyadic_cores": 0, "twiddles": "stored", "interconnect": "gather"},
        {"rpaus": 3, "modulus_banks": 2, "dyadic_cores": 0},
        {"prng": "trivium", "seeds": 2},
        {"prng": "trivium", "seeds": 4, "rpaus": 2, "modulus_banks": 2},
        {"prng": "trivium", "seeds": 4, "rpaus": 6},
        {"prng": "trivium", "seeds": 1, "key_polys": 4, "work_polys": 10},
        {"work_uram_polys": 50},
        {"work_uram_polys": 56, "cores": 1, "dyadic_cores": 1, "log_n": 8, "link": True},
        {"work_uram_polys": 16, "work_polys": 32, "rpaus": 2, "modulus_banks": 2},
        {"work_polys": 30, "work_block_banks": 4, "link": True},
    ],
    ids=str,
)
def test_limbs_in_turn_and_other_designs_equal_the_interpreter(change: dict[str, int]) -> None:
    """Fewer RPAUs than limbs, spare modulus banks, no dyadic unit, one of two keys seeded."""
    random = np.random.default_rng(len(str(change)))
    graph = random_graph(random, size=30 if "prng" not in change else 20)
    design = replace(SMALL, **{"work_polys": 64, "key_polys": 64, **change})
    executable = run_both(graph, design, random, seeded={"galois:5"})
    assert executable.seeded == ({"galois:5"} if "prng" in change else set())


def relinearization(base: tuple[int, ...]) -> SubroutineGraph:
    graph = empty_graph(RELIN)
    c0, c1, c2 = (graph.input(f"x.{i}", base) for i in range(3))
    for half, (c, r) in enumerate(zip((c0, c1), switched(graph, c2, "relin"), strict=True)):
        graph.output(graph.add(c, r), f"y.{half}")
    return graph


def test_scheduling_keeps_every_operand_that_somebody_still_reads() -> None:
    graph = empty_graph()
    a, b = graph.input("a", (0, 1)), graph.input("b", (0, 1))
    product = graph.mul(a, b)
    graph.output(graph.add(a, product), "kept")  # a is an operand of the product and of the sum
    graph.output(graph.add(graph.mul(b, b), graph.mul(b, b)), "squares")
    graph.output(a, "passed")
    run_both(graph, SMALL, np.random.default_rng(1))


def test_dyadic_work_hides_behind_the_transforms() -> None:
    graph = relinearization((0, 1, 2))
    executable = run_both(graph, SMALL, np.random.default_rng(2))
    alone = compile_graph(graph, replace(SMALL, dyadic_cores=4))
    assert executable.cycles - alone.cycles < SMALL.n // SMALL.dyadic_cores


def transforms(executable: Executable) -> Counter[int]:
    """Transforms by RPAU."""
    program = [decode(word) for word in executable.words]
    chosen = [each for each in program if each.operation.name in ("ntt", "intt")]
    return Counter(rpau for each in chosen for rpau in each.rpaus())


def test_no_rpau_transforms_the_digit_that_is_its_own_limb() -> None:
    executable = compile_graph(relinearization((0, 1, 2)), SMALL)
    # The inverse transform, two of three digits, and one of each half's division.
    assert [transforms(executable)[rpau] for rpau in range(3)] == [1 + 2 + 2] * 3
    # All digits in the special prime, and the inverse transforms of both divisions.
    assert transforms(executable)[3] == 3 + 2


def test_spare_rpaus_share_the_special_primes_work() -> None:
    design = replace(SMALL, dyadic_cores=4)
    graph = relinearization((0, 1, 2))
    crowded = compile_graph(graph, design)
    roomy = run_both(graph, replace(design, rpaus=6), np.random.default_rng(4))
    assert roomy.limbs == (0, 1, 2, 3, 3, 3)
    assert sorted(transforms(roomy)[rpau] for rpau in (3, 4, 5)) == [1, 2, 2]
    assert roomy.cycles < crowded.cycles


def test_broadcasts_of_disjoint_rpaus_take_turns_on_the_ring() -> None:
    graph = empty_graph()
    for name, base in (("a", (0, 1)), ("b", (2, 3))):
        graph.output(graph.mod_down(graph.input(name, base), base[1]), name)
    run_both(graph, SMALL, np.random.default_rng(3))


def test_an_executable_survives_its_json_file() -> None:
    graph = relinearization((0, 1))
    executable = compile_graph(graph, SMALL)
    assert read_executable(executable.to_json()) == executable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"constants": 4}, "needs .* constants and design small has constants = 4"),
        ({"log_n": 9}, "degree N = 256 and design small is built for N = 512"),
        ({"rpaus": 3}, "4 primes and design small has 3 modulus banks"),
        ({"word_bits": 47}, "has 48 bits and design small takes primes of 24 to 47 bits"),
        (
            {"reduction": "sparse", "family": "word48"},
            "is not among the 10 primes of family word48 .* or design nano|or a design with",
        ),
    ],
)
def test_a_program_that_does_not_fit_is_refused_with_what_it_needs(
    change: dict[str, int], message: str
) -> None:
    graph = relinearization((0, 1, 2))
    graph.output(graph.mod_down(graph.neg(graph.input("z", (0, 1, 2))), 2), "z")
    with pytest.raises(ProgramError, match=message):
        compile_graph(graph, replace(SMALL, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"work_polys": 6},
        {"key_polys": 2},
        {"program_words": 16},
        {"work_polys": 5},
        {"work_polys": 6, "work_uram_polys": 2, "work_block_banks": 2},
    ],
)
def test_what_does_not_fit_at_once_runs_in_parts_with_equal_bits(change: dict[str, int]) -> None:
    graph = relinearization((0, 1, 2))
    x = graph.input("z", (0, 1, 2))
    graph.output(graph.mod_down(graph.mul(x, x), 2), "z")
    graph.output(x, "passed")
    executable = run_both(graph, replace(SMALL, **change), np.random.default_rng(4))
    assert len(executable.runs) > 1
    assert executable.host_transfers > 0
    assert sum(spent for _, spent in executable.spans) == executable.cycles
    assert run_both(graph, SMALL, np.random.default_rng(4)).host_transfers == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("uram_polys", [0, 5])
def test_random_graphs_in_parts_equal_the_interpreter(seed: int, uram_polys: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_graph(random, size=20)
    small = replace(SMALL, work_polys=10 + uram_polys, work_uram_polys=2 * uram_polys)
    run_both(graph, replace(small, key_polys=4, program_words=32), random)


@pytest.mark.parametrize("outputs", [5, 20])
def test_a_program_may_have_more_outputs_than_the_device_has_memory(outputs: int) -> None:
    graph = empty_graph()
    value = graph.input("x", (0, 1))
    graph.output(value, "passed")
    for index in range(outputs):
        value = graph.mul(value, value)
        graph.output(value, f"y{index}")
    run_both(graph, replace(SMALL, work_polys=4), np.random.default_rng(5))


def test_inputs_that_are_only_handed_on_need_no_memory() -> None:
    graph = empty_graph()
    for index in range(9):
        graph.output(graph.input(f"x{index}", (0, 1)), f"y{index}")
    run_both(graph, replace(SMALL, work_polys=4), np.random.default_rng(6))


def test_a_digit_may_be_extended_to_its_own_prime_alone() -> None:
    graph = empty_graph()
    up = graph.mod_up(graph.input("x", (0, 1), Form.COEFF), 0, (0,))
    graph.output(graph.ntt(up), "y")
    run_both(graph, SMALL, np.random.default_rng(7))


def test_instructions_that_belong_together_and_do_not_fit_are_refused() -> None:
    tiny = replace(SMALL)
    object.__setattr__(tiny, "work_polys", 1)  # no legal design is so small
    del tiny.__dict__["banks"]  # found when it was checked
    with pytest.raises(ProgramError, match="need 2 work polynomials at once and design small"):
        compile_graph(relinearization((0, 1, 2)), tiny)


def test_a_coefficient_form_automorphism_is_refused() -> None:
    graph = empty_graph()
    graph.output(graph.automorph(graph.input("x", (0,), Form.COEFF), 3), "y")
    with pytest.raises(ProgramError, match="NTT form only"):
        compile_graph(graph, SMALL)


DAMAGES: dict[str, tuple[tuple[str | int, ...], object, str]] = {
    "no run": (("runs",), (), "it has no run"),
    "output": (("outputs", "y.0", 0), 99, "an output is never stored"),
    "load": (("runs", 0, "loads", 99), {0: 0}, "loads a value that the host does not have"),
    "place": (("runs", 0, "loads", 99), {0: SMALL.work_polys}, "outside the work memory"),
    "rpau": (("runs", 0, "stores", 99), {7: 0}, "outside the work memory"),
    "peak": (("runs", 0, "peak_polys"), SMALL.work_polys + 1, "more work polynomials"),
    "constants": (("constants", 0), (0,) * (SMALL.constants + 1), "a constant file is too long"),
    "residue": (("constants", 0, 0), empty_graph().primes[0], "holds what is no residue"),
    "composite prime": (("primes", 0), 1 + (1 << 45), "is not a prime that is 1 mod 2N"),
    "wide prime": (("design", "word_bits"), 47, "takes primes of 24 to 47 bits"),
    "few roots": (("roots",), (), "0 roots are given for 4 primes: give one for each"),
    "root": (("roots", 0), 0, "root 0 is not a whole number in 1"),
    "wrong root": (("roots", 0), 1, "1 is not a primitive 512-th root of unity"),
    "few starts": (("runs", 0, "starts"), (), "differ in number"),
    "late start": (("runs", 0, "starts", 0), 1 << 40, "its starts do not ascend to its cycles"),
    "origin's node": (("runs", 0, "origins", 0), "add:x", "origin 'add:x' does not end with"),
    "negative cycles": (("runs", 0, "cycles"), -1, "cycles -1 is not a whole number"),
    "many cycles": (("runs", 0, "cycles"), 1 << 60, "cycles 1.* is not a whole number"),
    "key index": (("runs", 0, "keys", 0, "index"), SMALL.key_polys, "outside the key store"),
    "key name": (("runs", 0, "keys", 0, "key"), "a b", "key 'a b' is no name"),
    "digit": (("runs", 0, "keys", 0, "digit"), 128, "digit of a key 128 is not .* in 0 … 127"),
    "half": (("runs", 0, "keys", 0, "half"), 2, "half of a key 2 is not .* in 0 … 1"),
    "modulus bank": (("runs", 0, "keys", 0, "modulus_bank"), 1, "a slot that holds no limb"),
    "mask": (("runs", 0, "keys", 0, "mask"), 1 << SMALL.rpaus, "outside the key store"),
    "input limb": (("inputs", "x.0", 999), 0, "one of no prime"),
    "negative limb": (("inputs", "x.0", -1), 0, "an input or output is outside 0"),
    "output limb": (("outputs", "y.0", 999), 0, "one of no prime"),
    "no limb": (("inputs", "x.0"), {}, "an input or an output has no limb"),
    "slots": (("rpaus",), (0, 1, 2, 2), "its slots are not the RPAUs of its design, each once"),
}
"""What is written where in an executable, and what the error says of it."""


@cache
def relinearization_executable() -> Executable:
    return compile_graph(relinearization((0, 1)), SMALL)


@pytest.mark.parametrize("what", DAMAGES)
def test_an_executable_that_does_not_fit_its_design_is_refused(what: str) -> None:
    path, value, message = DAMAGES[what]
    text = changed(relinearization_executable(), path, value).to_json()
    with pytest.raises(ProgramError, match=rf"damaged executable \(.*{message}.*compile the"):
        read_executable(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "ringsmith-rpau-executable"}', "[" * 100000]
)
def test_a_damaged_executable_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match="compile the program again"):
        read_executable(text)


@pytest.mark.parametrize("key_polys", [1, 2, 6])
def test_spare_rpaus_never_make_a_program_refused(key_polys: int) -> None:
    graph = relinearization((0, 1, 2))
    crowded = replace(SMALL, key_polys=key_polys)
    alone = compile_graph(graph, crowded)
    roomy = run_both(graph, replace(crowded, rpaus=6), np.random.default_rng(5))
    assert (roomy.host_transfers, roomy.cycles) <= (alone.host_transfers, alone.cycles + 100)


def test_digits_that_are_handed_in_are_summed_up_on_spare_rpaus_too() -> None:
    graph = empty_graph(RELIN)
    digits = [graph.input(f"d{j}", (0, 1, 2, 3)) for j in range(3)]
    total = graph.ksk_inner_product(digits, "relin", 0, range(3))
    graph.output(graph.mod_down(total, 3), "y")
    run_both(graph, replace(SMALL, rpaus=6), np.random.default_rng(6))


# ---- Programs for designs whose work polynomials share the ports of banks ------------------------


TIGHT = replace(SMALL, work_polys=12, work_block_banks=3, key_polys=6, program_words=48)


def own_ports(design: RpauDesign) -> RpauDesign:
    return replace(design, work_uram_polys=0, work_block_banks=0)


def powers(squares: int) -> SubroutineGraph:
    """x^2, x^4 and so on: each is a product that is relinearized and rescaled."""

    def power(x: EncryptedVector) -> EncryptedVector:
        for _ in range(squares):
            x = x**2
        return x

    return lower(trace(power, ckks_set("medha21-set1"), {"x": 8})).graph


def on_medha(squares: int, *, banks: bool) -> Executable:
    medha = load_design("medha")
    return compile_graph(powers(squares), medha if banks else own_ports(medha))


@pytest.mark.parametrize("squares", [1, 4])
def test_a_program_in_seven_banks_takes_as_long_as_with_a_port_for_each(squares: int) -> None:
    """However long it is: the search has the same number of attempts for every step."""
    banks, own = (on_medha(squares, banks=each) for each in (True, False))
    assert (banks.host_transfers, own.host_transfers) == (0, 0)
    assert banks.cycles <= 1.05 * own.cycles


def test_runs_keep_apart_what_later_runs_read_at_once() -> None:
    """Otherwise the host would have to move it: 104 transfers in place of 92."""
    graph = random_graph(np.random.default_rng(5), 30)
    banks = run_both(graph, TIGHT, np.random.default_rng(1))
    own = compile_graph(graph, own_ports(TIGHT))
    assert len(banks.runs) > 1
    assert banks.host_transfers <= own.host_transfers


@pytest.mark.parametrize("seed", range(4))
def test_programs_cut_into_runs_in_few_banks_equal_the_interpreter(seed: int) -> None:
    random = np.random.default_rng(seed)
    executable = run_both(random_graph(random, 30), TIGHT, random)
    assert len(executable.runs) > 1


def test_a_schedule_in_banks_is_the_same_each_time() -> None:
    graph = random_graph(np.random.default_rng(7), 20)
    first, second = (compile_graph(graph, TIGHT) for _ in range(2))
    assert first.to_json() == second.to_json()
