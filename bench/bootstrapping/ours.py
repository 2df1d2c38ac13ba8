"""Bootstraps once a question: a program that ``ringsmith bench bootstrapping`` starts.

Arguments: a parameter set and log2 N. Standard input asks as ``bench.bootstrapping.measure`` does.
"""

import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import ringsmith as rs
from ringsmith import _core
from ringsmith.client import generate_on_the_fly_keys
from ringsmith.params import CkksParameters, parameter_set


def set_of(name: str, log_n: int) -> CkksParameters:
    """A set that bootstraps, in a ring of degree 2^log_n: another one's security is not checked."""
    found = parameter_set(name)
    assert isinstance(found, CkksParameters)
    if found.n == 1 << log_n:
        return found
    return replace(found, n=1 << log_n, declared_security=0)


class Bootstrapped:
    """A program of one bootstrapping, with true keys and complex numbers in all slots."""

    def __init__(self, parameters: CkksParameters) -> None:
        before = resident()
        inputs = {"x": rs.InputSpec(complex_numbers=True)}
        self.program = rs.trace(rs.bootstrap, parameters, inputs)
        self.compiled = rs.compile_program(self.program)
        self.device = rs.open_device("cpu")
        needs = self.program.key_needs
        self.secret, public, self.keys = generate_on_the_fly_keys(parameters, needs)
        rng = np.random.default_rng(1)
        parts = rng.uniform(-1, 1, (2, parameters.slots))
        self.x = (parts[0] + 1j * parts[1]) / np.sqrt(2)
        self.given = self.program.encrypt(public, {"x": self.x})
        self.errors = np.array([1.0])
        self.before = before

    def answer(self, asked: str) -> float:
        """CPU seconds of one bootstrapping, or of the last one's result; or the memory it takes."""
        if asked == "seconds":
            begin = time.process_time()
            outputs = self.compiled.run(self.device, self.given, self.keys).outputs
            seconds = time.process_time() - begin
            found = self.program.decrypt(self.secret, outputs, complex_numbers=True)["result"]
            self.errors = np.abs(found - self.x)
            return seconds
        if asked == "worst":
            return float(self.errors.max())
        if asked == "rms":
            return float(np.sqrt(np.mean(self.errors**2)))
        if asked == "levels":
            of = self.program.parameters
            assert isinstance(of, CkksParameters)
            return float(of.ladder.index(of.working_limbs))
        return (resident() - self.before) / 1e9


def resident() -> int:
    """Bytes of this process in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def main() -> None:
    """Answers the questions of standard input."""
    warnings.simplefilter("ignore")
    _core.set_threads(1)
    work = Bootstrapped(set_of(sys.argv[1], int(sys.argv[2])))
    print("ready", flush=True)
    for line in sys.stdin:
        print(work.answer(line.strip()), flush=True)


if __name__ == "__main__":
    main()
