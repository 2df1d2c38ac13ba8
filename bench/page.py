"""The page of results, written from the measured numbers and from nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any


def page(numbers: Mapping[str, Any]) -> str:
    """Returns ``docs/results.md``.

    Args:
        numbers: What ``measure`` returned.
    """
    design, program = numbers["design"], numbers["program"]
    bound = numbers["ntt_lower_bound_cycles"]
    ntt = next(row["cycles"] for row in numbers["operations"] if row["name"] == "ntt")
    clock = f"at {numbers['assumed_clock_hz'] / 1e6:.0f} MHz (assumed)"
    quality = program["quality"]
    parts = [
        "# Results",
        "After reading this page you know how many clock cycles the accelerator "
        f"`{design['name']}` needs for HE operations and for a whole encrypted program, under "
        f"which conditions, and what Microsoft SEAL needs for the same. `{numbers['command']}` "
        "wrote it; do not edit it.",
        "## Conditions",
        _conditions(numbers),
        "## An encrypted program: logistic regression",
        f"{quality['patients']} held-out patients in one ciphertext. Classes right: "
        f"{quality['accuracy_encrypted']:.1%} encrypted, {quality['accuracy_clear']:.1%} in the "
        "clear. Largest error of a probability: "
        f"{quality['largest_error_to_polynomial']:.1e} to the clear model with the same cubic, "
        f"{quality['largest_error_to_sigmoid']:.1e} to the one with the sigmoid. Every residue "
        f"equal to the CPU's: {'yes' if program['equal_bits_with_cpu'] else 'NO'}.",
        _table(
            ("instructions", "cycles", "cycles predicted", clock, "SEAL"),
            [
                (
                    f"{program['instructions']:,}",
                    f"{program['cycles']:,}",
                    f"{program['predicted_cycles']:,}",
                    _milliseconds(program["seconds_at_assumed_clock"]),
                    _milliseconds(program["seal_seconds"]),
                )
            ],
        ),
        "Its cycles by operation; operations overlap, and a cycle belongs to the instruction "
        "issued last:",
        _table(
            ("operation", "times", "instructions", "cycles", "share"),
            [
                (
                    share["operation"],
                    str(share["count"]),
                    str(share["instructions"]),
                    f"{share['cycles']:,}",
                    f"{share['cycles'] / program['cycles']:.1%}",
                )
                for share in program["breakdown"]
            ],
        ),
        "## Single operations",
        "Each alone, from the start command to completion. `ntt` is one polynomial, all limbs at "
        f"once: {ntt:,} cycles, {ntt / bound - 1:+.2%} against the {bound:,} of "
        "N/2 · log2 N butterflies over the cores.",
        _table(
            ("operation", "limbs", "instructions", "cycles", clock, "SEAL"),
            [
                (
                    row["name"],
                    str(row["limbs"]),
                    f"{row['instructions']:,}",
                    f"{row['cycles']:,}",
                    _milliseconds(row["seconds_at_assumed_clock"]),
                    _milliseconds(row["seal_seconds"]),
                )
                for row in numbers["operations"]
            ],
        ),
        *_compile_time(numbers["compile_time"], design["name"]),
    ]
    return "\n\n".join(parts) + "\n"


def _compile_time(numbers: Mapping[str, Any], design: str) -> list[str]:
    """The section about lowering and scheduling."""
    return [
        "## Compile time",
        f"From the traced product of a plain square matrix and an encrypted vector to a program of "
        f"`{design}`: lowering with all constants encoded, scheduling, and finding the scheduled "
        "program in the cache. Seconds of processor time, all threads together, the fastest of "
        f"three; `{numbers['command']}`, {numbers['date']}, {numbers['cpu']}.",
        _table(
            ("columns", "instructions", "runs", "cycles", "lower", "schedule", "find again"),
            [
                (
                    str(row["columns"]),
                    f"{row['instructions']:,}",
                    str(row["runs"]),
                    f"{row['cycles']:,}",
                    f"{row['lower_seconds']:.2f} s",
                    f"{row['compile_seconds']:.2f} s",
                    f"{row['found_seconds']:.2f} s",
                )
                for row in numbers["rows"]
            ],
        ),
    ]


def _conditions(numbers: Mapping[str, Any]) -> str:
    parameters, design = numbers["parameters"], numbers["design"]
    sizes = ", ".join(str(prime.bit_length()) for prime in parameters["primes"])
    versions = ", ".join(f"{name} {v}" for name, v in numbers["versions"].items() if v)
    lines = (
        ("command", f"`{numbers['command']}`"),
        ("date", numbers["date"]),
        ("versions", versions),
        (
            "parameter set",
            f"`{parameters['name']}`: RNS-CKKS, N = {parameters['n']}, primes of {sizes} bits "
            f"(the last one special), {parameters['log2_modulus']} bits together, "
            f"{parameters['security_bits']}-bit security",
        ),
        (
            "design",
            f"`{design['name']}`: {design['rpaus']} RPAUs of {design['cores']} butterfly cores "
            f"and {design['dyadic_cores']} dyadic cores, {design['word_bits']}-bit words, "
            f"{design['reduction']} reduction; simulated RTL",
        ),
        ("keys", numbers["keys"]),
        ("host link", numbers["host_link"]),
        ("clock", "cycles are measured, the clock is assumed: no place and route backs it"),
        (
            "baseline",
            "Microsoft SEAL through seal-python (portable build, no HEXL), CPU time of one thread, "
            f"median; {numbers['cpu']}; load average {numbers['load_average']}",
        ),
    )
    return _table(("condition", "value"), lines, align_right=False)


def _table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, align_right: bool = True
) -> str:
    """A Markdown table; the first column reads from the left, the others as asked."""
    rule = ["---", *(["---:" if align_right else "---"] * (len(headings) - 1))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows))


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.3f} ms"
