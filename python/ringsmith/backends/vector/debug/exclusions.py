"""Points of the RTL that no program of a coverage campaign can reach, each rule with its reason.

Fields of fixed width are wider than so small a design needs. A rule that excludes what is reached
is found out by the tests.
"""

from ringsmith.backends.vector.debug.campaign import campaign_design
from ringsmith.backends.vector.debug.random_program import PRIMES
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.coverage import EDGE, Exclusion, bits, one_of

_VECTOR = "vector/.*"
_EVERY = "(vector|vector_axi)/.*"
_FAILS = "memory does not fail here: tests/rtl/test_vector_memory.py has what happens then"
_ONE_RING = "a simulation runs one program, and what follows from its ring is set once"


def exclusions(design: VectorDesign) -> tuple[Exclusion, ...]:
    """The rules of a design."""
    groups = (_wide, _settings, _moduli, _operands, _shapes, _memory, _bus)
    return tuple(rule for group in groups for rule in group(design))


def _wide(design: VectorDesign) -> tuple[Exclusion, ...]:
    """Fields that hold the numbers of any design."""
    address = (design.bank_rows - 1).bit_length()  # of a row in a bank, or in the twiddle memory
    row = design.log_n - design.log_lanes  # of a row in a limb
    limb = (design.bank_rows >> (design.min_log_n - design.log_lanes)).bit_length() - 1
    prime = (PRIMES - 1).bit_length()
    least = design.min_log_n - design.log_lanes  # row bits of the smallest ring
    held = design.stream_rows >> least
    radix = design.log_radix
    rules = [
        Exclusion(
            _VECTOR,
            rf"(.*\.row|(.*\.)?table_(row|first|late)(_[ioq])?){bits(address, 15)}{EDGE}",
            f"rows of memories have 16 bits, and those of this design {address}",
        ),
        Exclusion(
            _VECTOR,
            rf"(row|ahead|turned|mapped|limb_row|coming|table_shifted)(_q)?(\[\d\])?{bits(row, 15)}"
            rf"{EDGE}|ones(_q)?{bits(row.bit_length(), 4)}{EDGE}|wait_q{bits(row + 3, 16)}{EDGE}",
            f"rows of a limb have 16 bits, and those of the largest ring {row}",
        ),
        Exclusion(
            _VECTOR,
            rf"\w+_first_q\.row{bits(0, least - 1)}{EDGE}",
            "limbs begin at multiples of their rows",
        ),
        Exclusion(
            _VECTOR,
            rf"(there|used|filled|limbs)_q(\[\d\])?{bits(held.bit_length(), 6)}{EDGE}"
            rf"|taken_q\[\d\]{bits(held.bit_length(), 3)}{EDGE}",
            f"streams hold {held} limbs of the smallest ring at most",
        ),
        Exclusion(
            _VECTOR,
            rf"taken_q\[[01]\]{bits(1, 3)}{EDGE}",
            "an instruction takes one limb of a stream of factors",
        ),
        Exclusion(
            _VECTOR,
            rf"(new_element|.*\.element|thrice_q|first_step_q){bits(design.log_n + 3, 16)}{EDGE}"
            rf"|(new_element|.*\.element){bits(design.log_n + 1, design.log_n + 2)}{EDGE}",
            f"Galois elements have 17 bits, and those of the largest ring {design.log_n + 1}",
        ),
        Exclusion(
            _VECTOR,
            rf".*\.index{bits(limb, 15)}{EDGE}",
            f"limbs of a bank have 16 bits, and this design needs {limb}",
        ),
        Exclusion(
            _EVERY,
            rf"(.*\.)?prime(_(addr|late))?(_[ioq])?(\[\d\])?{bits(prime, 7)}{EDGE}",
            f"primes have indices of 8 bits, and programs {PRIMES} of them",
        ),
        Exclusion(
            _VECTOR,
            rf"(since|tables|ended)_[oq]{bits(12, 31)}{EDGE}|tables_q{bits(4, 11)}{EDGE}"
            rf"|ended_[oq]{bits(7, 11)}{EDGE}",
            "counters have 32 bits, and programs a hundred instructions of a thousand cycles",
        ),
    ]
    if radix < 4:
        rules.append(
            Exclusion(
                _VECTOR,
                rf"(.*\.)?(exchange|stages|unused_exchange){bits(radix, 3)}{EDGE}"
                rf"|(.*\.)?(subtract|[yz]_is_x){bits(radix // 2, 1)}{EDGE}"
                rf"|unused_exchange{EDGE}",
                f"masks have 4 bits, and units {radix} stages",
            )
        )
    return tuple(rules)


def _settings(design: VectorDesign) -> tuple[Exclusion, ...]:
    """What is set before a program."""
    return (
        Exclusion(
            _EVERY,
            r"(row_bits|passes|row_bits_less|top_bits|rows|before_last|last_row|second|capacity|last_pass|"
            rf"pass_least|pass_rows|pause|limb_rows|whole)(_[ioq])?\[\d+\]{EDGE}",
            _ONE_RING,
        ),
        Exclusion(
            _EVERY,
            rf"(pass_[ioq]|next_pass_q|pass|first_pass|pass_now_q)\..*{EDGE}"
            rf"|(back_q|next_back_q|table_shift_q|pass_addr(_[io])?)\[\d+\]{EDGE}"
            rf"|pass_q\[2\]{EDGE}",
            "a pass is one of three, of one ring",
        ),
    )


def _moduli(design: VectorDesign) -> tuple[Exclusion, ...]:
    """What primes and their reduction leave alone."""
    low = bits(0, design.log_n)
    return (
        Exclusion(
            _EVERY,
            rf"(.*\.)?(mu|shift|prime_mu|prime_shift|unused_reciprocal)(_\w+)?(\[\d+\])*{EDGE}",
            "Montgomery's reduction takes no reciprocal and no shift",
        ),
        Exclusion(
            _EVERY,
            rf"(.*\.)?(q|q_[a-z]+|prime_q_[ioq]|modulus_q)(\[\d+\])?{low}{EDGE}",
            f"a prime is 1 modulo {2 << design.log_n}, which fixes these bits of it",
        ),
        Exclusion(
            "arith/rs_scale_(product|step|steps).sv",
            rf"q_i(\[\d+\])?{low}{EDGE}",
            f"a prime is 1 modulo {2 << design.log_n}, which fixes these bits of it",
        ),
        Exclusion(
            "arith/rs_scale_(product|step|steps).sv",
            rf"far(_[io])?\[\d+\]{EDGE}|unused_low_bits:1->0",
            "a product with a prime without its lowest bits is one DSP's",
        ),
        Exclusion(
            "vector/rs_vector_mul.sv",
            rf"gen_montgomery\.n\[\d\]\[\d+\]{EDGE}",
            "a modulus that the reduction does not take",
        ),
    )


def _operands(design: VectorDesign) -> tuple[Exclusion, ...]:
    """What instructions cannot say of their operands."""
    return (
        Exclusion(
            _VECTOR,
            rf"((next_)?target(_first)?(_[oq])?|write_at|transform_at)(\[\d+\])*\.origin\[[01]\]{EDGE}",
            "results go to banks",
        ),
        Exclusion(
            _VECTOR,
            rf"(x|entry|(next_)?source|next_entry|entry_now|(next_)?x_first|x_access|request_at\[[01]\]"
            rf"\[0\])(_[oq])?(\.source)?\.origin\[1\]{EDGE}",
            "x is no constant",
        ),
        Exclusion(
            _VECTOR,
            r"(element(_[ioq])?|array_element|new_element|thrice_q)\[0\]:1->0|unused_one:1->0",
            "Galois elements are odd",
        ),
        Exclusion(
            "vector/rs_vector_affine.sv",
            rf"((multiple|high)_q\[0\]|gen_multiple\[\d+\]\.part\[\d+\])\[\d+\]{EDGE}"
            rf"|(multiple|high)_q\[\d+\]\[0\]{EDGE}",
            "multiples of an odd element: by 0, and in parts of them, bits stay as they are",
        ),
        Exclusion(
            _VECTOR,
            rf"of_stream(\[\d+\])*{EDGE}|read(\[\d+\])*{EDGE}",
            "x alone takes rows from its stream, and z none from any",
        ),
        Exclusion(
            _VECTOR,
            rf"request_word\[\d\]\[0\]\[\d+\]{EDGE}|gen_operand\[\d\]\.word\[0\]\[\d+\]{EDGE}",
            "x is no constant",
        ),
        Exclusion(
            _VECTOR,
            rf"(gen_unit\[\d+\]\.unit_)?factor(_i)?\[0\]\[\d+\]{EDGE}|unused_(factor|last){EDGE}",
            "word 0 of a unit's factors is unused",
        ),
    )


def _shapes(design: VectorDesign) -> tuple[Exclusion, ...]:
    """What widths and numbers of the design's blocks leave unused."""
    tiling = f"parts of the tiling that a product of {design.word_bits}-bit words does not have"
    rows = design.stream_rows.bit_length()
    return (
        Exclusion(
            "arith/rs_mul.sv",
            rf"(centre|low_east_q|low_north_q|low_q){bits(24, 32)}{EDGE}|centre\[\d+\]{EDGE}"
            rf"|high_north_q{bits(13, 18)}{EDGE}",
            tiling,
        ),
        Exclusion(
            "arith/rs_scale_(product|step).sv",
            rf"(near(_o)?|sum_q)\[{design.word_bits}\]{EDGE}",
            "r * h is below the prime, and less than nothing only before the rest is added",
        ),
        Exclusion(
            "vector/rs_vector_stream.sv",
            rf"gen_count\[\d\]\.rows_q\[{rows}\]{EDGE}",
            f"a stream has {design.stream_rows} rows, and the counter a bit more than they need",
        ),
        Exclusion(
            "vector/rs_vector_core.sv",
            rf"writer\[\d\]\[1\]\[1\]{EDGE}",
            "the later half of lanes takes the last result and transforms from one register",
        ),
        Exclusion(
            "vector/rs_vector_core.sv",
            rf"gen_operand\[\d\]\.(other\[[024]\]|gen_reader\[[024]\]\.chosen_other)\[2\]{EDGE}",
            "x and z come from no stream of factors",
        ),
        Exclusion(
            "mem/rs_mux.sv|dma/rs_dma_fifo.sv",
            rf"index\[3\]{EDGE}|there\[5\]{EDGE}",
            "a bit more than the number of choices, or of places, needs",
        ),
    )


def _memory(design: VectorDesign) -> tuple[Exclusion, ...]:
    """Addresses, counts and answers of memory."""
    axi = "vector_axi/.*"
    word = 8 * design.word_bytes
    idle = [
        bit
        for first in range(0, design.memory.port_bits, word)
        for bit in range(first + design.word_bits, first + word)
    ]
    return (
        Exclusion(
            axi,
            rf"(.*[._])?home(_[ioq])?\[\d\]{EDGE}|.*after_cluster\[\d\]{EDGE}"
            rf"|stores_ended(_[iq])?\[[1-7]\].*|gen_cluster\[[1-7]\].*|stores_ended_q.*"
            rf"|(.*\.)?fault(_[oq])?(\[\d\])?\.list\[1\]{EDGE}",
            "one cluster has memory of its own",
        ),
        Exclusion(
            axi,
            rf"(list_address(_[io])?|address_i|slot_q|.*_at|list_ar_addr_o|ar_addr_o|m_list_araddr"
            rf"|list_count(_[io])?|count_i|watchdog(_[io])?|limit_i)(\[\d+\])*{EDGE}",
            "lists lie where they lie in all programs, and are set once",
        ),
        Exclusion(
            axi,
            rf"(.*\.)?(address|row|(ar_|aw_|issued_)?beat(_[ioq])?|m_axi_a[rw]addr(\[0\])?)"
            rf"(\[\d+\])?{bits(11, 40)}{EDGE}",
            "programs have less than 2^11 rows in memory",
        ),
        Exclusion(
            axi,
            rf"(.*\.)?(address|row|(ar_|aw_|issued_)?beat(_[ioq])?){bits(0, 3)}{EDGE}"
            rf"|m_axi_a[rw]addr(\[0\])?{bits(0, 8)}{EDGE}",
            "limbs begin with a burst, and bursts are of whole rows",
        ),
        Exclusion(
            axi,
            rf"(.*\.)?rows{bits(7, 15)}{EDGE}|beats_i{bits(8, 23)}{EDGE}|left_q{bits(8, 23)}{EDGE}"
            rf"|(row|beat)_q{bits(7, 15)}{EDGE}|beat_q{bits(4, 6)}{EDGE}"
            rf"|.*\.table_row{bits(8, 15)}{EDGE}",
            "a limb has 64 rows at most, and a table 69",
        ),
        Exclusion(
            axi,
            rf"(.*\.)?(rows|beats_i|(ar_|aw_|m_axi_ar|m_axi_aw)?len(_[oq])?|m_axi_a[rw]len)(\[0\])?"
            rf"\[\d\]{EDGE}",
            "rows are those of limbs and tables of three rings, and make bursts of few lengths",
        ),
        Exclusion(
            axi,
            rf"(stores_ended|loads_ended|computing_ended|ended|asked|loads|stores|computing|left)"
            rf"(_[ioq])?(\[[0-7]\])*{bits(6, 31)}{EDGE}|left_q\[\d\]{bits(2, 31)}{EDGE}"
            rf"|.*\.after_(store|computing){bits(5, 27)}{EDGE}|cycles_q{bits(13, 63)}{EDGE}"
            rf"|since_q{bits(8, 31)}{EDGE}",
            "counters have 28 or 32 bits, and lists some hundred instructions",
        ),
        Exclusion(
            axi,
            rf"(.*[._])?(data(_[io])?|beat|rdata|wdata)(\[\d\])?{one_of(idle)}{EDGE}",
            f"words of {design.word_bits} bits lie in {word}",
        ),
        Exclusion(
            axi,
            rf"(.*\.)?(fault(_[ioq])?(\[\d\])?\.)?(port|unused_port|port_o)\[\d\]{EDGE}"
            rf"|(list_)?(ar_)?m_list_arlen.*|list_ar_len_o.*",
            "ports are numbered from 0, and this design has one",
        ),
        Exclusion(
            axi,
            rf"(failed|failed_[ioq]|halt|halt_[io]|silent|fails|silent_o)(\[\d\])?{EDGE}"
            rf"|(.*\.)?fault(_[ioq])?(\[\d\])?\.(fault|fetching|list)(\[\d\])?{EDGE}"
            rf"|m_\w+resp(\[\d\])*{EDGE}|(.*[._])?resp(_i)?(\[\d\])*{EDGE}",
            _FAILS,
        ),
        Exclusion("vector_axi/rs_vector_(cluster|control|watchdog).sv", ".*", _FAILS, "line"),
        Exclusion(
            axi,
            rf".*\.reserved\[\d+\]{EDGE}|(.*\.)?unused_\w+(\[\d+\])?{EDGE}",
            "reserved bits are 0, and what is unused may be",
        ),
        Exclusion(
            axi,
            rf"(credit_q|count_q)(\[\d\])?{bits(1, 5)}{EDGE}|flight_q{bits(4, 5)}{EDGE}",
            "memory keeps up: more could be on the way than ever is",
        ),
        Exclusion(
            "dma/rs_dma_fifo.sv|mem/rs_ram_1r1w.sv",
            rf"(data_[io]|gen_read_undefined\.mem\[\d+\])\[\d+\]{EDGE}",
            "a queue holds rows of the twiddle memory and of streams, of few lengths",
        ),
    )


def _bus(design: VectorDesign) -> tuple[Exclusion, ...]:
    """The host's bus, which the simulation drives in one way."""
    host = r"(axil_[io]\.|s_axil_|request\.|response\.)"
    return (
        Exclusion(
            "vector_axi/.*",
            rf"{host}((ar|aw)_?prot|w_?strb|[br]_?resp)\[\d\]{EDGE}"
            rf"|{host}(b|r|aw|ar|w)_?ready:1->0|(list_)?(m_list_)?r_?ready(_o)?(\[0\])?:1->0"
            rf"|m_list_rready\[0\]:1->0|(m_axi_)?b_?ready(_o)?(\[0\])?:1->0"
            rf"|m_\w+a[rw](size|burst)\[\d\]{EDGE}|m_axi_wstrb.*",
            "the host writes whole words and takes answers at once; bursts are of one kind",
        ),
        Exclusion(
            "vector_axi/.*",
            rf"{host}(ar_?addr|aw_?addr|r_?data)\[\d+\]{EDGE}|hwif_(in|out)\..*"
            rf"|(pass_bits|prime_q)\[\d+\]{EDGE}",
            "the host reads and writes a few registers of one cluster",
        ),
    )


EXCLUSIONS: tuple[Exclusion, ...] = exclusions(campaign_design())
"""The rules of the campaign's design."""
