"""A client whose process forks: each process gets its own answers, and another's are refused."""

import json
from collections.abc import Callable

import httpx
import numpy as np
import pytest
from tests.forks import forked
from tests.service.conftest import Someone, someone
from tests.service.served import Server, in_the_clear

from ringsmith.remote import Service, ServiceError
from ringsmith.remote.connection import Connection
from ringsmith.remote.form import read_form, write_form

RUNS = 20
SEED = 20261


def test_forked_children_get_the_answers_to_their_own_questions(server: Server) -> None:
    print("seed", SEED)
    with Service(server.url) as service:
        own = someone(service)
        service.run(own.program, own.inputs, own.keys)  # so that there is an open connection

        def ask(seed: int) -> Callable[[], None]:
            def asked() -> None:
                for numbers in np.random.default_rng(seed).uniform(-1, 1, (RUNS, 4)).tolist():
                    inputs = own.program.encrypt(own.public_key, {"x": numbers})
                    found = own.read(service.run(own.program, inputs, own.keys))
                    assert found == pytest.approx(in_the_clear(numbers), abs=1e-4)

            return asked

        assert forked(*(ask(SEED + number) for number in range(3))) == [0] * 3
        ask(SEED)()  # the parent's connection is as it was


def test_a_fork_while_another_thread_holds_the_services_lock_does_not_hang(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        with service._lock.get():
            ends = forked(lambda: service.run(own.program, own.inputs, own.keys))
        assert ends == [0]


@pytest.fixture
def other(server: Server, monkeypatch: pytest.MonkeyPatch) -> tuple[Service, Someone]:
    """A client whose answers about jobs have the id and the request of another job."""
    service = Service(server.url)
    own = someone(service)
    service.run(own.program, own.inputs, own.keys)
    ask = Connection.ask

    def asked(connection: Connection, method: str, path: str, **options: object) -> httpx.Response:
        answer = ask(connection, method, path, **options)  # type: ignore[arg-type]
        if "/runs" not in path and "/jobs/" not in path:
            return answer
        kind, body = answer.headers["content-type"], answer.content
        if kind.startswith("multipart"):
            parts = read_form(kind, body)
            parts["job"] = _another(parts["job"])
            body, kind = write_form({}, parts)
        else:
            body = _another(body)
        return httpx.Response(
            answer.status_code, headers={"content-type": kind}, content=body, request=answer.request
        )

    monkeypatch.setattr(Connection, "ask", asked)
    return service, own


def _another(job: bytes) -> bytes:
    found = json.loads(job) | {"id": "another", "request": "another"}
    return json.dumps(found).encode()


def test_the_answer_to_another_request_is_refused(other: tuple[Service, Someone]) -> None:
    service, own = other
    for ask in (service.run, service.submit):
        with pytest.raises(ServiceError, match=r"the answer is of request another, and request .*"):
            ask(own.program, own.inputs, own.keys)


def test_the_status_and_the_results_of_another_job_are_refused(
    other: tuple[Service, Someone],
) -> None:
    service, own = other
    identifier = service._connection.json("GET", "/jobs")["jobs"][0]["id"]
    with pytest.raises(ServiceError, match=f"the answer is of job another, and job {identifier}"):
        service._job(identifier)
    with pytest.raises(ServiceError, match=f"the answer is of job another, and job {identifier}"):
        service._results_of(identifier, own.program, ())
