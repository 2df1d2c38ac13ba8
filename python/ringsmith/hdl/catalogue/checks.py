"""Which tests and proofs check a block: found in the sources of the tests."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ringsmith.hdl.catalogue.blocks import Block, instances_in

_WORD = re.compile(r"\w+")
_OTHER = re.compile(r"area|timing|latencies|shared_code|drivers|ecp5_net|rtl_lint")
"""In the names of tests that measure a block, or test a tool, and do not look at its results."""

HELPERS = "mem"
"""The folder of blocks that benches use with the block that they test."""


@dataclass(frozen=True)
class Checks:
    """What checks one block.

    Attributes:
        proof: The file of its proof, from the root of the checkout on; empty if there is none.
        tests: Files of tests that drive the block itself, likewise.
        inside: Blocks with tests that have it inside; only where it has neither proof nor test.
    """

    proof: str
    tests: Sequence[str]
    inside: Sequence[str]


def find_checks(
    root: Path, blocks: Mapping[str, Block], through_devices: Mapping[str, Sequence[str]]
) -> dict[str, Checks]:
    """What checks each block that is no package.

    A test drives a block that its text names, or that a bench which it names has an instance of.

    Args:
        root: The checkout.
        blocks: Blocks by name.
        through_devices: Block -> tests that drive it by a device, and so do not name it.
    """
    tests = _tests_by_block(root, blocks)
    for name, files in through_devices.items():
        tests[name] = sorted({*tests.get(name, ()), *files})
    proofs = {
        path.stem.removesuffix("_proof"): str(path.relative_to(root))
        for path in (root / "tests" / "rtl" / "formal").glob("*_proof.sv")
    }
    return {
        name: Checks(
            proofs.get(name, ""),
            tests.get(name, ()),
            () if name in tests or name in proofs else _tested_around(name, blocks, tests),
        )
        for name, block in blocks.items()
        if not block.is_package
    }


def _tests_by_block(root: Path, blocks: Mapping[str, Block]) -> dict[str, list[str]]:
    folder = root / "tests" / "rtl"
    benches = {
        path.stem: path.read_text(encoding="utf-8")
        for part in ("blocks", "bus", "card")
        for path in (folder / part).iterdir()
        if path.suffix in {".sv", ".py"}
    }
    found: dict[str, set[str]] = {}
    for path in sorted(folder.glob("test_*.py")):
        if _OTHER.search(path.stem) or path.stem == "test_proofs":
            continue
        for name in _driven(path.read_text(encoding="utf-8"), benches, blocks):
            found.setdefault(name, set()).add(str(path.relative_to(root)))
    return {name: sorted(files) for name, files in found.items()}


def _driven(text: str, benches: Mapping[str, str], blocks: Mapping[str, Block]) -> set[str]:
    """Blocks that a test names, itself or by its benches and by those that they name."""
    words = set(_WORD.findall(text))
    driven, used = words & blocks.keys(), words & benches.keys()
    waiting = list(used)
    while waiting:
        bench = benches[waiting.pop()]
        is_module = "endmodule" in bench
        if is_module:
            inside = instances_in(bench)
            driven |= {n for n in inside if n in blocks and blocks[n].folder != HELPERS}
            continue
        words = set(_WORD.findall(bench))
        driven |= words & blocks.keys()
        waiting += sorted(words & benches.keys() - used)
        used |= words & benches.keys()
    return driven


def _tested_around(
    name: str, blocks: Mapping[str, Block], tested: Iterable[str]
) -> tuple[str, ...]:
    """The nearest blocks with tests that have a block inside."""
    known = set(tested)
    around, seen = {name}, {name}
    while around:
        around = {
            each.name
            for each in blocks.values()
            if each.name not in seen and around & set(each.instances)
        }
        seen |= around
        if found := sorted(around & known):
            return tuple(found)
    return ()
