"""Circuit privacy: results that do not reveal the program's constants to the holder of the key.

A result's noise depends on the plaintext constants that it was computed with, and the holder of
the secret key can measure it. ``Sanitizer`` adds an encryption of zero, which makes both
polynomials fresh, and Gaussian noise that hides the result's own (Gentry 2009, thesis, chapter 21;
Ducas, Stehlé 2016, eprint 2016/164, call it sanitization). ``ringsmith.params.flooding`` has the
deviation, from the forecast of noise.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ringsmith import _core
from ringsmith.errors import ParameterError, ProgramError, check_type
from ringsmith.objects import Ciphertext, PublicKey, check_key_tag, check_parameters_id
from ringsmith.params import core_context
from ringsmith.params.flooding import hiding_deviation
from ringsmith.params.sampling import Draw, add_noise, gaussian_integers, system_random
from ringsmith.program import Program
from ringsmith.program.graph import check_program
from ringsmith.schemes.registry import scheme_of

_SECURITY = range(1, 65)


@dataclass(frozen=True)
class _Output:
    """How an output is sanitized.

    Attributes:
        deviation: Of the Gaussian integer that each coefficient gets.
        left: Bits after the point in CKKS, of noise budget in BFV, that are left.
    """

    deviation: float
    left: int


class Sanitizer:
    """Makes results of a program independent of its constants, but for the numbers that they hold.

    For inputs that were encrypted honestly, within their ranges, a sanitized result of two programs
    with equal outputs, limbs and scales has the same distribution: up to a statistical distance of
    2^-s for its noise, and by the assumption that the encryption rests on for its polynomials. The
    noise is bounded by the forecast, which here must hold for both programs: it depends on the
    constants by its size, and ``deviations`` can set one size for several programs. Distances of
    several results of one program add up.

    Slots after an output's numbers would reveal intermediate values. BFV fills them with random
    numbers. In CKKS they must be zero by the ranges of the inputs.

    Args:
        program: The traced program.
        statistical_security: Bits s, 1 to 64. In CKKS each bit costs one of precision.
        deviations: Standard deviation of the Gaussian integers by output, each at least the one
            that the forecast asks for; None: that one.

    Raises:
        ProgramError: When an output is left without precision or noise budget, is not relinearized,
            or has slots that cannot be hidden; says what to change.
        ParameterError: When ``statistical_security`` is no such number, or a deviation too small.
    """

    def __init__(
        self,
        program: Program,
        *,
        statistical_security: int = 40,
        deviations: Mapping[str, float] | None = None,
    ) -> None:
        check_program(program, "Sanitizer")
        bits = statistical_security
        if isinstance(bits, bool) or not isinstance(bits, int) or bits not in _SECURITY:
            raise ParameterError(
                f"statistical_security = {bits!r:.60} is no number of bits in "
                f"{_SECURITY.start} … {_SECURITY.stop - 1}"
            )
        self._program = program
        needed = _needed(program, bits)
        for name, deviation in (deviations or {}).items():
            if name not in needed or not needed[name] <= deviation < math.inf:
                raise ParameterError(
                    f"deviations[{name!r:.60}] = {deviation!r:.60}: the forecast asks for at least "
                    f"{needed.get(name, math.nan):.6g} for {bits} bits"
                )
        chosen = needed | dict(deviations or {})
        self._outputs = {name: _admitted(program, name, chosen[name]) for name in needed}

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviation of the noise in each coefficient that is added, by output."""
        return {name: output.deviation for name, output in self._outputs.items()}

    @property
    def left(self) -> dict[str, int]:
        """Bits left by output: after the point, for CKKS; of noise budget, for BFV."""
        return {name: output.left for name, output in self._outputs.items()}

    def run(
        self, outputs: Mapping[str, Ciphertext], public_key: PublicKey
    ) -> dict[str, Ciphertext]:
        """Returns sanitized outputs, with the operating system's randomness.

        Args:
            outputs: A run's ``outputs``, or some of them.
            public_key: The client's public key.

        Raises:
            ProgramError: When an output or the key is of another program or key pair.
            TypeError: When an argument is of another kind.
        """
        return self._run(outputs, public_key, system_random)

    def _run(
        self, outputs: Mapping[str, Ciphertext], public_key: PublicKey, draw: Draw
    ) -> dict[str, Ciphertext]:
        check_type("outputs", outputs, Mapping, "give a result's outputs: ciphertexts by name")
        check_type("public key", public_key, PublicKey, "give the client's public key")
        parameters = self._program.parameters
        whose, hint = f"program {self._program.name}", "give the client's own public key"
        check_parameters_id(
            "the public key",
            public_key.parameters_id,
            whose,
            parameters.parameters_id,
            hint,
            ProgramError,
        )
        scheme, found = scheme_of(parameters), {}
        for name, ciphertext in outputs.items():
            self._check(name, ciphertext, public_key)
            length = self._program.output_lengths[name]
            zero = scheme.encryption_of_zero(parameters, public_key, ciphertext.limbs, length, draw)
            data = _core.add(core_context(parameters), ciphertext.data, zero)
            wide = gaussian_integers(parameters.n, self._outputs[name].deviation, draw)
            data[0] = add_noise(parameters, data[0], wide, ntt=not parameters.exact)
            found[name] = replace(ciphertext, data=data, key_tag=public_key.key_tag)
        return found

    def _check(self, name: str, ciphertext: Ciphertext, public_key: PublicKey) -> None:
        if name not in self._outputs:
            raise ProgramError(
                f"the program has the outputs {sorted(self._outputs)} and was given {name!r:.60}"
            )
        check_type(f"output {name!r}", ciphertext, Ciphertext, "give one of a result's outputs")
        port = self._program.output_ports[name]
        shape = (2, port.limbs, self._program.parameters.n)
        if ciphertext.data.shape != shape or ciphertext.scale != port.scale:
            raise ProgramError(
                f"output {name!r} has the shape {ciphertext.data.shape} and the scale "
                f"{ciphertext.scale!r}, and the program makes {shape} and {port.scale!r}: give the "
                "outputs of a run of this program"
            )
        hint = "give the public key of the client that encrypted the inputs"
        tag = public_key.key_tag
        check_key_tag(
            f"output {name!r}", ciphertext.key_tag, "the public key", tag, hint, ProgramError
        )


def _needed(program: Program, bits: int) -> dict[str, float]:
    """Returns the deviation that hides each output's noise."""
    for name, node in program.outputs.items():
        if node.size != 2:
            raise ProgramError(
                f"output {name!r} has {node.size} polynomials, and an encryption of zero hides "
                "two: relinearize it"
            )
    lengths = scheme_of(program.parameters).noise_lengths(program, bits)
    return {name: hiding_deviation(length, bits) for name, length in lengths.items()}


def _admitted(program: Program, name: str, deviation: float) -> _Output:
    """Returns how an output is sanitized; raises an error if the noise leaves too few bits."""
    left, too_few = scheme_of(program.parameters).left_after(program, name, deviation)
    if left < 1:
        raise ProgramError(f"output {name!r}: noise that hides the program leaves {too_few}")
    return _Output(deviation, left)
