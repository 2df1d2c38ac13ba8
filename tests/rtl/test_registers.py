"""The register map: what is generated from it, and what a device says about itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ringsmith.backends.rpau.design.design import INTERCONNECTS, REDUCTIONS, TWIDDLES, load_design
from ringsmith.backends.rpau.design.register_table import CAPABILITIES, Register
from ringsmith.backends.rpau.design.rtl import capabilities
from ringsmith.backends.rpau.device import generate_registers as generator
from ringsmith.backends.rpau.device.checks import check_capabilities
from ringsmith.errors import DeviceError, ToolError
from ringsmith.hdl.register_map import read_register_map
from ringsmith.hdl.toolchain import compiler

CHECKOUT = Path(__file__).parents[2]
MAP = CHECKOUT / generator.SOURCE
DESIGN = load_design("nano")


# ---- what is generated ---------------------------------------------------------------------------


def test_generated_files_equal_what_the_map_gives() -> None:
    assert generator.GENERATED.stale(CHECKOUT) == []


def test_check_fails_on_a_difference_and_writing_mends_it(tmp_path: Path) -> None:
    sources = (generator.SOURCE, generator.CARD_SOURCE)
    for path in (*sources, *generator.expected(CHECKOUT)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / path, tmp_path / path)
    root = ["--root", str(tmp_path)]
    assert generator.main(["--check", *root]) == 0
    text = (tmp_path / generator.SOURCE).read_text()
    capability = (
        '    reg {\n      rtl_field = "Banks";\n      desc = "Banks.";\n      field {} value[32];\n'
    )
    changed = text.replace("  } capabilities @", f"{capability}    }} log_n2;\n  }} capabilities @")
    (tmp_path / generator.SOURCE).write_text(changed.replace("log_n2", "n"))
    assert generator.main(["--check", *root]) == 1
    assert generator.main(root) == 0
    assert generator.main(["--check", *root]) == 0
    package = (tmp_path / "rtl/rpau/rs_rpau_pkg.sv").read_text()
    assert "    // Banks.\n    int unsigned Banks;\n" in package
    assert "      Banks: 8192\n" in package
    top = (tmp_path / "rtl/rpau/rs_rpau_top.sv").read_text()
    assert "assign design_o[CapabilityBanks] = CapabilityBits'(Cfg.Banks);\n" in top


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("addrmap rs_registers {", "addrmap rs_registers [", "is no register map"),
        (
            '      rtl_field = "LogN";\n',
            "",
            "log_n: the registers of capabilities, and no others",
        ),
        ('desc = "What the device does.', 'name = "What the device does.', "status has no desc"),
        ("barrett = 0", "barrett = 3", "the words of a capability stand for 0, 1, … in order"),
    ],
)
def test_a_wrong_map_is_refused_in_words(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = MAP.read_text()
    assert old in text
    (tmp_path / "map.rdl").write_text(text.replace(old, new))
    with pytest.raises(ToolError, match=message):
        read_register_map(tmp_path / "map.rdl")


def test_sections_must_be_there_and_end() -> None:
    begin = f"  // generated from {generator.SOURCE}: capabilities\n"
    filled = generator.fill(
        f"a\n{begin}  old\n  // end of generated\nb\n", {"capabilities": ["x;"]}, "f"
    )
    assert filled == f"a\n{begin}  x;\n  // end of generated\nb\n"
    with pytest.raises(ToolError, match="f has the sections ; it takes capabilities"):
        generator.fill("a\n", {"capabilities": []}, "f")
    with pytest.raises(ToolError, match="section capabilities has no line"):
        generator.fill(begin, {"capabilities": []}, "f")


def test_words_of_the_map_are_those_of_designs() -> None:
    words = {capability.name: capability.values for capability in CAPABILITIES if capability.values}
    assert set(words["reduction"]) == set(REDUCTIONS)
    assert set(words["interconnect"]) == set(INTERCONNECTS)
    assert set(words["twiddles"]) == set(TWIDDLES)


def test_the_c_header_has_the_same_addresses(tmp_path: Path) -> None:
    names = {register.name.lower(): register.value for register in Register}
    names |= {
        f"capabilities.{capability.name}": capability.address
        for capability in read_register_map(MAP).capabilities
    }
    rows = "".join(f'  printf("%zu\\n", offsetof(rs_registers_t, {name}));\n' for name in names)
    source = tmp_path / "offsets.cpp"
    source.write_text(
        '#include <cstddef>\n#include <cstdio>\n#include "rs_registers.h"\n'
        f"int main() {{\n{rows}}}\n"
    )
    program = tmp_path / "offsets"
    include = f"-I{CHECKOUT / 'rtl/shell'}"
    subprocess.run([compiler().program, "-w", include, source, "-o", program], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in printed.split()] == list(names.values())


# ---- what a device says --------------------------------------------------------------------------


def test_every_capability_that_differs_is_named() -> None:
    reported = list(capabilities(DESIGN).values())
    check_capabilities(DESIGN, [*reported, 99], "do something")  # a newer device reports more
    with pytest.raises(DeviceError, match=f"does not report {CAPABILITIES[-1].name}: do something"):
        check_capabilities(DESIGN, reported[:-1], "do something")
    other = dict(zip([capability.name for capability in CAPABILITIES], reported, strict=True))
    other |= {"cores": 8, "reduction": 1}
    says = "says cores = 8, reduction = sparse and design nano has cores = 4, reduction = barrett"
    with pytest.raises(DeviceError, match=f"the device {says}: do something"):
        check_capabilities(DESIGN, list(other.values()), "do something")
