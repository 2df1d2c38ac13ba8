"""Bootstraps with OpenFHE once a question: a program that ``ringsmith bench bootstrapping`` starts.

It needs the package ``openfhe`` and nothing else, so that another Python's can serve. Arguments:
log2 N, levels that are to be left, and levels of CoeffsToSlots and SlotsToCoeffs. The secret is
uniform and ternary, with a sparse one for the raising of the modulus. All primes have 59 bits, the
first 60: OpenFHE has one scale for all levels.
"""

import os
import random
import sys
import time
from pathlib import Path

import openfhe  # type: ignore[import-not-found]

SCALE_BITS, FIRST_BITS, DIGITS = 59, 60, 5
EVAL_MOD = 10
"""Levels of EvalMod, with this kind of secret."""


def context_of(n: int, depth: int) -> "openfhe.CryptoContext":
    """A context that bootstraps."""
    chosen = openfhe.CCParamsCKKSRNS()
    chosen.SetSecretKeyDist(openfhe.SecretKeyDist.SPARSE_ENCAPSULATED)
    chosen.SetCKKSDataType(openfhe.CKKSDataType.COMPLEX)
    chosen.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
    chosen.SetRingDim(n)
    chosen.SetScalingTechnique(openfhe.ScalingTechnique.FLEXIBLEAUTO)
    chosen.SetKeySwitchTechnique(openfhe.KeySwitchTechnique.HYBRID)
    chosen.SetNumLargeDigits(DIGITS)
    chosen.SetScalingModSize(SCALE_BITS)
    chosen.SetFirstModSize(FIRST_BITS)
    chosen.SetMultiplicativeDepth(depth)
    context = openfhe.GenCryptoContext(chosen)
    for name in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE"):
        context.Enable(getattr(openfhe.PKESchemeFeature, name))
    return context


def resident() -> int:
    """Bytes of this process in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE")


def main() -> None:
    """Answers the questions of standard input."""
    before = resident()
    n, after, *budget = 1 << int(sys.argv[1]), *map(int, sys.argv[2:])
    depth, slots = after + sum(budget) + EVAL_MOD, n // 2
    context = context_of(n, depth)
    context.EvalBootstrapSetup(budget, [0, 0], slots)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalBootstrapKeyGen(keys.secretKey, slots)
    part = random.Random(1).uniform  # noqa: S311 - a message to measure with
    given = [complex(part(-1, 1), part(-1, 1)) / 2**0.5 for _ in range(slots)]
    plain = context.MakeCKKSPackedPlaintext(given, 1, depth - 1, None, slots)
    cipher = context.Encrypt(keys.publicKey, plain)
    errors, left = [1.0], 0
    print("ready", flush=True)
    for line in sys.stdin:
        asked = line.strip()
        if asked == "seconds":
            begin = time.process_time()
            result = context.EvalBootstrap(cipher)
            seconds = time.process_time() - begin
            left = depth - result.GetLevel() - (result.GetNoiseScaleDeg() - 1)
            opened = context.Decrypt(result, keys.secretKey)
            opened.SetLength(slots)
            found = opened.GetCKKSPackedValue()
            errors = [abs(a - b) for a, b in zip(found, given, strict=True)]
            answer = seconds
        elif asked == "worst":
            answer = max(errors)
        elif asked == "rms":
            answer = (sum(error**2 for error in errors) / slots) ** 0.5
        elif asked == "levels":
            answer = left
        else:
            answer = (resident() - before) / 1e9
        print(answer, flush=True)


if __name__ == "__main__":
    main()
