#!/usr/bin/env bash
# Checks the prerequisites and, when one is missing, says which and prints the line that installs it.
#
# PYTHON names the interpreter that .venv is made with (default python3). Exit status 1 when
# something is missing.
set -u
python=${PYTHON:-python3}
missing=()

need() { # need WHAT PACKAGE COMMAND...: notes PACKAGE as missing when COMMAND fails
  local what=$1 package=$2
  shift 2
  if ! "$@" >/dev/null 2>&1; then
    printf 'missing: %s\n' "$what" >&2
    missing+=("$package")
  fi
}

has_headers='
import pathlib, sys, sysconfig
sys.exit(not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").is_file())'

need 'git' git git --version
need 'the C++ compiler g++' g++ g++ --version
need 'make' make make --version
need 'perl, which Verilator runs on' perl perl -e 'exit 0'
need "Python ($python)" python3-venv "$python" -c ''
need 'the venv module with ensurepip' python3-venv "$python" -c 'import ensurepip, venv'
need 'the Python headers (Python.h)' python3-dev "$python" -c "$has_headers"

if ((${#missing[@]})); then
  printf 'Install what is missing, as root on Debian or Ubuntu:\n\n  apt install %s\n\n' \
    "$(printf '%s\n' "${missing[@]}" | sort -u | paste -sd ' ')" >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  printf '%s is %s; Ringsmith needs Python 3.11 or newer: name one, as in make PYTHON=python3.12\n' \
    "$python" "$("$python" -V 2>&1)" >&2
  exit 1
fi
