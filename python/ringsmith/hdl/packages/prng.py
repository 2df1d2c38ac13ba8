"""What Python uses of ``rs_prng_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

STREAMS = 8
WORD_BITS = 64
WARM_UP_ROUNDS = 1152


def stream_words(lanes: int) -> int:
    """Words that a generator gives each cycle, and generators of a lane."""
    return lanes // STREAMS if lanes > STREAMS else 1


def stream_turns(lanes: int) -> int:
    return 1 if lanes > STREAMS else STREAMS // lanes


def expander_pause(lanes: int) -> int:
    """Cycles without residues when one start follows another: loading and warm-up of every
    stream.
    """
    return (1 + WARM_UP_ROUNDS // (WORD_BITS * stream_words(lanes))) * stream_turns(lanes)


def expander_latency(lanes: int) -> int:
    """rs_key_expander: start to the first residues. Two cycles until the loading; the pause; the
    register of the first words.
    """
    return 2 + expander_pause(lanes) + 1
