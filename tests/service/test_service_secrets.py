"""The secret key stays in the client's process, and the weights in the server's.

All bytes between client and server pass a proxy that keeps them. They, the memory of the server and
its workers, its folder and its log are searched.
"""

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.service.conftest import someone
from tests.service.served import WEIGHTS, Server, in_the_clear, until
from tests.system.test_secret_key import Search, forms_of

from ringsmith.files.budget import Budget
from ringsmith.files.container import unpack
from ringsmith.interop import encode_object
from ringsmith.params import CkksParameters
from ringsmith.remote import Service
from ringsmith.schemes import program_file


class Wire:
    """A proxy before a server, which keeps what passes.

    Attributes:
        url: Where clients connect.
        seen: All bytes of both ways, a text for each connection and way.
    """

    def __init__(self, url: str) -> None:
        target = httpx.URL(url)
        self._target = (target.host, target.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.seen: list[bytearray] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                for source, sink in ((client, server), (server, client)):
                    kept = bytearray()
                    self.seen.append(kept)
                    threading.Thread(
                        target=self._pass, args=(source, sink, kept), daemon=True
                    ).start()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                kept += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Takes no more connections."""
        self._listener.close()


@contextmanager
def watched(url: str) -> Iterator[Wire]:
    wire = Wire(url)
    try:
        yield wire
    finally:
        wire.close()


def server_address(url: str) -> tuple[str, int]:
    target = httpx.URL(url)
    return target.host, target.port or 80


def memory_of(process: int) -> Iterator[bytes]:
    """What a process has in memory that it may write, a range at a time."""
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found is None:
                continue
            first, end = (int(text, 16) for text in found.groups())
            with suppress(OSError, ValueError):
                memory.seek(first)
                yield memory.read(end - first)


def test_the_secret_key_stays_in_the_clients_process(programs: list[Path], tmp_path: Path) -> None:
    with (
        Server(tmp_path, programs[:1], "--workers", "1") as server,
        watched(server.url) as wire,
        Service(wire.url) as service,
    ):
        own = someone(service)
        for _ in range(2):
            outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        parameters = own.program.kit.parameters
        assert isinstance(parameters, CkksParameters)
        searches = forms_of(own.secret_key, parameters)
        processes = [server.process_id, *server.worker_ids]
        assert len(processes) == 2
        places = {
            "the wire": [bytes(kept) for kept in wire.seen],
            "its folder": [p.read_bytes() for p in server.data.rglob("*") if p.is_file()],
            "its log": [server.log.encode()],
        }
        # The searches find what is there: keys and ciphertexts, and the secret here.
        half = own.inputs["x"].data[1, 0].tobytes()
        passed = Search(half, 8)
        assert any(passed.found_in(data) for data in places["the wire"])
        assert any(passed.found_in(data) for data in places["its folder"])
        worker = Search(encode_object(own.inputs["x"], parameters)[64:4096], 8)
        assert any(worker.found_in(data) for data in places["its folder"])
        for form, search in searches.items():
            for place, texts in places.items():
                assert not any(map(search.found_in, texts)), (form, place)
            for process in processes:
                for data in memory_of(process):
                    assert not search.found_in(data), (form, process)
        mine = searches["NTT form"]
        # A secret in a field that the server still reads is found there: the search can fail.
        with socket.create_connection(server_address(server.url)) as line:
            line.sendall(
                b"POST /v1/programs/score/runs HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999\r\n\r\n"
                b'--b\r\nContent-Disposition: form-data; name="keys"\r\n\r\n'
                + own.secret_key.reveal().tobytes()[:2048]
            )
            until(
                lambda: any(mine.found_in(data) for data in memory_of(server.process_id)),
                "the search sees the server's memory",
            )
        assert any(mine.found_in(data) for data in memory_of(os.getpid()))


def test_the_weights_stay_on_the_server(programs: list[Path], tmp_path: Path) -> None:
    with Server(tmp_path, programs[:1], "--workers", "1") as server, watched(server.url) as wire:
        with Service(wire.url) as service:
            own = someone(service)
            service.run(own.program, own.inputs, own.keys)
        for path in ("programs", "programs/score", "programs/score/kit", "jobs", "openapi.json"):
            httpx.get(f"{wire.url}/v1/{path}").raise_for_status()
        kit = httpx.get(f"{wire.url}/v1/programs/score/kit").content
        seen = [bytes(kept) for kept in wire.seen] + [kit]

    def numbers(data: bytes) -> set[float]:
        """All numbers of a file of ours, in its text and its arrays."""
        found = unpack(data, "file", program_file.VERSIONS, Budget(1 << 30), "a file")
        texts = re.findall(r"-?\d+\.\d+(?:[eE][-+]?\d+)?", repr(found.content))
        values = {float(text) for text in texts}
        for array in found.arrays:
            values |= {float(x) for x in np.real(np.asarray(array, dtype=complex)).ravel()}
        return values

    assert {*WEIGHTS} <= numbers(programs[0].read_bytes()), "the program has its weights"
    assert not {*WEIGHTS} & numbers(kit)
    for weight in WEIGHTS:
        for form in (np.float64(weight).tobytes(), repr(weight).encode()):
            assert not any(form in data for data in seen)
