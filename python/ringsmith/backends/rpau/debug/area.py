"""Area and static timing of RPAUs by Yosys, for UltraScale+.

:mod:`ringsmith.hdl.synthesis` says how far to trust the numbers.
"""

from dataclasses import replace

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.area import scaled
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.rtl import UNIT
from ringsmith.errors import ParameterError
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized
from ringsmith.hdl.timing.graph import WHOLE, Wider
from ringsmith.hdl.timing.report import Timing, merged
from ringsmith.hdl.timing.synthesis import timed

SHARE = 4
"""The number of cores is divided by this where a full RPAU is not synthesized."""

_PARTS = (
    "rs_rpau_main",
    "rs_butterfly_lanes",
    "rs_rpau_dyadic",
    "rs_rpau_seeded",
    "rs_rpau_work_memory",
    "rs_rpau_row_parts",
    "rs_rpau_key_store",
    "rs_rpau_arrival",
    "rs_mod_mul",
)
"""Modules of an RPAU whose area is reported separately, including everything below them."""

_PARTS_OF_A_CARD = ("rs_dma", "rs_dma_channel", "rs_card_control", "rs_rpau_shell")


def rpau_area(design: RpauDesign, rpau: int = 0) -> Area:
    """Area of one RPAU; see ``rpau_areas``."""
    return rpau_areas(design, rpau)[UNIT]


def rpau_areas(design: RpauDesign, rpau: int = 0) -> dict[str, Area]:
    """Synthesizes one RPAU of a design for UltraScale+, or finds the result in the cache.

    Takes minutes of processor time, more than ten for an RPAU of 16 cores.

    Args:
        design: The design.
        rpau: Which RPAU: those with words of one width are alike.

    Returns:
        Area by module: ``UNIT`` and its parts that the design has, one instance of each.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    return synthesized(
        UNIT, rtl.FOLDERS, rtl.unit_parameters(design, rpau), _PARTS, ULTRASCALE_PLUS
    )


def part_of(design: RpauDesign) -> RpauDesign:
    """Returns the design with one in ``SHARE`` of its cores.

    Raises:
        ParameterError: When it has too few cores; synthesize the whole then.
    """
    if design.cores < SHARE or design.dyadic_cores < SHARE:
        raise ParameterError(
            f"design {design.name} has cores = {design.cores} and dyadic_cores = "
            f"{design.dyadic_cores}, and a part of it one in {SHARE}: synthesize the whole, which "
            "takes minutes"
        )
    cores, dyadic = design.cores // SHARE, design.dyadic_cores // SHARE
    return replace(design, name=f"{design.name} in part", cores=cores, dyadic_cores=dyadic)


def area_from_part(design: RpauDesign, rpau: int = 0) -> Area:
    """Area of one RPAU, from the synthesis of one with a part of its cores.

    Synthesis of ``medha``'s RPAU, of 16 cores, takes more than ten minutes of processor time; with
    four cores it takes three.

    RPAUs with words of one width are alike.

    Raises:
        ParameterError: When it has too few cores.
        ToolError: If Yosys is not installed or fails.
    """
    part = part_of(design)
    return scaled(design, part, rpau_areas(part, rpau), rpau)[UNIT]


def device_areas(design: RpauDesign) -> dict[str, Area]:
    """Synthesizes a whole device, all RPAUs and what joins them, as ``rpau_areas`` does one RPAU.

    Returns:
        Area by module: ``rtl.TOP``, and its parts that the design has, one instance of each.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    parts = (UNIT, "rs_base_convert", *_PARTS)
    return synthesized(rtl.TOP, rtl.FOLDERS, rtl.parameters(design), parts, ULTRASCALE_PLUS)


def card_areas(design: RpauDesign) -> dict[str, Area]:
    """Synthesizes a card less its accelerators (``rtl.TOP``), as ``device_areas`` does one.

    Returns:
        Area by module: ``rtl.CARD_TOP``, its DMA and its register blocks, one instance of each.

    Raises:
        ParameterError: If the design has no bus to the host.
        ToolError: If Yosys is not installed or fails.
    """
    return synthesized(
        rtl.CARD_TOP,
        rtl.CARD_FOLDERS,
        rtl.card_parameters(design),
        _PARTS_OF_A_CARD,
        ULTRASCALE_PLUS,
        boxes=(rtl.TOP,),
    )


def rpau_timing(design: RpauDesign, *, in_part: bool = False) -> Timing:
    """Times a whole device: an RPAU of each width, the device without them, and what is around it.

    Without its RPAUs a device is the program controller, the interconnect, the commands' registers
    and the host's chain. Around it are registers and the host's data path, and of several
    coprocessors the DMA and the crossings of clocks. Each part begins and ends with registers.

    Args:
        design: The design.
        in_part: Whether it is synthesized with one in ``SHARE`` of its cores: what drives as many
            inputs as the part has lanes is then taken for a net to all lanes.

    Raises:
        ParameterError: If it has too few cores for a part.
        ToolError: If Yosys is not installed or fails.
    """
    own = part_of(design) if in_part else design
    wider = Wider(2 * own.cores, SHARE) if in_part else WHOLE
    units = [own.rpaus_of(width)[0] for width in own.widths]
    found = [
        timed(UNIT, rtl.FOLDERS, rtl.unit_parameters(own, unit), wider=wider) for unit in units
    ]
    found.append(timed(rtl.TOP, rtl.FOLDERS, rtl.parameters(own), boxes=(UNIT,), wider=wider))
    card = own.coprocessors > 1
    outer = rtl.CARD_TOP if card else rtl.BUS_TOP
    folders: tuple[str, ...] = rtl.CARD_FOLDERS if card else rtl.BUS_FOLDERS
    values = rtl.card_parameters(own) if card else rtl.parameters(own)
    found.append(timed(outer, folders, values, boxes=(rtl.TOP,), wider=wider))
    return merged(found)
