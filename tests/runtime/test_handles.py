"""Handles: results that stay on the device, as inputs of the next run there."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringsmith import InputSpec, _core, compile_program, explain, open_device, trace
from ringsmith.backends.cards.server import CardServer
from ringsmith.backends.cards.socket_files import SocketPort
from ringsmith.backends.jobs import DeviceWithMemory
from ringsmith.backends.rpau.card.device import CardDevice
from ringsmith.backends.rpau.card.simulated import RpauCard
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.client import generate_keys
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import Ciphertext, EvaluationKeys
from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.runtime import (
    Compiled,
    Device,
    Handle,
    KeysHandle,
    RunResult,
    Traffic,
    compile_graph,
)

VECTOR = VectorDesign("small-array", 10, 4, 2, 30, bank_rows=1024, table_rows=512, stream_rows=512)
RPAU = replace(
    load_design("heaws6"),
    name="card2-small",
    log_n=10,
    coprocessors=2,
    work_uram_polys=0,
    key_ram="block",
)
TIGHT = replace(RPAU, name="card2-tight", work_polys=8, key_polys=2)
"""Programs run in segments, and values cross between them."""
PROGRAMS = 20
CARD_BYTES = 16 << 20


def mixed(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"u": x.rotate(1) + y, "v": x - y}


def unchanged(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401
    total = x + y
    return {"same": x, "total": total, "again": total}


def summed(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"v": x + y.rotate(3), "u": y - x}


def small() -> CkksParameters:
    """Parameters for all designs of this file."""
    primes = _core.prime_search(30, 1 << 10, 4)
    return CkksParameters.from_primes(
        n=1 << 10,
        data_primes=primes[:3],
        special_prime=primes[3:],
        scale=2.0**28,
        security=None,
    )


@dataclass(frozen=True)
class World:
    """Two programs, keys and inputs, and a device.

    Attributes:
        width: Bytes of a word between host and device; 0: nothing crosses.
        stays: Whether the device has memory where handles lie.
    """

    device: Device
    compiled: tuple[Compiled, Compiled]
    inputs: Mapping[str, Ciphertext]
    keys: EvaluationKeys
    width: int
    stays: bool

    def nbytes(self, ciphertexts: Iterable[Ciphertext]) -> int:
        """Bytes of ciphertexts where they cross."""
        return self.width * sum(each.data.size for each in ciphertexts)

    def expected(self, number: int, x: Ciphertext, y: Ciphertext) -> dict[str, Ciphertext]:
        """What the interpreter makes of ciphertexts."""
        cpu = Compiled(self.compiled[number].lowered, compile_graph(self.graph(number)))
        return cpu.run(open_device("cpu"), {"x": x, "y": y}, self.keys).outputs

    def graph(self, number: int) -> SubroutineGraph:
        """The graph of a program."""
        return self.compiled[number].lowered.graph


@contextmanager
def simulated_card(folder: Path, design: RpauDesign = RPAU) -> Iterator[Device]:
    """A card in this process, behind a socket."""
    path = folder / "card.sock"
    server = CardServer(RpauCard(design, ModelCoprocessor, CARD_BYTES), path)
    thread = Thread(target=server.serve, daemon=True)
    thread.start()
    device = CardDevice(design, [SocketPort(str(path))])
    yield device
    device.close()
    server.close()
    thread.join(60)


@pytest.fixture(scope="module", params=["cpu", "vector", "rpau", "card", "tight card"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Programs on each kind of device."""
    design = {"cpu": None, "vector": VECTOR, "tight card": TIGHT}.get(request.param, RPAU)
    parameters = small()
    programs = [trace(each, parameters, {"x": None, "y": None}) for each in (mixed, summed)]
    galois = {**programs[0].key_needs.galois, **programs[1].key_needs.galois}
    _, public, keys = generate_keys(parameters, KeyNeeds(None, galois))
    inputs = programs[0].encrypt(public, {"x": np.arange(8.0) / 8, "y": np.ones(8)})
    first, second = (compile_program(each, design) for each in programs)
    if design in (RPAU, TIGHT) and request.param != "rpau":
        with simulated_card(tmp_path_factory.mktemp("card"), design) as device:
            yield World(device, (first, second), inputs, keys, 4, stays=True)
        return
    device = open_device("cpu" if design is None else "model", design or "nano")
    width = {"cpu": 0, "vector": VECTOR.word_bytes, "rpau": 8}[request.param]
    yield World(device, (first, second), inputs, keys, width, stays=request.param != "rpau")


def same(found: Ciphertext, expected: Ciphertext) -> None:
    """Compares all that a ciphertext knows."""
    np.testing.assert_array_equal(found.data, expected.data)
    assert (found.scale, found.parameters_id, found.key_tag, found.history) == (
        expected.scale,
        expected.parameters_id,
        expected.key_tag,
        expected.history,
    )


def crossed(device: Device, before: Traffic) -> tuple[int, int]:
    """Bytes to the device and to the host since then."""
    moved = device.traffic - before
    return moved.to_device, moved.to_host


def test_twenty_programs_in_a_row_move_the_first_inputs_and_the_last_outputs(world: World) -> None:
    before = world.device.traffic
    values = dict(world.inputs)
    current: Mapping[str, Ciphertext | Handle] = world.inputs
    reports = []
    for number in range(PROGRAMS):
        last = number == PROGRAMS - 1
        result = world.compiled[number % 2].run(world.device, current, world.keys, keep=not last)
        expected = world.expected(number % 2, **values)
        values = {"x": expected["u"], "y": expected["v"]}
        reports.append(result.report)
        if not last:
            assert not result.outputs
            current = {"x": result.output("u"), "y": result.output("v")}
    for name, ciphertext in expected.items():
        same(result.outputs[name], ciphertext)
    first, end = world.nbytes(world.inputs.values()), world.nbytes(expected.values())
    assert first == end  # both are two ciphertexts of one size
    if world.stays:
        assert crossed(world.device, before) == (first, end)
        assert [each.input_bytes for each in reports] == [first] + [0] * (PROGRAMS - 1)
        assert [each.output_bytes for each in reports] == [0] * (PROGRAMS - 1) + [end]
    else:  # a coprocessor without memory: handles lie with the host, and cross each time
        assert crossed(world.device, before) == (PROGRAMS * first, PROGRAMS * end)
    for each in reports:
        assert each.input_bytes <= each.bytes_to_device
        assert each.output_bytes <= each.bytes_to_host


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_handles_and_ciphertexts_mix(world: World, data: st.DataObject) -> None:
    """Values lie here or there, are read, put and freed, and mean the same everywhere."""
    pool: list[tuple[Ciphertext | Handle, Ciphertext]] = [
        (each, each) for each in world.inputs.values()
    ]
    for _ in range(data.draw(st.integers(1, 4), label="steps")):
        a, b = (pool[data.draw(st.integers(0, len(pool) - 1))] for _ in range(2))
        if np.array_equal(a[1].data, b[1].data):
            continue  # their difference is transparent
        number = data.draw(st.integers(0, 1), label="program")
        keep = data.draw(st.sampled_from([True, False, ("u",), ("v",)]), label="keep")
        result = world.compiled[number].run(
            world.device, {"x": a[0], "y": b[0]}, world.keys, keep=keep
        )
        expected = world.expected(number, a[1], b[1])
        assert result.outputs.keys() | result.kept.keys() == expected.keys()
        for name, value in expected.items():
            found = result.outputs.get(name) or result.output(name)
            if data.draw(st.booleans(), label="move"):
                found = found.read() if isinstance(found, Handle) else world.device.put(found)
            pool.append((found, value))
    for found, value in pool:
        same(found.read() if isinstance(found, Handle) else found, value)


def test_a_handle_knows_what_its_ciphertext_knows(world: World) -> None:
    x = world.inputs["x"]
    before = world.device.traffic
    with world.device.put(x, "x") as handle:
        assert (handle.size, handle.limbs, handle.scale) == (x.size, x.limbs, x.scale)
        assert (handle.parameters_id, handle.key_tag) == (x.parameters_id, x.key_tag)
        assert handle.nbytes == (world.width or 8) * x.data.size
        same(handle.read(), x)
        once = world.nbytes([x]) if world.stays else 0
        assert crossed(world.device, before) == (once, once)
        with pytest.raises(TypeError, match=r"pickle handle\.read"):
            pickle.dumps(handle)
    assert handle.freed
    assert handle.nbytes == 0
    with pytest.raises(DeviceError, match="was freed: put the ciphertext again"):
        handle.read()
    with pytest.raises(DeviceError, match="input 'x' was freed"):
        world.compiled[0].run(world.device, {**world.inputs, "x": handle}, world.keys)


def test_handles_are_checked_as_ciphertexts_are(world: World) -> None:
    compiled, device, x = world.compiled[0], world.device, world.inputs["x"]

    def run(changed: Ciphertext) -> RunResult:
        return compiled.run(device, {**world.inputs, "x": device.put(changed)}, world.keys)

    for changed, message in [
        (replace(x, scale=2 * x.scale), "input 'x' has scale"),
        (replace(x, data=x.data[:, :1].copy()), "2 polynomials of 1 limbs"),
        (replace(x, data=np.full_like(x.data, 2**30)), "not below their prime"),
        (replace(x, parameters_id=bytes(32)), "input 'x': made with other parameters"),
        (replace(x, key_tag=bytes(16)), "of another key pair"),
    ]:
        with pytest.raises(ProgramError, match=message):
            run(changed)
    other = open_device("cpu").put(x)
    with pytest.raises(DeviceError, match=r"input 'x' is a handle of another device \(cpu\)"):
        compiled.run(device, {**world.inputs, "x": other}, world.keys)
    with pytest.raises(ProgramError, match=r"keep: .* \['u', 'v'\], not 'w'"):
        compiled.run(device, world.inputs, world.keys, keep=["w"])
    with pytest.raises(TypeError, match="keep = 'u': give a list"):
        compiled.run(device, world.inputs, world.keys, keep="u")
    brought = compiled.run(device, world.inputs, world.keys, keep=["u"])
    with pytest.raises(ProgramError, match="run with keep=True"):
        brought.output("v")
    with pytest.raises(ProgramError, match="and no 'w'"):
        brought.output("w")
    with pytest.raises(TypeError, match="evaluation keys belong"):
        device.put(5)  # type: ignore[call-overload]


def test_an_output_that_cancels_is_refused_when_it_is_read(world: World) -> None:
    x = world.device.put(world.inputs["x"])
    result = world.compiled[0].run(world.device, {"x": x, "y": x}, world.keys, keep=True)
    with pytest.raises(ProgramError, match="output 'v' is transparent"):
        result.output("v").read()
    result.output("u").read()


def test_outputs_that_are_inputs_or_each_other_stay_too(world: World) -> None:
    """No list of a card writes them to a memory of their own, so they cross, and say so."""
    program = world.compiled[0].lowered.program
    assert program is not None
    also = trace(unchanged, program.parameters, {"x": None, "y": None})
    compiled = compile_program(also, world.compiled[0].compiled_graph.design)
    expected = compile_program(also).run(open_device("cpu"), world.inputs, world.keys).outputs
    handles = {name: world.device.put(each) for name, each in world.inputs.items()}
    for inputs in (world.inputs, handles):
        for keep in (True, ["same", "again"], ["total"]):
            result = compiled.run(world.device, inputs, world.keys, keep=keep)
            for name, value in expected.items():
                same(result.outputs.get(name) or result.output(name).read(), value)
    for name, handle in handles.items():
        same(handle.read(), world.inputs[name])


def test_keys_stay_too(world: World) -> None:
    keys = world.device.put(world.keys, "of the client")
    assert isinstance(keys, KeysHandle)
    results = [world.compiled[0].run(world.device, world.inputs, keys) for _ in range(2)]
    expected = world.expected(0, **world.inputs)
    same(results[1].outputs["u"], expected["u"])
    report = results[1].report
    assert report.bytes_to_device - report.input_bytes < world.keys.nbytes // 8  # lists, programs
    with pytest.raises(DeviceError, match="evaluation keys are a handle of another device"):
        world.compiled[0].run(open_device("cpu"), world.inputs, keys)
    keys.free()
    with pytest.raises(DeviceError, match="put the keys again"):
        world.compiled[0].run(world.device, world.inputs, keys)


def filled(device: Device, x: Ciphertext) -> tuple[list[Handle], str]:
    """Handles that fill a device, and what it says then."""
    held: list[Handle] = []
    try:
        while True:
            held.append(device.put(x, f"number {len(held)}"))
    except DeviceError as error:
        return held, str(error)


@pytest.mark.parametrize("world", ["vector", "card"], indirect=True)
def test_what_nobody_holds_is_freed_and_a_full_device_says_what_holds_how_much(
    world: World,
) -> None:
    x, device = world.inputs["x"], world.device
    if isinstance(device, DeviceWithMemory):
        device.memory.size = device.memory.used + 2_000_000
    for _ in range(1000):  # far more than fits
        device.put(x)
    held, text = filled(device, x)
    assert len(held) > 50
    polynomial = held[0].nbytes // 2
    assert f"ciphertext 'number {len(held)}' takes" in text
    assert "ciphertext 'number 0' " in text
    assert f"{polynomial:,}" in text
    assert "more): free handles that you do not need (handle.free()), or read them" in text
    same(held[-1].read(), x)
    held.pop().free()
    held.append(device.put(x))
    with pytest.raises(DeviceError, match="free handles"):
        world.compiled[0].run(device, {"x": held[0], "y": held[1]}, world.keys, keep=True)
    held.clear()
    world.compiled[0].run(device, world.inputs, world.keys)


def test_what_lies_on_a_closed_card_is_gone(world: World, tmp_path: Path) -> None:
    with simulated_card(tmp_path) as device:
        handle = device.put(world.inputs["x"], "x")
        device.close()  # type: ignore[attr-defined]
        with pytest.raises(DeviceError, match="ciphertext 'x': the device card was closed"):
            handle.read()
        with pytest.raises(DeviceError, match="was closed"):
            device.put(world.inputs["x"])


@pytest.mark.parametrize("world", ["cpu", "vector", "rpau", "card"], indirect=True)
def test_a_compiled_program_says_what_it_costs_without_a_run(world: World) -> None:
    compiled = world.compiled[0]
    program = compiled.lowered.program
    assert program is not None
    assert compiled.explain() == explain(program, compiled.compiled_graph.design)
    assert compiled.cycles == compiled.run(world.device, world.inputs, world.keys).cycles


@pytest.mark.parametrize("factor", [False, True], ids=["barrett", "montgomery"])
def test_a_second_factor_in_montgomery_form_crosses_and_says_so(factor: bool) -> None:
    """The host multiplies it by the design's factor, as it does for ciphertexts."""
    reduction = "montgomery" if factor else "barrett"
    design = replace(VECTOR, name="form", reduction=reduction, word_bits=32)
    program = trace(lambda x, y: x * y, small(), {"x": None, "y": None})
    _, public, keys = program.generate_keys()
    inputs = program.encrypt(public, {"x": np.arange(8.0) / 8, "y": np.ones(8)})
    compiled, device = compile_program(program, design), open_device("model", design)
    handles = {name: device.put(each) for name, each in inputs.items()}
    found = compiled.run(device, handles, keys)
    expected = compile_program(program).run(open_device("cpu"), inputs, keys)
    for name, value in expected.outputs.items():
        same(found.outputs[name], value)
    scaled = {
        load.limb
        for own in compiled.compiled_graph.executable.programs  # type: ignore[union-attr]
        for load in own.loads
        if load.limb.kind == "input" and load.limb.scaled
    }
    assert bool(scaled) == factor
    polynomial = 4 << 10
    assert found.report.input_bytes == len(scaled) * polynomial
    assert found.report.bytes_to_host > found.report.input_bytes


@pytest.mark.full
def test_handles_on_the_rtl_of_a_vector_design() -> None:
    program = trace(mixed, small(), {"x": None, "y": None})
    _, public, keys = program.generate_keys()
    inputs = program.encrypt(public, {"x": np.arange(8.0) / 8, "y": np.ones(8)})
    compiled, reference = compile_program(program, VECTOR), compile_program(program)
    for device in (open_device("rtl", VECTOR), open_device("model", VECTOR)):
        handles: Mapping[str, Ciphertext | Handle] = inputs
        values = inputs
        for _ in range(3):
            result = compiled.run(device, handles, keys, keep=True)
            handles = {"x": result.output("u"), "y": result.output("v")}
            outputs = reference.run(open_device("cpu"), values, keys).outputs
            values = {"x": outputs["u"], "y": outputs["v"]}
        for name, value in values.items():
            same(handles[name].read(), value)  # type: ignore[union-attr]
        once = 4 * sum(each.data.size for each in inputs.values())
        assert device.traffic == Traffic(once, once)


@pytest.mark.parametrize("kept", [False, True])
def test_a_result_is_an_input_only_where_its_slots_hold_what_the_program_assumes(
    kept: bool,
) -> None:
    parameters, device = small(), open_device("cpu")
    shifted = trace(lambda x: {"y": x.rotate(1), "z": x + 1}, parameters, {"x": 8})
    doubled = trace(lambda x: 2 * x, parameters, {"x": 8})
    needs = shifted.key_needs | doubled.key_needs
    secret, public, keys = generate_keys(parameters, needs)
    inputs = shifted.encrypt(public, {"x": np.arange(8.0) / 8})
    result = compile_program(shifted).run(device, inputs, keys, keep=kept)
    first, second = (result.output(name) if kept else result.outputs[name] for name in ("y", "z"))
    for taken, held in ((first, "512 numbers"), (second, "8 numbers and leftovers")):
        with pytest.raises(ProgramError, match=f"input 'x' takes 8 numbers and zeros, .* {held}"):
            compile_program(doubled).run(device, {"x": taken}, keys)
    cleared = trace(lambda x: (x + 1) * np.ones(8), parameters, {"x": 8})
    again = compile_program(cleared).run(device, inputs, keys, keep=kept)
    given = again.output("result") if kept else again.outputs["result"]
    lower = trace(lambda x: 2 * x, parameters, {"x": InputSpec(8, limbs=given.limbs)})
    found = compile_program(lower).run(device, {"x": given}, keys).outputs
    assert np.allclose(lower.decrypt(secret, found)["result"], 2 + np.arange(8) / 4, atol=1e-3)
