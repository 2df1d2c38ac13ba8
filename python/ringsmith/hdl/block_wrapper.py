"""The few lines of C++ that tell `sim/hdl/block.cpp` a verilated block's ports.

Names, widths and array sizes come from the C++ header that Verilator wrote, so that the generated
code fits it; directions come from Verilator's syntax tree, since the header has none for arrays.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import ToolError

# VL_IN64(&a_i,59,0);   VL_OUTW(&wide_o,99,0,4);
_SCALAR = re.compile(r"^\s*VL_(?:IN|OUT|INOUT)(?:8|16|64|W)?\(&(\w+),(\d+),(\d+)(?:,\d+)?\);", re.M)
# VlUnpacked<QData/*47:0*/, 3> &a_i;
_ARRAY = re.compile(r"^\s*(VlUnpacked<.*\w+/\*(\d+):(\d+)\*/.*>) &(\w+);", re.M)
_WIDEST = 64


@dataclass(frozen=True)
class _Port:
    name: str
    is_input: bool
    width: int


def _directions(tree: str, top: str) -> dict[str, str]:
    modules = json.loads(tree)["modulesp"]
    tops = [module for module in modules if module["name"] == top]
    module = tops[0] if tops else modules[0]
    statements = module["stmtsp"]
    return {
        statement["name"]: statement["direction"]
        for statement in statements
        if statement.get("isPrimaryIO")
    }


def _ports(header: str, directions: dict[str, str]) -> list[_Port]:
    shapes = [(name, int(msb) - int(lsb) + 1) for name, msb, lsb in _SCALAR.findall(header)]
    shapes += [(name, int(msb) - int(lsb) + 1) for _, msb, lsb, name in _ARRAY.findall(header)]
    found = {name for name, _ in shapes}
    if found != set(directions):
        raise ToolError(
            f"Verilator's header and syntax tree disagree on the ports: {sorted(found)} against "
            f"{sorted(directions)}: this Verilator is not the version that requirements/ locks"
        )
    for name, width in shapes:
        if width > _WIDEST:
            raise ToolError(
                f"port {name} is {width} bits wide and a block's port at most {_WIDEST}: "
                "use an unpacked array of words"
            )
        if directions[name] not in ("INPUT", "OUTPUT"):
            raise ToolError(f"port {name} is {directions[name].lower()}: use an input or an output")
    return [_Port(name, directions[name] == "INPUT", width) for name, width in shapes]


def wrapper_source(header: Path, tree: str) -> str:
    """The C++ source that defines `ringsmith::sim::make_block()` for a block.

    Args:
        header: `V<top>.h`, as Verilator wrote it.
        tree: The JSON text of Verilator's syntax tree of the same design.

    Raises:
        ToolError: If a port is wider than 64 bits or neither an input nor an output.
    """
    model = header.stem
    ports = _ports(header.read_text(), _directions(tree, model.removeprefix("V")))
    rows = ",\n".join(
        f'        make_port("{port.name}", {str(port.is_input).lower()}, {port.width}, '
        f"model_.{port.name})"
        for port in ports
    )
    return f"""#include "{header.name}"
#include "block.h"

namespace ringsmith::sim {{
namespace {{

class GeneratedBlock final : public Block {{
 public:
  explicit GeneratedBlock(VerilatedContext* context) : model_(context) {{
    ports_ = {{
{rows}
    }};
  }}
  void eval() override {{ model_.eval(); }}

 private:
  {model} model_;
}};

}}  // namespace

std::unique_ptr<Block> make_block(VerilatedContext* context) {{
  return std::make_unique<GeneratedBlock>(context);
}}

}}  // namespace ringsmith::sim
"""
