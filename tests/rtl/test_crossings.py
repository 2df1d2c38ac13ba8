"""Paths between two clocks: every one is limited by the constraints of a module that it lies in."""

import re
from pathlib import Path

import pytest
from tests.rtl.crossings import Hierarchy, by_module, hierarchy, is_register, limits, register_of

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.vector.design.rtl import SHELL, SHELL_FOLDERS
from ringsmith.hdl.sources import rtl_root, sources_below

FILES = {file.stem: file for file in rtl_root().rglob("*.xdc")}
CLOCK = re.compile(r"^\s*input\s+logic\s+(\w*clk_i)\b", re.M)
INSTANCE = re.compile(r"\b(rs_\w+)\s*(?:#\(.*?\)\s*)?\b(u_\w+)\s*\(\s*\.", re.S)
TOPS = {
    rtl.CARD_TOP: (rtl.CARD_FOLDERS, ["rs_rpau_shell"], ""),
    SHELL: (SHELL_FOLDERS, ["rs_vector_cluster", "rs_vector_control"], "-G Crossed=1"),
}
"""Top modules with all modules of two clocks: their folders, what is left out, and parameters."""


@pytest.fixture(scope="module", params=TOPS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Hierarchy:
    folders, boxes, values = TOPS[request.param]
    files = sources_below(request.param, folders)
    return hierarchy(request.param, files, tmp_path_factory.mktemp("top"), boxes, values)


@pytest.mark.full
def test_every_path_between_clocks_is_limited(found: Hierarchy) -> None:
    modules = by_module(found)
    limited = [
        (f"{path}.", limit)
        for module, file in FILES.items()
        for limit in limits(file)
        if not limit.skew
        for path in modules.get(module, [])
    ]
    assert len(found.crossings) > 10
    free = [
        path
        for path in found.crossings
        if not any(limit.covers(instance, path) for instance, limit in limited)
    ]
    assert not free


def test_every_path_of_several_bits_has_a_limit_of_their_skew() -> None:
    """Gray codes: what ends in a synchronizer of more than a bit."""
    wide = 0
    for file in FILES.values():
        source = file.with_suffix(".sv").read_text()
        for limit in limits(file):
            target, *_ = limit.targets or ("",)
            instance = target.partition("/first_q_reg")[0]
            if re.search(rf"rs_sync #\(\.Width\((Bits \+ 1|2)\)\) {instance} \(", source):
                wide += 1
                assert any(
                    each.skew and each.targets == limit.targets and each.sources == limit.sources
                    for each in limits(file)
                )
    assert wide == 6


@pytest.mark.full
def test_every_register_that_constraints_name_is_there(found: Hierarchy) -> None:
    modules = by_module(found)
    seen = set()
    for module, file in FILES.items():
        for instance in modules.get(module, []):
            seen.add(module)
            for limit in limits(file):
                for pattern in (*(limit.sources or ()), *(limit.targets or ())):
                    name = f"{instance}.{register_of(pattern)}"
                    assert any(is_register(name, each) for each in found.registers), name
    assert seen


def test_modules_with_a_synchronizer_or_a_memory_of_two_clocks_have_constraints() -> None:
    """Also where no top module of the tests above has an instance of them."""
    ends = {"rs_sync": "first_q", "rs_ram_2clk": "read_q"}
    users = set()
    for file in rtl_root().rglob("*.sv"):
        text = re.sub(r"//[^\n]*", "", file.read_text())
        for module, instance in INSTANCE.findall(text):
            if module in ends:
                users.add(file.stem)
                assert file.stem in FILES, f"{file.stem} has {module} and no .xdc"
                named = {
                    register_of(pattern)
                    for limit in limits(FILES[file.stem])
                    for pattern in limit.targets or ()
                }
                assert f"{instance}.{ends[module]}" in named
    assert users == FILES.keys()


def test_modules_of_two_clocks_are_in_the_hierarchies_above() -> None:
    two = {
        file.stem
        for file in rtl_root().rglob("*.sv")
        if len({*CLOCK.findall(file.read_text())}) > 1
    }
    assert len(two) >= 8
    below = {
        file.stem for top, (folders, *_) in TOPS.items() for file in sources_below(top, folders)
    }
    assert two <= below


@pytest.mark.full
def test_a_path_without_a_limit_is_seen(tmp_path: Path) -> None:
    text = """
module two (input logic clk_i, other_clk_i, d_i, output logic d_o);
  logic first_q, second_q;
  always_ff @(posedge clk_i) first_q <= d_i;
  always_ff @(posedge other_clk_i) second_q <= !first_q;
  assign d_o = second_q;
endmodule
"""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "two.sv").write_text(text)
    made = hierarchy("two", [tmp_path / "in" / "two.sv"], tmp_path)
    assert [(path.source, path.target) for path in made.crossings] == [("first_q", "second_q")]
