"""Coprocessors of architecture ``rpau`` on boards and on cards."""

from pathlib import Path
from typing import cast

from ringsmith.backends.cards.interface import CARD, CardFiles, Cards, SerialPort
from ringsmith.backends.cards.socket_files import SocketPort
from ringsmith.backends.cards.xdma import XdmaFiles
from ringsmith.backends.rpau.card.device import CardDevice, Opener
from ringsmith.backends.rpau.card.simulated import RpauCard
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.card import CardBus
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.registers import RegisterCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.device.serial_line import SerialLine
from ringsmith.backends.types import Design
from ringsmith.errors import DeviceError


class RpauCards(Cards):
    """A device behind a serial line, or coprocessors behind a DMA."""

    def open(self, design: Design, port: SerialPort | CardFiles) -> RpauDevice | CardDevice:
        """The device on a board, or the coprocessors of cards; see ``Cards.open``."""
        point = cast("RpauDesign", design)
        if isinstance(port, CardFiles):
            openers: list[Opener] = [
                XdmaFiles(path) if Path(f"{path}_user").exists() else SocketPort(path)
                for path in port.paths
            ]
            return CardDevice(point, openers)
        bus = CardBus(SerialLine(port.path, port.baud), -(-point.word_bits // 8))
        try:
            return RpauDevice(RegisterCoprocessor(point, bus, CARD))
        except BaseException:
            bus.close()
            raise

    def simulate(self, design: Design, kind: str, memory: int) -> RpauCard:
        """Coprocessors behind a DMA; see ``Cards.simulate``."""
        point = cast("RpauDesign", design)
        if kind not in ("model", "rtl"):
            raise DeviceError(f"a simulated card has a model or rtl behind it, and no {kind!r}")
        return RpauCard(point, ModelCoprocessor if kind == "model" else RtlCoprocessor, memory)
