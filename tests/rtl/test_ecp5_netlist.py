"""The netlist of an accelerator for an ECP5 computes what the core does, bit for bit.

The proof rests on the models of the cells: test_ecp5_cells.py.
"""

import re
from collections import Counter

import numpy as np
import pytest
from tests.rtl.ecp5 import netlist

from ringsmith import CkksParameters, compile_program, open_device, trace
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.device import axi_lite
from ringsmith.backends.rpau.device.accelerator import Accelerator
from ringsmith.backends.rpau.device.registers import RegisterDevice

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning"),
]

SMALL = RpauDesign(
    name="small-ecp5",
    log_n=10,
    word_bits=30,
    rpaus=2,
    cores=1,
    dyadic_cores=1,
    work_polys=8,
    key_polys=4,
    constants=16,
    program_words=256,
    reduction="barrett",
    prime_sets=2,
    key_ram="block",
    prng="trivium",
    seeds=4,
)
CELLS = {
    *("CCU2C", "DP16KD", "L6MUX21", "LUT4", "MULT18X18D", "PFUMX", "TRELLIS_DPR16X4"),
    "TRELLIS_FF",
}


@pytest.fixture
def parameters() -> CkksParameters:
    """Three primes, for the four places that two RPAUs of two prime sets have."""
    return CkksParameters.create(
        n=SMALL.n, prime_bits=(30, 24), special_bits=30, scale_bits=24, security=None
    )


def test_a_netlist_consists_of_the_cells_that_there_are_models_of() -> None:
    text = netlist.synthesized(SMALL).read_text()
    found = Counter(re.findall(r"^  ([A-Z][A-Z0-9_]*) (?:#\(|\\?\S+ \()", text, re.M))
    assert found.keys() == CELLS
    assert found["DP16KD"] > 20
    assert found["MULT18X18D"] > 20


def test_an_encrypted_product_on_a_netlist_equals_the_core(
    parameters: CkksParameters, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    library = netlist.build(SMALL)
    monkeypatch.setattr(axi_lite, "build", lambda design, assertions: library)
    device = RegisterDevice(SMALL, axi_lite.SimulatedBus(SMALL), "netlist")
    program = trace(lambda x, y: x * y, parameters, {"x": 8, "y": 8})
    compiled = compile_program(program, SMALL)
    secret, public, keys = program.generate_keys()
    x, y = rng.uniform(-1, 1, (2, 8))
    inputs = program.encrypt(public, {"x": x, "y": y})
    found = compiled.run(Accelerator(device), inputs, keys)
    wanted = compiled.run(open_device("cpu"), inputs, keys)
    np.testing.assert_array_equal(found.outputs["result"].data, wanted.outputs["result"].data)
    assert found.cycles == compiled.run(open_device("model", SMALL), inputs, keys).cycles
    result = program.decrypt(secret, found.outputs)["result"]
    np.testing.assert_allclose(result[:8], x * y, atol=1e-2)
