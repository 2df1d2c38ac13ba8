"""Files of other libraries in and out: Microsoft SEAL 4.x."""

from ringsmith.files.compression import Compression
from ringsmith.interop.object_file import (
    decode_object,
    encode_object,
    load_object,
    save_object,
)
from ringsmith.interop.seal_info import Description, describe
from ringsmith.interop.seal_parameters import SealParameters, read_parameters, write_parameters
from ringsmith.interop.seal_read import (
    read_ciphertext,
    read_galois_keys,
    read_plaintext,
    read_public_key,
    read_relin_keys,
    read_secret_key,
    read_tagged_secret_key,
)
from ringsmith.interop.seal_stream import with_key_tag
from ringsmith.interop.seal_write import (
    write_ciphertext,
    write_galois_keys,
    write_plaintext,
    write_public_key,
    write_relin_keys,
    write_secret_key,
)

__all__ = [
    "Compression",
    "Description",
    "SealParameters",
    "decode_object",
    "describe",
    "encode_object",
    "load_object",
    "read_ciphertext",
    "read_galois_keys",
    "read_parameters",
    "read_plaintext",
    "read_public_key",
    "read_relin_keys",
    "read_secret_key",
    "read_tagged_secret_key",
    "save_object",
    "with_key_tag",
    "write_ciphertext",
    "write_galois_keys",
    "write_parameters",
    "write_plaintext",
    "write_public_key",
    "write_relin_keys",
    "write_secret_key",
]
