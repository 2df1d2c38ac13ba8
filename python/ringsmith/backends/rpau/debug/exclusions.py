"""Points of the RTL that no program of the coverage campaign can reach, each rule with its reason.

The rules hold for ``campaign.campaign_design``: fields of fixed width are wider than so small a
design needs. A rule that excludes what is reached is found out by the tests.
"""

from ringsmith.backends.rpau.debug.campaign import campaign_design
from ringsmith.backends.rpau.isa.instruction_set import ISA, Field
from ringsmith.backends.rpau.isa.kinds import KINDS
from ringsmith.hdl.coverage import EDGE, Exclusion, bits, one_of

_DESIGN = campaign_design()


def _needed_bits(field: Field) -> int:
    """Bits of an instruction field that the design's programs use."""
    if field.kind:
        return (KINDS[field.kind].limit(_DESIGN) - 1).bit_length()
    return {"mask": _DESIGN.rpaus, "prime": (_DESIGN.modulus_banks - 1).bit_length()}.get(
        field.name, field.width
    )


def _idle_word_bits() -> list[int]:
    """Bits of an instruction word that the design's programs leave 0."""
    used = {field.lsb + bit for field in ISA.fields.values() for bit in range(_needed_bits(field))}
    return sorted(set(range(64)) - used)


_IDLE = _idle_word_bits()
_TOP = _DESIGN.log_n - 1
_ROW_BITS = (_DESIGN.rows - 1).bit_length()
_OWN = r"(main_|dyadic_|coefficient_)?{0}(_main|_dyadic|_coefficient)?(_[ioq])?(\[0\])?"
"""A prime's own words, by any name on their way from the modulus banks to the arithmetic."""

_SMALLEST = 2 << _DESIGN.min_log_n
_PRIME_IS_ONE = (
    f"a prime is 1 modulo twice the degree of the smallest ring, {_SMALLEST}, so these bits of it "
    "are fixed"
)
_LARGEST = "the primes are the largest of their 19 to 30 bits, which fixes these bits"
_ONE_BITS = bits(0, _DESIGN.min_log_n)
_NO_INDEX = "Barrett reduction has no index"
_EIGHT_BANKS = "8 banks are two multiplexers of four banks each, and none is left"
_NONE_BEHIND = "no RPAU is behind the last one"
_ONE_CYCLE_A_HOP = "words take one cycle a hop in this design"
_TILING = "parts of the tiling that a product of 30-bit words does not have"

_WIDE: tuple[Exclusion, ...] = (
    Exclusion(
        "rpau/.*",
        rf"(.*word|fetched|word_q|program_data_i){one_of(_IDLE)}{EDGE}",
        "instruction fields are wider than the indices of a design of 3 RPAUs, 8 polynomials and "
        "8 constants",
    ),
    Exclusion(
        "mem/rs_ram_1r1w.sv",
        rf"(wdata_i|rdata_o|read_q|.*output_q){one_of(bit for bit in _IDLE if bit >= 30)}{EDGE}",
        "the program store holds the same instruction words, and other memories 30-bit words",
    ),
    Exclusion(
        "rpau/.*",
        rf"(.*\.poly(\[\d\])?|dst|[ab]_sel_q|poly(_[ab])?|gen_bank\[\d+\]\.[rw]poly|w?sel_q)"
        rf"{bits(3, 11)}{EDGE}",
        "indices of polynomials are wider than the 3 bits of 8 polynomials",
    ),
    Exclusion(
        "rpau/.*",
        rf".*(read|write)(_[ioq])?(\[\d\])?\.row(\[\d\])?{bits(_ROW_BITS, 15)}{EDGE}",
        f"row numbers have 16 bits, and a polynomial's need {_ROW_BITS}",
    ),
    Exclusion(
        "rpau/rs_rpau(_key_store)?.sv",
        rf"(key_read|read_i)\[[23]\]\.(valid|(poly|row)\[\d+\]){EDGE}|reads\[[23]\]{EDGE}",
        "the link and the coefficient unit read no keys",
    ),
    Exclusion(
        "rpau/rs_rpau(_work_memory)?.sv",
        rf"gen_bank\[\d+\]\.operand\[2\]\[[12]\]{EDGE}"
        rf"|(unit_read|work_read|read_[iq])\[2\]\.uses\[\d\]{EDGE}",
        "the link unit reads operand a, and no other",
    ),
    Exclusion(
        "rpau/rs_rpau_(link|port).sv",
        rf"read_o\.uses\[\d\]{EDGE}",
        "the link unit reads operand a, and no other",
    ),
    Exclusion(
        "rpau/rs_rpau(_work_memory|_coefficient)?.sv",
        rf"gen_bank\[\d+\]\.operand\[3\]\[2\]{EDGE}"
        rf"|((unit_read|work_read|read_[iq])\[3\]|read_o)\.uses\[2\]{EDGE}",
        "the coefficient unit reads operands a and b, and no other",
    ),
    Exclusion("rpau/rs_rpau_bank_mux.sv", "cond_else", _EIGHT_BANKS, kind="line"),
    Exclusion("rpau/rs_rpau_bank_mux.sv", rf"gen_few\.which\[1\]{EDGE}", _EIGHT_BANKS),
    Exclusion(
        "(ntt|rpau)/.*",
        rf"(w?index(_i)?|load_table_i|host_index_i|.*(host|request).*\.index){bits(3, 11)}{EDGE}",
        "memory indices have 12 bits, and 8 polynomials need 3",
    ),
    Exclusion(
        "(ntt|rpau)/.*",
        rf"(host_row_i|.*(host|request).*\.row){bits(6, 15)}{EDGE}",
        "row numbers have 16 bits, and the longest address space, of 64 parts of rows, needs 6",
    ),
    Exclusion(
        "rpau/rs_rpau_constants.sv",
        rf"waddr_i\[6\]{EDGE}",
        "constants have indices of 7 bits, and the host's rows have 6 here",
    ),
    Exclusion(
        "rpau/rs_rpau_converters.sv",
        rf"load_row_[iq]({bits(2, 3)}|{bits(6, 7)}|{bits(11, 15)}){EDGE}",
        "a conversion's constants have rows and columns of 4 bits, and 3 RPAUs need 2, and their "
        "kinds end below bit 11",
    ),
    Exclusion(
        "mem/rs_ram_1r1w.sv",
        rf"gen_read_old\.mem{one_of((3, 7))}\[\d+\]{EDGE}",
        "a conversion has three terms, and its memories four words",
    ),
    Exclusion(
        "mem/rs_ram_1r1w.sv", "else", "a conversion's memories are read in every cycle", kind="line"
    ),
    Exclusion(
        "baseconv/rs_base_convert_sequence.sv",
        rf"(own_q|last_(output|slot)_q\[\d\]){one_of((0, 1))}{EDGE}",
        "random conversions take every RPAU, and those of odd numbers have own words",
    ),
    Exclusion(
        "rpau/.*",
        rf"(host_rpau_i|(gen_stage\[\d\]\.)?rpau(_q)?){bits(2, 3)}{EDGE}",
        "RPAU numbers have 4 bits, and 3 need 2",
    ),
    Exclusion("rpau/.*", rf"rpau_i\[\d\]{EDGE}", "each RPAU's own number never changes"),
    Exclusion(
        "rpau/.*",
        rf"(cycles_[oq]{bits(14, 63)}|instructions_o{bits(6, 63)}|issued_q\[6\]){EDGE}",
        "counters have 64 bits, and no program here takes 2^14 cycles or has 64 instructions",
    ),
    Exclusion(
        "(ntt|rpau)/.*",
        rf"set(_command|_main|_dyadic|_coefficient)?(_[ioq])?\[\d\]{EDGE}",
        "an RPAU has one modulus bank",
    ),
    Exclusion(
        "prng/rs_key_expander.sv",
        rf"(digit_i{bits(7, 15)}|block_i{bits(2, 15)}"
        rf"|(.*\.)?iv(_q)?({bits(3, 15)}|{bits(39, 47)}|{bits(50, 79)})){EDGE}",
        "streams have indices of 16 bits each, and an instruction names digits of 7 bits, "
        "sub-polynomials "
        "of 2 and 8 streams",
    ),
    Exclusion(
        "rpau/rs_rpau_(dyadic|seeded).sv",
        rf"(lead(\[\d+\])?|block_q{bits(2, 15)}){EDGE}",
        "a sub-polynomial of 2^9 words has residues of one block of a key's streams, and "
        "lies below block 4",
    ),
    Exclusion(
        "rpau/rs_rpau_seeded.sv",
        "if",
        "a sub-polynomial of 2^9 words has residues of one block, so that none follows it",
        kind="line",
    ),
    Exclusion(
        "rpau/rs_rpau_seeded.sv",
        rf"word\[4\]{bits(16, 19)}{EDGE}",
        "a limb's number has 16 bits of the seed store's 20",
    ),
)
"""What is wider than the design needs."""

_PRIMES: tuple[Exclusion, ...] = (
    Exclusion(
        "(arith|baseconv|ntt|prng|rpau)/.*",
        rf"({_OWN.format('q')}|q\[\d\]|unused_q|q_(remainder|threefold|correction|low|n)|b_i"
        rf"|(out_)?modulus(_i)?){_ONE_BITS}{EDGE}",
        _PRIME_IS_ONE,
    ),
    Exclusion(
        "arith/rs_mod_halve.sv",
        rf"addend({bits(0, 7)}|{bits(29, 29)}){EDGE}",
        "half a prime: a prime is 1 modulo 512 and has 30 bits",
    ),
    Exclusion("(arith|ntt|rpau)/.*", rf"{_OWN.format('mu')}{bits(26, 29)}{EDGE}", _LARGEST),
    Exclusion("(arith|ntt|rpau)/.*", rf"{_OWN.format('shift')}\[4\]:1->0", _LARGEST),
    Exclusion("prng/rs_key_expander.sv", rf"(below|used)_q{bits(0, 15)}:1->0", _LARGEST),
    Exclusion(
        "prng/rs_key_expander.sv",
        rf"below_q\[29\]{EDGE}",
        "nothing is above the highest bit of a word",
    ),
    Exclusion(
        "arith/rs_mod_mul_barrett.sv",
        rf"(coarse{bits(0, 1)}|q3_q({bits(0, 8)}|{bits(15, 15)})|h{bits(26, 29)}){EDGE}",
        "quotient bits that the size of the primes, the largest of 19 to 30 bits, fixes",
    ),
    Exclusion(
        "(arith|ntt)/.*|rpau/rs_rpau(_main|_dyadic|_moduli|_dyadic_unit)?.sv",
        rf"(.*unused_)?{_OWN.format('index')}(\[\d\])?{EDGE}",
        _NO_INDEX,
    ),
)
"""What the primes and their reduction fix."""

_SHAPES: tuple[Exclusion, ...] = (
    Exclusion(
        "arith/rs_mul.sv",
        rf"(centre\[\d+\]|low_east_q{bits(25, 32)}|low_north_q{bits(24, 32)}|low_q{bits(26, 32)}"
        rf"|high_north_q{bits(13, 18)}){EDGE}",
        _TILING,
    ),
    Exclusion(
        "arith/rs_mul_(add|accumulate).sv",
        rf"[cp]_[ioq]{bits(34, 47)}{EDGE}",
        "a DSP adds in 48 bits, and a sum of products of 15 and 17 bits has 34, of 25 and 15 bits "
        "42",
    ),
    Exclusion(
        "arith/rs_mul_add.sv",
        rf"(x_[iq]\[15\]|y_[iq]\[17\]|m_q{bits(32, 33)}){EDGE}",
        "no factor is negative, so that the signs of both are 0",
    ),
    Exclusion(
        "arith/rs_scale_(product|step|steps).sv",
        rf"far(_o)?\[\d+\]{EDGE}",
        "a product with a prime of 30 bits without its lowest 9 is one DSP's",
    ),
    Exclusion(
        "arith/rs_scale_(product|step).sv",
        rf"(near(_o)?|sum_q)\[30\]{EDGE}",
        "r * h is below the prime, and less than nothing only before the rest is added",
    ),
    Exclusion("arith/rs_scale_steps.sv", rf"n\[0\]\[\d+\]{EDGE}", "reduction begins with 0"),
    Exclusion("arith/rs_mul_low.sv", rf"(centre|east|north|top|north_q)\[\d+\]{EDGE}", _TILING),
    Exclusion(
        "ntt/rs_butterfly_lanes.sv|rpau/rs_rpau_(completion|main).sv",
        rf"(sum_i|sum_only|in_turn){EDGE}",
        "a core has two multipliers in this design",
    ),
    Exclusion("ntt/rs_lane_gather.sv", rf"reversed.*{EDGE}", "constants"),
    Exclusion(
        "ntt/rs_ntt_twiddle.sv",
        rf"core_exponent.*{EDGE}",
        "bits of the exponent that the numbers of eight cores do not reach",
    ),
    Exclusion(
        "ntt/rs_ntt_.*",
        rf"(block(_[ioq])?\[{_TOP}\]|block_step{bits(4, _TOP)}|pair\[4\]){EDGE}",
        "a stage has at most N/2 blocks, a step at most 8 of them, and half as many pairs as rows",
    ),
    Exclusion(
        "(ntt|rpau)/.*",
        rf"ring_[idq](\.\w+)?(\[\d+\])?{EDGE}",
        "a ring is one of four, and what follows from it one of four records",
    ),
    Exclusion(
        "ntt/rs_(automorph_sequencer|ntt_blocks|ntt_steps).sv"
        "|rpau/rs_rpau_(coefficient|link|receive).sv",
        rf"(gap_[dq]|last_row|skip_i|top|top_mark|unit|unused)"
        rf"(\[\d+\])?{EDGE}",
        "these are parts of such a record, moved to their position",
    ),
    Exclusion(
        "rpau/rs_rpau_main.sv",
        rf"(walk_read|walk_write|receive_step)\.(pattern\[\d\]|again){EDGE}"
        rf"|(ntt_step|receive_step)\.half{EDGE}|receive_step\.swap{EDGE}",
        "a step of the NTT, of a walk and of what is received are one record, and each leaves the "
        "fields of the others constant",
    ),
    Exclusion(
        "rpau/.*",
        r"(unit_|work_)?read(_[ioq])?(\[\d\])?\.uses\[0\]:1->0",
        "operand a is always read",
    ),
    Exclusion(
        "rpau/.*",
        rf"(.*decoded(_q)?\.valid|missing(_q)?|lacks|error_[oq]){EDGE}",
        "no device loads a word that is no instruction",
    ),
    Exclusion(
        "rpau/rs_rpau_(dyadic|main|seeded).sv",
        rf"(command_q\.)?(decoded\.(opcode{bits(2, 5)}|(unit|needs)\[\d\]|uses_\w+)"
        rf"|word({bits(2, 5)}|{bits(43, 50)}|{bits(52, 61)})){EDGE}",
        "a unit sees its own instructions only, which agree in these flags, opcode bits and fields",
    ),
    Exclusion("(ntt|rpau)/.*", r"element(_i)?\[0\]:1->0", "Galois elements are odd"),
    Exclusion(
        "rpau/rs_rpau_top.sv",
        "|".join(
            rf"gen_rpau\[{rpau}\]\.command_q\.word\[{ISA.fields['mask'].lsb + rpau}\]:1->0"
            for rpau in range(_DESIGN.rpaus)
        ),
        "an RPAU takes the commands that have its own bit in their mask",
    ),
    Exclusion(
        "rpau/rs_rpau_chain.sv",
        rf"gen_stage\[{_DESIGN.rpaus - 1}\]\.behind_valid{EDGE}",
        _NONE_BEHIND,
    ),
    Exclusion(
        "rpau/rs_rpau_converters.sv",
        rf"gen_converter\[\d\]\.gen_stage\[{_DESIGN.rpaus - 1}\]\.(x|own)_behind\[\d+\]{EDGE}",
        _NONE_BEHIND,
    ),
    Exclusion(
        "rpau/rs_rpau_converters.sv",
        rf"unused_out{EDGE}",
        "both converters give words in the same cycles",
    ),
    Exclusion("rpau/rs_rpau_link.sv", rf"held{EDGE}", _ONE_CYCLE_A_HOP),
    Exclusion("rpau/rs_rpau_coefficient.sv", rf"(offset\[\d\]|later\[0\]){EDGE}", _ONE_CYCLE_A_HOP),
    Exclusion(
        "rpau/rs_rpau_row_parts.sv",
        r"gen_word\[1\]\.lane\[0\]:1->0",
        "the second word of a part is in a lane of odd number",
    ),
    Exclusion(
        "(ntt|rpau)/.*",
        rf"(tw_factor(_i)?|factor_o)(\[\d+\])*{EDGE}|gen_factor.*unused_factor{EDGE}",
        "factors of stored tables, which this design does not have",
    ),
)
"""What the blocks' shapes and their users fix."""

_TILES: tuple[Exclusion, ...] = (
    Exclusion(
        "baseconv/rs_base_convert_reduce.sv",
        rf"gen_tile\[\d\]\.((added|result){bits(34, 47)}|unused_high){EDGE}",
        "a DSP adds in 48 bits, and a tile's sum has 34",
    ),
    Exclusion(
        "baseconv/rs_tile_accumulate.sv",
        rf"gen_tile\[\d\]\.(sum{bits(42, 47)}|unused_high){EDGE}",
        "a DSP adds in 48 bits, and a tile's sum has 34 or 42",
    ),
    Exclusion(
        "baseconv/.*",
        rf"(gen_cell\[\d\]\.)?(sum(_[io])?|merged|tile_i|run){one_of((2, 3))}{bits(29, 34)}"
        rf"{EDGE}"
        rf"|gen_tile{one_of((2, 3))}\.(added|result){bits(29, 33)}{EDGE}",
        "of a word's 30 bits the first part has 17, and the tiles of the second part are shorter",
    ),
    Exclusion(
        "baseconv/rs_tile_(accumulate|sum).sv|mem/rs_delay.sv",
        rf"(gen_tile{one_of((1, 3, 5, 6, 7))}\.(gen_add\.)?(sum|tile|run_q)"
        rf"|run{one_of((1, 3, 5, 6, 7))}){bits(34, 43)}{EDGE}"
        rf"|gen_shift\.shift_q{one_of((3, 4, 5))}{bits(34, 41)}{EDGE}",
        "of a word's 30 bits the first part has 17, and the tiles of the second part are shorter",
    ),
    Exclusion(
        "baseconv/rs_tile_sum.sv",
        rf"(gen_tile\[\d\]\.gen_add\.run_q|run\[\d\]){bits(42, 43)}{EDGE}",
        "sums of tiles have two bits for what is carried, and of these tiles carry none",
    ),
)
"""What tiles of products of 30-bit words do not need."""

EXCLUSIONS: tuple[Exclusion, ...] = (*_WIDE, *_PRIMES, *_SHAPES, *_TILES)
"""Rules for ``rtl_coverage.by_file``."""
