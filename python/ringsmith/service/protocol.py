"""Constants shared by server and client: the interface's version and the types of bodies."""

API_VERSION = 1
"""The version in the path: ``/v1``."""

OBJECT_MEDIA = "application/x-ringsmith-object"
RELIN_MEDIA = "application/x-seal-relin-keys"
GALOIS_MEDIA = "application/x-seal-galois-keys"
KEY_MEDIA = (OBJECT_MEDIA, RELIN_MEDIA, GALOIS_MEDIA)
"""Formats of uploaded keys: a Ringsmith container, or SEAL's RelinKeys or GaloisKeys."""
KIT_MEDIA = "application/x-ringsmith-kit"
PARAMETERS_MEDIA = "application/x-seal-parameters"
