"""A subroutine graph, compiled for a vector design; and the file of what was compiled.

The file is JSON lines: the design, then the graph, which is compiled anew when it is read. It may
come from an untrusted source: everything in it is checked.
"""

import json

from ringsmith.backends.vector.compiler.allocation import allocate
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.lowering import lower
from ringsmith.backends.vector.compiler.memory_map import check_size
from ringsmith.backends.vector.compiler.quotients import moduli_of
from ringsmith.backends.vector.compiler.rewriting import node_error
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.encoding import check_programs
from ringsmith.errors import ProgramError, RingsmithError
from ringsmith.files.json_text import parse_json
from ringsmith.files.records import Decoder, Encoder
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.file import MAX_FILE_BYTES as MAX_GRAPH_BYTES
from ringsmith.graph.file import from_json, to_json


def compile_graph(graph: SubroutineGraph, design: VectorDesign) -> VectorExecutable:
    """Compiles a graph.

    Args:
        graph: The graph.
        design: The design.

    Raises:
        ProgramError: If the graph is unfinished, its ring or a prime is none of the design's, or it
            has a node that the architecture has not; says which. If a number does not fit its field
            of an instruction, or memory is too small for the program.
    """
    graph.validate()
    log_n = graph.n.bit_length() - 1
    if not design.min_log_n <= log_n <= design.log_n:
        raise ProgramError(
            f"design {design.name} has rings of N = {1 << design.min_log_n} to {design.n}, and the "
            f"program's is {graph.n}: choose other parameters, or another design"
        )
    for node in graph.nodes:
        if error := node_error(node, graph.primes, design):
            raise ProgramError(error)
    for q in graph.primes:
        if error := design.prime_error(q):
            raise ProgramError(
                f"the program has {error}, in design {design.name}: choose parameters with other "
                "primes, or another design"
            )
    shape = design.shape(log_n)
    tasks = lower(graph, design, Cycles(design, shape).together)
    programs = tuple(allocate(tasks, moduli_of(graph, design), design, shape))
    check_programs(programs)
    check_size(programs, design)
    return VectorExecutable(design, graph, programs)


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
        ProgramError: If the text is not of this version, or its graph is not for its design.
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
