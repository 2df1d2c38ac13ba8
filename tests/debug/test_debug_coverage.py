"""Coverage: what is counted, what is excused, and whether the goals are met."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.timings import BY_HAND
from typer.testing import CliRunner

from ringsmith.backends.registry import inspectors
from ringsmith.backends.rpau.debug import campaign as campaigns
from ringsmith.backends.rpau.debug.campaign import (
    CANDIDATES,
    LENGTH,
    Campaign,
    campaign_design,
    choose_seeds,
    missing_situations,
    report,
)
from ringsmith.backends.rpau.debug.compare import Compared
from ringsmith.backends.rpau.debug.exclusions import EXCLUSIONS
from ringsmith.backends.rpau.debug.isa_coverage import (
    Situation,
    by_kind,
    every_situation,
    situations,
)
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.isa.assembler import assemble
from ringsmith.backends.rpau.isa.instruction_set import ISA
from ringsmith.cli.main import app
from ringsmith.debug.pages import coverage_page
from ringsmith.errors import DeviceError, ToolError
from ringsmith.hdl.coverage import (
    CoverageReport,
    Exclusion,
    Point,
    by_file,
    excused,
    read_counts,
    share,
)


def record(file: str, line: int, page: str, comment: str, count: int, instance: str = "TOP") -> str:
    """A record as Verilator writes it."""
    fields = {"f": f"/somewhere/rtl/{file}", "l": line, "n": 7, "t": "x", "page": f"{page}/module"}
    fields |= {"o": comment, "h": instance}
    text = "".join(f"\x01{key}\x02{value}" for key, value in fields.items())
    return f"C '{text}' {count}\n"


@pytest.fixture
def counts(tmp_path: Path) -> Counter[Point]:
    path = tmp_path / "coverage.dat"
    path.write_text(
        "# SystemC::Coverage-3\n"
        + record("mem/a.sv", 3, "v_line", "block", 5)
        + record("mem/a.sv", 4, "v_branch", "if", 0, "TOP.one")
        + record("mem/a.sv", 4, "v_branch", "if", 2, "TOP.two")
        + record("mem/a.sv", 9, "v_toggle", "sum[3]:0->1", 0)
        + record("mem/a.sv", 9, "v_toggle", "sum[3]:1->0", 1)
        + record("mem/a.sv", 9, "v_toggle", "top[1][30]:1->0", 0)
        + record("ntt/b.sv", 1, "v_toggle", "go:0->1", 0),
        encoding="latin-1",
    )
    return read_counts(path)


def test_counts_of_all_instances_are_added_up(counts: Counter[Point]) -> None:
    assert counts[Point("mem/a.sv", 4, 7, "line", "if")] == 2
    assert len(counts) == 6
    one, two = by_file(counts, [])
    assert (one.file, dict(one.hit), dict(one.total)) == (
        "mem/a.sv",
        {"line": 2, "toggle": 1},
        {"line": 2, "toggle": 3},
    )
    assert [point.signal for point in two.missed] == ["go"]
    assert share([one, two], "line") == 1
    assert share([one, two], "toggle") == 1 / 4


def test_a_rule_excuses_missed_points_and_never_hides_covered_ones(counts: Counter[Point]) -> None:
    rule = Exclusion("mem/.*", r"(sum|top).*", "they never move")
    assert excused(counts, rule) == 2
    one, two = by_file(counts, [rule])
    assert (one.hit["toggle"], one.total["toggle"], one.missed) == (1, 1, ())
    assert two.total["toggle"] == 1
    assert excused(counts, replace(rule, kind="line")) == 0


def test_a_file_that_is_no_coverage_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "coverage.dat"
    path.write_text("# SystemC::Coverage-3\n")
    with pytest.raises(ToolError, match="no coverage records"):
        read_counts(path)
    path.write_text(record("a.sv", 1, "v_line", "block", 1).replace("/rtl/", "/sim/"))
    with pytest.raises(ToolError, match="no coverage records"):
        read_counts(path)
    path.write_text("C '\x01f\x02/rtl/a.sv' 3\n")
    with pytest.raises(ToolError, match="no field 'l'"):
        read_counts(path)


def test_situations_of_a_program_worked_out_by_hand() -> None:
    design = campaign_design()
    text = """
    ntt p0, p0 @0-1
    dmul p1, p2, p2 @0 wait(dyadic)
    broadcast p3, p4, r2, q0, c0, c0 @1-2
    halt
    """
    trace = Trace.of_run(design, assemble(text, design), (4, 8, 104, 258), timing=BY_HAND)
    assert situations(trace) == Counter(
        Situation(*words)
        for words in (
            ("waits for", "ntt", "nothing"),
            ("RPAUs", "ntt", "some"),
            ("operands", "ntt", "dst = a"),
            ("issues after", "ntt", "fetch"),
            ("waits for", "dmul", "dyadic"),
            ("RPAUs", "dmul", "one"),
            ("operands", "dmul", "dst ≠ a"),
            ("operands", "dmul", "dst ≠ b"),
            ("operands", "dmul", "a = b"),
            ("issues after", "dmul", "fetch"),
            ("issues while", "dmul", "ntt runs"),
            ("waits for", "broadcast", "nothing"),
            ("RPAUs", "broadcast", "some"),
            ("source", "broadcast", "last"),
            ("issues after", "broadcast", "its unit"),  # of RPAU 1; dmul runs elsewhere
            ("issues after", "halt", "any unit"),
        )
    )


def test_the_design_to_cover_has_every_instruction() -> None:
    assert ISA.available(campaign_design()) == ISA.operations
    assert campaign_design().program_words >= LENGTH


def test_the_points_of_the_isa_follow_from_its_records() -> None:
    every = every_situation()
    names = {situation.name for situation in every}
    assert names == {operation.name for operation in ISA.operations}
    assert Situation("operands", "automorph", "dst = a") not in every  # they must differ
    assert Situation("issues while", "broadcast", "broadcast runs") not in every  # one ring
    assert Situation("issues while", "dmac_key", "broadcast runs") in every
    assert Situation("issues while", "mul_key", "dmul_key runs") not in every  # one key port
    assert Situation("issues while", "mul_key", "mac_key runs") in every  # in different RPAUs
    assert by_kind([])["source"] == (0, 6)  # of broadcast and send


def test_the_chosen_programs_bring_about_every_situation_and_no_other() -> None:
    design = campaign_design()
    seeds = choose_seeds(design, CANDIDATES, LENGTH)
    seen = set().union(*(campaigns._situations(design, seed, LENGTH) for seed in seeds))
    assert seen == every_situation()
    assert len(seeds) < CANDIDATES / 4
    assert choose_seeds(design, 3, LENGTH) == choose_seeds(design, 3, LENGTH)


def fake(counts: Counter[Point]) -> Campaign:
    """A campaign that covered little."""
    seen = Counter({Situation("waits for", "ntt", "nothing"): 1})
    return Campaign(campaign_design(), seen, counts, Compared(1, 60, 999, 5))


def test_the_report_names_what_was_missed(counts: Counter[Point]) -> None:
    found = report(fake(counts), EXCLUSIONS)
    lines = list(found.misses())
    assert lines[:3] == ["rtl/mem/a.sv:9: sum", "rtl/mem/a.sv:9: top", "rtl/ntt/b.sv:1: go"]
    assert "mac: operands dst = a" in lines
    text = found.section("ringsmith coverage")
    assert "| lines | 100.0% | 100.00% |" in text
    assert "| `rtl/mem/a.sv` | 2 | 100.0% | 3 | 33.3% |" in text
    assert "- rtl/ntt/b.sv:1: go" in text
    assert len(missing_situations(fake(counts))) == len(every_situation()) - 1


def test_a_missed_goal_ends_the_command_with_status_1(
    counts: Counter[Point], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(campaigns, "run_campaign", lambda design: fake(counts))
    target = tmp_path / "coverage.md"
    done = CliRunner().invoke(app, ["coverage", "--arch", "rpau", "--report", str(target)])
    assert done.exit_code == 1
    assert "rpau: not covered: rtl/ntt/b.sv:1: go" in done.output
    assert "rpau: toggles: 25.00% covered, goal 99.5%" in done.output
    command = f"ringsmith coverage --report {target} --arch rpau"
    assert target.read_text() == coverage_page(
        {"rpau": report(fake(counts), EXCLUSIONS).section(command)}, ["rpau"]
    )


def test_the_page_keeps_the_sections_that_are_not_measured() -> None:
    first = coverage_page(
        {"one": "## Architecture `one`\n\nold\n", "two": "## Architecture `two`\n"}, "x"
    )
    assert "## Architecture" not in first
    order = ["one", "two"]
    both = coverage_page(
        {"two": "## Architecture `two`\n\n### RTL\n", "one": "## Architecture `one`\n"}, order
    )
    assert both.index("`one`") < both.index("`two`")
    again = coverage_page({"one": "## Architecture `one`\n\nnew\n"}, order, both)
    assert again == both.replace("## Architecture `one`\n", "## Architecture `one`\n\nnew\n")


def test_coverage_of_an_architecture_that_counts_none_is_refused() -> None:
    done = CliRunner().invoke(app, ["coverage", "--arch", "stream"])
    assert done.exit_code == 2
    assert "'stream' counts no coverage: choose one of rpau, vector" in done.output


def test_the_stop_of_a_program_in_its_midst_must_be_one() -> None:
    class Short:
        def run(self, max_cycles: int) -> None:
            """Ends at once."""

    with pytest.raises(DeviceError, match="ended within 100"):
        campaigns._give_up(Short())  # type: ignore[arg-type]


@pytest.mark.full
@pytest.mark.parametrize("architecture", ["rpau", "vector"])
def test_the_campaign_meets_its_goals_and_every_rule_excuses_something(architecture: str) -> None:
    [inspector] = [each for each in inspectors() if each.architecture == architecture]
    found = inspector.coverage(quick=False)
    assert isinstance(found, CoverageReport)
    assert found.idle_rules() == []
    missed = list(found.misses())
    for kind, covered in found.shares().items():
        assert covered >= found.goals[kind], f"{kind}s: {covered:.2%}: {missed}"
