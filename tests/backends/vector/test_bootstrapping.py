"""Whole bootstrappings on vector designs: the interpreter's residues, on the model."""

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.backends.vector.test_programs import TWO, WIDE, check_results

import ringsmith as rs
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import Place, places
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import (
    SPILLED,
    STREAMS,
    Limb,
    Stream,
    sources,
    stores,
)
from ringsmith.caching import cached
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower
from ringsmith.params import Bootstrapping, CkksParameters, KeyShape, parameter_set
from ringsmith.params.keys import FROM_SPARSE_KEY, TO_SPARSE_KEY
from ringsmith.params.primes import primes_of_sizes
from ringsmith.runtime.designs import named_design
from ringsmith.schemes.ckks.writer import CkksWriter

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

STAGES = Bootstrapping(special=2, ratio_bits=9, degree=7, doublings=1, coeffs_to_slots=3)


def parameters(design: VectorDesign, stages: Bootstrapping = STAGES) -> CkksParameters:
    """A set in a small ring, with one level for programs, and few for EvalMod.

    Words of 32 bits have two primes a level, and so two special ones for the sparse secret.
    """
    two = design.word_bits == 32
    pairs = [(60, (30, 30)), (51, (26, 25)), (56, (28, 28))]
    sizes: dict[int, tuple[int, ...]] = dict(pairs) if two else {bits: (bits,) for bits, _ in pairs}
    levels = [60, *[51] * (1 + stages.slots_to_coeffs), *[60] * stages.eval_mod]
    levels += [56] * stages.coeffs_to_slots
    bits = [size for level in levels for size in sizes[level]]
    wanted = (30, 30, 31, 31, 31, 31) if two else (60, 60, 60)
    data, special = primes_of_sizes(design.n, bits, wanted, None)
    return CkksParameters.from_primes(
        n=1 << 10,
        data_primes=data,
        special_prime=special,
        scale=2.0**51,
        dnum=-(-len(data) // len(wanted)),
        level_limbs=range(2, len(data) + 1, 2) if two else (),
        declared_security=0,
        bootstrapping=stages if two else replace(stages, special=1),
    )


def bootstrapping(of: CkksParameters) -> SubroutineGraph:
    """A bootstrapping of complex numbers in all slots."""
    given = {"x": rs.InputSpec(complex_numbers=True)}
    return lower(rs.trace(rs.bootstrap, of, given)).graph


def raised_modulus(of: CkksParameters) -> SubroutineGraph:
    """The first stage of a bootstrapping: by the sparse secret, exact from two primes."""
    keys = {
        TO_SPARSE_KEY: of.sparse_key_shape,
        FROM_SPARSE_KEY: KeyShape(of.dnum),
    }
    graph = SubroutineGraph.for_parameters(of, keys)
    low = range(of.lowest_limbs)
    found = CkksWriter(graph, of).mod_raise(
        (graph.input("c0", low), graph.input("c1", low)), of.limbs
    )
    for number, polynomial in enumerate(found):
        graph.output(polynomial, f"y{number}")
    return graph


@cached
def compiled(design: VectorDesign) -> VectorExecutable:
    """A bootstrapping in a ring of 2^10, on a design."""
    return compile_graph(bootstrapping(parameters(design)), design)


@pytest.mark.parametrize("design", [TWO, WIDE], ids=lambda design: design.name)
def test_a_bootstrapping_is_the_interpreters(design: VectorDesign) -> None:
    """Words of 32 bits with Montgomery's reduction, and of 60 with Barrett's."""
    check_results(compiled(design))


@pytest.mark.full
def test_true_keys_decrypt_what_a_design_has_bootstrapped() -> None:
    def refreshed(x: Any) -> Any:  # noqa: ANN401 - recorded vectors
        y = rs.bootstrap(x)
        return y * y

    of = parameters(TWO, replace(STAGES, degree=63, doublings=2))
    program = rs.trace(refreshed, of, {"x": rs.InputSpec(complex_numbers=True)})
    secret, public, keys = program.generate_keys()
    parts = np.random.default_rng(1).uniform(-0.7, 0.7, (2, of.slots))
    x = parts[0] + 1j * parts[1]
    given = program.encrypt(public, {"x": x})
    done = rs.compile_program(program, TWO).run(rs.open_device("model", TWO), given, keys)
    found = program.decrypt(secret, done.outputs, complex_numbers=True)["result"]
    assert np.abs(found - x * x).max() < 2**-20


def test_what_gives_way_takes_places_again_when_it_was_read_for_the_last_time() -> None:
    executable = compiled(TWO)
    where, rows = places(executable.programs, TWO)
    spilled = [place for limb, place in where.items() if limb.kind == SPILLED]
    assert len(set(spilled)) < len(spilled) / 2
    assert max(place.row for place in where.values()) < rows
    others = [place for limb, place in where.items() if limb.kind != SPILLED]
    assert len(set(others)) == len(others)
    assert not set(others) & set(spilled)
    for own in executable.programs:
        there: dict[Place, Limb] = {}
        own_spills = {store.limb for store in own.stores if store.limb.kind == SPILLED}
        loads = [deque(load.limb for load in own.loads if load.stream == i) for i in range(STREAMS)]
        made = deque(store.limb for store in own.stores)
        for each in own.computing:
            for source in sources(each.operation):
                if isinstance(source, Stream):
                    limb = loads[source.number].popleft()
                    assert limb not in own_spills or there[where[limb]] == limb
            for _ in stores(each.operation):
                limb = made.popleft()
                there[where[limb]] = limb


@pytest.mark.full
def test_boot_32_is_the_interpreters() -> None:
    of, design = parameter_set("boot-32"), named_design("vector-1024")
    assert isinstance(of, CkksParameters)
    assert isinstance(design, VectorDesign)
    graph = bootstrapping(replace(of, n=1 << 12, declared_security=0))
    check_results(compile_graph(graph, design))


@pytest.mark.full
def test_keys_of_boot_32_do_not_fit_the_memory_of_its_card() -> None:
    of, design = parameter_set("boot-32"), named_design("vector-1024")
    assert isinstance(of, CkksParameters)
    assert isinstance(design, VectorDesign)
    with pytest.raises(ProgramError, match="platform u280 have 4,294,967,296: give the design"):
        compile_graph(bootstrapping(of), design)
