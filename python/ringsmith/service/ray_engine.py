"""Workers as Ray actors, one per device, on the machines of a cluster.

Machines need no shared folder. Programs, inputs and outputs are arguments and results of calls.
Evaluation keys are in Ray's object store, by digest. A machine fetches them when a worker on it
first needs them. As in every engine, jobs go to workers that have their keys in memory.
"""

import asyncio
import os
import tempfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from ringsmith.engines.ray_cluster import connected
from ringsmith.errors import DeviceError, RingsmithError
from ringsmith.files.records import Decoder, Encoder
from ringsmith.service.engine import WorkerLostError
from ringsmith.service.tasks import AHEAD, KeyFile, Outcome, ProgramFiles, Setup, Task
from ringsmith.service.worker import Runner

_MOST_PLACES = 64
"""Maximum number of jobs that run at once in one actor, and of its threads."""
_START_SECONDS = 1800.0

Json = Any
Contents = Mapping[str, bytes]


class Actor:
    """A worker on a machine of the cluster: a ``Runner`` with its own files."""

    def __init__(self, setup: Json, programs: Sequence[Contents]) -> None:
        """Writes programs to its own folder."""
        self._folder = tempfile.TemporaryDirectory(prefix="ringsmith-")
        root = Path(self._folder.name)
        decoded: Setup = Decoder(()).decode(setup, Setup, "setup")
        files = []
        for number, (program, contents) in enumerate(zip(decoded.programs, programs, strict=True)):
            own = root / str(number)
            own.mkdir()
            paths = {name: str(own / name) if name in contents else "" for name in _CONTENTS}
            for name, data in contents.items():
                (own / name).write_bytes(data)
            files.append(replace(program, **paths))
        os.environ["RINGSMITH_THREADS"] = str(decoded.device.threads or os.cpu_count() or 1)
        self._references: dict[str, Any] = {}
        self._runner = Runner(replace(decoded, programs=tuple(files)), self._fetched)

    def _fetched(self, path: str) -> bytes:
        """Returns keys of a running task from the object store, if the worker lacks them."""
        import ray

        data: bytes = ray.get(self._references[path])
        return data

    def open(self) -> tuple[int, str]:
        """Opens the device; returns how many jobs run at once, or 0 and the reason of failure."""
        try:
            return self._runner.open(), ""
        except (RingsmithError, OSError) as error:
            return 0, str(error)

    def carry_out(
        self, task: Json, keys: Sequence[Any], inputs: Contents
    ) -> tuple[Json, list[bytes]]:
        """Runs a task.

        Returns an ``Outcome``, and the contents of its outputs in their order.

        Args:
            task: A ``Task``, whose paths are the server's.
            keys: References to the contents of its keys, in their order.
            inputs: Contents of its inputs by name.
        """
        decoded: Task = Decoder(()).decode(task, Task, "task")
        with tempfile.TemporaryDirectory(dir=self._folder.name) as text:
            folder, paths = Path(text), {}
            named = {f"{decoded.job} {number}": one for number, one in enumerate(keys)}
            self._references |= named
            for number, (name, data) in enumerate(inputs.items()):
                paths[name] = str(folder / f"input {number}")
                Path(paths[name]).write_bytes(data)
            outputs = folder / "outputs"
            own = replace(
                decoded,
                keys=tuple(
                    KeyFile(name, key.media) for name, key in zip(named, decoded.keys, strict=True)
                ),
                inputs=paths,
                folder="" if decoded.is_check else str(outputs),
            )
            try:
                outcome = self._runner.carry_out(own)
            finally:
                for name in named:
                    self._references.pop(name, None)
            made = [(outputs / str(i)).read_bytes() for i in range(len(outcome.outputs))]
        return Encoder().encode(outcome, Outcome, "outcome"), made

    def cancel(self, job: str) -> None:
        """Stops a job, as far as the device can."""
        self._runner.cancel(job)

    def live(self) -> None:
        """Never returns: the call fails when the actor is gone, which reports its loss."""
        Event().wait()


_CONTENTS = ("program", "kit", "compiled")


class RayReplica:
    """An actor, also while it is being restarted."""

    process_id = None

    def __init__(self, engine: "RayActors", number: int) -> None:
        self.name = f"actor {number}"
        self.places, self.trouble = 0, ""
        self._engine = engine
        self._actor: Any = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts the actor where the cluster has a free processor; see ``Replica.start``."""
        await self.close()
        ray = self._engine.ray
        self._actor = self._engine.actor()
        try:
            places, trouble = await asyncio.wait_for(self._actor.open.remote(), _START_SECONDS)
        except (ray.exceptions.RayError, TimeoutError) as error:
            places, trouble = 0, f"{type(error).__name__}: {str(error).splitlines()[0]:.200}"
        if not places:
            self.trouble = trouble
            await self.close()
            raise DeviceError(f"{self.name}: {trouble}")
        self.places, self.trouble = min(places, _MOST_PLACES), ""
        self._watch = asyncio.create_task(self._watched(self._actor))

    async def _watched(self, actor: Any) -> None:  # noqa: ANN401 - Ray's handle
        """Detects that the actor is gone."""
        with suppress(self._engine.ray.exceptions.RayError):
            await actor.live.remote()
        if self._actor is actor:
            self.places, self._actor, self.trouble = 0, None, "the actor is gone"

    async def run(self, task: Task) -> Outcome:
        """Sends a task to the actor; see ``Replica.run``."""
        actor = self._actor
        if actor is None:
            raise WorkerLostError(f"{self.name} is not there: {self.trouble}")
        keys = [self._engine.key(key) for key in task.keys]
        inputs = {name: Path(path).read_bytes() for name, path in task.inputs.items()}
        encoded = Encoder().encode(task, Task, "task")
        try:
            answer, outputs = await actor.carry_out.remote(encoded, keys, inputs)
        except self._engine.ray.exceptions.RayError as error:
            if self._actor is actor:
                self.places, self._actor = 0, None
            self.trouble = f"{type(error).__name__}"
            self._engine.forget_keys(task.keys)  # they may have been on a machine that is gone
            raise WorkerLostError(f"{self.name}: {self.trouble}") from None
        outcome: Outcome = Decoder(()).decode(answer, Outcome, "outcome")
        if outputs:
            folder = Path(task.folder)
            folder.mkdir(mode=0o700)
            for number, data in enumerate(outputs):
                (folder / str(number)).write_bytes(data)
        return outcome

    async def cancel(self, job: str) -> None:
        """Asks the actor; see ``Replica.cancel``."""
        if self._actor is not None:
            self._actor.cancel.remote(job)

    def kill(self) -> None:
        """Kills the actor; waiting calls raise an error."""
        if self._actor is not None:
            self._engine.ray.kill(self._actor)

    async def close(self) -> None:
        """Ends the actor."""
        actor, self._actor, self.places = self._actor, None, 0
        if actor is not None:
            self._engine.ray.kill(actor)
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


class RayActors:
    """Actors on a cluster: the one in ``RAY_ADDRESS``, else one on this machine."""

    def __init__(self, setup: Setup, count: int, key_bytes: int) -> None:
        """Connects to the cluster.

        Raises ToolError if Ray is not installed, or its cluster does not start.
        """
        self.ray: Any = connected(count)
        self._setup = self.ray.put(Encoder().encode(setup, Setup, "setup"))
        self._programs = self.ray.put([_contents(one) for one in setup.programs])
        self._class: Any = self.ray.remote(
            num_cpus=1, max_restarts=0, max_concurrency=_MOST_PLACES + AHEAD + 4
        )(Actor)
        self._key_bytes = key_bytes
        self._keys: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self.replicas = [RayReplica(self, number) for number in range(count)]

    def actor(self) -> Any:  # noqa: ANN401 - Ray's handle
        """Makes a new actor."""
        return self._class.remote(self._setup, self._programs)

    def key(self, key: KeyFile) -> Any:  # noqa: ANN401 - Ray's reference
        """Returns a reference to keys in the object store; stores them on first use."""
        if key.path not in self._keys:
            data = Path(key.path).read_bytes()
            self._keys[key.path] = (self.ray.put(data), len(data))
            while sum(size for _, size in self._keys.values()) > self._key_bytes:
                if len(self._keys) == 1:
                    break
                self._keys.popitem(last=False)
        self._keys.move_to_end(key.path)
        return self._keys[key.path][0]

    def forget_keys(self, keys: Sequence[KeyFile]) -> None:
        """Removes a reference, so that the keys are stored again on their next use."""
        for key in keys:
            self._keys.pop(key.path, None)

    async def close(self) -> None:
        """Leaves the cluster."""
        self.ray.shutdown()


def _contents(program: ProgramFiles) -> dict[str, bytes]:
    """Returns the contents of a program's files by field."""
    paths = {name: str(getattr(program, name)) for name in _CONTENTS}
    return {name: Path(path).read_bytes() for name, path in paths.items() if path}
