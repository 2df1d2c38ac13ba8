"""Microsoft SEAL through ``seal-python``: the same operations at the same primes."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ringsmith.apps.seal_baseline import seal_version
from ringsmith.bench.cpu.operands import ROTATION
from ringsmith.bench.cpu.sets import BenchSet
from ringsmith.bench.cpu.timing import Timed, timed


def name() -> str:
    """``seal-python`` and its version."""
    return f"seal-python {seal_version()}"


def operations(item: BenchSet) -> dict[str, Timed]:
    """SEAL's operations, by the names of ours; none for keys that SEAL cannot make."""
    if item.special != 1 or item.dnum:
        return {}
    import seal

    scheme = seal.scheme_type.bfv if item.plain_modulus else seal.scheme_type.ckks
    raw = seal.EncryptionParameters(scheme)
    raw.set_poly_modulus_degree(item.n)
    raw.set_coeff_modulus([seal.Modulus(q) for q in item.primes])
    if item.plain_modulus:
        raw.set_plain_modulus(item.plain_modulus)
    context = seal.SEALContext(raw, True, seal.sec_level_type.none)
    generator = seal.KeyGenerator(context)
    evaluator = seal.Evaluator(context)
    encryptor = seal.Encryptor(context, generator.create_public_key())
    relin_keys = generator.create_relin_keys()
    galois_keys = seal.GaloisKeys()
    generator.create_galois_keys([ROTATION], galois_keys)
    plain = seal.Plaintext()
    if item.plain_modulus:
        plain = seal.BatchEncoder(context).encode(np.arange(item.n, dtype=np.int64))
    else:
        seal.CKKSEncoder(context).encode([0.5] * (item.n // 2), 2.0**20, plain)
    a, b = encryptor.encrypt(plain), encryptor.encrypt(plain)

    def multiply_relinearize() -> object:
        return evaluator.relinearize(evaluator.multiply(a, b), relin_keys)

    rotate = evaluator.rotate_rows if item.plain_modulus else evaluator.rotate_vector
    work: dict[str, Callable[[], object]] = {
        "multiply_relinearize": multiply_relinearize,
        "rotate": partial(rotate, a, ROTATION, galois_keys),
        "add": partial(evaluator.add, a, b),
    }
    if not item.plain_modulus:
        work["rescale"] = partial(evaluator.rescale_to_next, a)
        work["multiply"] = partial(evaluator.multiply, a, b)
        work["multiply_plain"] = partial(evaluator.multiply_plain, a, plain)
    return {name: timed(function) for name, function in work.items()}
