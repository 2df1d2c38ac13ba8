"""``ringsmith serve``, ``token`` and ``remote``, whole, and what they refuse."""

import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.service.served import Server, in_the_clear, score
from tests.service.test_service_clients import RINGSMITH, command

from ringsmith import AutoParameters, trace

NUMBERS = [0.5, -0.25, 0.125, 1.0]


def refused(*arguments: str) -> str:
    """What a command says that is refused, in one line."""
    done = subprocess.run([RINGSMITH, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    return done.stderr


def test_the_remote_commands_run_a_program(server: Server, tmp_path: Path) -> None:
    """``remote programs``, ``kit`` and ``run``, which use ``serve``."""
    assert command("remote", "programs", server.url).split()[::2] == ["score", "slow"]
    kit = tmp_path / "score.rsk"
    told = command("remote", "kit", server.url, "score", "-o", str(kit))
    assert "x (4) to result (1)" in told
    assert "exists" in refused("remote", "kit", server.url, "score", "-o", str(kit))
    np.save(tmp_path / "x.npy", np.array(NUMBERS))
    given = ("remote", "run", server.url, "score", "--input", f"x={tmp_path / 'x.npy'}")
    keys = tmp_path / "keys"
    for number in range(2):  # the second run takes the keys that the first one made
        out = tmp_path / f"out{number}"
        command(*given, "--keys", str(keys), "--output-dir", str(out))
        found = np.load(out / "result.npy")
        assert found == pytest.approx([in_the_clear(NUMBERS)], abs=1e-4)
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    command(*given, "--output-dir", str(tmp_path / "fresh"))
    assert "exists" in refused(*given, "--output-dir", str(tmp_path / "fresh"))
    nothing = tmp_path / "nothing"
    words = ("remote", "run", server.url, "other", "--output-dir", str(nothing))
    assert "there is no program 'other'" in refused(*words)
    assert not nothing.exists()


def test_results_of_a_service_are_shared_where_the_kit_leaves_bits(tmp_path: Path) -> None:
    shared = trace(score, AutoParameters(precision_bits=4, share=10), {"x": 4})
    shared.save(tmp_path / "score.rsp")
    trace(score, "auto", {"x": 4}).save(tmp_path / "exact.rsp")
    np.save(tmp_path / "x.npy", np.array(NUMBERS))
    given = ("--input", f"x={tmp_path / 'x.npy'}", "--share", "10", "--output-dir")
    with Server(tmp_path, [tmp_path / "score.rsp", tmp_path / "exact.rsp"]) as server:
        command("remote", "run", server.url, "score", *given, str(tmp_path / "out"))
        found = np.load(tmp_path / "out" / "result.npy")
        assert found == pytest.approx([in_the_clear(NUMBERS)], abs=2.0**-4)
        assert not (found * 2**4 % 1).any()
        nothing = tmp_path / "nothing"
        told = refused("remote", "run", server.url, "exact", *given, str(nothing))
        assert "bits after the point, and 1 is needed: take a larger scale" in told
        assert not nothing.exists()


def test_a_token_comes_from_a_file_or_the_environment(
    programs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``token add``, ``list`` and ``remove``."""
    data = str(tmp_path / "data")
    token = command("token", "add", "me", "--data", data)
    (tmp_path / "token").write_text(token)
    with Server(tmp_path, programs[:1]) as server:
        words = ("remote", "programs", server.url)
        assert "send Authorization" in refused(*words)
        assert "score" in command(*words, "--token-file", str(tmp_path / "token"))
        monkeypatch.setenv("RINGSMITH_TOKEN", token.strip())
        assert "score" in command(*words)
        assert command("token", "list", "--data", data) == "me\n"
        assert "exists" in refused("token", "add", "me", "--data", data)
        command("token", "remove", "me", "--data", data)
        assert "there is no client 'me'" in refused("token", "remove", "me", "--data", data)


def test_what_cannot_be_served_is_refused(programs: list[Path], tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    score = str(programs[0])
    assert "cannot be read" in refused("serve", str(tmp_path / "nothing.rsp"), *data)
    wrong = tmp_path / "wrong.rsp"
    wrong.write_bytes(b"not a program")
    assert "wrong.rsp" in refused("serve", str(wrong), *data)
    odd = tmp_path / "odd name.rsp"
    odd.write_bytes(programs[0].read_bytes())
    assert "the program's in URLs" in refused("serve", str(odd), *data)
    same_name = tmp_path / "score.rsp"
    same_name.write_bytes(programs[0].read_bytes())
    assert "another program is called 'score'" in refused("serve", score, str(same_name), *data)
    assert "--design is for" in refused("serve", score, *data, "--design", "nano")
    assert "belong together" in refused("serve", score, *data, "--device", "card")
    assert "belong together" in refused("serve", score, *data, "--tls-key", str(wrong))
    a_file = ("--data", str(wrong))
    assert "--data" in refused("serve", score, *a_file)
    with Server(tmp_path, programs[:1]) as server:
        port = server.url.rpartition(":")[2]
        other = ("--data", str(tmp_path / "other"))
        assert "--port" in refused("serve", score, *other, "--port", port)
    assert "design 'nothing'" in refused(
        "serve", score, *data, "--device", "model", "--design", "nothing"
    ).replace('"', "'")


def test_a_program_runs_on_the_model_of_an_accelerator(
    programs: list[Path], tmp_path: Path
) -> None:
    with Server(tmp_path, programs[:1], "--device", "model") as server:
        np.save(tmp_path / "x.npy", np.array(NUMBERS))
        given = ("remote", "run", server.url, "score", "--input", f"x={tmp_path / 'x.npy'}")
        command(*given, "--output-dir", str(tmp_path / "out"))
        found = np.load(tmp_path / "out" / "result.npy")
        assert found == pytest.approx([in_the_clear(NUMBERS)], abs=1e-4)


@pytest.mark.parametrize("package", ["httpx", "python_multipart"])
def test_a_client_without_its_extra_is_told_which(package: str) -> None:
    script = f"import sys; sys.modules[{package!r}] = None; from ringsmith.remote import Service"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: ringsmith.remote needs the package {package}, which is not "
        "installed: pip install 'ringsmith[remote]'"
    )
