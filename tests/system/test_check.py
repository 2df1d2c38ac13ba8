"""What ``make check`` selects for a change, by imports, names and the times of the last run."""

import json
from pathlib import Path

import pytest
from tests import check, weight
from tests.check import Selection, block_tests, changed_files, within


def distances(*files: str) -> dict[str, int]:
    return Selection(files).distance


def test_a_modules_tests_are_nearer_than_those_of_its_users() -> None:
    found = distances("python/ringsmith/hdl/packing.py")
    assert found["tests/hdl/test_packing.py"] == 1
    assert found["tests/rtl/test_area.py"] == 2  # of hdl/synthesis.py, which imports it
    assert "tests/client/test_client.py" not in found
    assert (
        Selection(["python/ringsmith/hdl/packing.py"]).ordered()[0] == "tests/hdl/test_packing.py"
    )


def test_users_take_names_from_the_package_too() -> None:
    assert distances("python/ringsmith/params/ckks.py")["tests/client/test_client.py"] == 2


def test_a_helper_of_tests_has_the_tests_that_import_it() -> None:
    found = distances("tests/forks.py")
    assert found["tests/backends/test_jobs.py"] == 1
    assert distances("tests/core/conftest.py")["tests/core/test_numbers.py"] == 1
    assert distances("tests/core/test_numbers.py") == {"tests/core/test_numbers.py": 0}


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("rtl/arith/rs_mod_addsub.sv", "tests/rtl/test_arith.py"),
        ("rtl/rpau/rs_rpau_link.sv", "tests/backends/rpau/test_link.py"),
        ("core/src/ring/ntt.cpp", "tests/core/test_numbers.py"),
        ("sim/rpau/harness.cpp", "tests/backends/rpau/test_model_cycles.py"),
        (
            "python/ringsmith/backends/rpau/model/rpau_model.cpp",
            "tests/backends/rpau/test_model_cycles.py",
        ),
        ("python/ringsmith/designs/nano.toml", "tests/debug/test_debug_designs.py"),
        ("docs/guide/heir.md", "tests/docs/test_guide_pages.py"),
        ("python/ringsmith/platforms/u280.toml", "tests/platforms/test_platforms.py"),
    ],
)
def test_files_of_other_kinds_have_tests(file: str, test: str) -> None:
    assert distances(file)[test] == 1


def test_a_block_inside_others_has_their_tests() -> None:
    assert block_tests("rs_butterfly_lanes") >= block_tests("rs_rpau_main") > set()


def test_what_took_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "near.py").write_text("def test_a(): ...")
    (tmp_path / "far.py").write_text("def test_b(): ...")
    (tmp_path / "new.py").write_text("def test_c(): ...")
    kept = tmp_path / ".pytest_cache/v/ringsmith/seconds"
    kept.parent.mkdir(parents=True)
    kept.write_text(
        json.dumps({"near.py::a": 3, "near.py::b": 30, "near.py::c": 4, "far.py::d": 9})
    )
    monkeypatch.setattr(check, "ROOT", tmp_path)
    selected = within(10, ["near.py", "far.py", "new.py"])
    assert selected == ["near.py", "--deselect=near.py::b", "new.py"]
    said = capsys.readouterr().out.splitlines()
    assert said == ["left out: near.py, 1 of 3 tests, 30 s", "left out: far.py, 1 of 1 tests, 9 s"]


def test_paths_name_all_files_below_them() -> None:
    found = changed_files([str(check.ROOT / "tests" / "platforms")])
    assert found == ["tests/platforms/test_platforms.py"]


# ---- The table of the repository's weight counts what it says ------------------------------------


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("prime_set = 3", True),
        ("class PrimeSet:", True),
        ("def host_zones():", True),
        ("BUS_ROOMS = 1", True),
        ("# what is inside, and outside", False),
        ("artefact = besides", False),
        ("# on the client side", False),
        ("side = design.dyadic", True),
    ],
)
def test_words_count_also_as_parts_of_names(line: str, counted: bool) -> None:
    assert weight.replaced([line]) == counted


def test_modules_are_counted_when_a_function_of_them_runs() -> None:
    def call() -> None:
        import ringsmith.hdl.ecp5.boards  # noqa: F401 - what runs while it is imported is left out
        from ringsmith.params.primes import check_degree

        check_degree(1024)

    names = {Path(name).relative_to(weight.PACKAGE).as_posix() for name in weight.modules_of(call)}
    assert "params/primes.py" in names
    assert "hdl/ecp5/boards.py" not in names


def test_the_counted_product_is_right() -> None:
    assert weight.product() == pytest.approx(2, abs=1e-3)


def test_the_table_has_a_count_in_each_row() -> None:
    table = dict(weight.rows(12.5, None))
    assert table["`make test`, two quiet cores, cold, minutes"] == "12.5"
    assert table["`make check` after a change, seconds"] == "–"
    counts = [int(count.replace(",", "")) for count in table.values() if count not in ("12.5", "–")]
    assert len(counts) == 5
    assert all(counts)
