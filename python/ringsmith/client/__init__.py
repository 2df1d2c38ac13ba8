"""The client's side: keys, encoding, encryption, decryption. Only here is there a secret key."""

from ringsmith.client.keys import SecretKey, generate_keys, generate_keys_for_test
from ringsmith.client.messages import (
    decode,
    decrypt,
    decrypt_vector,
    encode,
    encrypt,
    encrypt_vector,
)

__all__ = [
    "SecretKey",
    "decode",
    "decrypt",
    "decrypt_vector",
    "encode",
    "encrypt",
    "encrypt_vector",
    "generate_keys",
    "generate_keys_for_test",
]
