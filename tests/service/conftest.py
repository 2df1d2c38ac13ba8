"""Programs and servers that tests of the service share."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.service.inside import published
from tests.service.served import Server, slow, small_program

from ringsmith import trace
from ringsmith.client import SecretKey
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import CkksParameters
from ringsmith.remote import RemoteProgram, Service
from ringsmith.service.published import Publication


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of programs: ``score`` is quick, ``slow`` is not."""
    folder = tmp_path_factory.mktemp("programs")
    score = small_program()
    assert isinstance(score.parameters, CkksParameters)
    score.save(folder / "score.rsp")
    trace(slow, score.parameters, {"x": score.parameters.slots}).save(folder / "slow.rsp")
    return [folder / "score.rsp", folder / "slow.rsp"]


@pytest.fixture(scope="module")
def server(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that a module's tests share: what they kill is theirs."""
    with Server(tmp_path_factory.mktemp("server"), programs, "--workers", "1") as one:
        yield one


@pytest.fixture
def own_server(programs: list[Path], tmp_path: Path) -> Iterator[Server]:
    """A server of one test, to be killed."""
    with Server(tmp_path, programs, "--workers", "1") as one:
        yield one


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a server in this process."""
    return tmp_path / "data"


@pytest.fixture
def offered(programs: list[Path], data: Path) -> dict[str, Publication]:
    """``score`` as such a server publishes it."""
    return published(programs[:1], data)


@dataclass(frozen=True, eq=False)
class Someone:
    """A client of a program: its keys, and an input."""

    program: RemoteProgram
    secret_key: SecretKey
    public_key: PublicKey
    keys: EvaluationKeys
    numbers: list[float]
    inputs: dict[str, Ciphertext]

    def read(self, outputs: dict[str, Ciphertext]) -> float:
        """The first number of the result."""
        return float(self.program.decrypt(self.secret_key, outputs)["result"][0])


def someone(service: Service, name: str = "score", seed: int = 1) -> Someone:
    """A client with fresh keys, and numbers of its own."""
    program = service.program(name)
    secret_key, public_key, keys = program.generate_keys()
    (port,) = program.kit.inputs.values()
    numbers = [float(x) for x in np.random.default_rng(seed).uniform(-1, 1, port.length)]
    inputs = program.encrypt(public_key, {"x": numbers})
    return Someone(program, secret_key, public_key, keys, numbers, inputs)
