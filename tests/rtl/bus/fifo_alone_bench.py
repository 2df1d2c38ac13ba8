"""The cocotb part of test_dma.py: one port is reset without the other."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles


@cocotb.test()
async def one_port_alone_is_reset(dut: HierarchyObject) -> None:
    resets = {"w": dut.wrst_ni, "r": dut.rrst_ni}
    for each in (dut.wvalid_i, dut.rready_i, dut.wdata_i, *resets.values()):
        each.value = 0
    Clock(dut.wclk_i, 4, "ns").start()
    Clock(dut.rclk_i, 5, "ns").start()
    await ClockCycles(dut.rclk_i, 10)
    for value in (1, 0, 1):
        for port, each in resets.items():
            each.value = value if port == os.environ["RINGSMITH_BENCH"] else 1
        await ClockCycles(dut.rclk_i, 20)
