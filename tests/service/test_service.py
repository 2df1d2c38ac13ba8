"""Encrypted programs under a URL: kits, keys, runs, jobs, from Python and by plain HTTP."""

import hashlib
import json
import re
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.service.conftest import Someone, someone
from tests.service.served import Server, in_the_clear, until

from ringsmith import CkksParameters, ClientKit, parameter_set, trace
from ringsmith.client import generate_keys
from ringsmith.errors import InteropError, ParameterError
from ringsmith.interop import (
    SealParameters,
    encode_object,
    read_ciphertext,
    with_key_tag,
    write_ciphertext,
    write_galois_keys,
    write_parameters,
    write_relin_keys,
)
from ringsmith.objects import Ciphertext
from ringsmith.params import KeyNeeds
from ringsmith.remote import Service, ServiceError
from ringsmith.remote.form import read_form


def test_a_client_runs_a_program_that_it_does_not_have(server: Server) -> None:
    with Service(server.url) as service:
        assert {*service.programs()} == {"score", "slow"}
        own = someone(service)
        outputs = service.run(own.program, own.inputs, own.keys)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        again = service.run("score", own.inputs, own.keys)
        assert (again["result"].data == outputs["result"].data).all()


def test_keys_travel_once_and_half_of_them(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        before = server.log.count("PUT ")
        for _ in range(3):
            service.run(own.program, own.inputs, own.keys)
        lines = [line for line in server.log.splitlines() if "PUT " in line][before:]
        (line,) = lines
        sent = int(line.partition(" in=")[2].split()[0])
        assert sent < 0.55 * own.keys.nbytes
    with Service(server.url) as another:  # another process of the same client has them there
        another.put_keys(own.program, own.keys)
        assert server.log.count("PUT ") == before + 1


def test_a_job_can_be_submitted_polled_and_waited_for(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        job = service.submit(own.program, own.inputs, own.keys)
        outputs = job.wait(60)
        assert own.read(outputs) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        status = job.poll()
        assert (status.state, status.attempts) == ("done", 1)
        assert status.seconds is not None
        assert status.seconds > 0
        job.cancel()  # which removes a job that has ended
        with pytest.raises(ServiceError, match="there is no job") as error:
            service._job(job.id)
        assert error.value.status == 404


def test_a_running_and_a_waiting_job_can_be_cancelled(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service, "slow")
        running = service.submit(own.program, own.inputs, own.keys)
        waiting = service.submit(own.program, own.inputs, own.keys)
        until(lambda: running.poll().state == "running", "the first job runs")
        waiting.cancel()
        running.cancel()
        for job in (waiting, running):
            with pytest.raises(ServiceError, match="cancelled") as error:
                job.wait(60)
            assert error.value.code == "cancelled"
        quick = someone(service)
        service.run(quick.program, quick.inputs, quick.keys)


def test_the_same_request_is_run_once(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        first = service.submit(own.program, own.inputs, own.keys, request="order-66")
        again = service.submit(own.program, own.inputs, own.keys, request="order-66")
        assert first.id == again.id
        assert first.wait(60)["result"].data.tobytes() == again.wait(60)["result"].data.tobytes()
        other = someone(service)
        with pytest.raises(ServiceError, match="was given before with other inputs") as error:
            service.submit(other.program, other.inputs, other.keys, request="order-66")
        assert error.value.status == 422


def test_events_tell_a_jobs_states_until_it_ends(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        job = service.submit(own.program, own.inputs, own.keys)
        with httpx.stream("GET", f"{server.url}/v1/jobs/{job.id}/events", timeout=60) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            data = [line[6:] for line in answer.iter_lines() if line.startswith("data: ")]
        assert json.loads(data[-1])["state"] == "done"


def test_an_upload_goes_on_where_it_broke_off(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        data = encode_object(own.keys, own.program.kit.parameters)
        address = f"{server.url}/v1/programs/score/keys/{hashlib.sha256(data).hexdigest()}"
        cut = len(data) // 3
        headers = {
            "Content-Type": "application/x-ringsmith-object",
            "Content-Range": f"bytes 0-{cut - 1}/{len(data)}",
        }
        answer = httpx.put(address, content=data[:cut], headers=headers)
        assert (answer.status_code, answer.json()["received"]) == (202, cut)
        headers["Content-Range"] = f"bytes 0-{cut - 1}/{len(data)}"
        answer = httpx.put(address, content=data[:cut], headers=headers)
        assert answer.status_code == 409
        assert answer.headers["upload-offset"] == str(cut)
        service.put_keys(own.program, own.keys)
        # A line is logged after its answer: the refused chunk's may come late, this one's too.
        rest = f" in={len(data) - cut} "
        until(
            lambda: any("PUT " in line and rest in line for line in server.log.splitlines()), rest
        )
        service.run(own.program, own.inputs, own.keys)


def test_seals_own_files_do_for_keys_and_ciphertexts(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        parameters = own.program.kit.parameters
        shape = SealParameters.from_parameters(parameters)
        limbs = parameters.limbs
        full = KeyNeeds(limbs, dict.fromkeys(own.keys.galois, limbs))
        secret, public, keys = generate_keys(parameters, full)
        inputs = own.program.encrypt(public, {"x": own.numbers})
        own = Someone(own.program, secret, public, keys, own.numbers, inputs)
        assert keys.relin is not None
        names = []
        for kind, data in (
            ("relin", write_relin_keys(keys.relin, shape)),
            ("galois", write_galois_keys(keys.galois, shape)),
        ):
            names.append(hashlib.sha256(data).hexdigest())
            answer = httpx.put(
                f"{server.url}/v1/programs/score/keys/{names[-1]}",
                content=data,
                headers={"Content-Type": f"application/x-seal-{kind}-keys"},
            )
            assert answer.status_code == 201, answer.text
        answer = httpx.post(
            f"{server.url}/v1/programs/score/runs",
            data={"keys": ",".join(names)},
            files={"x": encode_object(own.inputs["x"], parameters)},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        parts = read_form(answer.headers["content-type"], answer.content)
        found = read_ciphertext(parts["result"], shape)
        assert own.read({"result": found}) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        job = json.loads(parts["job"])
        output = httpx.get(server.url + job["outputs"]["result"]["href"])
        assert output.content == parts["result"]


HYBRID = CkksParameters.create(
    n=1 << 14, prime_bits=(40,) * 4, special_bits=(41, 41), scale_bits=40, dnum=2
)
"""Two special primes, which SEAL's files do not have."""


def test_answers_name_the_seal_version_that_the_client_reads(server: Server) -> None:
    with Service(server.url) as service:
        own = someone(service)
        parameters = own.program.kit.parameters
        shape = SealParameters.from_parameters(parameters)
        service.put_keys(own.program, own.keys)
        run = {
            "data": {"keys": hashlib.sha256(encode_object(own.keys, parameters)).hexdigest()},
            "files": {"x": write_ciphertext(own.inputs["x"], shape, version=(4, 1))},
            "headers": {"Idempotency-Key": "a-version"},
            "timeout": 60,
        }
        address = f"{server.url}/v1/programs/score"
        forms = [httpx.post(f"{address}/runs{query}", **run) for query in ("", "?seal=4.1")]
        plain, old = (read_form(each.headers["content-type"], each.content) for each in forms)
        found = read_ciphertext(old["result"], shape)
        assert plain["result"] == with_key_tag(write_ciphertext(found, shape), found.key_tag)
        data = write_ciphertext(found, shape, version=(4, 1))
        assert old["result"] == with_key_tag(data, found.key_tag)
        assert read_ciphertext(plain["result"], shape).data.tolist() == found.data.tolist()
        assert own.read({"result": found}) == pytest.approx(in_the_clear(own.numbers), abs=1e-4)
        job = json.loads(old["job"])["id"]
        url = f"{server.url}/v1/jobs/{job}"
        answer = httpx.get(f"{url}/results", params={"seal": "4.1"})
        assert read_form(answer.headers["content-type"], answer.content) == old
        answer = httpx.get(f"{url}/outputs/result", params={"seal": "4.1"})
        assert answer.content == old["result"]
        assert httpx.get(f"{url}/outputs/result").content == plain["result"]
        for version in ("4.1", "4.4"):
            data = httpx.get(f"{address}/parameters", params={"seal": version}).content
            expected = (4, int(version[-1]))
            assert data == write_parameters(shape, version=expected)
        assert httpx.get(f"{address}/parameters").content == data
        for wrong in ("4.5", "3.7", "4", "4.1.2", "", "4.1\n"):
            for path in (f"{url}/results", f"{url}/outputs/result", f"{address}/parameters"):
                answer = httpx.get(path, params={"seal": wrong})
                assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), wrong
                assert "seal: " in answer.json()["detail"]


def test_long_results_name_the_seal_version_too(tmp_path: Path) -> None:
    large = parameter_set("medha-set1")  # a ciphertext has 1.8 MB, and is sent in chunks
    trace(lambda x: x + 1.0, large, {"x": 4}).save(tmp_path / "large.rsp")
    with (
        Server(tmp_path, [tmp_path / "large.rsp"], "--workers", "1") as server,
        Service(server.url, security=None) as service,
    ):
        own = someone(service, "large")
        shape = SealParameters.from_parameters(own.program.kit.parameters)
        files = {"x": write_ciphertext(own.inputs["x"], shape)}
        url = f"{server.url}/v1/programs/large/runs?seal=4.2"
        answer = httpx.post(url, files=files, timeout=60)
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["content-length"]) == len(answer.content) > 1 << 20
        parts = read_form(answer.headers["content-type"], answer.content)
        found = read_ciphertext(parts["result"], shape)
        data = write_ciphertext(found, shape, version=(4, 2))
        assert parts["result"] == with_key_tag(data, found.key_tag)
        decrypted = own.program.decrypt(own.secret_key, {"result": found})["result"]
        assert decrypted == pytest.approx(np.add(own.numbers, 1), abs=1e-4)


def test_a_client_with_seal_is_told_that_seal_cannot_hold_the_parameters(tmp_path: Path) -> None:
    trace(lambda x: x + 1.0, HYBRID, {"x": 4}).save(tmp_path / "hybrid.rsp")
    with (
        Server(tmp_path, [tmp_path / "hybrid.rsp"], "--workers", "1") as server,
        Service(server.url, security=None) as service,
    ):
        own = someone(service, "hybrid")
        assert own.read(service.run(own.program, own.inputs, own.keys)) == pytest.approx(
            own.numbers[0] + 1, abs=1e-4
        )
        (job,) = httpx.get(f"{server.url}/v1/jobs").json()["jobs"]
        for path in (
            "programs/hybrid/parameters",
            "programs/hybrid/parameters?seal=4.1",
            f"jobs/{job['id']}/results?seal=4.1",
            f"jobs/{job['id']}/outputs/result?seal=4.1",
        ):
            answer = httpx.get(f"{server.url}/v1/{path}")
            assert (answer.status_code, answer.json()["code"]) == (406, "no-seal-format"), path
            assert "the parameters of program 'hybrid'" in answer.json()["detail"]
        answer = httpx.post(f"{server.url}/v1/programs/hybrid/runs?seal=4.1", files={"x": b"1"})
        assert (answer.status_code, answer.json()["code"]) == (406, "no-seal-format")
        assert len(httpx.get(f"{server.url}/v1/jobs").json()["jobs"]) == 1  # nothing was run


def test_the_description_says_how_digests_are_separated(server: Server) -> None:
    description = httpx.get(f"{server.url}/v1/openapi.json").json()
    body = description["paths"]["/v1/programs/{name}/runs"]["post"]["requestBody"]
    keys = body["content"]["multipart/form-data"]["schema"]["properties"]["keys"]
    assert "separated by spaces or commas" in keys["description"]
    pattern, digests = re.compile(keys["pattern"]), ("0f" * 32, "a1" * 32)
    for text in (keys["example"], digests[0], " ".join(digests), ", ".join(digests)):
        assert pattern.fullmatch(text)
        answer = httpx.post(
            f"{server.url}/v1/programs/score/runs", data={"keys": text}, files={"x": b"1"}
        )  # each digest is read: the first one that is not there is named
        first = min(text.replace(",", " ").split())
        assert (answer.status_code, answer.json()["code"]) == (409, "keys-missing")
        assert f"keys {first} are not here" in answer.json()["detail"]
    for text in ("", digests[0][:-1], ";".join(digests), "".join(digests)):
        assert not pattern.fullmatch(text)


def test_what_does_not_belong_together_is_refused_with_both_named(server: Server) -> None:
    with Service(server.url) as service:
        own, other, slow = someone(service), someone(service), someone(service, "slow")
        tags = [str(one.keys.key_tag.hex()[:8]) for one in (own, other)]  # type: ignore[union-attr]
        with pytest.raises(ServiceError, match="another key pair") as error:
            service.run(own.program, own.inputs, other.keys)
        assert error.value.status == 422
        assert all(tag in str(error.value) for tag in tags)
        assert "/" not in str(error.value).partition("422")[2]  # no path of the server's
        with pytest.raises(ServiceError, match=r"level|limbs|scale|length|key"):
            service.run(own.program, {"x": slow.inputs["x"]}, slow.keys)
        stale = type(own.program)("score", "00" * 16, own.program.kit)
        with pytest.raises(ServiceError, match=f"revision {'00' * 16}.*{own.program.revision}"):
            service.run(stale, own.inputs, own.keys)
        with pytest.raises(ServiceError, match=r"a part 'y', .* takes the inputs \['x'\]"):
            service.run(own.program, {"y": own.inputs["x"]}, own.keys)
        shape = own.inputs["x"]
        foreign = Ciphertext(shape.data, shape.scale, parameters_id=bytes(32))
        with pytest.raises(InteropError, match="input 'x'"):
            service.run(own.program, {"x": foreign}, own.keys)


def test_a_server_of_another_interface_is_refused_with_both_versions_named(server: Server) -> None:
    with Service(server.url) as service:
        found = service._connection.json("GET", "/programs")
        from ringsmith.remote.service import _check_version

        _check_version(found)
        with pytest.raises(ServiceError, match=r"speaks version 2 .* this client version 1"):
            _check_version({**found, "api": 2})
    answer = httpx.get(f"{server.url}/v2/programs")
    assert answer.status_code == 404
    assert "/v1/" in answer.json()["detail"]


def test_who_does_not_answer_is_said_not_to(tmp_path: Path) -> None:
    with Service("http://127.0.0.1:9", patience_seconds=0.2) as service:
        with pytest.raises(ServiceError, match="does not answer") as error:
            service.programs()
        assert (error.value.status, error.value.code) == (0, "unreachable")


def test_a_token_does_not_travel_in_the_clear() -> None:
    with pytest.raises(ParameterError, match="does not travel in the clear"):
        Service("http://he.example.org", "rs_token")
    Service("https://he.example.org", "rs_token").close()
    Service("http://localhost:8000", "rs_token").close()


def test_a_kit_is_a_file_like_others(server: Server, tmp_path: Path) -> None:
    answer = httpx.get(f"{server.url}/v1/programs/score/kit")
    (tmp_path / "score.rsk").write_bytes(answer.content)
    kit = ClientKit.load(tmp_path / "score.rsk")
    assert [*kit.inputs] == ["x"]
    described = httpx.get(f"{server.url}/v1/programs/score").json()
    assert described["parameters"] == kit.parameters.parameters_id.hex()
    assert described["revision"] == answer.headers["ringsmith-revision"]
    assert described["keys"]["galois_elements"] == [*kit.key_needs.galois]
