"""The client: keys, encoding, encryption, decryption. Only this package has the secret key."""

from ringsmith.client.fixed_point import FixedPoint
from ringsmith.client.full_modulus import DecryptionWarning
from ringsmith.client.integers import (
    decode_coefficients,
    decode_integer,
    encode_coefficients,
    encode_integer,
)
from ringsmith.client.keys import (
    SecretKey,
    generate_keys,
    generate_keys_for_test,
    generate_on_the_fly_keys,
)
from ringsmith.client.messages import (
    decode,
    decrypt,
    decrypt_vector,
    encode,
    encrypt,
    encrypt_for_test,
    encrypt_vector,
    noise_budget,
)
from ringsmith.client.secret_file import load_secret_key, save_secret_key
from ringsmith.client.sharing import shared_bits

__all__ = [
    "DecryptionWarning",
    "FixedPoint",
    "SecretKey",
    "decode",
    "decode_coefficients",
    "decode_integer",
    "decrypt",
    "decrypt_vector",
    "encode",
    "encode_coefficients",
    "encode_integer",
    "encrypt",
    "encrypt_for_test",
    "encrypt_vector",
    "generate_keys",
    "generate_keys_for_test",
    "generate_on_the_fly_keys",
    "load_secret_key",
    "noise_budget",
    "save_secret_key",
    "shared_bits",
]
