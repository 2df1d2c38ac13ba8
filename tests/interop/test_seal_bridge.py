"""``seal_bridge.h`` in a C++ program, and SEAL for C++ on files of every compression.

SEAL for C++ is no package of this project: where CMake finds one (set ``CMAKE_PREFIX_PATH`` or
``SEAL_DIR``), the program in ``seal_bridge/`` is built with it; elsewhere these tests are skipped.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest

from ringsmith import interop
from ringsmith.client import encode, generate_keys
from ringsmith.interop import Compression
from ringsmith.params import KeyNeeds

SOURCES = Path(__file__).with_name("seal_bridge")
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C++ program, built."""
    build = tmp_path_factory.mktemp("build")
    if reason := configure(build):
        pytest.skip(f"Microsoft SEAL for C++: {reason}")
    make = [BIN / "cmake", "--build", build]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return build / "seal_bridge"


def configure(build: Path, *options: str) -> str:
    """Runs CMake; returns why no SEAL will do, or an empty text where one was found."""
    words = [BIN / "cmake", "-S", SOURCES, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    message = " ".join(done.stderr.split())
    if done.returncode and "NO SEAL: " in message:
        return re.sub(" Call Stack.*| -- Configuring.*", "", message.partition("NO SEAL: ")[2])
    assert done.returncode == 0, done.stderr
    return ""


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("4.0.0", ""),
        ("4.1.2", ""),
        ("4.4.3", ""),
        ("3.7.3", "has version 3.7.3: 4.x is needed"),
        ("5.0.0", "has version 5.0.0: 4.x is needed"),
    ],
)
def test_every_seal_4_is_taken_and_a_skip_says_what_was_found(
    version: str, reason: str, tmp_path: Path
) -> None:
    found = stand_in(tmp_path, version, "add_library(SEAL::seal INTERFACE IMPORTED)")
    assert found.endswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("add_library(SEAL::seal_shared INTERFACE IMPORTED)", "has no target SEAL::seal: build"),
        (
            "include(CMakeFindDependencyMacro)\nfind_dependency(absent_library)",
            "cannot be used: SEAL could not be found because dependency absent_library could not",
        ),
    ],
)
def test_a_skip_says_why_a_seal_4_does_not_do(config: str, reason: str, tmp_path: Path) -> None:
    assert reason in stand_in(tmp_path, "4.1.2", config)


def stand_in(folder: Path, version: str, config: str) -> str:
    """Configures with a SEAL whose version file accepts its own minor version alone, like SEAL's.

    Returns:
        Why it will not do, or an empty text.
    """
    package = folder / "prefix" / "lib" / "cmake" / "SEAL"
    package.mkdir(parents=True)
    (package / "SEALConfig.cmake").write_text(f"{config}\n")
    minor = version.rpartition(".")[0]
    (package / "SEALConfigVersion.cmake").write_text(
        f'set(PACKAGE_VERSION "{version}")\n'
        f'if(PACKAGE_FIND_VERSION AND NOT PACKAGE_FIND_VERSION MATCHES "^{minor}")\n'
        "  set(PACKAGE_VERSION_COMPATIBLE FALSE)\n"
        "else()\n"
        "  set(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
        "endif()\n"
    )
    return configure(folder / "build", f"-DSEAL_DIR={package}")


def test_a_skip_says_that_no_seal_was_found(tmp_path: Path) -> None:
    found = configure(tmp_path / "build", "-DCMAKE_DISABLE_FIND_PACKAGE_SEAL=ON")
    assert found == "none was found: install it, or set CMAKE_PREFIX_PATH or SEAL_DIR"


def run(program: Path, *words: object) -> list[str]:
    """The lines that the program prints."""
    command = [str(program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_a_seal_program_gets_seals_own_ciphertexts(program: Path, device: str) -> None:
    *lines, no_key, no_command = run(program, "device", BIN / "ringsmith", device)
    operations = ("multiply", "relinearize", "rescale", "rotate")
    assert lines == [f"{name} equal" for name in operations]
    assert no_key.startswith("refused: ringsmith: the Galois key of element 9 is missing")
    assert no_command == "refused: no-such-command: No such file or directory"


def test_a_bfv_program_gets_seals_own_ciphertexts(program: Path) -> None:
    *lines, no_rescale = run(program, "bfv", BIN / "ringsmith", "cpu")
    operations = (
        *("add", "sub", "add_plain", "multiply_plain", "square", "multiply", "relinearize"),
        *("mod_switch", "rotate_rows", "rotate_columns"),
    )
    assert lines == [f"{name} equal" for name in operations]
    assert no_rescale == (
        "refused: ringsmith: rescale is CKKS's, and the parameters are BFV's: use mod_switch"
    )


def test_what_seal_compresses_is_read_and_the_reverse(program: Path, tmp_path: Path) -> None:
    run(program, "write", tmp_path)
    shape = interop.read_parameters(tmp_path / "params.seal")
    plain = interop.read_ciphertext(tmp_path / "0.seal", shape)
    version = interop.describe(tmp_path / "0.seal").header.version
    written = [tmp_path / "params.mine.seal"]
    written[0].write_bytes(interop.write_parameters(shape, version=version))
    for method in Compression:
        theirs = tmp_path / f"{int(method)}.seal"
        if theirs.exists():  # SEAL was built with it
            found = interop.read_ciphertext(theirs, shape)
            assert np.array_equal(found.data, plain.data)
            written.append(tmp_path / f"cipher.{method}.seal")
            data = interop.write_ciphertext(plain, shape, version=version, compression=method)
            written[-1].write_bytes(data)
    assert run(program, "read", *written) == [f"loaded {path.name}" for path in written[1:]]


@pytest.mark.parametrize("method", Compression)
def test_seal_loads_every_type_that_is_written(
    program: Path, tmp_path: Path, method: Compression
) -> None:
    run(program, "write", tmp_path)
    theirs = tmp_path / f"{int(method)}.seal"
    if not theirs.exists():
        pytest.skip(f"this SEAL was built without {method}")
    shape = interop.read_parameters(tmp_path / "params.seal")
    parameters = shape.to_ckks(scale=2.0**40)
    element = parameters.galois_element(5)
    secret, public, keys = generate_keys(
        parameters, KeyNeeds(parameters.limbs, {element: parameters.limbs})
    )
    assert keys.relin is not None
    options = Options(version=interop.describe(theirs).header.version, compression=method)
    files = {
        "public": interop.write_public_key(public, shape, **options),
        "relin": interop.write_relin_keys(keys.relin, shape, **options),
        "galois": interop.write_galois_keys(keys.galois, shape, **options),
        "secret": interop.write_secret_key(secret.reveal(), shape, **options),
        "plain": interop.write_plaintext(encode(parameters, [1.0, 2.0]), shape, **options),
    }
    paths = [tmp_path / f"{name}.seal" for name in files]
    for path, data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
    lines = run(program, "read", tmp_path / "params.seal", *paths)
    assert lines == [f"loaded {path.name}" for path in paths]


class Options(TypedDict):
    """How objects are written."""

    version: tuple[int, int]
    compression: Compression
