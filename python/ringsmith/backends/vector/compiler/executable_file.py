"""An executable as JSON lines: its design, then its graph, which is compiled anew when it is read.

A file may come from an untrusted source: everything in it is checked.
"""

import json

from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.errors import ProgramError, RingsmithError
from ringsmith.files.json_text import parse_json
from ringsmith.files.records import Decoder, Encoder
from ringsmith.graph.file import MAX_FILE_BYTES as MAX_GRAPH_BYTES
from ringsmith.graph.file import from_json, to_json

FORMAT = "ringsmith-vector-executable"
VERSION = 1
MAX_FILE_BYTES = MAX_GRAPH_BYTES
_MAX_DESIGN = 1 << 14
"""Characters of the design's line."""


def executable_text(executable: VectorExecutable) -> str:
    """The text of the file."""
    design = Encoder().encode(executable.design, VectorDesign)
    head = {"format": FORMAT, "version": VERSION, "design": design}
    return f"{json.dumps(head)}\n{to_json(executable.graph)}"


def read_executable(text: str) -> VectorExecutable:
    """Reads what ``executable_text`` wrote.

    Raises:
        ProgramError: If the text is none of this version, or its graph is not for its design.
    """
    end = text.find("\n", 0, _MAX_DESIGN)
    try:
        table = parse_json(text[: max(end, 0)], ProgramError)
        if not isinstance(table, dict) or (table.get("format"), table.get("version")) != (
            FORMAT,
            VERSION,
        ):
            raise ProgramError(f"not a {FORMAT} file of version {VERSION}")
        design = Decoder().decode(table.get("design"), VectorDesign, "design")
        return compile_graph(from_json(text[end + 1 :]), design)
    except RingsmithError as error:
        raise ProgramError(
            f"damaged executable ({error!s:.400}): compile the program again"
        ) from error
