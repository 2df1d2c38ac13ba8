"""What server and client agree on: the interface's version and the types of bodies."""

API_VERSION = 1
"""The version in the path: ``/v1``."""

OBJECT_MEDIA = "application/x-ringsmith-object"
RELIN_MEDIA = "application/x-seal-relin-keys"
GALOIS_MEDIA = "application/x-seal-galois-keys"
KEY_MEDIA = (OBJECT_MEDIA, RELIN_MEDIA, GALOIS_MEDIA)
"""What uploaded keys may be: a container of ours, or what SEAL saves of RelinKeys or GaloisKeys."""
KIT_MEDIA = "application/x-ringsmith-kit"
