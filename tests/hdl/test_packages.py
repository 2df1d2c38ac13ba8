"""Python's translations of functions in SystemVerilog packages."""

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.rtl.package_values import values

from ringsmith.errors import ToolError
from ringsmith.hdl.packages.generate import GENERATED, main, translate

CHECKOUT = Path(__file__).resolve().parents[2]

BELOW = """
package below_pkg;
  localparam int unsigned Short = 17;
  typedef enum int unsigned { KindPlain = 0, KindFolded = 3, KindLong = 4 } kind_e;
  // Steps of a word, rounded
  // up.
  function automatic int unsigned steps(int unsigned bits, int unsigned step);
    return (bits + step - 1) / step;
  endfunction
endpackage
"""

OWN = """
package own_pkg;
  import below_pkg::*;
  typedef struct packed {
    int unsigned LogN;
    int unsigned Unread;
    kind_e Kind;
    bit Link;
  } own_cfg_t;

  function automatic int unsigned by_kind(kind_e kind);
    case (kind)
      KindFolded, KindLong: return 7;
      KindPlain: return Short;
      default: return 1;
    endcase
  endfunction
  function automatic int unsigned loops(int unsigned count, int unsigned first);
    int unsigned sum, twice;
    sum = count;
    for (int unsigned i = first; i < count; i++) begin
      twice = i * 2;
      sum += twice;
      if (i % 3 == 1) sum -= 1;
      else sum |= 1 << (i & 3);
    end
    return sum ^ (count >> 1);
  endfunction
  function automatic bit both(int unsigned a, int unsigned b, bit inverse);
    return (a <= b && !inverse || a >= 2 * b) && a != 3;
  endfunction
  function automatic int unsigned whole(own_cfg_t cfg, bit inverse);
    int unsigned bits = $clog2(cfg.LogN + 1);
    if (inverse) begin
      if (cfg.Link && cfg.Kind == KindFolded) return steps(cfg.LogN, 4);
      return bits;
    end
    return (cfg.LogN > Short ? loops(cfg.LogN, 2) : by_kind(cfg.Kind)) - (cfg.LogN / 20 * 2);
  endfunction
  function automatic int unsigned chosen(int unsigned a);
    return both(a, 4, 1'b1) ? 1 : 0;
  endfunction
endpackage
"""


def wanted(*names: str) -> dict[str, dict[str, Any]]:
    """Two modules: ``names`` of ``own_pkg``, and what these use."""
    return {
        "below_pkg": {"module": "translated.below", "names": []},
        "own_pkg": {"module": "translated.own", "names": [*names]},
    }


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, str]], ModuleType]:
    """Imports translated modules; returns the last."""

    def loaded(texts: Mapping[str, str]) -> ModuleType:
        monkeypatch.setitem(sys.modules, "translated", ModuleType("translated"))
        for name, text in texts.items():
            module = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, module)
            setattr(sys.modules["translated"], name.rpartition(".")[2], module)
            exec(text, module.__dict__)  # noqa: S102, the text is what is tested
        return module

    return loaded


Load = Callable[[Mapping[str, str]], ModuleType]


def cases(own: ModuleType) -> Iterator[tuple[str, int]]:
    """Calls in SystemVerilog, and what the translation returns."""
    for a, b in product(range(9), repeat=2):
        yield f"own_pkg::loops({a}, {b})", own.loops(a, b)
        yield f"int'(own_pkg::both({a}, {b}, 1'b{a % 2})) & 1", own.both(a, b, bool(a % 2))
    for a in range(12):
        yield f"own_pkg::chosen({a})", own.chosen(a)
    for kind in (0, 3, 4, 5):
        yield f"own_pkg::by_kind(below_pkg::kind_e'({kind}))", own.by_kind(kind)
        for log_n, link, inverse in product((0, 1, 7, 8, 17, 18, 45), (0, 1), (0, 1)):
            record = f"own_cfg_t'{{{log_n}, 5, below_pkg::kind_e'({kind}), 1'b{link}}}"
            cfg = own.OwnCfg(log_n=log_n, kind=kind, link=bool(link))
            yield f"own_pkg::whole(own_pkg::{record}, 1'b{inverse})", own.whole(cfg, bool(inverse))


def test_translated_functions_return_what_the_package_does(load: Load) -> None:
    own = load(translate([BELOW, OWN], wanted("both", "chosen", "whole")))
    asked = [*cases(own)]
    assert len({value for _, value in asked}) > 20
    found = values([BELOW, OWN], [expression for expression, _ in asked])
    assert found == [value for _, value in asked]


def test_only_what_is_used_is_translated(load: Load) -> None:
    own = load(translate([BELOW, OWN], wanted("by_kind")))
    assert [name for name in vars(own) if not name.startswith("__")] == ["below", "by_kind"]
    assert own.below.SHORT == 17
    assert not hasattr(own.below, "steps")


def test_a_structure_becomes_a_parameters_value_field_by_field(load: Load) -> None:
    own = load(translate([BELOW, OWN], wanted("own_cfg_t")))
    record = own.own_cfg(log_n=12, unread=5, kind=4, link=True)
    chosen = f"package set_pkg; localparam own_pkg::own_cfg_t Cfg = {record}; endpackage"
    texts = [BELOW, OWN, chosen]
    asked = [f"32'(set_pkg::Cfg.{name})" for name in ("LogN", "Unread", "Kind", "Link")]
    assert values(texts, ["$bits(set_pkg::Cfg)", *asked]) == [97, 12, 5, 4, 1]
    with pytest.raises(TypeError, match="link"):
        own.own_cfg(log_n=12, unread=5, kind=4)


def test_a_structure_with_wide_fields_is_refused() -> None:
    text = "package own_pkg; typedef struct packed { logic [39:0] x; } wide_t; endpackage"
    with pytest.raises(ToolError, match="is not translated"):
        translate([text], {"own_pkg": {"module": "translated.own", "names": ["wide_t"]}})


def test_a_comment_in_front_of_a_function_is_its_docstring(load: Load) -> None:
    own = load(translate([BELOW, OWN], wanted("whole")))
    assert own.below.steps.__doc__ == "Steps of a word, rounded up."
    assert own.whole.__doc__ is None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return $countones(a);", r"\$countones is not translated"),
        ("return ~a;", "~a is not translated"),
        ("return a ** 2;", "operator Power"),
        ("return {a[3:0], 4'd0};", "is not translated"),
        ("return 16'(a) + 1;", "a conversion to fewer bits"),
        ("int b; b = 1; return b / 2;", "a signed division"),
        ("return wide(a);", r"wide\(a\): a conversion to fewer bits"),
        ("return signed_one(a);", "own_pkg::signed_one: type int is not translated"),
        ("while (a > 1) a = a - 1; return a;", "is not translated"),
        ("for (int unsigned i = 9; i > a; i--) a += i; return a;", "only one that counts up"),
        ("for (int unsigned i = 0; i < a; i += 2) a += i; return a;", "only one that counts up"),
        ("one_t b; b.x = a; return b.x;", "an assignment to a part"),
        ("a++; return a;", "is not translated"),
        ("return other_pkg::Far;", "other_pkg::Far, whose package has no module"),
        ("return missing(a);", "the packages have errors: .*UndeclaredIdentifier"),
    ],
)
def test_what_is_not_translated_is_refused(body: str, text: str) -> None:
    package = f"""
    package other_pkg; localparam int unsigned Far = 1; endpackage
    package own_pkg;
      typedef struct packed {{ int unsigned x; }} one_t;
      function automatic logic [63:0] wide(int unsigned a); return 64'(a); endfunction
      function automatic int signed_one(int unsigned a); return a; endfunction
      function automatic int unsigned f(int unsigned a); {body} endfunction
    endpackage
    """
    with pytest.raises(ToolError, match=text):
        translate([package], {"own_pkg": {"module": "translated.own", "names": ["f"]}})


@pytest.mark.parametrize("name", ["gone", "Short"])
def test_a_name_that_the_package_does_not_have_is_refused(name: str) -> None:
    with pytest.raises(ToolError, match=f"own_pkg::{name} does not exist"):
        translate([BELOW, OWN], wanted(name))


def test_the_modules_are_what_the_packages_say() -> None:
    assert GENERATED.stale(CHECKOUT) == []
    assert main(["--check", "--root", str(CHECKOUT)]) == 0
