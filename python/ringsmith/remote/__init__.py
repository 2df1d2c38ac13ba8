"""The client of a service that runs encrypted programs under a URL.

::

    service = Service("http://127.0.0.1:8000")
    program = service.program("score")
    secret_key, public_key, evaluation_keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"x": record})
    outputs = service.run(program, inputs, evaluation_keys)
    numbers = program.decrypt(secret_key, outputs)

The secret key stays in this process: only ``decrypt`` takes it, and ``decrypt`` sends nothing.
docs/guide/service.md describes the server.
"""

try:
    from ringsmith.remote.connection import ServiceError
    from ringsmith.remote.service import JobStatus, RemoteHandle, RemoteJob, RemoteProgram, Service
except ModuleNotFoundError as _missing:
    if (_missing.name or "ringsmith").startswith("ringsmith"):
        raise
    raise ModuleNotFoundError(
        f"ringsmith.remote needs the package {(_missing.name or '').partition('.')[0]}, which is "
        "not installed: pip install 'ringsmith[remote]'",
        name=_missing.name,
    ) from None

__all__ = ["JobStatus", "RemoteHandle", "RemoteJob", "RemoteProgram", "Service", "ServiceError"]
