"""An executable as a JSON file: its design and its graph, compiled anew when it is read.

A file may come from an untrusted source: everything in it is checked.
"""

import json

from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.errors import ProgramError, RingsmithError
from ringsmith.files.records import Decoder, Encoder
from ringsmith.graph.file import MAX_FILE_BYTES as MAX_GRAPH_BYTES
from ringsmith.graph.file import from_json, to_json

FORMAT = "ringsmith-vector-executable"
VERSION = 1
MAX_FILE_BYTES = MAX_GRAPH_BYTES

_ENTRIES = {"format", "version", "design", "graph"}


def executable_text(executable: VectorExecutable) -> str:
    """The text of the file."""
    design = Encoder().encode(executable.design, VectorDesign)
    head = {"format": FORMAT, "version": VERSION, "design": design}
    return f'{json.dumps(head)[:-1]},\n "graph": {to_json(executable.graph)}}}\n'


def read_executable(text: str) -> VectorExecutable:
    """Reads what ``executable_text`` wrote.

    Raises:
        ProgramError: If the text is none of this version, or its graph is not for its design.
    """
    if len(text) > MAX_FILE_BYTES:
        raise ProgramError(
            f"the executable has {len(text)} characters and the limit is {MAX_FILE_BYTES}: "
            "split the program"
        )
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"no executable: not JSON ({error!s:.200})") from None
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ProgramError(f"not a {FORMAT} file: compile the program again")
    version = table.get("version")
    if type(version) is not int or version != VERSION or table.keys() != _ENTRIES:
        raise ProgramError(
            f"not a {FORMAT} file of version {VERSION}, which has {', '.join(sorted(_ENTRIES))}: "
            "compile the program again"
        )
    try:
        design = Decoder().decode(table["design"], VectorDesign, "design")
        return compile_graph(from_json(json.dumps(table["graph"])), design)
    except RingsmithError as error:
        raise ProgramError(
            f"damaged executable ({error!s:.400}): compile the program again"
        ) from error
