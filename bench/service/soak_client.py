"""A client of a long run: ``python -m bench.service.soak_client URL TOKEN SEED LOG``.

It asks for random jobs in random ways until its input is closed, compares each result with the
clear one, and notes in a file of lines what it asked for and what came of it.
"""

import json
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TextIO

import numpy as np

from bench.service.soak_programs import KINDS, numbers
from ringsmith.objects import EvaluationKeys
from ringsmith.params import SecurityWarning
from ringsmith.remote import RemoteProgram, Service, ServiceError

_PATIENCE = 120.0
"""Seconds for which a client asks a server again that is down."""
_NEW_KEYS, _CANCEL, _SUBMIT, _TWICE = 0.02, 0.1, 0.4, 0.6
"""Of how many jobs the keys are new; how many are cancelled, submitted, or asked for twice: each
share ends where the next one begins."""


class Asking:
    """One client."""

    def __init__(self, url: str, token: str, seed: int, log: TextIO) -> None:
        self._service = Service(url, token, patience_seconds=_PATIENCE, security=None)
        self._rng = np.random.default_rng(seed)
        self._name, self._count, self._log = f"{seed}-{time.time_ns():x}", 0, log
        self._programs: dict[str, RemoteProgram] = {}
        self._keys: dict[str, tuple[object, ...]] = {}

    def note(self, **values: object) -> None:
        """Writes a line, which outlives this process."""
        self._log.write(json.dumps(values) + "\n")
        self._log.flush()

    def _forget(self, program: RemoteProgram, keys: EvaluationKeys) -> None:
        try:
            self._service.forget_keys(program, keys)
        except ServiceError as error:
            if error.code != "in-use":  # a job that was cancelled may not have ended yet
                raise

    def once(self) -> None:
        """Asks for one job. Raises AssertionError if a result is wrong."""
        kind = str(self._rng.choice([*KINDS]))
        if kind not in self._programs:
            self._programs[kind] = self._service.program(kind)
        program = self._programs[kind]
        if kind not in self._keys or self._rng.random() < _NEW_KEYS:
            if kind in self._keys:
                self._forget(program, self._keys[kind][2])  # type: ignore[arg-type]
            self._keys[kind] = program.generate_keys()
        secret_key, public_key, keys = self._keys[kind]
        given = numbers(kind, self._rng)
        inputs = program.encrypt(public_key, given)  # type: ignore[arg-type]
        request, way = f"{self._name}-{self._count}", self._rng.random()
        self._count += 1
        begin = time.time()
        self.note(request=request, asked=begin)
        if way < _CANCEL:
            job = self._service.submit(program, inputs, keys, request=request)  # type: ignore[arg-type]
            time.sleep(float(self._rng.uniform(0, 0.02)))
            job.cancel()
            self.note(request=request, cancelled=True)
            return
        if way < _SUBMIT:
            job = self._service.submit(program, inputs, keys, request=request)  # type: ignore[arg-type]
            outputs = job.wait()
        else:
            outputs = self._service.run(program, inputs, keys, request=request)  # type: ignore[arg-type]
        if _SUBMIT <= way < _TWICE:
            again = self._service.run(program, inputs, keys, request=request)  # type: ignore[arg-type]
            for name, output in outputs.items():
                assert np.array_equal(again[name].data, output.data), "one request, two results"
        seconds = time.time() - begin
        found = program.decrypt(secret_key, outputs)  # type: ignore[arg-type]
        (values,) = found.values()
        expected = KINDS[kind].clear(given)
        assert np.array_equal(values[: expected.size], expected), (kind, given, values)
        self.note(request=request, done=True, seconds=seconds)


def main(url: str, token: str, seed: str, log: str) -> None:
    """Asks until standard input is closed."""
    warnings.simplefilter("ignore", SecurityWarning)
    ended = threading.Event()

    def watch() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=watch, daemon=True).start()
    with Path(log).open("a") as file:
        asking = Asking(url, token, int(seed), file)
        while not ended.is_set():
            try:
                asking.once()
            except ServiceError as error:
                asking.note(error=str(error), code=error.code)
            except AssertionError as error:
                asking.note(wrong=str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
