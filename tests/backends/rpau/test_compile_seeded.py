"""Programs whose key halves the device expands: the same bits, and half the key words to load."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.interpreted import (
    assert_equal_outputs,
    changed,
    random_inputs,
    random_keys,
    switched,
)

from ringsmith import _core, runtime
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable, read_executable
from ringsmith.backends.rpau.design.constants import SEED_WORDS
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.errors import ProgramError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.objects import KeySwitchKey
from ringsmith.params import KeyShape

PRNG = {"prng": "trivium", "seeds": 4}
DESIGN = replace(
    load_design("nano"),
    name="seeded",
    log_n=8,
    rpaus=4,
    cores=2,
    dyadic_cores=2,
    work_polys=24,
    key_polys=16,
    **PRNG,
)
DATA, SPECIAL = (0, 1, 2), 3
KEYS = {"relin": KeyShape(3), "galois:3": KeyShape(3)}
DIGITS = sum(shape.digits for shape in KEYS.values())
SEEDED = frozenset(KEYS)


@cache
def program() -> SubroutineGraph:
    """A product of ciphertexts, relinearized, then rotated."""
    primes = tuple(q for bits in (46, 41, 47, 48) for q in _core.prime_search(bits, DESIGN.n, 1))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (SPECIAL,), KEYS)
    a0, a1, b0, b1 = (graph.input(name, DATA) for name in ("a0", "a1", "b0", "b1"))
    c0, c1 = graph.mul(a0, b0), graph.add(graph.mul(a0, b1), graph.mul(a1, b0))
    r0, r1 = switched(graph, graph.mul(a1, b1), "relin")
    c0, c1 = (graph.automorph(c, 3) for c in (graph.add(c0, r0), graph.add(c1, r1)))
    s0, s1 = switched(graph, c1, "galois:3")
    graph.output(graph.add(c0, s0), "y0")
    graph.output(s1, "y1")
    return graph


def run_checked(
    design: RpauDesign,
    rng: np.random.Generator,
    keys: Mapping[str, KeySwitchKey],
    device: runtime.Device | None = None,
) -> runtime.GraphResult:
    """Runs the program on a device, the model if none is given; equal bits, stated cycles."""
    seeded = {name for name, key in keys.items() if key.seed is not None}
    compiled = runtime.compile_graph(program(), design, seeded)
    inputs = random_inputs(program(), rng)
    device = device or runtime.open_device("model", design)
    found = runtime.run_graph(compiled, device, inputs, keys)
    expected = runtime.run_graph(compiled, runtime.open_device("cpu"), inputs, keys)
    assert_equal_outputs(found, expected)
    executable = compiled.executable
    assert executable is not None
    assert (found.cycles, found.report.instructions) == (executable.cycles, len(executable.words))
    assert found.report.host_transfers == executable.host_transfers
    return found


def key_polys(executable: Executable) -> int:
    return max(load.index + 1 for run in executable.runs for load in run.keys)


@pytest.mark.parametrize("seeded", [SEEDED, {"relin"}, {"galois:3"}, set()], ids=sorted)
def test_rtl_and_model_equal_the_interpreter_with_seeded_and_whole_keys(
    rng: np.random.Generator, seeded: frozenset[str]
) -> None:
    keys = random_keys(program(), rng, seeded)
    on_model = run_checked(DESIGN, rng, keys)
    on_rtl = run_checked(DESIGN, rng, keys, rtl())
    assert (on_model.cycles, on_model.report.key_words) == (on_rtl.cycles, on_rtl.report.key_words)


@cache
def rtl() -> runtime.Device:
    """One for all tests: they leave the keys of their programs in its stores."""
    return runtime.open_device("rtl", DESIGN)


@pytest.mark.parametrize(
    "change",
    [{"rpaus": 2, "modulus_banks": 2}, {"rpaus": 6}, {"dyadic_cores": 4, "interconnect": "gather"}],
    ids=str,
)
def test_limbs_in_turn_and_a_spread_special_prime_expand_their_own_limbs(
    rng: np.random.Generator, change: dict[str, int]
) -> None:
    run_checked(replace(DESIGN, **change), rng, random_keys(program(), rng))


def test_seeds_halve_the_key_words_that_are_loaded_and_kept(rng: np.random.Generator) -> None:
    limbs = DIGITS * (len(DATA) + 1)  # of half a key, both keys
    whole = run_checked(DESIGN, rng, random_keys(program(), rng, ()))
    expanded = run_checked(DESIGN, rng, random_keys(program(), rng))
    assert whole.report.key_words == 2 * limbs * DESIGN.n
    assert expanded.report.key_words == limbs * DESIGN.n + len(KEYS) * (len(DATA) + 1) * SEED_WORDS
    assert key_polys(compile_graph(program(), DESIGN, ())) == 2 * DIGITS
    assert key_polys(compile_graph(program(), DESIGN)) == DIGITS


def test_keys_that_lie_on_the_device_cost_no_traffic(rng: np.random.Generator) -> None:
    device, keys = runtime.open_device("model", DESIGN), random_keys(program(), rng)
    first, second = (run_checked(DESIGN, rng, keys, device) for _ in range(2))
    assert first.report.key_words > 0
    assert (second.report.key_words, second.report.host_transfers) == (0, 0)


def test_a_key_store_of_half_the_size_keeps_seeded_keys_resident(rng: np.random.Generator) -> None:
    design = replace(DESIGN, key_polys=DIGITS)
    assert run_checked(design, rng, random_keys(program(), rng)).report.host_transfers == 0
    assert run_checked(design, rng, random_keys(program(), rng, ())).report.host_transfers > 0


def test_seeds_that_do_not_fit_at_once_are_loaded_under_way_and_counted(
    rng: np.random.Generator,
) -> None:
    design = replace(DESIGN, seeds=1)
    executable = compile_graph(program(), design)
    assert [{load.key for load in run.seeds} for run in executable.runs] == [
        {"relin"},
        {"galois:3"},
    ]
    result = run_checked(design, rng, random_keys(program(), rng))
    assert result.report.host_transfers >= len(DATA) + 1


def test_only_a_device_with_a_prng_expands(rng: np.random.Generator) -> None:
    plain = replace(DESIGN, prng="none", seeds=0)
    executable = compile_graph(program(), plain)
    assert not executable.seeded
    assert not any(decode(word).operation.seeded for word in executable.words)
    run_checked(plain, rng, random_keys(program(), rng))


def test_half_1_of_a_seeded_key_is_never_read_from_the_key_store() -> None:
    executable = compile_graph(program(), DESIGN, {"relin"})
    halves = {(load.key, load.half) for run in executable.runs for load in run.keys}
    assert halves == {("relin", 0), ("galois:3", 0), ("galois:3", 1)}


def test_the_form_of_keys_is_said_when_a_graph_is_compiled(rng: np.random.Generator) -> None:
    """A run with keys of another form is refused, and told how to compile for them."""
    device, inputs = runtime.open_device("model", DESIGN), random_inputs(program(), rng)
    keys = random_keys(program(), rng), random_keys(program(), rng, {"relin"})
    for_seeds = runtime.compile_graph(program(), DESIGN)
    with pytest.raises(ProgramError, match=r"galois:3 has none .* seeded=\('relin',\)"):
        runtime.run_graph(for_seeds, device, inputs, keys[1])
    with pytest.raises(ProgramError, match=r"galois:3, relin have none .* seeded=\(\)"):
        runtime.run_graph(for_seeds, device, inputs, random_keys(program(), rng, ()))
    for_full = runtime.compile_graph(program(), DESIGN, ())
    for each in keys:  # a key with a seed is a full key too
        found = runtime.run_graph(for_full, device, inputs, each)
        assert_equal_outputs(
            found, runtime.run_graph(for_full, runtime.open_device("cpu"), inputs, each)
        )


def execute(executable: Executable, keys: Mapping[str, KeySwitchKey]) -> None:
    rng = np.random.default_rng(1)
    device = runtime.open_device("model", DESIGN)
    assert isinstance(device, RpauDevice)
    device.execute(CompiledGraph(program(), executable), random_inputs(program(), rng), keys)


def test_a_key_without_a_seed_or_with_a_wrong_one_is_refused(rng: np.random.Generator) -> None:
    executable, keys = compile_graph(program(), DESIGN), random_keys(program(), rng)
    whole = {**keys, "relin": KeySwitchKey(keys["relin"].data)}
    with pytest.raises(ProgramError, match=r"key 'relin' .* has no seed: make keys with generate_"):
        execute(executable, whole)
    foreign = {**keys, "relin": KeySwitchKey(keys["relin"].data, keys["galois:3"].seed)}
    with pytest.raises(ProgramError, match="key 'relin', digit 0, limb 0: half 1 is not what the"):
        execute(executable, foreign)
    damaged = keys["relin"].data.copy()
    damaged[2, 1, 3, 5] ^= 1
    with pytest.raises(ProgramError, match="key 'relin', digit 2, limb 3: half 1 is not what the"):
        execute(executable, {**keys, "relin": KeySwitchKey(damaged, keys["relin"].seed)})


DAMAGES: dict[str, tuple[str, object, str]] = {
    "index": ("index", DESIGN.seeds, "a seed lies outside the seed store"),
    "negative index": ("index", -1, "a key index is outside 0"),
    "other index": ("index", 3, "takes a seed that is not loaded for its modulus bank"),
    "taken index": ("index", 1, "two seeds have the same index in the seed store"),
    "mask": ("mask", 1 << DESIGN.rpaus, "a seed lies outside the seed store"),
    "few RPAUs": ("mask", 1, "takes a seed that is not loaded for its modulus bank"),
    "no RPAU": ("mask", 0, "mask of a key 0 is not a whole number in 1"),
    "modulus bank": ("modulus_bank", 1, "a seed belongs to a slot that holds no limb"),
    "name": ("key", "a b", "key 'a b' is no name"),
}
"""What is written where in the first seed of an executable's file, and what the error says."""


@cache
def executable() -> Executable:
    return compile_graph(program(), DESIGN)


def damaged(path: tuple[str | int, ...], value: object) -> str:
    return str(changed(executable(), path, value).to_json())


def test_an_executable_with_seeds_survives_its_json_file() -> None:
    executable = compile_graph(program(), DESIGN)
    assert read_executable(executable.to_json()) == executable
    assert executable.seeded == SEEDED


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_seed_of_an_executable_is_refused(what: str) -> None:
    name, value, message = DAMAGES[what]
    with pytest.raises(ProgramError, match=rf"damaged executable \(.*{message}"):
        read_executable(damaged(("runs", 0, "seeds", 0, name), value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("runs", 0, "seeds"), (), "takes a seed that is not loaded"),
        (("runs", 0, "keys"), (), "takes a key that is not loaded"),
        (("runs", 0, "keys", 0, "index"), 1, "two keys have the same index in the key store"),
    ],
    ids=str,
)
def test_an_executable_that_misses_its_seeds_or_keys_is_refused(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    with pytest.raises(ProgramError, match=rf"damaged executable \(.*{message}"):
        read_executable(damaged(path, value))


# Programs in rings larger and smaller than a design's N: the interpreter's bits on the model


RINGS_DESIGN = replace(
    load_design("nano"),
    name="rings",
    log_n=9,
    work_polys=64,
    key_polys=64,
    constants=128,
    larger_rings=2,
    smaller_rings=1,
)
RINGS = (8, 9, 10, 11)


@cache
def rings_program(log_degree: int) -> SubroutineGraph:
    """A product, relinearized, rotated, rescaled and transformed."""
    n = 1 << log_degree
    primes = tuple(q for bits in (46, 41, 47, 48) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    graph = SubroutineGraph(
        n, primes, roots, (SPECIAL,), {"relin": KeyShape(3), "galois:5": KeyShape(3)}
    )

    a, b, c = (graph.input(name, DATA) for name in "abc")
    relinearized = switched(graph, graph.mul(a, b), "relin")
    p0, p1 = graph.add(a, relinearized[0]), graph.add(b, relinearized[1])
    rotated = switched(graph, graph.automorph(p1, 5), "galois:5")
    graph.output(graph.add(graph.automorph(p0, 5), rotated[0]), "y0")
    graph.output(rotated[1], "y1")
    graph.output(graph.mod_down(p0, 2), "rescaled")
    graph.output(graph.automorph(c, 2 * n - 1), "conjugate")
    graph.output(graph.ntt(graph.input("d", DATA, Form.COEFF)), "transformed")
    return graph


class Counting(ModelCoprocessor):
    """The model, which counts the words that cross to and from the host by address space."""

    def __init__(self, design: RpauDesign) -> None:
        super().__init__(design)
        self.crossed: Counter[AddressSpace] = Counter()

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes, and counts."""
        super().write(space, unit, index, words)
        self.crossed[space] += words.size

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads, and counts."""
        words = super().read(space, unit, index)
        self.crossed[space] += words.size
        return words


def run_both(log_degree: int, device: RpauDevice) -> Executable:
    """Runs the program on a device and through the interpreter; checks contents and cycles."""
    graph, random = rings_program(log_degree), np.random.default_rng(log_degree)
    inputs, keys = random_inputs(graph, random), random_keys(graph, random)
    executable = compile_graph(graph, device.coprocessor.design)
    compiled = CompiledGraph(graph, executable)
    coprocessor = device.coprocessor
    assert isinstance(coprocessor, Counting)
    coprocessor.crossed.clear()
    found = device.execute(compiled, inputs, keys)
    assert found.cycles == executable.cycles
    ends = [executable.runs[0].loads, executable.runs[-1].stores]
    limbs = sum(len(places) for values in ends for places in values.values())
    polynomials = limbs * min(graph.n, coprocessor.design.n) + found.report.spilled_words
    assert coprocessor.crossed[AddressSpace.POLY] == polynomials
    assert (
        coprocessor.crossed[AddressSpace.KEY] + coprocessor.crossed[AddressSpace.SEED]
        == found.report.key_words
    )
    assert_equal_outputs(found, Cpu().execute(compiled, inputs, keys))
    return executable


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"rpaus": 6, "link": True, "prng": "trivium", "seeds": 4},
        {"rpaus": 2, "modulus_banks": 2, "twiddles": "stored"},
        {"work_polys": 24, "key_polys": 24},
    ],
    ids=str,
)
def test_one_device_runs_programs_of_every_ring(change: dict[str, int | str | bool]) -> None:
    design: RpauDesign = replace(RINGS_DESIGN, **change)
    device = RpauDevice(Counting(design))
    for log_degree in (*RINGS, RINGS[0]):
        executable = run_both(log_degree, device)
        assert executable.sub_polys == design.sub_polys(log_degree)
        # Half keys of a larger ring are whole: sub-polynomials of 2^9 words do not begin with
        # streams.
        assert bool(executable.seeded) == (design.seeds > 0 and log_degree <= design.log_n)
        assert read_executable(executable.to_json()) == executable


@pytest.mark.parametrize(("log_n", "log_degree"), [(14, 15), (15, 15)])
def test_a_device_for_whole_blocks_expands_the_keys_of_larger_rings(
    log_n: int, log_degree: int
) -> None:
    design = replace(RINGS_DESIGN, log_n=log_n, larger_rings=1, prng="trivium", seeds=2)
    executable = run_both(log_degree, RpauDevice(Counting(design)))
    assert executable.seeded == {"relin", "galois:5"}
    assert executable.host_transfers == 0
    halves = {(load.half, load.sub_poly) for run in executable.runs for load in run.keys}
    assert halves == {(0, sub_poly) for sub_poly in range(executable.sub_polys)}
    assert {load.index for run in executable.runs for load in run.seeds} == {0, 1}


def test_a_larger_ring_splits_before_its_transforms_and_joins_after_them() -> None:
    executable = compile_graph(rings_program(11), RINGS_DESIGN)
    names = [decode(word).operation.name for word in executable.words]
    assert names.count("split") == names.count("ntt")  # 4 sub-polynomials: two stages of two pairs
    assert names.count("join") == names.count("intt")


def test_a_ring_that_the_device_does_not_run_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"N = 2048 .* built for N = 256 to 1024: choose"):
        compile_graph(rings_program(11), replace(RINGS_DESIGN, larger_rings=1))


def test_an_executable_of_a_wrong_ring_is_refused() -> None:
    executable = compile_graph(rings_program(10), RINGS_DESIGN)
    load = replace(executable.runs[0].keys[0], sub_poly=2)
    for path, value, message in (
        (("log_degree",), 12, "runs rings of degree"),
        (("log_degree",), 11, "modulo 2N|primitive"),
        (("runs", 0, "keys", 0), load, "a sub-polynomial that a polynomial of its ring has not"),
    ):
        with pytest.raises(ProgramError, match=message):
            read_executable(changed(executable, path, value).to_json())
