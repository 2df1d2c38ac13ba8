"""Running executables on a device: what is loaded, what is already there, what is read back."""

from collections.abc import Mapping

import numpy as np

from ringsmith.arch.rpau.constants import modulus_words, twiddle_tables
from ringsmith.arch.rpau.executable import Executable, KeyLoad
from ringsmith.arch.rpau.virtual import bits_of
from ringsmith.devices.interface import Device, RunReport, Zone
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.objects import Residues


class Accelerator:
    """A device, and what the host knows of its contents.

    Primes, constants, programs and keys stay on the device from one run to the next, and are
    written only when another executable or key needs them.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._primes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._executable: Executable | None = None
        self._keys: dict[KeyLoad, Residues] = {}

    @property
    def name(self) -> str:
        """``model`` or ``rtl``."""
        return self.device.name

    def run(
        self, executable: Executable, inputs: Mapping[str, Residues], keys: Mapping[str, Residues]
    ) -> tuple[dict[str, Residues], RunReport]:
        """Loads what is missing, runs, and reads the outputs.

        Args:
            executable: What ``compile_graph`` made for this device's design.
            inputs: Input name -> residues (limbs, N), canonical.
            keys: Key name -> key-switching key (digits, 2, K, N).

        Returns:
            The outputs by name, residues (limbs, N), and what the run took.

        Raises:
            DeviceError: If the device is of another design, or does not finish.
            ProgramError: If an input or a key is missing.
        """
        if executable.design != self.device.design:
            raise DeviceError(
                f"the program was compiled for design {executable.design.name} and this "
                f"{self.device.name} device is a "
                f"{self.device.design.name}: compile for the device's design, or open another "
                f"device"
            )
        self._load_primes(executable)
        self._load_program(executable)
        self._load_keys(executable, keys)
        for name, places in executable.inputs.items():
            if name not in inputs:
                raise ProgramError(
                    f"input {name!r} is missing: the program takes {sorted(executable.inputs)}"
                )
            for limb, (rpau, index) in zip(inputs[name], sorted(places.items()), strict=True):
                self.device.write(Zone.POLY, rpau, index, limb)
        report = self.device.run(max_cycles=2 * executable.cycles + 1000)
        return {name: self._read(places) for name, places in executable.outputs.items()}, report

    def _load_primes(self, executable: Executable) -> None:
        wanted = (executable.primes, executable.roots)
        if self._primes == wanted:
            return
        design = executable.design
        for rpau, (prime, root) in enumerate(zip(*wanted, strict=True)):
            low, high = twiddle_tables(prime, root, design)
            self.device.write(Zone.MODULUS, rpau, 0, modulus_words(prime, design))
            self.device.write(Zone.TWIDDLE_LO, rpau, 0, low)
            self.device.write(Zone.TWIDDLE_HI, rpau, 0, high)
        self._primes = wanted
        self._executable = None
        self._keys.clear()

    def _load_program(self, executable: Executable) -> None:
        if self._executable is executable:
            return
        for rpau, values in enumerate(executable.constants):
            padded = np.zeros(executable.design.constants, dtype=np.uint64)
            padded[: len(values)] = values
            self.device.write(Zone.CONSTANT, rpau, 0, padded)
        self.device.load_program(np.array(executable.words, dtype=np.uint64))
        self._executable = executable

    def _load_keys(self, executable: Executable, keys: Mapping[str, Residues]) -> None:
        for load in executable.keys:
            key = keys[load.key]
            if self._keys.get(load) is key:
                continue
            self._keys = {
                other: held for other, held in self._keys.items() if other.index != load.index
            }
            for rpau in bits_of(load.mask):
                self.device.write(Zone.KEY, rpau, load.index, key[load.digit, load.half, rpau])
            self._keys[load] = key

    def _read(self, places: Mapping[int, int]) -> Residues:
        limbs = [self.device.read(Zone.POLY, rpau, index) for rpau, index in sorted(places.items())]
        return np.stack(limbs)
