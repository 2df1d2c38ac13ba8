"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.heaws.cases import COSTED, LARGER, PAPER, SEVERAL
from ringsmith.bench.heaws.cost import COMMUNICATION, SOURCE, TOTAL
from ringsmith.bench.heaws.forecast import DEVICE, FORECAST, HOST
from ringsmith.bench.heaws.others import others
from ringsmith.bench.papers import AREA, Fact, papers
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.tables import ahead, conditions, opening, table

_CYCLES = "Operations on one coprocessor (table 1)"
_TIMES = "Times (table 1)"
_AREA = "Area (tables 2 and 3)"
_CHOICES = "Design choices (table 3, sections 4 and 5)"
_LARGER = "Larger parameters (table 4)"
_SEVERAL = "Six coprocessors behind one link (table 1, section 5.1)"
_OTHERS = "Beside software and other accelerators (table 1, section 5.6)"
_FORECAST = "The smart-grid forecast (section 5.2)"
_SECTIONS = (_CYCLES, _TIMES, _SEVERAL, _FORECAST, _AREA, _CHOICES, _LARGER)

_CARD = "of the card, of which `platforms/f1.toml` has what the shell leaves"
_REASONS = {
    **dict.fromkeys(("fpga", "for_accelerator", "shell"), _CARD),
    "forecast": "no application ran in this run",
    "polynomial_transfer": "with six coprocessors: a transfer among others is not timed alone",
    "ntt_core": "a core here is both an NTT's and an RPAU's: `rpau_cores`",
}
"""Operation -> why it is not compared."""
_COST = (
    "No design holds the two largest parameter sets: an instruction names 16 RPAUs at most, and a "
    "base conversion takes one prime of each. Their rows are by `cost`: the latencies of all "
    "instructions, composed by `backends/rpau/compiler/cost.py` for shapes that cannot be built. "
    "*cost_over_model* is what that gives where a design can be run, in percent of the model's "
    "cycles. The first shape of each set is the paper's scaling: RPAUs and converters double, an "
    "RPAU keeps two cores. Rows of two cores have four words, and feed four converters: the other "
    "two shapes have no more, or as many cores as feed all."
)
"""Of the section with larger parameters."""
_MEANT = (
    "The paper's time is wall time of one forecast, software included; ours are of all 496 meters "
    "at once. `forecast` adds what the host does in between, `forecast_host`, timed on this CPU, "
    "to `forecast_device`: coprocessors by the model, and the link's model. "
    "[The smart-grid forecast](../guide/gmdh.md#the-smart-grid-forecast) says what runs."
)
"""Of the section with the forecast."""
_LINK = (
    "The paper's link carries what it needs 0.11 ms for. Table 1 calls that a polynomial, of 128 "
    "KiB: 1.19 GB/s. Section 5.1 calls it a ciphertext, of two polynomials: 2.38 GB/s. Table 4 "
    "has 0.33 ms for a product's transfers, which are three ciphertexts, and the log in the "
    "authors' repository has 0.22 ms for two ciphertexts in and 0.11 ms for one out. So a "
    "ciphertext is the likelier reading; both rates have a row."
)
"""Of the section with six coprocessors."""
_AUTHORS = (
    "HEAWS's RTL is public: [KULeuven-COSIC/HEAT](https://github.com/KULeuven-COSIC/HEAT), folder "
    "`AWSF1`, Apache License 2.0 (read at commit 60e7a4b). It was not simulated here. It has 42 "
    "Verilog files, two test benches in SystemVerilog, and 53 Vivado IP cores as settings (`.xci`) "
    "with the contents of their tables (`.coe`): 27 block memories, 21 distributed memories, 4 "
    "multipliers and an adder. A product is a list of instructions in C, which software sends one "
    "by one.",
    "",
    "To simulate it beside `heaws`:",
    "",
    "1. Behavioural Verilog for those 53 cores, with their latencies and contents: Verilator reads "
    "no `.xci`, and Vivado's simulation models are encrypted or in VHDL.",
    "2. `homenc_coprocessor` as the top, without Amazon's shell: a driver for its 512-bit host "
    "port, which writes operands and keys, and for its instruction port.",
    "3. The instructions of `homomorphy_code.h`, and the wait for `done` after each: cycles of the "
    "product alone, which the paper does not give, and no driver's time.",
    "4. The paper's primes and keys in our `heaws`, and results compared with the interpreter's.",
)
"""What is known of the authors' own RTL."""


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/heaws.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    lines = [
        *opening(
            "HEAWS, beside the paper",
            "the numbers that the HEAWS paper gives of its BFV coprocessor, ours for the same, and "
            "where both come from",
            measurement,
            "[Base conversion](../reference/baseconv.md) describes the converters.",
        ),
        "",
        "Sources: `rtl`, counted by the simulated RTL with every result compared with the "
        "interpreter's, in this run, or in one before it of the same RTL, whose digest the records "
        "have; `model`, counted by the cycle-exact model; `cost`, composed of instructions' "
        "latencies, not run; `estimate`, computed as the conditions say; `synthesis`, Yosys; "
        "`cpu`, measured on this machine's processor. A ratio is ours over the paper's.",
        "",
        "The paper measures wall time with its drivers, while keys stream from the host. Here keys "
        "stream in, too; one coprocessor has its operands on the device, and six take theirs and "
        "give back results over the link's model "
        "([The RPAU architecture](../reference/rpau.md)), without "
        "drivers. So the times below are not of the same thing, and cycles of the operations "
        "alone the paper does not give.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
    ]
    lines += ahead(records)
    for title in _SECTIONS:
        chosen = [record for record in records if _section(record) == title]
        if chosen:
            text = _text(title, chosen)
            words = [text, ""] if text else []
            lines += ["", f"## {title}", "", *words, *table(chosen), "", *conditions(chosen)]
    lines += ["", f"## {_OTHERS}", "", *others(records)]
    lines += ["", "## The authors' own RTL", "", *_AUTHORS]
    missing = [fact for fact in left_out((PAPER,), records) if not fact.peer]
    if missing:
        lines += ["", "## Not measured", "", *_missing(missing)]
    return "\n".join(lines) + "\n"


def _text(title: str, chosen: Sequence[Record]) -> str:
    """What a section says before its table."""
    if title in (_FORECAST, _SEVERAL):
        return _MEANT if title == _FORECAST else _LINK
    return _COST if any(record.source == SOURCE for record in chosen) else ""


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.operation in (FORECAST, DEVICE, HOST):
        return _FORECAST
    if record.source == SOURCE or record.params in (LARGER, *COSTED):
        return _LARGER
    if record.operation == "six_coprocessors":
        return _AREA
    if record.operation in (COMMUNICATION, TOTAL):
        return _LARGER
    if record.design.partition(":")[0] == SEVERAL:
        return _SEVERAL
    if ": " in record.design:
        return _CHOICES
    if record.metric in (*AREA, "fits"):
        return _AREA
    return _CYCLES if record.metric in ("cycles", "instructions") else _TIMES


def _missing(facts: Sequence[Fact]) -> list[str]:
    """A line for each reason and parameter set, with what is not compared."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact.params, _why(fact)), []).append(f"`{fact.operation} {fact.metric}`")
    return [f"- {params}, {why}: {', '.join(names)}." for (params, why), names in groups.items()]


def _why(fact: Fact) -> str:
    if fact.operation in _REASONS:
        return _REASONS[fact.operation]
    if fact.metric in AREA and fact.params in (LARGER, *COSTED):
        return "no design was synthesized for it"
    return "not synthesized in this run" if fact.metric in AREA else "not measured"
