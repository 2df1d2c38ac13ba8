"""Netlists for an ECP5 do what their sources do; an accelerator's equals the core, bit for bit.

The proof rests on the models of the cells: test_ecp5_cells.py.
"""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.rtl.ecp5.netlist import simulated, synthesized
from tests.rtl.serial_waves import uart_sources
from tests.rtl.test_uart import SILENCE, SimulatedLine, halves, writes

from ringsmith import (
    CkksParameters,
    client,
    compile_program,
    open_device,
    parameter_set,
    trace,
)
from ringsmith.backends.base import Device
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device import axi_lite
from ringsmith.backends.rpau.device.card import CardBus
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.graph.operations import Op
from ringsmith.hdl.block import Block
from ringsmith.hdl.ecp5.flow import Hierarchy, verilog_netlist
from ringsmith.hdl.sources import sim_root
from ringsmith.hdl.verilate import build_block, build_design
from ringsmith.lower import graph_of_steps
from ringsmith.objects import Ciphertext
from ringsmith.params import KeyNeeds
from ringsmith.runtime import compile_graph, named_keys, run_graph

pytestmark = pytest.mark.full

SMALL = RpauDesign(
    name="small",
    log_n=10,
    word_bits=30,
    rpaus=2,
    cores=1,
    dyadic_cores=1,
    work_polys=6,
    key_polys=2,
    constants=16,
    program_words=256,
    reduction="barrett",
    key_ram="block",
    prng="trivium",
    seeds=2,
    target="ecp5",
)
PICO = load_design("pico")


def cells_of(netlist: Path) -> Counter[str]:
    """The cells of a netlist."""
    return Counter(re.findall(r"^  ([A-Z][A-Z0-9_]*) ", netlist.read_text(), re.M))


def test_words_cross_the_netlist_of_a_bridge(rng: np.random.Generator) -> None:
    values = {"SilenceCycles": SILENCE}
    netlist = synthesized("bridge", "rs_uart_bench", uart_sources(), values)
    assert cells_of(netlist)["DP16KD"] == 2  # the buffer's 4,096 bytes
    sources, flags = simulated(netlist)
    with Block(build_block("rs_uart_bench", sources, flags=flags)) as block:
        line = SimulatedLine(block)
        bus = CardBus(line)
        for bits in (8, 30, 64):
            words = rng.integers(0, (1 << bits) - 1, 300, dtype=np.uint64, endpoint=True)
            line.accesses.clear()
            bus.write_words(0x58, words)
            assert writes(line) == halves(0x58, words)
            line.accesses.clear()
            read = bus.read_words(0x20, 300)
            found = [data for _, _, data in line.accesses]
            assert halves(0x20, read) == list(zip([0x20, 0x24] * 300, found, strict=True))


def netlist_of(design: RpauDesign) -> Path:
    """The netlist of an accelerator behind its buses, as it is placed and routed."""
    return verilog_netlist(Hierarchy(rtl.BUS_TOP, rtl.BUS_FOLDERS, rtl.parameters(design)))


def on_netlist(design: RpauDesign, monkeypatch: pytest.MonkeyPatch) -> RpauDevice:
    """A device that is the simulated netlist of a design, driven over its buses."""
    sources, flags = simulated(netlist_of(design))
    wrapper = [sim_root() / "rpau" / "axi_lite.cpp"]
    title = f"the netlist of {design.name}"
    library = build_design(rtl.BUS_TOP, sources, wrapper=wrapper, flags=flags, title=title)
    monkeypatch.setattr(axi_lite, "build", lambda design, **_: library)
    return RpauDevice(RegisterCoprocessor(design, axi_lite.SimulatedBus(design), "netlist"))


def test_an_encrypted_product_on_a_netlist_equals_the_core(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    found = cells_of(netlist_of(SMALL))
    assert found["DP16KD"] > 20
    assert found["MULT18X18D"] > 20
    assert_a_product_equals_the_core(SMALL, on_netlist(SMALL, monkeypatch), rng)


def test_an_encrypted_product_on_the_netlist_of_pico_equals_the_core(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    program = trace(lambda x, y: x * y, parameter_set("pico"), {"x": 32, "y": 32})
    secret, public, keys = program.generate_keys(seeded=True)
    values = {name: rng.uniform(-1, 1, 32) for name in ("x", "y")}
    inputs = program.encrypt(public, values)
    wanted = compile_program(program).run(open_device("cpu"), inputs, keys)
    compiled = compile_program(program, PICO)
    found = compiled.run(on_netlist(PICO, monkeypatch), inputs, keys)
    np.testing.assert_array_equal(found.outputs["result"].data, wanted.outputs["result"].data)
    assert found.cycles == compiled.run(open_device("model", PICO), inputs, keys).cycles
    answer = program.decrypt(secret, found.outputs)["result"]
    np.testing.assert_allclose(answer, program.evaluate(values)["result"][:32], atol=2**-6)


def assert_a_product_equals_the_core(
    design: RpauDesign, device: Device, rng: np.random.Generator
) -> None:
    """Two ciphertexts, multiplied and relinearized with a seeded key, and decrypted.

    They have as many primes as the design has places for, less the special one.
    """
    limbs = design.rpaus * design.modulus_banks - 1
    scale_bits = 14 if limbs == 1 else 24
    parameters = CkksParameters.create(
        n=design.n,
        prime_bits=(30, *[24] * (limbs - 1)),
        special_bits=30,
        scale_bits=scale_bits,
        security=None,
    )
    steps: list[tuple[Op, int | None]] = [(Op.MULTIPLY, None), (Op.RELINEARIZE, None)]
    graph = graph_of_steps(parameters, steps, (2, 2), limbs, "product")
    compiled = compile_graph(graph, design)
    secret, public, keys = client.generate_keys(parameters, KeyNeeds(limbs), seeded=True)
    x, y = rng.uniform(-1, 1, (2, 8))
    operands = {
        name: client.encrypt_vector(parameters, public, values)
        for name, values in (("x", x), ("y", y))
    }
    inputs = {
        f"{name}.{i}": polynomial
        for name, operand in operands.items()
        for i, polynomial in enumerate(operand.data)
    }
    found = run_graph(compiled, device, inputs, named_keys(keys))
    wanted = run_graph(compiled, open_device("cpu"), inputs, named_keys(keys))
    for name, polynomial in wanted.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], polynomial)
    assert (
        found.cycles
        == run_graph(compiled, open_device("model", design), inputs, named_keys(keys)).cycles
    )
    scale = 2.0 ** (2 * scale_bits)
    product = Ciphertext(np.stack([found.outputs[f"z.{i}"] for i in range(2)]), scale)
    decrypted = client.decrypt_vector(parameters, secret, product)
    np.testing.assert_allclose(decrypted[:8], x * y, atol=0.2)
