"""Coverage-guided fuzzing of a reader of foreign data, with atheris (libFuzzer for Python).

    python -m tests.fuzz.guided READER CORPUS [-max_total_time=SECONDS] [other libFuzzer options]

READER is a name in ``tests.fuzz.readers``. Of a container of ours the input is the body, which is
compressed and gets its digest here. Any error but ours is a finding, and so is more memory than
libFuzzer's ``-rss_limit_mb``. SEAL's files have a fuzzer of their own, ``seal_files``.
"""

import inspect
import sys
from pathlib import Path

import atheris
from tests.fuzz.mutations import body_of, contained
from tests.fuzz.readers import named, quiet

from ringsmith.errors import RingsmithError
from ringsmith.files.container import MAGIC

PACKAGES = ("files", "graph", "heir", "interop", "schemes", "runtime", "design_files", "params")
CARD = "backends.cards"


def instrument() -> None:
    """Makes functions and methods of the readers report their coverage.

    ``atheris.instrument_imports`` does not see modules that an editable installation's own finder
    loads.
    """
    names = tuple(f"ringsmith.{each}" for each in (*PACKAGES, CARD))
    modules = [module for name, module in sys.modules.items() if name.startswith(names)]
    for module in modules:
        classes = [each for each in vars(module).values() if inspect.isclass(each)]
        for owner in (module, *classes):
            for function in vars(owner).values():
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    atheris.instrument_func(function)


def main() -> None:
    """Fills the corpus with good inputs, then fuzzes."""
    quiet()
    reader, corpus = named(sys.argv.pop(1)), Path(sys.argv[1])
    seeds = reader.seeds()
    ours = seeds[0].startswith(MAGIC)
    for index, data in enumerate(seeds):
        (corpus / f"seed{index}").write_bytes(body_of(data) if ours else data)

    def one_input(data: bytes) -> None:
        try:
            reader.read(contained(data) if ours else data)
        except RingsmithError as error:
            assert "\n" not in str(error)  # noqa: PT017 - refusing is one of two right answers

    instrument()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
