"""The RTL of an RPAU design: its top modules, their sources, and what they are elaborated with."""

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import CAPABILITIES
from ringsmith.errors import ParameterError
from ringsmith.hdl.record import Field, Record, Values

UNIT = "rs_rpau"
"""The module of one RPAU."""

TOP = "rs_rpau_top"
"""The top module: the bare accelerator, with a row of a memory as its host's word."""

FOLDERS = ("mem", "arith", "prng", "ntt", "baseconv", "rpau")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""

BUS_TOP = "rs_rpau_axil"
"""The accelerator behind its register block, on AXI4-Lite."""

BUS_FOLDERS = (*FOLDERS, "shell")
"""Folders of ``rtl/`` that it is made of."""

CARD_TOP = "rs_rpau_card"
"""Coprocessors behind a DMA and one AXI4-Lite bus."""

CARD_FOLDERS = (*BUS_FOLDERS, "dma", "card")
"""Folders of ``rtl/`` that it is made of."""

BOARD_FOLDERS = (*BUS_FOLDERS, "board")
"""Folders of ``rtl/`` that the top modules of boards are made of."""


def capabilities(design: RpauDesign) -> dict[str, int]:
    """The capability registers of a design's device: name -> number, in the registers' order."""
    values = {capability: getattr(design, capability.name) for capability in CAPABILITIES}
    return {
        capability.name: capability.values.index(value) if capability.values else int(value)
        for capability, value in values.items()
    }


def configuration(design: RpauDesign) -> Record:
    """A design's record, ``rs_rpau_pkg::rpau_cfg_t``: what is true or false has one bit."""
    values = capabilities(design)
    return Record(
        tuple(
            Field(
                capability.rtl_field,
                1 if isinstance(getattr(design, capability.name), bool) else 32,
                values[capability.name],
            )
            for capability in CAPABILITIES
        )
    )


def parameters(design: RpauDesign) -> Values:
    """Values of the top's parameters for a design."""
    return {"Cfg": configuration(design)}


def unit_parameters(design: RpauDesign, rpau: int = 0) -> Values:
    """Values of the parameters of one RPAU (``UNIT``) for a design."""
    own = configuration(design).changed(Width=design.bits_of(rpau))
    return {"Cfg": own, "LinkWidth": design.word_bits}


def card_parameters(design: RpauDesign) -> Values:
    """Values of the parameters of ``CARD_TOP`` for a design.

    Raises:
        ParameterError: If the design has no bus to the host.
    """
    if not design.host_bits:
        raise ParameterError(
            f"design {design.name} has coprocessors = {design.coprocessors} and host_bits = 0: "
            "a card of several needs a bus to the host; choose host_bits = 128, for instance"
        )
    card = {"Coprocessors": design.coprocessors, "HostBits": design.host_bits}
    return {**parameters(design), **card}
