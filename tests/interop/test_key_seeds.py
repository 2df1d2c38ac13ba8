"""Seeds of keys from the client's command to a device that expands them."""

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ringsmith import client, runtime
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.cli.main import app
from ringsmith.errors import InteropError, ProgramError
from ringsmith.interop.bundle import read_bundle, write_bundle
from ringsmith.interop.key_seeds import KeySeeds, read_key_seeds, write_key_seeds
from ringsmith.interop.seeded_keys import shorten_key
from ringsmith.objects import SEED_BYTES, Ciphertext, EvaluationKeys, KeySwitchKey
from ringsmith.params import CkksParameters, KeyNeeds, parameter_set
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.schemes import trace

ROTATION = 3  # Galois element of a rotation by one
runner = CliRunner()


def run(*words: object) -> Result:
    return runner.invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``ringsmith keys --seeded`` makes."""
    folder = tmp_path_factory.mktemp("client") / "keys"
    done = run("keys", folder, "--set", "nano", "--rotate", "1", "--seeded")
    assert done.exit_code == 0, done.output
    return folder


def test_the_bundle_brings_the_seeds_of_its_keys(home: Path) -> None:
    bundle = read_bundle(home / "evaluation")
    keys, primes = bundle.keys, parameter_set("nano").primes
    assert keys.relin is not None
    for key in (keys.relin, keys.galois[ROTATION]):
        assert key.seed is not None
        assert shorten_key(key, primes)[1] == key.seed
    assert keys.relin.seed != keys.galois[ROTATION].seed


def test_keys_without_seeds_make_no_file_of_seeds(tmp_path: Path) -> None:
    assert run("keys", tmp_path / "keys", "--set", "nano", "--no-relin").exit_code == 0
    assert not (tmp_path / "keys" / "evaluation" / "key_seeds.json").exists()


def test_seal_eval_takes_the_seeds_and_the_result_is_the_same(home: Path, tmp_path: Path) -> None:
    (tmp_path / "values.txt").write_text("1.5\n-2\n")
    evaluation, shape = home / "evaluation", home / "evaluation" / "parameters.seal"
    public = ["--params", shape, "--public-key", home / "public_key.seal"]
    done = run("encrypt", tmp_path / "values.txt", *public, "-o", tmp_path / "x.seal")
    assert done.exit_code == 0, done.output
    rotate = ["seal", "eval", "rotate", tmp_path / "x.seal", "--params", shape, "--steps", 1]
    galois = ["--galois-keys", evaluation / "galois_keys.seal"]
    seeds = ["--key-seeds", evaluation / "key_seeds.json"]
    for name, more in (("whole", []), ("seeded", seeds)):
        done = run(*rotate, *galois, *more, "--device", "model", "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "seeded").read_bytes()
    done = run(*rotate, *galois, *seeds, "--expand-on-the-fly", "-o", tmp_path / "on-the-fly")
    assert done.exit_code == 0, done.output
    held = re.fullmatch(r"keys: ([\d,]+) bytes in memory of ([\d,]+)", done.stdout.strip())
    assert held is not None
    half, whole = (int(text.replace(",", "")) for text in held.groups())
    assert 2 * half == whole + SEED_BYTES
    assert (tmp_path / "on-the-fly").read_bytes() == (tmp_path / "whole").read_bytes()
    for more, message in (
        ([], "carries no seed"),
        ([*seeds, "--device", "model"], "--expand-on-the-fly is for the cpu"),
    ):
        done = run(*rotate, *galois, *more, "--expand-on-the-fly", "-o", tmp_path / "no")
        assert done.exit_code == 2
        assert message in done.stderr
    (tmp_path / "wrong.json").write_bytes(write_key_seeds(KeySeeds(None, {ROTATION: bytes(10)})))
    done = run(*rotate, *galois, "--key-seeds", tmp_path / "wrong.json", "-o", tmp_path / "no")
    assert done.exit_code == 2
    assert "not what its seed expands to" in done.stderr


def test_seeds_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "seeds.json"
    for seeds in (
        KeySeeds(),
        KeySeeds(b"0123456789"),
        KeySeeds(None, {3: bytes(10), 5: b"x" * 10}),
    ):
        path.write_bytes(write_key_seeds(seeds))
        assert read_key_seeds(path) == seeds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table | {"version": 2}, "not a file of 'ringsmith-key-seeds', version 1"),
        (lambda table: table | {"version": True}, "not a file of 'ringsmith-key-seeds', version"),
        (lambda table: table | {"more": 1}, "not a file of 'ringsmith-key-seeds', version 1"),
        (lambda _: [], "not a file of 'ringsmith-key-seeds', version 1"),
        (lambda table: table | {"relin": "00"}, "'00' is no seed: 20 hexadecimal digits make one"),
        (lambda table: table | {"relin": "zz" * 10}, "'z*' is no seed"),
        (lambda table: table | {"relin": None}, "None is no seed"),
        (lambda table: table | {"galois": []}, "'galois' must hold seeds by Galois element"),
        (lambda table: table | {"galois": {"+3": "00" * 10}}, "must hold seeds by Galois element"),
        (lambda table: table | {"galois": {"9" * 5000: "00" * 10}}, "seeds by Galois element"),
        (lambda table: table | {"galois": {"3": 0}}, "0 is no seed"),
    ],
)
def test_a_damaged_file_of_seeds_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    path = tmp_path / "seeds.json"
    path.write_text(json.dumps(change(json.loads(write_key_seeds(KeySeeds())))))
    with pytest.raises(InteropError, match=message):
        read_key_seeds(path)


@pytest.mark.parametrize("data", [b"", b"[" * 60000, b"\xff", b" " * (1 << 23)])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "seeds.json").write_bytes(data)
    with pytest.raises(InteropError, match=r"not the JSON of key seeds|more than 4194304 bytes"):
        read_key_seeds(tmp_path / "seeds.json")
    with pytest.raises(InteropError, match="cannot be read"):
        read_key_seeds(tmp_path / "absent.json")


def test_a_bundle_whose_seed_is_another_keys_is_refused(home: Path, tmp_path: Path) -> None:
    bundle = read_bundle(home / "evaluation")
    keys = bundle.keys
    assert keys.relin is not None
    swapped = KeySwitchKey(keys.relin.data, keys.galois[ROTATION].seed)
    write_bundle(tmp_path / "bundle", replace(bundle, keys=EvaluationKeys(swapped, keys.galois)))
    with pytest.raises(InteropError, match="half 1 of this key is not what its seed expands to"):
        read_bundle(tmp_path / "bundle")


def test_a_bundle_is_refused_before_a_file_beyond_its_limit_is_hashed(
    home: Path, tmp_path: Path
) -> None:
    bundle = shutil.copytree(home / "evaluation", tmp_path / "bundle")
    os.truncate(bundle / "key_seeds.json", 20 << 30)
    with pytest.raises(InteropError, match=r"key_seeds\.json: more than 4194304 bytes"):
        read_bundle(bundle)


@pytest.fixture(scope="module")
def design(small: CkksParameters) -> RpauDesign:
    """A device with a PRNG for the parameters ``small``."""
    return replace(
        load_design("nano"),
        name="expander",
        log_n=10,
        word_bits=52,
        rpaus=6,
        prng="trivium",
        seeds=4,
    )


def test_a_program_and_an_evaluator_use_the_seeds_where_there_are_some(
    small: CkksParameters, design: RpauDesign, rng: np.random.Generator
) -> None:
    program = trace(lambda x: (x * x).rotate(1), small, {"x": small.slots})
    values = rng.uniform(-1, 1, small.slots)
    words = {}
    for seeded in (True, False):
        compiled = runtime.compile_program(program, design, seeded=None if seeded else ())
        assert compiled.compiled_graph.expands_keys == seeded
        secret, public, keys = client.generate_keys(small, program.key_needs, seeded=seeded)
        x = client.encrypt_vector(small, public, values, scale=program.inputs["x"].scale)
        cpu, model = (runtime.open_device(kind, design) for kind in ("cpu", "model"))
        expected = compiled.run(cpu, {"x": x}, keys)
        result = compiled.run(model, {"x": x}, keys)
        ((name, output),) = result.outputs.items()
        np.testing.assert_array_equal(output.data, expected.outputs[name].data)
        decrypted = client.decrypt_vector(small, secret, output).real
        assert np.abs(decrypted - np.roll(values**2, -1)).max() < 2.0**-15
        words[seeded] = result.report.key_words
        assert expected.report.key_words == 0
        lower = Evaluator(small, keys).run("mod_switch", x)  # the key's level
        rotated = Evaluator(small, keys, "model", design).run("rotate", lower, steps=1)
        np.testing.assert_array_equal(
            rotated.data, Evaluator(small, keys).run("rotate", lower, steps=1).data
        )
        with pytest.raises(ProgramError, match=r"key 'galois:3' has 4 digits .* needs 5 digits"):
            Evaluator(small, keys).run("rotate", x, steps=1)
    assert words[False] // 2 < words[True] < words[False] // 2 + 100
    expanding = runtime.compile_program(program, design)
    with pytest.raises(ProgramError, match=r"compile it for full keys, with seeded=\(\)"):
        expanding.run(model, {"x": x}, keys)


def test_evaluators_schedule_single_operations_for_the_keys_that_they_have(
    small: CkksParameters, design: RpauDesign, rng: np.random.Generator
) -> None:
    needs = KeyNeeds(small.limbs)
    for seeded in (True, False):
        keys = client.generate_keys_for_test(small, needs, 7, seeded=seeded)[2]
        evaluator = Evaluator(small, keys, "model", design)
        data = np.stack(
            [
                np.stack([rng.integers(0, q, small.n, np.uint64) for q in small.data_primes])
                for _ in range(3)
            ]
        )
        found = evaluator.run("relinearize", Ciphertext(data, 1.0))
        expected = Evaluator(small, keys).run("relinearize", Ciphertext(data, 1.0))
        np.testing.assert_array_equal(found.data, expected.data)
        (compiled,) = evaluator._compiled.values()
        assert compiled.expands_keys == seeded
