"""Handshakes, queues and modular adders proved for every input, by k-induction with Yosys.

What is proved of a block stands as assertions in formal/<block>_proof.sv: a model of the block
next to the block itself. They hold from the second cycle after a reset on, for all inputs that the
assumptions there allow and through further resets, whatever registers held before. Each proof is
shown to be able to fail: with one line of the block changed, the solver finds inputs that break it.
"""

import shutil
from pathlib import Path

import pytest

from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.yosys import run_yosys

FORMAL = Path(__file__).parent / "formal"
FOLDERS = ("mem", "arith", "prng", "ntt", "rpau", "shell", "stream", "dma", "vector", "vector_axi")
BLOCKS = (
    *("word_halves", "host_space", "delay", "ram_1r1w", "ram_2clk", "sync", "ntt_steps"),
    *("dma_fifo", "vector_bursts", "vector_join", "vector_watchdog"),
)
PARTS = (
    *(f"rs_{name}.sv" for name in BLOCKS),
    *("rs_vector_proof_pkg.sv", "rs_axi_burst_rules.sv"),
)
"""Modules that blocks are made of, and what proofs share."""

TWO_CLOCKS = {"rs_async_fifo"}
"""Blocks of two clocks: a proof says by registers with initial values which resets there are."""

EDGES = r"""
module \$dff (CLK, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  input CLK;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  wire [WIDTH-1:0] held = Q;
  \$ff #(.WIDTH(WIDTH)) _TECHMAP_REPLACE_ (.D(CLK ? D : held), .Q(Q));
endmodule
module \$dffe (CLK, EN, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  parameter EN_POLARITY = 1;
  input CLK, EN;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  wire [WIDTH-1:0] held = Q;
  \$ff #(.WIDTH(WIDTH)) _TECHMAP_REPLACE_ (.D((CLK && EN == EN_POLARITY) ? D : held), .Q(Q));
endmodule
"""
"""What registers of two clocks become. A step of the solver is a moment in which each clock has an
edge or not: its input says which, and is free. So every order of edges is covered, those of both
clocks at once too: any two frequencies in any phase, and clocks that pause."""

PROVED = "Induction step proven: SUCCESS!"
BROKEN = "model found for base case: FAIL!"

MODULES = {
    "rs_mod_addsub": [{"Width": 60}, {"Width": 30}],
    "rs_mod_halve": [{"Width": 60}, {"Width": 30}],
    "rs_word_halves": [{}],
    "rs_program_window": [{"ProgramWords": 24}, {"ProgramWords": 1024}],
    "rs_host_window": [
        {"Cores": 2, "Width": 40, "NarrowRpaus": 1, "NarrowWidth": 36},
        {"Cores": 1, "Width": 30, "Longest": 9},
        {"Cores": 8, "Width": 33, "LogN": 5},
    ],
    "rs_data_path": [
        {"Cores": 8},
        {"Cores": 2},
        {"Cores": 4, "LogN": 8, "NarrowRpaus": 1, "NarrowWidth": 1, "ReadLatency": 5},
    ],
    "rs_rpau_completion": [
        {"Drain": 31, "SumDrain": 12, "BroadcastDrain": 60},
        {"Drain": 3, "SumDrain": 1, "BroadcastDrain": 4},
    ],
    "rs_ntt_sequencer": [
        {"LogN": 5, "Cores": 2},
        {"LogN": 6, "Cores": 1},
        {"LogN": 12, "Cores": 2},
        {"LogN": 14, "Cores": 16},
    ],
    "rs_rpau_controller": [
        {"Rpaus": 2, "ProgramWords": 4},
        {"Rpaus": 1, "ProgramWords": 2, "HasUnits": 3, "HasFeatures": 0},
    ],
    "rs_stream_queue": [
        {"LogLanes": 1, "Multiplier": 0},
        {"LogLanes": 1, "Multiplier": 1},
        {"LogLanes": 2, "Multiplier": 0},
    ],
    "rs_async_fifo": [
        {"LogDepth": 1, "Width": 1},
        {"LogDepth": 2, "Width": 2},
        {"LogDepth": 3, "Width": 1},
    ],
    "rs_dma_fifo": [{"LogDepth": 2, "Width": 2}, {"LogDepth": 4, "Width": 1}],
    "rs_dma_order": [{"Channels": 2}, {"Channels": 3}, {"Channels": 8}],
    "rs_dma_fetch": [{"DataBits": 64}, {"DataBits": 256}],
    "rs_dma_store": [{"DataBits": 128}],
    "rs_vector_bursts": [{"Ports": 2}, {"Ports": 1, "BurstBeats": 1}, {"Ports": 4}],
    "rs_vector_fetch": [{}],
    "rs_vector_loads": [{"Ports": 2}, {"Ports": 1, "Outstanding": 4}],
    "rs_vector_stores": [{"Ports": 2}, {"Ports": 1, "Outstanding": 4}],
}
"""Block -> parameters that it is proved with."""

MUTANTS = {
    "rs_mod_addsub": [
        ("sub_q ? !raw_q[Width]", "sub_q ? raw_q[Width]"),
        ("!raw_q[Width] : corrected[Width]", "!raw_q[Width] : !corrected[Width]"),
        ("{1'b0, b_i}, sub_i}", "{1'b0, b_i}, !sub_i}"),
    ],
    "rs_mod_halve": [
        ("Width'(x_i[0])", "Width'(0)"),
        ("x_i[0] ? (q_i >> 1)", "x_i[0] ? q_i"),
    ],
    "rs_word_halves": [
        ("access_i.whole && !access_i.upper", "!access_i.upper"),  # part of a half is taken
        ("!rst_ni || clear_i", "!rst_ni"),  # a half outlives clear_i
        ("if (write && !access_i.upper)", "if (access_i.valid)"),  # a read changes the half
    ],
    "rs_program_window": [
        ("ready_i && complete && exists", "ready_i && complete"),  # behind the store's end
        (".clear_i(!ready_i)", ".clear_i(1'b0)"),  # a half from before the program
        ("program_addr_o = addr_q", "program_addr_o = address_i[AddrWidth-1:0]"),
    ],
    "rs_host_window": [
        ("exists && fits && next;", "exists && fits;"),  # words out of order
        (".clear_i(!ready_i || moved_i)", ".clear_i(!ready_i)"),  # a half from another address
        ("if (moved_i || accept || (serve", "if (accept || (serve"),  # a row of another address
        (" || abandon;", ";"),  # no answer when the device stops being ready
        ("moved_i || fetch) filled_q", "moved_i) filled_q"),  # a read among the words of a row
        ("if (fetch) upper_q", "if (serve) upper_q"),
        (" && !(narrow && (word", " && !(1'b0 && (word"),  # too wide a word for a narrow RPAU
    ],
    "rs_data_path": [
        ("RowWidth'(first_beat) + RowWidth'(len_q)", "RowWidth'(first_beat + LogBeats'(len_q))"),
        ("&& !failed_q && !fails) rows_q", "&& !failed_q) rows_q"),  # a row that lost bits
        ("(reason != '0 || forget_i) ? '0 : 9'(", "9'("),  # a read that was refused
        ("reason == '0 && grant_i;", "reason == '0;"),  # a port that is in use
        ("StIdle && turn_q", "StIdle"),  # two bursts at once
        ("default: if (axi_i.b_ready) state_q", "default: state_q"),  # does not wait for its taker
        ("(!out_valid_q || rtake)", "1'b1"),  # a beat changes while it waits
        ("rows_q == 3'(BeatRows - 1)", "1'b0"),  # no beat is ever whole
        ("if (pop) popped_q", "if (push) popped_q"),  # words of another row
        ("Places = 2 ** AddrBits", "Places = 2 ** (AddrBits + 1)"),  # more beats than words
        ("r_last: left_q == 9'd1", "r_last: left_q == 9'd2"),
        ("if (store || fetch) row_q", "if (fetch) row_q"),  # a row over the one before
        (" && !(r_valid && !failed_q && !axi_i.r_ready)", ""),  # a reset changes an offered beat
        ("drop && state_q != StAnswer", "drop"),  # a reset changes an answer
        ("if (forget_i) fetches_q <= '0", "if (1'b0) fetches_q <= '0"),  # reads without the port
    ],
    "rs_rpau_completion": [
        ("32'(pair_i)", "32'd0"),
        ("if (busy_q && last_i)", "if (last_i || start_i)"),  # ends without its last row
        ("drain_q == DrainBits'(1)", "drain_q <= DrainBits'(1)"),  # ends again and again
    ],
    "rs_ntt_sequencer": [
        ("(pair & ~below) << 1", "(pair & ~below)"),  # rows twice, and others never
        ("row_u | row_stride", "row_u"),  # a row meets itself
        ("half_q ^ (^row_u_q)", "half_q"),  # both words in one half
        ("across || stride[LogLanes-1]", "across"),
        ("!stride[0] :", "stride[0] :"),
        ("across && step[0]", "1'b0"),  # lower halves twice
    ],
    "rs_rpau_controller": [
        ("(waits_q & units_busy_q) == '0", "(starts_q & units_busy_q) == '0"),  # wait bits
        ("halt ? '1 : mask[r] ?", "mask[r] ?"),  # the program ends before its instructions
        ("fetch_q <= FetchBits'(1);", "fetch_q <= FetchBits'(2);"),  # the instruction before
    ],
    "rs_stream_queue": [
        ("words_q[i] <= words_q[i+1]", "words_q[i] <= words_q[i]"),  # only the last word moves
        ("(answer_q == AnswerTaken) ? StHandOn", "(1'b1) ? StHandOn"),  # refused, and handed on
        ("if (state_q == StCollect && valid_i)", "if (valid_i)"),  # taken without being accepted
        ("default: if (ready_i) state_q", "default: state_q"),  # does not wait for its taker
        ("word_i >= WordBits'(q_q)", "word_i > WordBits'(q_q)"),
        ("if (last_i) state_q <= StAnswer", "if (found != AnswerTaken) state_q <= StAnswer"),
    ],
    "rs_async_fifo": [
        ("wopened && wcount_o != {1'b1, LogDepth'(0)}", "wopened"),  # a word enters a full FIFO
        ("there != '0 && (!rvalid_q", "(!rvalid_q"),  # a word that is not there
        ("wgray_q <= wptr ^ (wptr >> 1)", "wgray_q <= wptr"),  # a pointer in two's complement
        ("(!rvalid_q || rready_i)", "1'b1"),  # a word changes while it waits
        (".waddr_i(wptr_q[LogDepth-1:0])", ".waddr_i(wptr[LogDepth-1:0])"),
        (
            "if (!wopen_q) begin",
            "if (!wrst_ni) begin",
        ),  # a pointer jumps before the other port knows
        ("if (!ropen_q) begin", "if (!rrst_ni) begin"),
        ("wopen_q && ropen && !wlost_q", "wopen_q && !wlost_q"),  # goes on while that is reset
        ("else if (rready_i && ropened) rvalid_q", "else if (ropened) rvalid_q"),
    ],
    "rs_dma_fifo": [
        (
            "rst_ni && wptr_q != {!rptr_q[LogDepth], rptr_q[LogDepth-1:0]}",
            "rst_ni",
        ),  # a word enters a full FIFO
        ("wptr_q != rptr_q && (!valid_q", "(!valid_q"),  # a word that is not there
        ("(!valid_q || ready_i)", "1'b1"),  # a word changes while it waits
        (".waddr_i(wptr_q", ".waddr_i(rptr_q"),
        ("else if (ready_i) valid_q", "else if (!ready_i) valid_q"),
    ],
    "rs_dma_order": [
        ("asks_i[d] && before_q[d][c]", "before_q[d][c]"),  # waits for one that does not request
        ("turn_i[a] != turn_i[b]", "turn_i[b]"),  # two in front of each other
        ("<= turn_i[b]", "<= turn_i[a]"),  # a turn goes to the front
        ("first = asks_i[c]", "first = 1'b1"),  # chosen without a request
    ],
    "rs_dma_fetch": [
        ("if (BeatCount'(page >> LogBeat) < BeatCount'(beats)) beats", "if (1'b0) beats"),
        ("rst_ni && !halt && kind_ready", "rst_ni && kind_ready"),  # a burst after halt_i
        ("(!ar_valid_q || ar_ready_i) && open_q", "open_q"),  # an address changes
        ("slot.next % AddrBits'(DescriptorBytes) != '0", "1'b0"),
    ],
    "rs_dma_store": [
        ("rst_ni && !halt_i && !aw_valid_q", "rst_ni && !aw_valid_q"),  # a burst after halt_i
        ("w_last_o  = beat_q == '0", "w_last_o  = beat_q == 8'd1"),
        ("line_count_i >= need_q + lines", "line_count_i >= lines"),  # data that are not there
        ("!line_valid_i && !waits_q", "!line_valid_i"),  # a beat changes while it waits
    ],
    "rs_vector_bursts": [
        ("flight_q != FlightWidth'(Outstanding)", "1'b1"),
        ("busy_q && !halt_i &&", "busy_q &&"),
        ("(valid_q & ~ready_i) == '0", "1'b1"),  # a burst that a port has not taken is lost
        ("left_q <= CountWidth'(BurstBeats);", "left_q < CountWidth'(BurstBeats);"),
        ("'1 : valid_q & ~ready_i", "'1 : valid_q"),  # a port gets it again
        ("beat_q + BeatWidth'(BurstBeats)", "beat_q + BeatWidth'(BurstBeats - 1)"),
    ],
    "rs_vector_fetch": [
        ("wants != '0 && !halt_i", "wants != '0"),  # a burst after halt_i
        ("order_ready && (!ar_q || ar_ready_i)", "order_ready"),  # an address changes
        ("ask || (ar_q && !ar_ready_i)", "ask"),  # a burst goes before it is taken
        ("8'(SlotBeats - 1)", "8'(SlotBeats)"),  # a burst into the next slot
        ("left_q[k] != '0 && credit_q[k] != '0", "left_q[k] != '0"),  # beats without space
        ("load_last && load_beat_q == '1", "load_last"),  # space of a slot for each beat
        ("store_last && store_beat_q == '1", "store_last"),
        ("instruction_valid_o && instruction_ready_i;", "slot_came;"),  # space that is used
        ("6'(ask) - 6'(slot_came)", "6'(ask) - 6'(r_valid_i)"),  # idle in the midst of a slot
        ("idle_o   = flight_q == '0", "idle_o   = !ar_q"),  # idle before memory has answered
        ("wants == '0 && flight_q == '0", "wants == '0"),  # filled before that
        (".ready_i(slot_came)", ".ready_i(r_valid_i)"),  # a slot's beats go to the next list
    ],
    "rs_vector_loads": [
        ("ItemLegal && !halt_i && !busy", "ItemLegal && !busy"),  # a load begins after halt_i
        ("checked_q && error_q == ItemLegal", "checked_q"),  # a malformed load goes to the bus
        ("!halt_i && !busy &&", "!halt_i &&"),  # a load begins before the last is handed over
        ("burst_done = pop && last[0]", "burst_done = pop"),  # too many bursts on their way
        (
            "BeatWidth'(own_from.row) << $clog2(RowCycles)",
            "BeatWidth'(own_from.row) + BeatWidth'(1)",
        ),
    ],
    "rs_vector_stores": [
        ("ItemLegal && !halt_i && !busy", "ItemLegal && !busy"),
        ("checked_q && error_q == ItemLegal", "checked_q"),
        (".done_i(burst_done)", ".done_i(b_valid_i[0])"),
        ("BeatWidth'(own_to.row) << $clog2(RowCycles)", "BeatWidth'(own_to.row) + BeatWidth'(1)"),
        ("final_beat || beat_q == 8'(BurstBeats - 1)", "beat_q == 8'(BurstBeats - 1)"),
        ("beat_q == 8'(BurstBeats - 1)", "beat_q == 8'(BurstBeats)"),  # a burst too long
        ("burst_last ? '0 : beat_q + 8'd1", "beat_q + 8'd1"),  # WLAST in the next limb's midst
        ("rows_valid && space && paced", "rows_valid && paced"),  # a beat is lost
        ("AheadWidth'(Capacity - RowCycles)", "AheadWidth'(Capacity)"),
    ],
}
"""Block -> changes of its text; each breaks a proved property."""

REFUTED = {
    "rs_dma_fetch": {"DataBits": 256, "LogDepth": 5, "Few": 1},
    "rs_dma_store": {"DataBits": 128, "LogDepth": 4},
}
"""Block -> parameters with which changes are refuted: long bursts after few cycles. Of other blocks
they are the first of those that it is proved with."""


RESETS = {"rs_vector_stores": 3}
"""Block -> cycles that a reset lasts at least, if more than one."""


def reset(cycles: int) -> str:
    """The solver's options for a reset that assertions hold after."""
    low = "".join(f" -set-at {cycle} rst_ni 0" for cycle in range(1, cycles + 1))
    return f" -seq {cycles + 1}{low}"


def solve(folder: Path, block: str, parameters: dict[str, int], task: str) -> str:
    """The solver's report of a task on a block's proof; the sources lie in the folder."""
    packages = [file.name for file in rtl_sources(*FOLDERS) if file.stem.endswith("_pkg")]
    files = " ".join(dict.fromkeys([*packages, *PARTS, f"{block}.sv", f"{block}_proof.sv"]))
    values = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    (folder / "edges.v").write_text(EDGES)
    two = block in TWO_CLOCKS
    run_yosys(
        f"read_slang --threads 1 -D FORMAL=1 --no-implicit-memories --top {block}_proof "
        f"{values} {files}; "
        "proc; flatten; memory; async2sync; chformal -lower; opt_clean; "
        + ("techmap -map edges.v; opt_clean; " if two else "")
        + f"tee -q -o report.txt sat {task} -prove-asserts -set-assumes"
        + ("" if two else reset(RESETS.get(block, 1))),
        folder,
    )
    return (folder / "report.txt").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all sources, since Yosys sees nothing outside of where it runs."""
    for file in (*rtl_sources(*FOLDERS), *FORMAL.glob("*.sv")):
        shutil.copy(file, tmp_path)
    return tmp_path


@pytest.mark.full
@pytest.mark.parametrize(
    ("block", "parameters"),
    [(block, parameters) for block, sets in MODULES.items() for parameters in sets],
)
def test_a_block_keeps_its_promises_for_every_input(
    folder: Path, block: str, parameters: dict[str, int]
) -> None:
    report = solve(folder, block, parameters, "-tempinduct -maxsteps 4")
    assert PROVED in report, report


@pytest.mark.full
@pytest.mark.parametrize(
    ("block", "old", "new"),
    [(block, old, new) for block, changes in MUTANTS.items() for old, new in changes],
)
def test_a_block_with_a_mistake_is_refuted(folder: Path, block: str, old: str, new: str) -> None:
    source = folder / f"{block}.sv"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    steps = 24 if block in TWO_CLOCKS else 12  # there the first ten are the reset
    parameters = REFUTED.get(block, MODULES[block][0])
    report = solve(folder, block, parameters, f"-tempinduct-baseonly -maxsteps {steps}")
    assert BROKEN in report, report


def test_every_proof_is_run_and_can_fail() -> None:
    written = {file.stem.removesuffix("_proof") for file in FORMAL.glob("*_proof.sv")}
    assert set(MODULES) == set(MUTANTS) == written
