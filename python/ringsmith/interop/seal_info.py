"""Identifies a SEAL file from its bytes alone: SEAL's files do not name their type.

The layouts of SEAL's types differ in their first members, so the type follows from the members
that make sense. The result says what cannot be known without the parameters: a public key is a
ciphertext, and a secret key a plaintext, at the level of the keys.
"""

from dataclasses import dataclass

from ringsmith.errors import InteropError
from ringsmith.interop.seal_parameters import PARAMETERS_LIMIT, SealParameters
from ringsmith.interop.seal_stream import Header, Limit, Reader, Source, open_with_header

Fields = dict[str, str]

_LIMIT = Limit(size=1 << 33, expansion=8, slack=1 << 22)
"""8 GiB; compressed, 8 times the file and 4 MiB."""
_SCHEMES = {1: "BFV", 2: "CKKS", 3: "BGV"}
_MAX_DEGREE = 1 << 17
_MAX_PRIMES = 64
_MAX_SIZE = 16


@dataclass(frozen=True)
class Description:
    """What a file holds.

    Attributes:
        kind: Its type in words.
        header: Version, compression and size.
        fields: Name -> value of what else it says, in order.
    """

    kind: str
    header: Header
    fields: Fields


def describe(source: Source, parameters: SealParameters | None = None) -> Description:
    """Tells what a SEAL file is. Residues are not looked at.

    Args:
        source: The bytes or a path.
        parameters: Tell level and type exactly, where they are the file's.

    Raises:
        InteropError: When the file is not one of SEAL's, or damaged.
    """
    header, reader = open_with_header(source, "SEAL file", _LIMIT)
    payload = reader.part(reader.left)
    for layout in (_parameters, _ciphertext, _plaintext, _keys):
        try:
            kind, fields = layout(Reader(payload, reader.what), parameters)
        except InteropError:
            continue
        tag = {} if reader.key_tag is None else {"key tag": reader.key_tag.hex()}
        return Description(kind, header, fields | tag)
    raise reader.error(
        "neither parameters nor plaintext, ciphertext or keys of SEAL 4: the file is damaged, or "
        "of a type that is not known here"
    )


def _parameters(reader: Reader, _: SealParameters | None) -> tuple[str, Fields]:
    if reader.left > PARAMETERS_LIMIT.size:
        raise reader.error("too long for parameters")
    scheme, n, count = reader.u8(), reader.u64(), reader.u64()
    _require(reader, scheme in _SCHEMES and _degree(n) and 1 <= count <= _MAX_PRIMES)
    *primes, plain = [_word(reader) for _ in range(count + 1)]
    reader.finish()
    fields = {
        "scheme": _SCHEMES[scheme],
        "N": str(n),
        "primes": ", ".join(f"{q} ({q.bit_length()} bits)" for q in primes),
        "bits of their product": str(_bits(primes)),
    }
    if plain:
        fields["plain modulus"] = f"{plain} ({plain.bit_length()} bits)"
    return "encryption parameters", fields


def _ciphertext(reader: Reader, parameters: SealParameters | None) -> tuple[str, Fields]:
    identifier = bytes(reader.take(32))
    fields = _ciphertext_fields(reader)
    reader.finish()
    kind = "ciphertext, or public key"
    if parameters is not None:
        fields, at_key_level = _placed(fields, identifier, parameters)
        kind = "public key" if at_key_level else "ciphertext"
    return kind, fields


def _plaintext(reader: Reader, parameters: SealParameters | None) -> tuple[str, Fields]:
    identifier = bytes(reader.take(32))
    count, scale = reader.u64(), reader.f64()
    _require(reader, _array(reader) == count)
    reader.finish()
    fields = {"form": "NTT" if any(identifier) else "coefficients", "words": str(count)}
    kind = "plaintext, or secret key"
    if not any(identifier):
        kind, fields = "plaintext", fields | {"scheme": "BFV: coefficients modulo t"}
    elif parameters is not None:
        fields, at_key_level = _placed(fields, identifier, parameters)
        kind = "secret key" if at_key_level else "plaintext"
    return kind, fields | {"scale": f"{scale:.17g}"}


def _keys(reader: Reader, parameters: SealParameters | None) -> tuple[str, Fields]:
    identifier = bytes(reader.take(32))
    entries = reader.u64()
    _require(reader, 1 <= entries <= _MAX_DEGREE)
    digits: dict[int, int] = {}
    for index in range(entries):
        count = reader.u64()
        for _ in range(count):
            key = reader.nested("key")
            key.take(32)
            _ciphertext_fields(key)
            key.finish()
        if count:
            digits[index] = count
    reader.finish()
    fields: Fields = {}
    if parameters is not None:
        fields, _ = _placed(fields, identifier, parameters)
    if _degree(entries):
        elements = ", ".join(str(2 * index + 1) for index in digits)
        kind, fields = "Galois keys", fields | {"Galois elements": elements}
    else:
        powers = ", ".join(str(index + 2) for index in digits)
        kind, fields = "relinearization keys", fields | {"powers of the secret": powers}
    return kind, fields | {"digits": ", ".join(map(str, sorted(set(digits.values()))))}


def _ciphertext_fields(reader: Reader) -> Fields:
    """What follows the parms_id of a ciphertext."""
    form, size, n, limbs = reader.u8(), reader.u64(), reader.u64(), reader.u64()
    sensible = form in (0, 1) and 2 <= size <= _MAX_SIZE and _degree(n)
    _require(reader, sensible and 1 <= limbs <= _MAX_PRIMES)
    scale, correction = reader.f64(), reader.u64()
    seeded = size == 2 and _array(reader, size * limbs * n, limbs * n) == limbs * n
    if size > 2:
        _array(reader, size * limbs * n)
    if seeded:
        reader.nested("seed")
    fields = {
        "form": "NTT" if form else "coefficients",
        "polynomials": f"{size}" + (", the second one as a seed" if seeded else ""),
        "N": str(n),
        "limbs": str(limbs),
        "scale": f"{scale:.17g}",
    }
    return fields if correction == 1 else fields | {"correction factor": str(correction)}


def _placed(fields: Fields, identifier: bytes, parameters: SealParameters) -> tuple[Fields, bool]:
    """The fields with the level, and whether that is the keys'."""
    limbs = parameters.limbs(identifier)
    if limbs is None:
        theirs = parameters.exact and parameters.as_ckks().limbs(identifier)
        other = "CKKS parameters of the same primes" if theirs else "other parameters"
        return {"level": f"of {other}, not those given"} | fields, False
    at_key_level = limbs > parameters.max_limbs
    level = "of the keys" if at_key_level else f"{limbs} of {parameters.max_limbs} limbs"
    return {"level": level} | fields, at_key_level


def _array(reader: Reader, *allowed: int) -> int:
    """Words of the array that starts here; it is passed over, not read."""
    array = reader.nested("data")
    count = array.u64()
    _require(array, array.left == 8 * count and (not allowed or count in allowed))
    return count


def _word(reader: Reader) -> int:
    modulus = reader.nested("modulus")
    value = modulus.u64()
    modulus.finish()
    return value


def _bits(primes: list[int]) -> int:
    product = 1
    for prime in primes:
        product *= prime
    return product.bit_length()


def _degree(n: int) -> bool:
    return 2 <= n <= _MAX_DEGREE and n & (n - 1) == 0


def _require(reader: Reader, condition: bool) -> None:
    if not condition:
        raise reader.error("no such object")
