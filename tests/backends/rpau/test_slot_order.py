"""Which RPAU a prime lies in, where some RPAUs have narrow words."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ringsmith import _core
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.design.slot_order import SlotOrder, slot_order, spare_slots
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.expand import expand
from ringsmith.lower import lower_operation
from ringsmith.params import AutoParameters, CkksParameters, SecurityWarning, parameter_set

DESIGN = RpauDesign(
    name="narrowed",
    log_n=10,
    word_bits=60,
    rpaus=6,
    cores=2,
    dyadic_cores=2,
    work_polys=12,
    key_polys=16,
    constants=32,
    program_words=1024,
    reduction="folded",
    link=True,
    narrow_rpaus=4,
    narrow_bits=54,
)


def primes(sizes: Sequence[int], n: int = DESIGN.n) -> list[int]:
    found = {bits: _core.prime_search(bits, n, sizes.count(bits)) for bits in set(sizes)}
    return [found[bits].pop(0) for bits in sizes]


def order(*sizes: int, design: RpauDesign = DESIGN) -> tuple[int, ...]:
    """The RPAUs of slots for primes of some sizes, the last one special."""
    return slot_order(primes(sizes, design.n), (len(sizes) - 1,), design).rpaus


def test_rpaus_that_are_alike_are_taken_in_order() -> None:
    alike = replace(DESIGN, narrow_rpaus=0, narrow_bits=0)
    assert order(60, 54, 54, 60, design=alike) == tuple(range(6))
    nano = load_design("nano")
    banks = SlotOrder.plain(replace(nano, modulus_banks=2))
    assert [banks.rpau(slot) for slot in range(10)] == [*range(5)] * 2
    assert [banks.bank(slot) for slot in range(10)] == [0] * 5 + [1] * 5
    assert [banks.slot(slot // 5, slot % 5) for slot in range(10)] == [*range(10)]


def test_wide_primes_take_wide_rpaus_and_others_narrow_ones() -> None:
    assert order(60, 54, 54, 60) == (0, 2, 3, 1, 4, 5)
    assert order(54, 60, 54, 54) == (2, 0, 3, 4, 1, 5)  # the special prime is narrow: any is spare
    assert order(54, 54, 54, 60) == (2, 3, 4, 0, 1, 5)  # it is wide: the spare wide one is first


def test_narrow_primes_take_wide_rpaus_when_no_narrow_one_is_left() -> None:
    assert order(54, 54, 54, 54, 54, 60) == (2, 3, 4, 5, 1, 0)
    assert order(54, 54, 54, 54, 54, 54) == (2, 3, 4, 5, 0, 1)


def test_primes_that_only_narrow_words_hold_take_narrow_rpaus() -> None:
    # Words of 60 bits need 2^45 or more, words of 54 bits 2^39.
    design = replace(DESIGN, log_n=8)
    assert order(54, 54, 54, 44, 44, 60, design=design) == (4, 5, 1, 2, 3, 0)
    with pytest.raises(ProgramError, match="of 44 bits needs one of the 4 RPAUs of 54-bit words"):
        order(44, 44, 44, 44, 44, 60, design=design)


def test_more_wide_primes_than_wide_rpaus_are_refused_by_name() -> None:
    sizes = (60, 60, 54, 60)
    with pytest.raises(ProgramError) as refused:
        order(*sizes)
    third = primes(sizes)[3]
    assert str(refused.value) == (
        f"prime {third} of 60 bits needs one of the 2 RPAUs of 60-bit words of design narrowed, "
        "and primes before it have taken them all: choose primes of other sizes, or a design with "
        "another narrow_rpaus than 4"
    )


def test_slots_that_are_left_hold_the_special_prime_where_it_fits() -> None:
    for sizes, found in (((54, 54, 60), [3]), ((60, 54, 60), []), ((60, 54, 54), [3, 4, 5])):
        listed = primes(sizes)
        rpaus = slot_order(listed, (2,), DESIGN)
        assert spare_slots(listed[2], 3, rpaus, DESIGN) == found


def parameters(*sizes: int) -> CkksParameters:
    *data, special = sizes
    with pytest.warns(SecurityWarning):
        return CkksParameters.create(
            n=DESIGN.n, prime_bits=data, special_bits=special, scale_bits=40, security=None
        )


def test_key_switching_shares_a_wide_special_prime_among_wide_rpaus() -> None:
    graph = lower_operation("relinearize", parameters(54, 54, 60), 2)
    own, shared = layouts(expand(graph), DESIGN)
    assert own.order == shared.order == SlotOrder((2, 3, 0, 1, 4, 5))
    assert shared.limbs == (0, 1, 2, 2)
    everywhere = lower_operation("relinearize", parameters(60, 60, 54), 2)
    assert layouts(expand(everywhere), DESIGN)[1].limbs[:4] == (0, 1, 2, 2)
    full = lower_operation("relinearize", parameters(60, 54, 60), 2)
    assert len(layouts(expand(full), DESIGN)) == 1


def test_medhas_parameters_lie_as_its_paper_has_them() -> None:
    medha = replace(
        load_design("medha"), reduction="folded", family="none", narrow_rpaus=6, narrow_bits=54
    )
    for name in ("medha-set1", "medha-set2"):
        chosen = parameter_set(name)
        assert parameter_limits(medha).error(chosen) == ""
        found = slot_order(chosen.primes, (chosen.limbs,), medha)
        wide = [q.bit_length() > 54 for q in chosen.primes]
        assert all(found.rpau(slot) < 4 for slot, each in enumerate(wide) if each)


def test_limits_refuse_more_wide_primes_than_there_are_wide_rpaus() -> None:
    limits = parameter_limits(DESIGN)
    assert limits.error(parameters(60, 54, 54, 60)) == ""
    assert "needs one of the 2 RPAUs of 60-bit" in limits.error(parameters(60, 60, 60))
    assert (limits.min_prime_bits, limits.max_prime_bits) == (39, 60)


def test_a_search_for_parameters_keeps_to_the_wide_rpaus_that_there_are() -> None:
    design = replace(DESIGN, log_n=14, rpaus=8)  # four wide ones
    wish = AutoParameters(design=design.name, limits=parameter_limits(design))
    with pytest.raises(ParameterError, match="needs one of the 4 RPAUs of 60-bit words"):
        wish.candidate(design.n, 3, 55)  # q_0 and the special prime are wide, too
    assert wish.candidate(design.n, 2, 55).limbs == 3
    assert wish.candidate(design.n, 3, 54).limbs == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"narrow_rpaus": 6}, "narrow_rpaus = 6 is outside 0 … 5"),
        ({"narrow_rpaus": 0}, "narrow_bits = 54 is outside 0 … 0"),
        ({"narrow_bits": 55}, "narrow_bits = 55 is outside 44 … 54"),
        ({"narrow_bits": 43}, "narrow_bits = 43 is outside 44 … 54"),
        ({"word_bits": 54}, "narrow_bits = 54 is outside 38 … 53"),
        ({"word_bits": 30}, "word_bits = 30 with narrow_rpaus = 4 leave no width"),
        (
            {"modulus_banks": 2},
            "modulus_banks = 2 with narrow_rpaus = 4: .* choose modulus_banks = 1",
        ),
        ({"reduction": "barrett"}, "reduction = 'barrett' with narrow_rpaus = 4: words that"),
        (
            {"reduction": "sparse", "family": "medha"},
            "reduction = 'sparse' with narrow_rpaus = 4: .* choose reduction = 'folded'",
        ),
    ],
)
def test_narrow_words_are_refused_where_they_cannot_be(
    change: dict[str, int | str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(DESIGN, **change)  # type: ignore[arg-type]


def test_a_design_says_how_wide_the_words_of_each_rpau_are() -> None:
    assert [DESIGN.bits_of(rpau) for rpau in range(6)] == [60, 60, 54, 54, 54, 54]
    assert DESIGN.widths == (60, 54)
    assert DESIGN.all_bits == 336
    assert load_design("nano").widths == (48,)
