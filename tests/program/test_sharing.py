"""What rotations share: the count that decides it, the results, and the option."""

from collections import Counter

import numpy as np
import pytest

from ringsmith import Program, matvec, trace
from ringsmith.errors import ProgramError
from ringsmith.lower import lower
from ringsmith.params import CkksParameters


def ops(program: Program) -> Counter[str]:
    return Counter(node.op for node in lower(program).graph.nodes)


def test_a_single_rotation_is_seals_and_several_share_digits(small: CkksParameters) -> None:
    single = ops(trace(lambda x: x + x.rotate(1), small))
    assert (single["key_switch"], single["digits"]) == (1, 0)
    several = trace(lambda x: {f"y{k}": x.rotate(k) for k in (1, 2, 3)}, small)
    assert ops(several)["digits"] == 1
    assert ops(several)["key_product"] == 3
    assert "of 3, 3 share the digits of one value" in several.explain()


def test_a_sum_of_rotations_is_divided_once(small: CkksParameters) -> None:
    program = trace(lambda x: x.rotate(1) + x.rotate(2) + x.rotate(3), small)
    assert (ops(program)["key_product"], ops(program)["mod_down"]) == (3, 1)


def test_shared_rotations_are_right_and_seals_stay_as_they_were(
    small: CkksParameters, rng: np.random.Generator
) -> None:
    weights, x = rng.uniform(-1, 1, (16, 16)), rng.uniform(-1, 1, 16)
    for bits in ("shared", "seal"):
        program = trace(lambda x: matvec(weights, x), small, {"x": 16}, rotations=bits)  # type: ignore[call-overload]
        again = Program.from_bytes(program.to_bytes())
        assert isinstance(again, Program)
        assert again.rotations == bits
        assert np.abs(again.run(x=x)["result"] - weights @ x).max() < 1e-4
        assert bool(ops(program)["key_product"]) == (bits == "shared")


def test_another_word_is_refused(small: CkksParameters) -> None:
    with pytest.raises(ProgramError, match="rotations = 'hoisted' is neither 'shared' nor 'seal'"):
        trace(lambda x: x, small, rotations="hoisted")  # type: ignore[call-overload]
