"""What a client has of a program: parameters, inputs, outputs and key needs, and nothing else.

A kit makes keys, encrypts and decrypts; it holds no graph, no constants and no source lines. Its
methods import ``ringsmith.client`` when they are called: this is the one module outside the client
that does, so that a process which only runs programs never has the code that touches a secret key.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ParameterError, ProgramError, check_type
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.params.flooding import (
    SHARED_BUDGET,
    STATISTICAL_SECURITY,
    Flooding,
    largest_noise,
    surviving_bits,
)
from ringsmith.program.late import of_schemes
from ringsmith.program.packing import Packing, Port, checked_tensors, tensors, vectors
from ringsmith.short_repr import short_repr

if TYPE_CHECKING:
    from ringsmith.client import SecretKey as SecretKey

T = TypeVar("T")


@short_repr
@dataclass(frozen=True, eq=False)
class ClientKit:
    """What a client needs of a program; made by ``Program.client_kit``.

    Attributes:
        name: Name of the traced function.
        parameters: The parameter set.
        inputs: How each input is encrypted, by name.
        outputs: How each output arrives, by name.
        key_needs: The evaluation keys that a run needs.
        packed_inputs: As of the program.
        packed_outputs: As of the program.
    """

    name: str
    parameters: RlweParameters
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    key_needs: KeyNeeds
    packed_inputs: Mapping[str, Packing] = field(default_factory=dict)
    packed_outputs: Mapping[str, Packing] = field(default_factory=dict)

    def generate_keys(
        self, *, seeded: bool = True
    ) -> "tuple[SecretKey, PublicKey, EvaluationKeys]":
        """Makes fresh keys: the secret key, the public key, and the server's evaluation keys.

        Args:
            seeded: Whether the a part of each evaluation key is expanded from a seed. A design with
                a PRNG does this itself, and others take such a key like any other. False: all of a
                key is drawn from the operating system's randomness.
        """
        from ringsmith.client import generate_keys

        return generate_keys(self.parameters, self.key_needs, seeded=seeded)

    def encrypt(
        self, public_key: PublicKey, inputs: Mapping[str, ArrayLike], *, partial: bool = False
    ) -> dict[str, Ciphertext]:
        """Encrypts a vector for every input, or a tensor, at the input's limbs and scale.

        Args:
            public_key: The second key of ``generate_keys``.
            inputs: Numbers by the input's name: at most as many as it was declared with. Zeros
                follow. CKKS takes real or complex numbers, BFV whole numbers in -t/2 … t - 1. An
                imported program (``packed_inputs``) takes tensors of its shapes by their names.
            partial: Whether some inputs may be left out: those whose ciphertexts are kept from an
                earlier call. ``earlier | kit.encrypt(public_key, {"x": x}, partial=True)`` has x
                anew.

        Returns:
            A ciphertext for each input, by name: what ``Compiled.run`` takes. With ``partial``, one
            for each input that was given.

        Raises:
            ProgramError: When an input is missing or unknown, or has too many numbers.
            ParameterError: When an input is no vector of such numbers, or the key is of other
                parameters.
            TypeError: When an argument is of another kind.
        """
        check_type("inputs", inputs, Mapping, 'give vectors by name: {"x": numbers}')
        if self.packed_inputs:
            lengths = {name: port.length for name, port in self.inputs.items()}
            packings = _named(self.packed_inputs, inputs, partial)
            given = checked_tensors(packings, inputs, self.inputs, _numbers)
            return {
                name: self._encrypted(public_key, name, self.inputs[name], slots)
                for name, slots in vectors(packings, given, lengths).items()
            }
        ports = _named(self.inputs, inputs, partial)
        if inputs.keys() != ports.keys():
            raise ProgramError(
                f"the program takes the inputs {sorted(self.inputs)} and was given "
                f"{sorted(map(str, inputs))}: give a vector for each input, or some of them with "
                "partial=True"
            )
        found = {}
        for name, port in ports.items():
            array = np.atleast_1d(_numbers(name, inputs[name]))
            if array.size > port.length:
                raise ProgramError(
                    f"input {name!r} holds {port.length} numbers and was given {array.size}: "
                    "declare a greater length when tracing, or split the vector"
                )
            port.check_numbers(name, array)
            found[name] = self._encrypted(public_key, name, port, array)
        return found

    def decrypt(
        self,
        secret_key: "SecretKey",
        outputs: Mapping[str, Ciphertext],
        *,
        complex_numbers: bool | None = None,
        share: int | None = None,
        statistical_security: int = STATISTICAL_SECURITY,
    ) -> dict[str, NDArray[Any]]:
        """Decrypts results to the numbers that outputs hold.

        A CKKS result carries noise that depends on the secret key. Give it to a party that also
        sees the ciphertext only with ``share``: then fresh Gaussian noise hides that of the result,
        and numbers are rounded to the bits that survive (``shared_bits``). A BFV result is exact.
        With ``share``, it is refused unless the forecast leaves a bit of noise budget more than
        decryption needs, so that no decryption fails. SECURITY.md states what this protects, and
        that server and kit must be honest.

        Args:
            secret_key: The first key of ``generate_keys``.
            outputs: Ciphertexts by the output's name: a run's ``outputs``, or some of them.
            complex_numbers: For CKKS: whether to return complex numbers, or their real parts. None:
                complex ones of outputs that may hold such.
            share: Decryptions under this key that may be shared in all, each output counted, from
                1; None: the result is for the holder of the key only.
            statistical_security: Bits of statistical security with ``share``, 20 to 64.

        Returns:
            By name the first ``outputs[name].length`` slots: float64 (complex128), or int64 in
            BFV. Of an imported program its tensors, by their names.

        Raises:
            ProgramError: When an output is unknown, or its ciphertext has other limbs or another
                scale than the program's; when no noise budget is left in BFV. With ``share``, when
                no bits would be left, or the noise of an output is unknown.
            ParameterError: When ``share`` or ``statistical_security`` is no such number.
            TypeError: When an argument is of another kind.
        """
        check_type("outputs", outputs, Mapping, "give a result's outputs: ciphertexts by name")
        unknown = sorted(map(str, outputs.keys() - self.outputs.keys()))
        if unknown or not outputs:
            raise ProgramError(
                f"the program has the outputs {sorted(self.outputs)} and was given "
                f"{unknown or 'none'}: give the outputs of a run of this program"
            )
        if complex_numbers and self.parameters.exact:
            raise ProgramError(
                f"complex_numbers: {self.parameters.scheme.upper()} computes on whole numbers: "
                "leave it out"
            )
        flooding = None if share is None else Flooding(share, statistical_security)
        found = {}
        for name, ciphertext in outputs.items():
            port = self.outputs[name]
            slots = self._decrypted(secret_key, name, port, ciphertext, flooding)[: port.length]
            wanted = port.complex_numbers if complex_numbers is None else complex_numbers
            found[name] = slots.real.copy() if slots.dtype.kind == "c" and not wanted else slots
        return tensors(self.packed_outputs, found) if self.packed_outputs else found

    def shared_bits(
        self, share: int, *, statistical_security: int = STATISTICAL_SECURITY
    ) -> dict[str, int]:
        """Returns the bits after the point that ``decrypt(share=…)`` leaves, by the output's name.

        A number is a multiple of 2^-bits, and off by at most that much, but with the probability
        2^-20 by the noise model; a function's approximation comes in addition. Nothing of this
        depends on keys or data. In BFV results are whole numbers, and this is 0.

        Args:
            share: As for ``decrypt``.
            statistical_security: As for ``decrypt``.

        Raises:
            ProgramError, ParameterError: As ``decrypt`` with ``share``.
        """
        flooding = Flooding(share, statistical_security)
        return {name: self._bits(name, port, flooding) for name, port in self.outputs.items()}

    def noise_bounds(
        self, share: int, *, statistical_security: int = STATISTICAL_SECURITY
    ) -> dict[str, float]:
        """Returns what ``client.decrypt(…, share=…, noise_bound=…)`` takes, by the output's name.

        It is a bound for all slots of a result, for all inputs in their ranges.

        Args:
            share: As for ``decrypt``.
            statistical_security: As for ``decrypt``.

        Raises:
            ProgramError: When the noise of an output is unknown.
            ParameterError: When an argument is no such number.
        """
        flooding = Flooding(share, statistical_security)
        return {
            name: self._noise_bound(name, port, flooding) for name, port in self.outputs.items()
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes the kit to a file atomically; the suffix is ``.rsk`` by convention.

        Raises:
            InteropError: When the file exists and may not be overwritten, or cannot be written.
        """
        of_schemes("save", "program_file")(path, self, overwrite=overwrite)

    def __reduce__(self) -> "tuple[Callable[[bytes], object], tuple[bytes]]":
        """Pickles the kit as its file."""
        return of_schemes("from_bytes", "program_file"), (
            of_schemes("to_bytes", "program_file")(self),
        )

    @classmethod
    def load(cls, path: str | Path, *, security: int | None = 128) -> "ClientKit":
        """Reads a kit from a file.

        Args:
            path: The file.
            security: Level that the parameters must hold by the 2018 standard or the 2024
                guidelines, 128, 192 or 256; None: any, for experiments.

        Raises:
            InteropError: When the file holds no kit, is damaged or too large; names the field.
            ParameterError: When its parameters are below ``security``.
        """
        found = of_schemes("load", "program_file")(path, kits_only=True)
        assert isinstance(found, ClientKit), "nothing else was asked for"
        found.check_security(str(path), security)
        return found

    def check_security(self, what: str, security: int | None) -> None:
        """Refuses parameters that someone else chose too weak.

        The level follows from N and the primes; what a file says of itself does not count.

        Args:
            what: Names the kit in errors.
            security: The level that is needed; None: any.

        Raises:
            ParameterError: When the parameters are below that level.
        """
        parameters = self.parameters
        if security is not None and (parameters.security or 0) < security:
            raise ParameterError(
                f"{what}: logQP = {parameters.log_qp} bits at N = {parameters.n} has a security of "
                f"{parameters.security_text}, and {security} bits are needed: the maker of the kit "
                "could find your secret key. Ask for other parameters; for an experiment give "
                "security=None"
            )

    def _encrypted(
        self, public_key: PublicKey, name: str, port: Port, array: NDArray[Any]
    ) -> Ciphertext:
        from ringsmith.client import encrypt_vector

        try:
            if self.parameters.exact:
                return encrypt_vector(self.parameters, public_key, array)
            return encrypt_vector(
                self.parameters, public_key, array, scale=port.scale, limbs=port.limbs
            )
        except ParameterError as error:
            raise ParameterError(f"input {name!r}: {error}") from None

    def _decrypted(
        self,
        secret_key: "SecretKey",
        name: str,
        port: Port,
        ciphertext: Ciphertext,
        flooding: Flooding | None,
    ) -> NDArray[Any]:
        """All slots of an output; flooded if they are shared."""
        from ringsmith.client import decrypt_vector, noise_budget

        check_type(f"output {name!r}", ciphertext, Ciphertext, "give one of a result's outputs")
        shape = (2, port.limbs, self.parameters.n)
        if ciphertext.data.shape != shape or ciphertext.scale != port.scale:
            raise ProgramError(
                f"output {name!r} has the shape {ciphertext.data.shape} and the scale "
                f"{ciphertext.scale!r}, and the program makes {shape} and {port.scale!r}: give the "
                "outputs of a run of this program"
            )
        if self.parameters.exact and not noise_budget(self.parameters, secret_key, ciphertext):
            raise ProgramError(
                f"output {name!r}: no noise budget is left and the numbers are lost: it was "
                "computed with other keys, or from inputs that were not fresh"
            )
        if flooding is None:
            return decrypt_vector(self.parameters, secret_key, ciphertext)
        self._bits(name, port, flooding)
        return decrypt_vector(
            self.parameters,
            secret_key,
            ciphertext,
            share=flooding.queries,
            noise_bound=self._noise_bound(name, port, flooding),
            statistical_security=flooding.statistical_security,
        )

    def _bits(self, name: str, port: Port, flooding: Flooding) -> int:
        """Returns the bits of an output that survive; refuses one that is not to be shared."""
        if self.parameters.exact:
            if port.budget is None or port.budget < SHARED_BUDGET:
                left = "an unknown noise budget" if port.budget is None else f"{port.budget} bits"
                raise ProgramError(
                    f"output {name!r}: by the forecast {left} is left, and results that are shared "
                    f"need {SHARED_BUDGET}, so that no decryption fails: take a larger q, or "
                    f"AutoBfvParameters(margin_bits={SHARED_BUDGET})"
                )
            return 0
        bound = self._noise_bound(name, port, flooding)
        try:
            return surviving_bits(flooding.bits(self.parameters.n, bound), flooding)
        except ParameterError as error:
            raise ProgramError(f"output {name!r}: {error}") from None

    def _noise_bound(self, name: str, port: Port, flooding: Flooding) -> float:
        """Returns what ``client.decrypt`` takes for an output."""
        if port.noise is not None:
            return flooding.noise_bound(port.noise)
        if port.budget is not None:
            return largest_noise(self.parameters, port.limbs, port.budget)
        raise ProgramError(
            f"output {name!r}: how large its noise is at most is unknown, so that no noise can be "
            "added that hides it: trace the program with ranges of its inputs, or call "
            "client.decrypt_vector(…, share=…, noise_bound=…) with a bound of yours"
        )


def _named(known: Mapping[str, T], given: Mapping[str, object], partial: bool) -> Mapping[str, T]:
    """The entries that must be given: all, or with ``partial`` those that are."""
    if not (partial and given):
        return known
    return {name: entry for name, entry in known.items() if name in given}


def _numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Returns what was given for an input as an array of numbers."""
    if isinstance(values, np.ma.MaskedArray):
        raise ProgramError(
            f"input {name!r} is a masked array, and what its mask hides would be encrypted: "
            "give array.filled(value), or the numbers that count"
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError(
            f"input {name!r} has rows of different lengths: give one array of numbers"
        ) from None
    if array.dtype.kind == "b":
        array = array.astype(np.int64)  # a mask
    if array.dtype.kind not in "iufc":
        raise ParameterError(
            f"input {name!r}: {values!r:.60} holds what is no number of 64 bits: give real numbers"
        )
    return array
