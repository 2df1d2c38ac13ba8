"""The cocotb part of test_card.py: coprocessors behind a DMA, driven as a host drives them."""

import cocotb
from card_host import DESIGN, PAGE, Card, Job, Work
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp
from dma_model import Descriptor

from ringsmith.backends.rpau.card.descriptor import Error, Opcode
from ringsmith.backends.rpau.design.register_table import Register, Status
from ringsmith.backends.rpau.device.card_table import (
    MAGIC,
    CardRegister,
    ChannelControl,
    ChannelRegister,
    ChannelStatus,
)
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.device.link import Job as LinkJob
from ringsmith.backends.rpau.device.link import Link, share

COUNT = DESIGN.coprocessors
JOBS = 2 if COUNT == 2 else 4
"""Of each coprocessor, where rates are compared."""

LOADED: dict[int, str] = {}
"""What coprocessors hold tables and programs for; no reset takes them."""


async def opened(dut: HierarchyObject, name: str, *operations: str) -> tuple[Card, list[Work]]:
    """A card whose coprocessors have the tables and programs of these operations, in turn."""
    card = Card(dut, name)
    await card.begin()
    works = [Work(operations[c % len(operations)], f"{name} {c}") for c in range(COUNT)]
    for c, work in enumerate(works):
        await card.ready(c)
        if LOADED.get(c) != work.operation:
            LOADED.pop(c, None)
            await card.load(c, work)
            LOADED[c] = work.operation
    return card, works


async def started(card: Card, c: int, work: Work) -> tuple[Job, list[Descriptor]]:
    """A job that a channel has started."""
    job = work.job()
    made = card.job(job)
    card.arrivals[c].clear()
    await card.go(c, made)
    return job, made


async def ended(card: Card, c: int, job: Job, made: list[Descriptor]) -> None:
    """Waits for a job, and compares its results and cycles."""
    await card.done(c, made)
    (came,) = card.arrivals[c]
    job.check(card, came)


async def works_again(card: Card, works: list[Work]) -> None:
    """All coprocessors run a job as if nothing had been."""
    running = [await started(card, c, work) for c, work in enumerate(works)]
    for c, (job, made) in enumerate(running):
        await ended(card, c, job, made)


@cocotb.test()
async def coprocessors_compute_what_the_interpreter_does_in_the_models_cycles(
    dut: HierarchyObject,
) -> None:
    """Bit for bit, from host memory to host memory, with a quick and a slow memory, and late keys.

    Cycles are the model's for the trace of arrivals at the coprocessor's port. In the second round
    odd coprocessors get the rest of their keys by a list that begins late.
    """
    card, works = await opened(dut, "run", "multiply_relinearize", "rotate")
    late = []
    for most in (0.0, 0.5):
        card.stall(most)
        lists = []
        for c, work in enumerate(works):
            jobs = [work.job() for _ in range(1 + c % 2)]
            parts = [each for job in jobs for each in card.job(job)]
            card.arrivals[c].clear()
            first = len(parts)
            if most and c % 2:
                streams = [i for i, each in enumerate(parts) if each.op == Opcode.STREAM]
                first = card.random.choice(streams[: len(streams) // len(jobs) // 2])
            lists.append((jobs, parts[first:]))
            await card.go(c, parts[:first])
        for c, (_, rest) in enumerate(lists):
            if rest:
                await card.awaits(c)
                await ClockCycles(dut.bus_clk_i, card.random.randint(3000, 6000))
                await card.go(c, rest)
        for c, (jobs, _) in enumerate(lists):
            status, error, _ = await card.wait(c)
            assert (status, error) == (ChannelStatus(0), 0)
            for job, came in zip(jobs, card.arrivals[c], strict=True):
                cycles = job.check(card, came)
                assert job.work.compiled.executable is not None
                late.append(cycles - job.work.compiled.executable.cycles)
                dut._log.info("COPROCESSOR %d: %d cycles, %d late", c, cycles, late[-1])
    assert min(late) == 0
    assert max(late) > 1000


@cocotb.test()
async def jobs_end_at_the_rate_of_the_links_model(dut: HierarchyObject) -> None:
    """From a memory that answers at once; all begin together."""
    card, works = await opened(dut, "rate", "rotate")
    jobs = [[work.job() for _ in range(JOBS)] for work in works]
    lists = [[each for job in of for each in card.job(job)] for of in jobs]
    for made in lists:
        for each in made[:-1]:
            each.tell = False
    for each in card.arrivals:
        each.clear()
    begin = card.cycle
    for c, made in enumerate(lists):
        await card.go(c, made)
    while int(dut.irq_o.value) != (1 << COUNT) - 1:
        await ClockCycles(dut.clk_i, 20)
    taken = card.cycle - begin
    cycles = [
        job.check(card, came)
        for c, of in enumerate(jobs)
        for job, came in zip(of, card.arrivals[c], strict=True)
    ]
    script = works[0].tables
    model = LinkJob(
        len(script.operands),
        len(script.stream.polys),
        len(script.places),
        works[0].model_cycles,
    )
    done = share(Link(DESIGN.host_bits), DESIGN, model, JOBS)
    wanted = max(each.end for each in (jobs[-1] for jobs in done))
    dut._log.info(
        "RATE of %d coprocessors: %d jobs in %d cycles, by the model %d: %+.2f %%; "
        "programs of %d to %d cycles",
        *(COUNT, JOBS * COUNT, taken, wanted, 100 * (taken / wanted - 1), min(cycles), max(cycles)),
    )
    assert abs(taken / wanted - 1) < 0.05


@cocotb.test()
async def a_key_that_never_comes_is_named_and_the_others_go_on(dut: HierarchyObject) -> None:
    """Registers say for which polynomial a program waits; stop and reset, and all work again."""
    card, works = await opened(dut, "missing", "rotate")
    job = works[0].job()
    made = card.job(job)
    lacks = [i for i, each in enumerate(made) if each.op == Opcode.STREAM][-3]
    others = [(c, *await started(card, c, works[c])) for c in range(1, COUNT)]
    await card.go(0, [*made[:lacks], made[-1]])  # the last descriptor reads, when it has ended
    for c, *rest in others:
        await ended(card, c, *rest)
    arrivals = await card.awaits(0)
    keys = len(job.script.stream.polys)
    assert arrivals & 0xFFFF == keys - 3
    assert keys - 3 < arrivals >> 16 <= keys
    assert await card.read(card.own(0, Register.STATUS)) == Status.BUSY
    assert await card.read(card.channel(0, ChannelRegister.STATUS)) == ChannelStatus.RUNNING
    await card.write(card.channel(0, ChannelRegister.CONTROL), ChannelControl.STOP)
    assert await card.wait(0) == (ChannelStatus(0), 0, lacks)
    await card.reset(0)
    await works_again(card, works)


@cocotb.test()
async def a_list_that_fails_names_its_descriptor_and_harms_no_other(dut: HierarchyObject) -> None:
    card, works = await opened(dut, "errors", "rotate")
    words = works[0].tables.operands[0][2]
    good = card.send(Opcode.WRITE, AddressSpace.POLY, 0, 0, words)
    over = card.send(Opcode.WRITE, AddressSpace.POLY, 0, DESIGN.work_polys, words)
    row = words[:4]
    bad = [
        (Error.FORMAT, card.descriptor(7)),
        (Error.PLACE, over),
        (Error.PLACE, card.send(Opcode.WRITE, AddressSpace.KEY, DESIGN.rpaus, 0, row)),
        (Error.PLACE, card.send(Opcode.WRITE, AddressSpace.CONVERSION, 0, 0, row)),
        (Error.PLACE, card.send(Opcode.WRITE, AddressSpace.MODULUS, 0, 0, words)),
        (Error.PLACE, card.send(Opcode.STREAM, AddressSpace.POLY, 0, 0, row)),
        (
            Error.PLACE,
            card.descriptor(Opcode.READ, data=card.take(64), count=4, space=AddressSpace.KEY),
        ),
        (Error.PLACE, card.descriptor(Opcode.START, count=DESIGN.log_n + 1)),
        (Error.UNOPENED, card.send(Opcode.STREAM, AddressSpace.KEY, 0, 0, row)),
        (
            Error.VALUE,
            card.send(Opcode.WRITE, AddressSpace.POLY, 0, 0, row | (1 << DESIGN.word_bits)),
        ),
    ]
    others = [(c, *await started(card, c, works[c])) for c in range(1, COUNT)]
    for error, one in bad:
        await card.go(0, [good, one, over])
        await card.fails(0, error, 1)
        assert await card.read(card.channel(0, ChannelRegister.ADDRESS), 8) == one.address
        assert await card.read(CardRegister.REPORTED) & 1 == int(dut.irq_o.value) & 1 == 1
        await card.write(card.channel(0, ChannelRegister.REPORTED), 1)
        assert await card.read(CardRegister.REPORTED) & 1 == int(dut.irq_o.value) & 1 == 0
    for c, *rest in others:
        await ended(card, c, *rest)
    await works_again(card, works)


@cocotb.test()
async def a_reset_in_the_middle_of_bursts_fails_the_lists_that_it_is_to_fail(
    dut: HierarchyObject,
) -> None:
    """Of one coprocessor, of all, and of the bus; afterwards all work again."""
    card, works = await opened(dut, "resets", "rotate")
    running = [await started(card, c, work) for c, work in enumerate(works)]
    await ClockCycles(dut.bus_clk_i, card.random.randint(200, 2000))
    await card.reset(0)
    assert (await card.wait(0))[:2] == (ChannelStatus.FAILED, Error.DEVICE)
    for c, (job, made) in list(enumerate(running))[1:]:
        await ended(card, c, job, made)
    await works_again(card, works)

    for c, work in enumerate(works):
        await started(card, c, work)
    await ClockCycles(dut.bus_clk_i, card.random.randint(200, 2000))
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 20)
    assert (await card.axil.read(card.own(0, Register.MAGIC), 4)).resp == AxiResp.SLVERR
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 10)
    for c in range(COUNT):
        assert (await card.wait(c))[:2] == (ChannelStatus.FAILED, Error.DEVICE)
        await card.ready(c)
    await works_again(card, works)

    for c, work in enumerate(works):
        await started(card, c, work)
    await RisingEdge(dut.m_axi_rvalid)
    dut.bus_rst_ni.value = 0
    await ClockCycles(dut.bus_clk_i, 40)
    dut.bus_rst_ni.value = 1
    for c in range(COUNT):
        assert await card.wait(c) == (ChannelStatus(0), 0, 0)
        await card.reset(c)
    await works_again(card, works)


@cocotb.test()
async def a_page_that_is_not_there_is_answered_with_an_error(dut: HierarchyObject) -> None:
    card = Card(dut, "pages")
    await card.begin()
    assert await card.read(CardRegister.MAGIC) == MAGIC
    assert await card.read(CardRegister.COPROCESSORS) == COUNT
    assert await card.read(CardRegister.HOST_BITS) == DESIGN.host_bits
    for c in range(COUNT):
        assert await card.read(card.own(c, Register.DATA_PATH)) == 0
    for page in (COUNT + 1, 15):
        assert (await card.axil.read(PAGE * page, 4)).resp == AxiResp.SLVERR
        assert (await card.axil.write(PAGE * page, bytes(4))).resp == AxiResp.SLVERR
    assert (await card.axil.read(0xFFC, 4)).resp == AxiResp.SLVERR
    assert (await card.axil.read(PAGE + 0xFFC, 4)).resp == AxiResp.SLVERR
    reads = [cocotb.start_soon(card.read(card.own(c, Register.MAGIC))) for c in range(COUNT)]
    writes = [
        cocotb.start_soon(card.write(card.own(c, Register.HOST_WORD), c + 5)) for c in range(COUNT)
    ]
    for each in (*reads, *writes):
        await each
    for c in range(COUNT):
        assert await card.read(card.own(c, Register.HOST_WORD)) == c + 5
