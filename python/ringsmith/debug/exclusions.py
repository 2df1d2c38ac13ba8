"""Points of the RTL that no program of the coverage campaign can reach, each rule with its reason.

The rules hold for ``campaign.campaign_design``: fields of fixed width are wider than so small a
design needs. A rule that excludes what is reached is found out by the tests.
"""

from ringsmith.debug.rtl_coverage import Exclusion

_EDGE = ":(0->1|1->0)"


def _bits(first: int, last: int) -> str:
    """Pattern of the last index of a bit."""
    return rf"\[({'|'.join(map(str, range(first, last + 1)))})\]"


_WIDE_WORD = "|".join(
    _bits(first, last)
    for first, last in ((11, 23), (27, 31), (35, 39), (51, 55), (59, 63))  # of mask, dst, a, k1, k2
)

EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(
        "rpau/.*",
        rf"(.*word|fetched|word_q|program_data_i)({_WIDE_WORD}){_EDGE}",
        "instruction fields are wider than the indices of a design of 3 RPAUs, 8 polynomials and "
        "8 constants",
    ),
    Exclusion(
        "mem/rs_ram_1r1w.sv",
        rf"(wdata_i|rdata_o|read_q|.*output_q)({_bits(30, 31)}|{_WIDE_WORD}){_EDGE}",
        "the program store holds the same instruction words, and other memories 30-bit words",
    ),
    Exclusion(
        "rpau/.*",
        rf"(main_|dyadic_|side_|link_|raw_)?w?sel(_[ioq])?(\[\d+\])?{_bits(3, 7)}{_EDGE}",
        "polynomial indices have 8 bits, and 8 polynomials need 3",
    ),
    Exclusion(
        "rpau/.*",
        rf"(key_index(_o)?|[wr]index_i|host_index_i|.*host.*\.index){_bits(3, 11)}{_EDGE}",
        "memory indices have 12 bits, and 8 polynomials need 3",
    ),
    Exclusion(
        "rpau/.*",
        rf"(host_row_i|.*host.*\.row){_bits(6, 15)}{_EDGE}",
        "row numbers have 16 bits, and 64 rows at the most need 6",
    ),
    Exclusion(
        "rpau/rs_rpau_constants.sv",
        rf"(k[12]_i{_bits(3, 7)}|waddr_i{_bits(6, 7)}){_EDGE}",
        "constant and table addresses are wider than 8 constants and 64 words need",
    ),
    Exclusion(
        "rpau/.*", rf"host_rpau_i{_bits(2, 3)}{_EDGE}", "RPAU numbers have 4 bits, and 3 need 2"
    ),
    Exclusion("rpau/.*", rf"rpau_i\[\d\]{_EDGE}", "each RPAU's own number never changes"),
    Exclusion(
        "rpau/.*",
        rf"(cycles_[oq]{_bits(14, 63)}|instructions_[oq]{_bits(6, 63)}){_EDGE}",
        "counters have 64 bits, and no program here takes 2^14 cycles or has 64 instructions",
    ),
    Exclusion(
        "(arith|ntt|rpau)/.*",
        rf"(q(_[ioq])?|b_i){_bits(0, 8)}{_EDGE}",
        "a prime is 1 modulo 2N = 512, so these bits of it are fixed",
    ),
    Exclusion(
        "arith/.*", rf"(.*unused_)?index(_i\[\d\])?{_EDGE}", "Barrett reduction has no index"
    ),
    Exclusion(
        "arith/rs_mul.sv",
        rf"(centre\[\d+\]|low_east_q{_bits(27, 36)}|low_north_q{_bits(26, 36)}|low_q{_bits(28, 36)}"
        rf"|high_north_q{_bits(13, 16)}){_EDGE}",
        "parts of the tiling that a product of 30-bit words does not have",
    ),
    Exclusion(
        "arith/rs_mul_low.sv",
        rf"(centre|east|north|top|north_q)\[\d+\]{_EDGE}",
        "parts of the tiling that a product of 30-bit words does not have",
    ),
    Exclusion(
        "arith/rs_mod_mul_barrett.sv",
        rf"(coarse{_bits(0, 1)}|q3_q({_bits(0, 8)}|{_bits(15, 15)})|h{_bits(26, 29)}){_EDGE}",
        "quotient bits that the size of the primes, the largest of 19 to 30 bits, fixes",
    ),
    Exclusion(
        "rpau/.*",
        rf"(.*decoded(_q)?\.valid|error_[oq]){_EDGE}",
        "no device loads a word that is no instruction",
    ),
    Exclusion(
        "rpau/rs_rpau_(dyadic|main).sv",
        rf"(command_q\.)?(decoded\.(opcode{_bits(2, 5)}|unit\[\d\]|uses_\w+|reads_a|reads_b_key"
        rf"|writes_dst)|word({_bits(2, 5)}|{_bits(43, 50)}|{_bits(56, 58)})){_EDGE}",
        "a unit sees its own instructions only, which agree in these flags, opcode bits and fields",
    ),
    Exclusion("(ntt|rpau)/.*", r"element(_i)?\[0\]:1->0", "Galois elements are odd"),
)
"""Rules for ``rtl_coverage.by_file``."""
