"""Runs a Python program or module with another build of ringsmith._core, for test_sanitizers.py.

Arguments: the extension, then a program's path or a module's name, and its arguments.
"""

import importlib.util
import runpy
import sys


def main() -> None:
    """Puts the extension where every import of ringsmith._core finds it, and runs the program."""
    extension, program = sys.argv[1:3]
    spec = importlib.util.spec_from_file_location("ringsmith._core", extension)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ringsmith._core"] = module
    spec.loader.exec_module(module)
    sys.argv[:] = sys.argv[2:]
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__")


if __name__ == "__main__":
    main()
