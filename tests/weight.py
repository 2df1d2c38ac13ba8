"""How much there is to read: lines, files, words, and what one product passes through.

``python tests/weight.py`` prints a table. The times are given by the one who measured them:
``--test MINUTES`` of ``make test`` without a cache, ``--check SECONDS`` of ``make check`` after a
change of one module.
"""

import argparse
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "ringsmith"
REPLACED = re.compile(
    r"prime_?sets?|pieces?|facts?|zones?|(?<!client )(?<!server )sides?|compact|peers?|beside"
    r"|refusals?|way out|rooms?|house|twins?".join([r"(?<![^\W_])(?:", r")(?![^\W_])"]),
    re.IGNORECASE,
)
"""Words that the glossary replaces, also as parts of names."""
GLOSSARY = (":!tests/weight.py", ":!tests/*/*words.py", ":!tests/system/test_check.py")
"""Files left out where these words are counted, since they list them."""


def files(*patterns: str) -> list[Path]:
    """The files of the repository whose names match."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def texts(*patterns: str) -> str:
    """The text of all files of the repository whose names match."""
    return "".join(path.read_text(encoding="utf-8") for path in files(*patterns))


def replaced(lines: Iterable[str]) -> int:
    """How many lines have a word that the glossary replaces."""
    return sum(bool(REPLACED.search(line)) for line in lines)


def importing(frame: FrameType | None) -> bool:
    """Whether a frame is, or was called from, the body of a module or class."""
    while frame and frame.f_code.co_flags & CO_OPTIMIZED:
        frame = frame.f_back
    return frame is not None and Path(frame.f_code.co_filename).is_relative_to(PACKAGE)


def modules_of(call: Callable[[], object]) -> set[str]:
    """The modules of ``ringsmith`` that have a function which a call runs, imports left out."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name not in found and not importing(frame):
            found.add(name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {name for name in found if Path(name).is_relative_to(PACKAGE)}


def product() -> float:
    """A product on the model of ``nano``, from ``trace`` to ``decrypt``."""
    from ringsmith import compile_program, open_device, parameter_set, trace

    program = trace(lambda x, y: x * y, parameter_set("nano"), {"x": 4, "y": 4})
    secret_key, public_key, keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": [1, 2, 3, 4], "y": [0.5, 0.5, 0.5, 0.5]})
    compiled = compile_program(program, design="nano")
    outputs = compiled.run(open_device("model"), inputs, keys).outputs
    return float(program.decrypt(secret_key, outputs)["result"][3])


def rows(test: float | None, check: float | None) -> list[tuple[str, str]]:
    """The table: what is counted, and the count."""
    code = ("*.py", "*.pyi", "*.sv", "*.cpp", "*.h", "*.yaml", "*.toml", *GLOSSARY)
    return [
        ("lines of Python", f"{texts('*.py').count(chr(10)):,}"),
        ("Python files", f"{len(files('*.py')):,}"),
        ("words of docs", f"{len(texts('docs/*.md').split()):,}"),
        ("`make test`, two quiet cores, cold, minutes", "–" if test is None else f"{test:g}"),
        ("`make check` after a change, seconds", "–" if check is None else f"{check:g}"),
        ("lines of code with a replaced word", f"{replaced(texts(*code).splitlines()):,}"),
        ("Python modules that a product on `nano` runs", f"{len(modules_of(product))}"),
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--test", type=float, help="minutes of make test")
    parser.add_argument("--check", type=float, help="seconds of make check")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parameters of nano are small
        for what, count in [("", "now"), ("---", "---:"), *rows(given.test, given.check)]:
            print(f"| {what} | {count} |")


if __name__ == "__main__":
    main()
