"""The coverage campaign: random programs on the model and on RTL that counts its coverage.

Programs are chosen among many random ones so that every situation of the instruction set occurs:
what a program brings about follows from its schedule alone. Then they run on the RTL and on the
model, which must agree, and the RTL's counts are collected.
"""

from ringsmith.backends.vector.design import MONTGOMERY, VectorDesign


def campaign_design() -> VectorDesign:
    """The design to cover: as small as can be with everything used.

    Two results of a point instruction; three rings; so few rows that a transform of one limb waits
    for its passes; memories so small that streams and tables make instructions wait.
    """
    return VectorDesign(
        name="covered",
        log_n=10,
        log_lanes=4,
        log_radix=4,
        word_bits=30,
        reduction=MONTGOMERY,
        banks=5,
        bank_rows=256,
        table_rows=256,
        stream_rows=128,
        memory_latency=40,
    )
