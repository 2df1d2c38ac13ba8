"""Programs for designs whose work polynomials share the ports of banks."""

from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.interpreted import run_both
from tests.backends.rpau.test_compile import SMALL, random_graph

from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower
from ringsmith.params import ckks_set
from ringsmith.program import EncryptedVector, trace

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
