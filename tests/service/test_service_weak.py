"""A server that names weak parameters gets no keys of them, unless its client says so."""

import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.service.served import Server, score
from tests.service.test_service_clients import RINGSMITH, command

from ringsmith import ClientKit, Program, trace
from ringsmith.errors import ParameterError
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters
from ringsmith.remote import Service

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

NUMBERS = [0.5, -0.25, 0.125, 1.0]


def last_line(*arguments: str) -> str:
    """The last line of a command that is refused; warnings come before it."""
    done = subprocess.run([RINGSMITH, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    return done.stderr.splitlines()[-1]


def weak(n: int = 1024, **options: object) -> CkksParameters:
    """270 bits: some 13 bits of security at N = 1,024, whatever ``options`` state."""
    return CkksParameters.create(
        n=n, prime_bits=(54,) * 4, special_bits=54, scale_bits=52, security=None, **options
    )


def bfv(n: int, bits: int, security: int | None) -> BfvParameters:
    return BfvParameters.create(
        n=n, prime_bits=(bits, bits), special_bits=bits, plain_bits=20, security=security
    )


KITS: dict[str, tuple[Callable[[], RlweParameters], int]] = {
    "CKKS, silent": (lambda: weak(), 0),
    "CKKS that states 128": (lambda: weak(declared_security=128), 0),
    "CKKS that states 256": (lambda: weak(declared_security=256), 0),
    "CKKS, N = 4096": (lambda: weak(4096, declared_security=128), 0),
    "BFV": (lambda: bfv(2048, 50, None), 0),
    "CKKS of 192": (lambda: weak(16384), 192),
    "BFV of 128": (lambda: bfv(8192, 70 - 12, 128), 128),
    "BFV of 192": (lambda: bfv(8192, 50, 192), 192),
}


@pytest.mark.parametrize("name", KITS)
def test_a_kit_is_loaded_as_its_primes_allow_and_not_as_it_states(
    tmp_path: Path, name: str
) -> None:
    make, reached = KITS[name]
    parameters = make()
    path = tmp_path / "kit.rsk"
    trace(lambda x: x * x, parameters, {"x": 4}).client_kit().save(path)
    assert ClientKit.load(path, security=None).parameters == parameters
    for level in (128, 192, 256):
        if level <= reached:
            assert ClientKit.load(path, security=level).parameters == parameters
            continue
        with pytest.raises(ParameterError, match=rf"{level} bits are needed: .* your secret key"):
            ClientKit.load(path, security=level)
    if reached < 128:
        with pytest.raises(ParameterError, match=rf"logQP = {parameters.log_qp} bits at N ="):
            ClientKit.load(path)


@pytest.fixture(scope="module")
def malicious(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose program has N = 1,024, and states 128 bits."""
    folder = tmp_path_factory.mktemp("malicious")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program: Program = trace(score, weak(declared_security=128), {"x": 4})
        program.save(folder / "score.rsp")
    with Server(folder, [folder / "score.rsp"], "--workers", "1") as server:
        yield server


def test_the_client_takes_no_weak_parameters_of_a_server(malicious: Server) -> None:
    with Service(malicious.url) as service:
        with pytest.raises(
            ParameterError, match="the kit of 'score': logQP = 270 bits at N = 1024"
        ):
            service.program("score")
        with pytest.raises(ParameterError, match="could find your secret key"):
            service.run("score", {}, None)  # type: ignore[arg-type]
    with Service(malicious.url, security=None) as service:
        assert service.program("score").kit.parameters.n == 1024
    with Service(malicious.url, security=256) as service, pytest.raises(ParameterError):
        service.program("score")


def test_remote_run_takes_no_weak_parameters_unless_told_to(
    malicious: Server, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", np.array(NUMBERS))
    keys, out = tmp_path / "keys", tmp_path / "out"
    words = ("remote", "run", malicious.url, "score", "--input", f"x={tmp_path / 'x.npy'}")
    words += ("--keys", str(keys), "--output-dir", str(out))
    assert "128 bits are needed" in last_line(*words)
    assert not keys.exists()
    assert not out.exists()
    assert "128 bits are needed" in last_line(
        "remote", "kit", malicious.url, "score", "-o", str(tmp_path / "kit.rsk")
    )
    assert not (tmp_path / "kit.rsk").exists()
    assert "security: below 128 bits" in command(*words, "--allow-weak-parameters")
    assert (out / "result.npy").exists()


def test_a_set_of_the_2018_standard_is_taken_and_its_standard_named(tmp_path: Path) -> None:
    program: Program = trace(score, "nano", {"x": 4})
    program.save(tmp_path / "score.rsp")
    text = "128 bits (2018 standard); below 128 by the 2024 guidelines: at most 214 bits of modulus"
    with Server(tmp_path, [tmp_path / "score.rsp"], "--workers", "1") as server:
        with Service(server.url) as service:
            assert service.program("score").kit.parameters.security_text.startswith(text)
        described = httpx.get(f"{server.url}/v1/programs/score").json()
        assert described["security"] == f"{text} at N = 8192"
        said = command("remote", "kit", server.url, "score", "-o", str(tmp_path / "kit.rsk"))
        assert f"security: {text} at N = 8192" in said
