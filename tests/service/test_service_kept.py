"""Results that a server keeps: inputs of later jobs that never cross, under the client's quota."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.service.served import Server, limited, slow, until

from ringsmith import Program, compile_program, open_device, trace
from ringsmith.client import SecretKey, generate_keys
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import KeyNeeds
from ringsmith.remote import RemoteHandle, RemoteJob, Service, ServiceError
from ringsmith.remote.form import write_form
from ringsmith.service.folder import Folder
from ringsmith.service.published import publish
from ringsmith.service.tasks import DeviceChoice

NUMBERS = {"x": [0.5, -0.25, 0.125, 1.0], "y": [1.0, 2.0, -1.0, 0.25]}
STEPS = 5


def step(x, y):  # noqa: ANN001, ANN201
    """Its outputs are at the level of its inputs."""
    return {"u": x.rotate(1) + y, "v": x - y}


def deep(x, y):  # noqa: ANN001, ANN201
    """Its output has fewer limbs than inputs have."""
    return {"product": x * y}


def small(x, y):  # noqa: ANN001, ANN201
    """Needs no keys, and a smaller ring."""
    return {"v": x - y}


@dataclass(frozen=True)
class World:
    """Programs of one parameter set, and a client's keys for all of them."""

    files: list[Path]
    step: Program
    secret_key: SecretKey
    public_key: PublicKey
    keys: EvaluationKeys
    inputs: Mapping[str, Ciphertext]

    def local(self, steps: int) -> Mapping[str, Ciphertext]:
        """The outputs after some steps in this process."""
        compiled, device, values = compile_program(self.step), open_device("cpu"), self.inputs
        for _ in range(steps):
            found = compiled.run(device, values, self.keys).outputs
            values = {"x": found["u"], "y": found["v"]}
        return found

    @property
    def size(self) -> int:
        """Bytes of the residues of an output."""
        return next(iter(self.local(1).values())).data.nbytes


@dataclass(frozen=True)
class Clients:
    """A server that asks for tokens, and the tokens."""

    server: Server
    tokens: Mapping[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("programs")
    first = trace(deep, "auto", {"x": None, "y": None})
    parameters = first.parameters
    programs = {
        "deep": first,
        "step": trace(step, parameters, {"x": None, "y": None}),
        "slow": trace(lambda x, y: {"u": slow(x), "v": y}, parameters, {"x": None, "y": None}),
        "small": trace(small, "auto", {"x": None, "y": None}),
    }
    for name, program in programs.items():
        program.save(folder / f"{name}.rsp")
    galois = {**programs["slow"].key_needs.galois, **programs["step"].key_needs.galois}
    secret, public, keys = generate_keys(
        parameters, KeyNeeds(first.key_needs.relin, galois), seeded=True
    )
    inputs = programs["step"].encrypt(public, NUMBERS)
    files = [folder / f"{name}.rsp" for name in programs]
    return World(files, programs["step"], secret, public, keys, inputs)


@pytest.fixture(scope="module")
def kept(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of these programs."""
    with Server(tmp_path_factory.mktemp("kept"), world.files, "--workers", "1") as server:
        yield server


def same(found: Mapping[str, Ciphertext], expected: Mapping[str, Ciphertext]) -> None:
    assert found.keys() == expected.keys()
    for name, ciphertext in expected.items():
        np.testing.assert_array_equal(found[name].data, ciphertext.data)
        assert found[name].scale == ciphertext.scale
        assert found[name].key_tag == ciphertext.key_tag


def handles(job: RemoteJob) -> dict[str, RemoteHandle]:
    """The outputs of ``step`` as inputs of the next one."""
    return {"x": job.output("u", 60), "y": job.output("v", 60)}


def crossed(server: Server, words: str) -> tuple[int, int]:
    """Bytes of the requests and answers of a kind, as the server's log has them."""
    lines = [line for line in server.log.splitlines() if words in line]
    found = [re.search(r" in=(\d+) out=(\d+)", line) for line in lines]
    numbers = [(int(each[1]), int(each[2])) for each in found if each is not None]
    assert len(numbers) == len(lines)
    return sum(first for first, _ in numbers), sum(last for _, last in numbers)


def refused(call: Any, status: int, code: str, match: str) -> None:  # noqa: ANN401
    with pytest.raises(ServiceError, match=match) as error:
        call()
    assert (error.value.status, error.value.code) == (status, code)


def test_jobs_in_a_row_move_the_first_inputs_and_the_last_outputs(
    world: World, kept: Server
) -> None:
    with Service(kept.url) as service:
        job = service.submit("step", world.inputs, world.keys, keep=True)
        assert job.wait(60) == {}
        sent, _ = crossed(kept, "/runs")
        for number in range(1, STEPS):
            last = number == STEPS - 1
            job = service.submit("step", handles(job), world.keys, keep=not last)
        same(job.wait(60), world.local(STEPS))
    until(lambda: kept.log.count("/runs") == STEPS, "the last line is logged")
    again, answered = crossed(kept, "/runs")
    assert sent > 2 * world.size
    assert again - sent < 2000 * STEPS
    assert answered < 2000 * STEPS


def test_some_outputs_are_kept_and_mix_with_ciphertexts(world: World, kept: Server) -> None:
    with Service(kept.url) as service:
        job = service.submit("step", world.inputs, world.keys, keep=["u"])
        first = world.local(1)
        same(job.wait(60), {"v": first["v"]})
        with job.output("u") as handle:
            same({"u": handle.read()}, {"u": first["u"]})
            assert (handle.limbs, handle.scale) == (first["u"].limbs, first["u"].scale)
            outputs = service.run("step", {"x": handle, "y": first["v"]}, world.keys)
        same(outputs, world.local(2))
        assert handle.freed
        with pytest.raises(ProgramError, match=r"output 'v' is not kept, .* keep=\['v'\]"):
            job.output("v")
        with pytest.raises(ProgramError, match=r"the outputs \['u', 'v'\], and no 'w'"):
            job.output("w")
        with pytest.raises(ProgramError, match="keep: the program has the outputs"):
            service.submit("step", world.inputs, world.keys, keep=["w"])
        with pytest.raises(TypeError, match="keep = 'u': give a list"):
            service.submit("step", world.inputs, world.keys, keep="u")


def test_a_handle_must_fit_the_input(world: World, kept: Server) -> None:
    with Service(kept.url) as service, Service(f"{kept.url}/") as again:
        job = service.submit("step", world.inputs, world.keys, keep=True)
        of_job = handles(job)
        product = service.submit("deep", world.inputs, world.keys, keep=True).output("product")
        with pytest.raises(ProgramError, match=r"input 'y': .* has 1 limbs and scale .* takes 2 "):
            service.run("step", {**of_job, "y": product}, world.keys)
        with pytest.raises(ProgramError, match=r"is of the parameters .* trace both programs"):
            service.run("small", of_job, world.keys)
        same(again.run("step", of_job, world.keys), world.local(2))
        with (
            Service(kept.url.replace("127.0.0.1", "localhost")) as elsewhere,
            pytest.raises(ProgramError, match="is a handle of http://127"),
        ):
            elsewhere.run(job.program, of_job, world.keys)
        # What a client does not check, the server does.
        _, _, others = generate_keys(world.step.parameters, world.step.key_needs)
        refused(
            lambda: service.submit("step", of_job, others).wait(60),
            *(200, "not-this-program", "of another key pair"),
        )


class Plain:
    """A client without ``ringsmith.remote``."""

    def __init__(self, server: Server, world: World, token: str | None = None) -> None:
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        with Service(server.url, token) as service:
            digests = service.put_keys(service.program("step"), world.keys)
        self._url, self._fields = server.url, {"keys": " ".join(digests).encode()}

    def ask(self, method: str, path: str) -> httpx.Response:
        """Sends a request without a body."""
        return httpx.request(method, f"{self._url}{path}", headers=self._headers, timeout=60)

    def run(
        self, addresses: Mapping[str, str], name: str = "step", request: str = "", **fields: str
    ) -> httpx.Response:
        """Runs a program on kept outputs."""
        given = self._fields | {key: text.encode() for key, text in fields.items()}
        texts = {key: text.encode() for key, text in addresses.items()}
        body, kind = write_form(given, {}, texts)
        headers = {**self._headers, "Content-Type": kind}
        if request:
            headers["Idempotency-Key"] = request
        url = f"{self._url}/v1/programs/{name}/runs"
        return httpx.post(url, content=body, headers=headers, timeout=60)

    def refused(self, answer: httpx.Response, status: int, code: str, match: str) -> None:
        """Checks an error."""
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert re.search(match, answer.json()["detail"]), answer.text


def test_the_address_of_an_output_is_an_input(world: World, kept: Server) -> None:
    plain = Plain(kept, world)
    with Service(kept.url) as service:
        job = service.submit("step", world.inputs, world.keys, keep=["u"])
        job.wait(60)
        swapped = {"x": world.inputs["y"], "y": world.inputs["x"]}
        second = service.submit("step", swapped, world.keys, keep=["u"])
        second.wait(60)
        deep = service.submit("deep", world.inputs, world.keys, keep=True)
        deep.wait(60)
    outputs = plain.ask("GET", f"/v1/jobs/{job.id}").json()["outputs"]
    assert {name: one["kept"] for name, one in outputs.items()} == {"u": True, "v": False}
    href = outputs["u"]["href"]
    uri_list = f"/v1/jobs/{second.id}/outputs/u\r\n"  # as RFC 2483 writes it
    answer = plain.run({"x": href, "y": uri_list}, request="both", keep="v")
    assert answer.status_code == 200, answer.text
    wrong = {
        outputs["v"]["href"]: (409, "not-kept", "output 'v' of job .* the field 'keep'"),
        f"{href}w": (404, "not-found", "no output 'uw' of this job"),
        f"/v1/jobs/{'0' * 32}/outputs/u": (404, "not-found", "there is no job 0+"),
        "../../secret": (422, "wrong-parts", "'../../secret' is no address of an output"),
        f"/v1/jobs/{job.id}/outputs/..%2f..": (404, "not-found", "no output"),
        "": (422, "wrong-parts", "input 'x': '' is no address"),
        "u" * 5000: (413, "too-large", "more than 4096 bytes"),
    }
    for address, (status, code, match) in wrong.items():
        plain.refused(plain.run({"x": address, "y": href}), status, code, match)
    plain.refused(plain.run({"x": href, "y": href}, keep="w"), 422, "wrong-parts", "and not 'w'")
    with Service(kept.url) as service:
        busy = service.submit("slow", world.inputs, world.keys, keep=True)
        early = plain.run({"x": f"/v1/jobs/{busy.id}/outputs/u", "y": href})
        busy.cancel()
    plain.refused(early, 409, "not-done", "the job is (waiting|running)")
    fewer = plain.run({"x": f"/v1/jobs/{deep.id}/outputs/product", "y": href})
    assert (fewer.status_code, fewer.json()["code"]) == (422, "not-this-program")
    assert "input 'x'" in fewer.json()["message"]
    larger = plain.run({"x": href, "y": href}, "small", keys="")
    text = r"input 'x': .* bytes, .* at most \d+: it has more limbs"
    plain.refused(larger, 413, "too-large", text)
    plain.refused(plain.ask("DELETE", outputs["v"]["href"]), 409, "not-kept", "was not to be kept")
    assert plain.ask("DELETE", href).status_code == 204
    for answer in (
        *(plain.ask("GET", href), plain.ask("DELETE", href)),
        plain.run({"x": href, "y": href}),
    ):
        plain.refused(answer, 410, "freed", "output 'u' of job .* run the job again")
    # The job that was run with it is found again, and another under its name is not.
    assert plain.run({"x": href, "y": uri_list}, request="both", keep="v").status_code == 200
    again = plain.run({"x": href, "y": href}, request="both")
    plain.refused(again, 422, "other-request", "was given before")
    assert plain.ask("GET", outputs["v"]["href"]).status_code == 200


LIMITS = """
[limits]
keep_seconds = 4
[quota.carol]
job_bytes = {}
"""


@pytest.fixture(scope="module")
def clients(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    """A server with clients: the quota of ``carol`` takes two jobs of ``step``, and no third."""
    folder = tmp_path_factory.mktemp("clients")
    data = Folder(folder / "data")
    tokens = {name: data.database.add_client(name) for name in ("alice", "bob", "carol")}
    data.close()
    with limited(folder, world.files, LIMITS.format(10 * world.size)) as server:
        yield Clients(server, tokens)


def test_another_clients_output_is_like_an_unknown_one(world: World, clients: Clients) -> None:
    with Service(clients.server.url, clients.tokens["alice"]) as alice:
        job = alice.submit("step", world.inputs, world.keys, keep=True)
        job.wait(60)
        bob = Plain(clients.server, world, clients.tokens["bob"])
        answers = []
        for identifier in (job.id, "0" * 32):
            href = f"/v1/jobs/{identifier}/outputs/u"
            for answer in (
                bob.run({"x": href, "y": href}),
                bob.ask("GET", href),
                bob.ask("DELETE", href),
            ):
                assert answer.status_code == 404
                answers.append(answer.text.replace(identifier, "ID"))
        assert answers[:3] == answers[3:]
        with Service(clients.server.url, clients.tokens["bob"]) as theirs:
            taken = RemoteHandle(theirs, job.id, job.program, "u")
            run = {"x": taken, "y": taken}
            refused(lambda: theirs.run("step", run, world.keys), 404, "not-found", "no job")
            refused(taken.read, 404, "not-found", "there is no job")
            taken.free()  # which does nothing
        same({"u": job.output("u").read()}, {"u": world.local(1)["u"]})


def test_a_full_quota_says_what_holds_how_much(world: World, clients: Clients) -> None:
    with Service(clients.server.url, clients.tokens["carol"], patience_seconds=0) as service:
        first = service.submit("step", world.inputs, world.keys, keep=True)
        second = service.submit("step", handles(first), world.keys, keep=["v"])
        second.wait(60)

        def third() -> None:
            service.run("step", handles(first), world.keys)

        held = rf"job {first.id} \d+ \(kept outputs: u \d+, v \d+\)"
        also = rf"job {second.id} \d+ \(kept outputs: v \d+\)"
        refused(third, 429, "quota", "DELETE kept outputs")
        refused(third, 429, "quota", held)
        refused(third, 429, "quota", also)
        second.output("v").free()
        third()


def test_a_kept_output_expires_with_its_job(world: World, clients: Clients) -> None:
    with Service(clients.server.url, clients.tokens["alice"]) as service:
        handle = service.submit("step", world.inputs, world.keys, keep=True).output("u", 60)
        handle.read()

        def gone() -> bool:
            try:
                handle.read()
            except ServiceError as error:
                return error.status == 404
            return False

        until(gone, "it expires")
        run = {"x": handle, "y": handle}
        refused(lambda: service.run("step", run, world.keys), 404, "not-found", "no job")


def test_a_job_that_waits_keeps_what_it_was_given(world: World, kept: Server) -> None:
    with Service(kept.url) as service:
        first = service.submit("step", world.inputs, world.keys, keep=True)
        given = handles(first)
        busy = [service.submit("slow", world.inputs, world.keys) for _ in range(2)]
        waiting = service.submit("step", given, world.keys)
        for handle in given.values():
            handle.free()
            handle.free()
        first.cancel()
        assert waiting.poll().state == "waiting"
        for each in busy:
            each.cancel()
        same(waiting.wait(60), world.local(2))
        refused(lambda: service.run("step", given, world.keys), 410, "freed", "input '.' was freed")
        refused(given["x"].read, 410, "freed", "the handle was freed: run the job again")


def test_kept_outputs_survive_a_killed_server(world: World, kept: Server) -> None:
    with Service(kept.url) as service:
        first = service.submit("step", world.inputs, world.keys, keep=True)
        given = handles(first)
        busy = service.submit("slow", world.inputs, world.keys)
        waiting = service.submit("step", given, world.keys, keep=["v"])
        given["y"].free()
        kept.kill()
        kept.start()
        busy.cancel()
        expected = world.local(2)
        same(waiting.wait(60), {"u": expected["u"]})
        same({"v": waiting.output("v").read()}, {"v": expected["v"]})
        same({"u": given["x"].read()}, {"u": world.local(1)["u"]})
        again = RemoteHandle(service, first.id, first.program, "v")
        refused(again.read, 410, "freed", "was removed")
    (lost,) = kept.data.glob(f"jobs/{first.id}/attempt-*/0")
    lost.unlink()
    plain = Plain(kept, world)
    href = f"/v1/jobs/{first.id}/outputs/u"
    for answer in (plain.ask("GET", href), plain.run({"x": href, "y": href})):
        plain.refused(answer, 410, "lost-files", "not on the server's disk any more")


def test_an_input_with_the_name_of_a_field_is_refused(world: World, tmp_path: Path) -> None:
    def publish_as(inputs: str, output: str) -> None:
        program = trace(
            eval(f"lambda {inputs}: {{{output!r}: {inputs} + 1}}"),  # noqa: S307
            world.step.parameters,
            {inputs: 4},
        )
        program.save(tmp_path / "named.rsp", overwrite=True)
        publish(tmp_path / "named.rsp", tmp_path, DeviceChoice(), b"secret")

    publish_as("job", "keep")
    for name in ("keys", "revision", "keep"):
        with pytest.raises(ParameterError, match=f"input '{name}': .* rename the input"):
            publish_as(name, "y")
    with pytest.raises(ParameterError, match=r"output 'job': .* rename the output"):
        publish_as("x", "job")
