"""The layers of the C++ library are those of the table in docs/guide/cpp.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
PUBLIC = "ringsmith/"
WITHOUT_LAYER = "ringsmith/seal_bridge.h"
"""For programs that have Microsoft SEAL: it includes nothing of the library."""


@dataclass(frozen=True)
class Layer:
    """A row of the table: public headers, and the layers and single headers that it may use."""

    headers: frozenset[str]
    uses: frozenset[str]


def names(cell: str) -> frozenset[str]:
    """What a cell of the table has in backquotes."""
    return frozenset(re.findall(r"`([^`]+)`", cell))


def table() -> dict[str, Layer]:
    """The layers by name, in the order of the table."""
    page = (ROOT / "docs" / "guide" / "cpp.md").read_text().partition("## Layers")[2]
    layers = {}
    for row in re.findall(r"^\| `.*\|$", page, re.M):
        name, _, headers, uses = row.strip("|").split("|")
        own = frozenset(PUBLIC + header for header in names(headers))
        layers[name.strip(" `")] = Layer(own, names(uses))
    return layers


LAYERS = table()
LAYER_OF_HEADER = {header: name for name, layer in LAYERS.items() for header in layer.headers}


def files() -> Iterator[tuple[Path, str]]:
    """(file, layer) of every source and of every public header that is of a layer."""
    for path in sorted((CORE / "src").rglob("*.*")):
        yield path, path.parent.name
    for header, layer in LAYER_OF_HEADER.items():
        yield CORE / "include" / header, layer


def layer_of(header: str, includer: str) -> str:
    """The layer of a header as it is written in an #include of a file of layer `includer`."""
    if header.startswith(PUBLIC):
        return LAYER_OF_HEADER[header]
    folder, slash, _ = header.partition("/")
    return folder if slash else includer


def offences(source: str, layer: str) -> list[str]:
    """The headers that a source of a layer includes and may not."""
    uses = LAYERS[layer].uses
    return [
        header
        for header in re.findall(r'^#include "([^"]+)"', source, re.M)
        if layer_of(header, layer) not in {layer, *uses} and header.removeprefix(PUBLIC) not in uses
    ]


def test_every_folder_and_every_public_header_is_in_the_table_once() -> None:
    assert {path.name for path in (CORE / "src").iterdir()} == set(LAYERS)
    headers = {f"{PUBLIC}{path.name}" for path in (CORE / "include" / "ringsmith").iterdir()}
    assert headers - {WITHOUT_LAYER} == set(LAYER_OF_HEADER)
    assert sum(len(layer.headers) for layer in LAYERS.values()) == len(LAYER_OF_HEADER)


def test_a_source_lies_in_the_layer_of_its_header() -> None:
    wrong = [
        path
        for path, layer in files()
        if LAYER_OF_HEADER.get(f"{PUBLIC}{path.stem}.h", layer) != layer
    ]
    assert wrong == []


def test_layers_use_only_layers_that_stand_above_them() -> None:
    above: set[str] = set()
    for name, layer in LAYERS.items():
        assert {used for used in layer.uses if not used.endswith(".h")} <= above
        above.add(name)


def test_files_include_only_headers_of_layers_that_they_may_use() -> None:
    found = {str(path): offences(path.read_text(), layer) for path, layer in files()}
    assert {path: headers for path, headers in found.items() if headers} == {}


def test_an_include_of_another_layer_is_found() -> None:
    source = '#include "rlwe.h"\n#include "ringsmith/ckks.h"\n#include "graph/graph_plan.h"\n'
    assert offences(source, "rlwe") == ["ringsmith/ckks.h", "graph/graph_plan.h"]
    assert offences('#include "ringsmith/modulus.h"\n', "simd") == []
    assert offences('#include "ringsmith/ntt.h"\n', "simd") == ["ringsmith/ntt.h"]
