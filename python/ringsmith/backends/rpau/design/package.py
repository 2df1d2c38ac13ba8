"""What Python uses of ``rs_rpau_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

from typing import NamedTuple

from ringsmith.hdl.packages import arith, ntt, prng

INTERCONNECT_GATHER = 1
HOST_BEAT_WORDS = 8


class RpauCfg(NamedTuple):
    """What functions read of a ``rpau_cfg_t``."""

    rpaus: int
    interconnect: int
    narrow_rpaus: int
    hop_cycles: int


def receive_to_write(reduction: int) -> int:
    """Words of the interconnect at the lanes to their results at the memory's write port."""
    return ntt.lanes_latency(reduction) - ntt.lanes_wait() + 1


def sum_read_to_write(reduction: int) -> int:
    """rs_ntt_pkg::read_to_write for a sum, which uses no multiplier."""
    return ntt.read_to_write(reduction) - 1 - arith.mod_mul_latency(reduction)


def interconnect_hops(cfg: RpauCfg) -> int:
    """Words of the sender at the interconnect to the RPAU that they reach last."""
    return 2 if cfg.interconnect == INTERCONNECT_GATHER else cfg.rpaus - 1


def interconnect_latency(cfg: RpauCfg) -> int:
    """The same in cycles, to the last words in an RPAU: where some RPAUs have narrow words, they
    shorten arriving words, and all others wait for the same time.
    """
    return interconnect_hops(cfg) * cfg.hop_cycles + (
        arith.mod_shorten_latency() if cfg.narrow_rpaus > 0 else 0
    )


def broadcast_read_to_write(reduction: int, hops: int) -> int:
    """The last row's address to the last write of a broadcast, in the RPAU that the words reach
    last.
    """
    return ntt.read_to_write(reduction) - 1 + hops + receive_to_write(reduction)


def seed_lead(lanes: int) -> int:
    """Cycles by which the rows of an instruction that expands a seed start later than others.
    The expander starts a cycle after the command. A row's words are in their registers after
    the command, the counters, the row address and the memory.
    """
    return 1 + prng.expander_latency(lanes) - (3 + ntt.memory_read_latency())


def host_words(lanes: int) -> int:
    """Words at the host's port: a row of a memory, or a part of one that is longer than a beat
    of the data path. A beat's words have at most 512 bits.
    """
    return lanes if lanes < HOST_BEAT_WORDS else HOST_BEAT_WORDS


def rpau_read_latency() -> int:
    """Request of a read at an RPAU to the words there: a register before and one after the
    memory.
    """
    return 1 + ntt.memory_read_latency() + 1


def host_read_latency(rpaus: int) -> int:
    """Host: request at the device's port to read data valid there. Each direction has a register
    for each RPAU: rs_rpau_chain.
    """
    return 2 * rpaus + rpau_read_latency()


def arrival_latency(rpaus: int) -> int:
    """Last row of a key polynomial at the host's port to the issue of the instruction that waits
    for it: the chain to the last RPAU, the count, and the comparison. The row is in its
    memory by then; an instruction that reads it issues even later.
    """
    return rpaus + 2
