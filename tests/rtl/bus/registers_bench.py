"""The cocotb part of test_dma.py: the register block's bus under random stalls.

Runs inside the simulator, on an rs_rpau_axil. Every channel of the bus pauses at random.
"""

import os

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import Combine
from cocotbext.axi import AxiResp
from register_host import CAPABILITY, Host, N

from ringsmith.backends.rpau.design.register_table import (
    CAPABILITIES,
    MAGIC,
    Control,
    Refused,
    Register,
    Status,
)

HALT = int(os.environ["RINGSMITH_BENCH_HALT"])


@cocotb.test()
async def capabilities_and_counters_read_the_same_under_any_stalls(dut: HierarchyObject) -> None:
    host = Host(dut, "capabilities")
    await host.begin()
    for _ in range(3):
        assert await host.read(Register.MAGIC) == MAGIC
        assert await host.read(Register.CAPABILITY_COUNT) >= len(CAPABILITIES)
        assert await host.read(Register.STATUS) == 0
        assert await host.read(Register.CYCLES, 8) == 0
        for capability in host.random.sample(CAPABILITIES, len(CAPABILITIES)):
            assert await host.read(capability.address) == CAPABILITY[capability.name], (
                capability.name
            )


@cocotb.test()
async def memories_keep_what_was_written_under_any_stalls(dut: HierarchyObject) -> None:
    host = Host(dut, "memories")
    await host.begin()
    units = range(CAPABILITY["rpaus"])
    written = {(unit, poly): host.words(N) for unit in units for poly in (0, 3)}
    for (unit, poly), words in written.items():
        await host.move(0, unit, poly)
        for word in words:
            assert await host.write(Register.HOST_DATA, word, 8) == AxiResp.OKAY
        assert await host.read(Register.HOST_WORD) == N
    for (unit, poly), words in written.items():
        start = host.random.randrange(N // 2)
        await host.move(0, unit, poly, start)
        found = [await host.read(Register.HOST_DATA, 8) for _ in range(N - start)]
        assert found == words[start:]
    assert await host.refused() == Refused(0)


@cocotb.test()
async def reads_and_writes_at_once_do_not_disturb_each_other(dut: HierarchyObject) -> None:
    host = Host(dut, "both")
    await host.begin()
    words = host.words(N)
    await host.move(0, 1, 2)

    async def watch() -> None:
        for _ in range(N):
            assert await host.read(CAPABILITIES[0].address) == CAPABILITY[CAPABILITIES[0].name]
            assert await host.read(Register.HOST_UNIT) == 1

    async def fill() -> None:
        for word in words:
            await host.write(Register.HOST_DATA, word, 8)

    await Combine(cocotb.start_soon(watch()), cocotb.start_soon(fill()))
    await host.move(0, 1, 2)
    assert [await host.read(Register.HOST_DATA, 8) for _ in range(N)] == words
    assert await host.refused() == Refused(0)


@cocotb.test()
async def an_illegal_access_is_answered_with_an_error(dut: HierarchyObject) -> None:
    host = Host(dut, "errors")
    await host.begin()
    behind = CAPABILITIES[-1].address + 4
    for address in (Register.REFUSED + 4, behind, 0xFFC):
        assert await host.write(address, 1) == AxiResp.SLVERR, hex(address)
        assert (await host.master.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
    for address in (Register.MAGIC, Register.STATUS, Register.CYCLES, CAPABILITIES[0].address):
        assert await host.write(address, 1) == AxiResp.SLVERR, hex(address)
    for address in (Register.CONTROL, Register.PROGRAM_DATA):
        assert (await host.master.read(address, 4)).resp == AxiResp.SLVERR, hex(address)
    assert await host.read(Register.MAGIC) == MAGIC


@cocotb.test()
async def a_half_without_all_of_its_bytes_is_refused(dut: HierarchyObject) -> None:
    host = Host(dut, "bytes")
    await host.begin()
    words = host.words(4)
    await host.move(0, 0, 0)
    for word in words:
        await host.write(Register.HOST_DATA, word, 8)
    await host.move(0, 0, 0)
    for offset, size in ((0, 1), (2, 2), (1, 3), (4, 2)):
        await host.write(Register.HOST_DATA + offset, 0, size)
        assert await host.refused() == Refused.VALUE
    await host.write(Register.HOST_DATA, 5)
    await host.write(Register.HOST_DATA + 1, 0, 3)
    await host.write(Register.HOST_DATA + 4, 0)
    assert await host.refused() == Refused.VALUE | Refused.ORDER
    assert await host.read(Register.HOST_WORD) == 0
    assert [await host.read(Register.HOST_DATA, 8) for _ in range(4)] == words


@cocotb.test()
async def the_bus_lives_through_a_reset_of_the_device(dut: HierarchyObject) -> None:
    host = Host(dut, "reset")
    await host.begin()
    await host.write(Register.PROGRAM_ADDRESS, 0)
    await host.write(Register.PROGRAM_DATA, HALT, 8)
    await host.write(Register.CONTROL, Control.START)
    while await host.read(Register.STATUS):
        pass
    assert await host.read(Register.INSTRUCTIONS, 8) == 1
    cycles = await host.read(Register.CYCLES, 8)
    assert cycles > 0
    await host.write(Register.CONTROL, Control.RESET)
    assert await host.read(Register.STATUS) & Status.RESETTING
    await host.write(Register.CONTROL, Control.START)
    await host.write(Register.PROGRAM_DATA, HALT, 8)
    await host.read(Register.HOST_DATA, 8)
    while await host.read(Register.STATUS):
        pass
    assert await host.refused() == Refused.BUSY
    assert await host.read(Register.CYCLES, 8) == 0
    await host.write(Register.CONTROL, Control.START)
    while await host.read(Register.STATUS):
        pass
    assert await host.read(Register.CYCLES, 8) == cycles
