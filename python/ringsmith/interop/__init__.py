"""Files of other libraries in and out: Microsoft SEAL 4.x."""

from ringsmith.interop.seal import (
    SealParameters,
    read_ciphertext,
    read_galois_keys,
    read_parameters,
    read_plaintext,
    read_public_key,
    read_relin_keys,
    read_secret_key,
    write_ciphertext,
    write_parameters,
    write_plaintext,
)

__all__ = [
    "SealParameters",
    "read_ciphertext",
    "read_galois_keys",
    "read_parameters",
    "read_plaintext",
    "read_public_key",
    "read_relin_keys",
    "read_secret_key",
    "write_ciphertext",
    "write_parameters",
    "write_plaintext",
]
