"""A worker: a process that owns a device, and runs programs on it for the server.

``python -m ringsmith.service.worker FD`` communicates with its server over a socket, in lines of
JSON. It ends when the server is gone. All data from clients is parsed here, not in the server.
"""

import errno
import json
import os
import socket
import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from ringsmith.backends.base import Device
from ringsmith.backends.cards.interface import CARD
from ringsmith.backends.jobs import ChangedJob
from ringsmith.backends.registry import backend_without_designs
from ringsmith.errors import (
    DeviceError,
    DeviceLostError,
    InteropError,
    ProgramError,
    RingsmithError,
)
from ringsmith.files.records import Decoder, Encoder
from ringsmith.interop import (
    SealParameters,
    decode_object,
    encode_object,
    read_galois_keys,
    read_relin_keys,
)
from ringsmith.objects import Ciphertext, EvaluationKeys, keys_by_field, keys_by_name
from ringsmith.params import RlweParameters
from ringsmith.program import ClientKit, Program
from ringsmith.runtime import (
    Compiled,
    PrecomputedKeys,
    RunResult,
    compile_for_smallest_design,
    compile_program,
    open_device,
    precompute_keys,
)
from ringsmith.service.protocol import OBJECT_MEDIA, RELIN_MEDIA
from ringsmith.service.tasks import AHEAD, CANCELLED, Outcome, ProgramFiles, Setup, Task

Keys = EvaluationKeys | PrecomputedKeys


class Runner:
    """Programs, keys and devices of a worker; safe to use from several threads."""

    def __init__(self, setup: Setup, read: Callable[[str], bytes] | None = None) -> None:
        """Makes a runner; it opens devices and programs on first use.

        Args:
            setup: The device and the programs.
            read: Reads keys by the path in their ``KeyFile``; None: from the file.
        """
        self._setup = setup
        self._read = read or _contents
        self._files = {each.name: each for each in setup.programs}
        self._programs: dict[str, tuple[Compiled, RlweParameters]] = {}
        self._devices: dict[object, Device] = {}
        self._keys: OrderedDict[str, Keys] = OrderedDict()
        self._running: dict[str, ChangedJob[Any, Any] | None] = {}
        self._lock, self._loading = Lock(), Lock()
        self._cpu = Lock()
        """Lock of the computing job, for a device that accepts any number of jobs."""

    def open(self) -> int:
        """Loads all programs and opens their devices; returns how many tasks may run at once.

        Raises RingsmithError if a program or device cannot be opened.
        """
        devices = [self._device(self._program(name)[0]) for name in self._files]
        return max(device.places or 1 for device in devices)

    def carry_out(self, task: Task) -> Outcome:
        """Runs a task; the outcome reports every failure."""
        with self._lock:
            self._running[task.job] = None
        started = time.perf_counter()
        outcome = self._carried_out(task, started)
        if outcome.code:  # the client pays for what its job took until it failed
            return replace(outcome, load_seconds=time.perf_counter() - started)
        return outcome

    def _carried_out(self, task: Task, started: float) -> Outcome:
        try:
            return self._check(task) if task.is_check else self._run(task, started)
        except InteropError as error:
            return self._failed(task, "malformed", str(error))
        except ProgramError as error:
            return self._failed(task, "not-this-program", str(error))
        except DeviceError as error:
            if task.job not in self._running:
                return self._failed(task, CANCELLED, "the job was cancelled")
            lost = isinstance(error, DeviceLostError)
            return self._failed(task, "device", str(error), lost=lost)
        except RingsmithError as error:
            return self._failed(task, "refused", str(error))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                return self._failed(task, "disk-full", "the server's disk is full: try again later")
            text = f"a file of this job cannot be used: {error.strerror}"
            return self._failed(task, "lost-files", text)
        except MemoryError:
            return self._failed(task, "memory", "the worker has not enough memory for this job")
        except Exception as error:
            traceback.print_exc()
            return self._failed(task, "internal", f"an internal error: {type(error).__name__}")
        finally:
            with self._lock:
                self._running.pop(task.job, None)

    def cancel(self, job: str) -> None:
        """Stops a job, as far as its device can."""
        with self._lock:
            running = self._running.pop(job, None)
        if running is not None:
            running.cancel()

    def _failed(self, task: Task, code: str, message: str, *, lost: bool = False) -> Outcome:
        return Outcome(task.job, code, message, held=self._held(), lost=lost)

    def _check(self, task: Task) -> Outcome:
        """Reads uploaded keys to check them; the worker keeps keys only when they are used."""
        parameters = self._program(task.program)[1]
        for key in task.keys:
            _keys(self._read(key.path), key.media, parameters)
        return Outcome(task.job, held=self._held())

    def _run(self, task: Task, started: float) -> Outcome:
        compiled, parameters = self._program(task.program)
        device = self._device(compiled)
        keys = self._keys_of(task, parameters, precomputed=device.capabilities.any_keys)
        inputs = {
            name: _named(f"input {name!r:.80}", Path(path), parameters)
            for name, path in task.inputs.items()
        }
        load_seconds = time.perf_counter() - started
        result, seconds = self._result(task, compiled, device, inputs, keys)
        sizes = {}
        folder = Path(task.folder)
        folder.mkdir(mode=0o700)
        for number, (name, output) in enumerate(result.outputs.items()):
            data = encode_object(output, parameters)
            (folder / str(number)).write_bytes(data)
            sizes[name] = len(data)
        return Outcome(
            task.job,
            seconds=seconds,
            load_seconds=load_seconds,
            outputs=sizes,
            figures=result.report.counts(),
            held=self._held(),
            key_bytes=self._key_bytes(),
        )

    def _result(
        self,
        task: Task,
        compiled: Compiled,
        device: Device,
        inputs: Mapping[str, Ciphertext],
        keys: Keys,
    ) -> tuple[RunResult, float]:
        """Returns the result of a run and its device seconds."""
        if device.places is None:  # it accepts any number of jobs, and finishes each
            with self._cpu:
                started = time.perf_counter()
                return compiled.run(device, inputs, keys), time.perf_counter() - started
        started = time.perf_counter()
        job = compiled.submit(device, inputs, keys, client=task.client)
        with self._lock:
            if task.job in self._running:
                self._running[task.job] = job
            else:  # cancelled in the meantime
                job.cancel()
        return job.wait(), time.perf_counter() - started

    def _program(self, name: str) -> tuple[Compiled, RlweParameters]:
        with self._loading:
            if name not in self._programs:
                self._programs[name] = _loaded(self._files[name], self._setup.device.kind)
            return self._programs[name]

    def _device(self, compiled: Compiled) -> Device:
        design = compiled.compiled_graph.design
        with self._loading:
            if design not in self._devices:
                self._devices[design] = _opened(self._setup, compiled)
            return self._devices[design]

    def _keys_of(self, task: Task, parameters: RlweParameters, *, precomputed: bool) -> Keys:
        """Returns a task's keys, from memory if they are there."""
        with self._loading:
            if task.group in self._keys:
                self._keys.move_to_end(task.group)
                return self._keys[task.group]
            whole = _joined(
                [_keys(self._read(key.path), key.media, parameters) for key in task.keys]
            )
            found = _precomputed(whole, parameters) if precomputed else whole
            self._keys[task.group] = found
            while self._key_bytes() > self._setup.key_memory and len(self._keys) > 1:
                self._keys.popitem(last=False)
            return found

    def _held(self) -> tuple[str, ...]:
        return tuple(self._keys)

    def _key_bytes(self) -> int:
        kept = [*self._keys.values()]  # at once: another thread may add keys meanwhile
        return sum(keys.nbytes for keys in kept)


def _loaded(files: ProgramFiles, kind: str) -> tuple[Compiled, RlweParameters]:
    parameters = ClientKit.load(files.kit, security=None).parameters  # the operator's own
    if files.compiled:
        return Compiled.load(files.compiled), parameters
    program = Program.load(files.program)
    assert isinstance(program, Program), "the server has read it"
    if backend_without_designs(kind) is not None:
        return compile_program(program), parameters
    if files.design:
        return compile_program(program, files.design), parameters
    return compile_for_smallest_design(program), parameters


def _opened(setup: Setup, compiled: Compiled) -> Device:
    device, design = setup.device, compiled.compiled_graph.design
    if design is None:
        return open_device(device.kind)
    if device.kind == CARD:
        return open_device(CARD, design, port=device.card)
    return open_device(device.kind, design)


def _named(what: str, path: Path, parameters: RlweParameters) -> Ciphertext:
    """Reads an encrypted input.

    Raises InteropError if it is no ciphertext; names the input, but no path.
    """
    try:
        return decode_object(path.read_bytes(), Ciphertext, parameters, what)
    except InteropError as error:
        text = str(error)
        raise InteropError(text if text.startswith(what) else f"{what}: {text}") from None


def _contents(path: str) -> bytes:
    return Path(path).read_bytes()


def _keys(data: bytes, media: str, parameters: RlweParameters) -> EvaluationKeys:
    """Reads uploaded keys. Raises InteropError if the file holds no keys."""
    if media == OBJECT_MEDIA:
        return decode_object(data, EvaluationKeys, parameters, "the evaluation keys")
    shape = SealParameters.from_parameters(parameters)
    if media == RELIN_MEDIA:
        return EvaluationKeys(read_relin_keys(data, shape))
    return EvaluationKeys(None, read_galois_keys(data, shape))


def _joined(parts: list[EvaluationKeys]) -> EvaluationKeys:
    """Combines keys from several files."""
    named = {name: key for part in parts for name, key in keys_by_name(part).items()}
    return EvaluationKeys(**keys_by_field(named))


def _precomputed(keys: EvaluationKeys, parameters: RlweParameters) -> Keys:
    """Returns precomputed keys for many runs on the cpu, if the keys allow it."""
    if parameters.word_bits or parameters.residue_digits:
        return keys
    return precompute_keys(keys, parameters)


class _Line:
    """The socket to the server."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._reader = self._socket.makefile("rb")
        self._lock = Lock()

    def send(self, message: Mapping[str, object]) -> None:
        """Sends a line; the reader detects that a server is gone."""
        data = json.dumps(message).encode() + b"\n"
        with self._lock:
            try:
                self._socket.sendall(data)
            except OSError:
                os._exit(0)

    def read(self) -> Any:  # noqa: ANN401 - JSON
        """Returns the next line; None: the server is gone."""
        line = self._reader.readline()
        return json.loads(line) if line else None


def serve(descriptor: int) -> None:
    """Works for a server until it is gone."""
    line = _Line(descriptor)
    setup: Setup = Decoder(()).decode(line.read(), Setup, "setup")
    os.environ["RINGSMITH_THREADS"] = str(setup.device.threads or os.cpu_count() or 1)
    runner = Runner(setup)
    try:
        places = runner.open()
    except (RingsmithError, OSError) as error:
        line.send({"failed": str(error)})
        return
    line.send({"ready": places})

    def work(task: Task) -> None:
        line.send({"outcome": Encoder().encode(runner.carry_out(task), Outcome, "outcome")})

    # Checks of keys run in parallel to jobs, so that no check waits for a long job.
    with ThreadPoolExecutor(places + AHEAD) as runs, ThreadPoolExecutor(1) as checks:
        while (message := line.read()) is not None:
            if "ping" in message:
                line.send({"pong": message["ping"]})
                continue
            if "cancel" in message:
                Thread(target=runner.cancel, args=(message["cancel"],), daemon=True).start()
                continue
            task: Task = Decoder(()).decode(message["task"], Task, "task")
            (checks if task.is_check else runs).submit(work, task)
        os._exit(0)  # running jobs can no longer report a result


if __name__ == "__main__":
    serve(int(sys.argv[1]))
