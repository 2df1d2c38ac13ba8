"""A client of a measurement: ``python -m ringsmith.bench.service.client URL PROGRAM``.

It has keys and inputs of its own, and asks for the same result again and again.
"""

import sys

import numpy as np

from ringsmith.bench.service.processes import answer
from ringsmith.objects import Ciphertext
from ringsmith.remote import Service


def main(url: str, name: str) -> None:
    """Sends requests to a service until it is stopped.

    Raises:
        AssertionError: If two results for the same inputs differ.
    """
    with Service(url, security=None) as service:
        program = service.program(name)
        _, public_key, keys = program.generate_keys()
        numbers = np.random.default_rng().uniform(-1, 1, 4)
        inputs = program.encrypt(public_key, dict.fromkeys(program.kit.inputs, numbers))
        first = service.run(program, inputs, keys)

        def check(found: dict[str, Ciphertext]) -> None:
            for key, value in first.items():
                assert np.array_equal(found[key].data, value.data), "two results differ"

        answer(lambda: service.run(program, inputs, keys), check)


if __name__ == "__main__":
    main(*sys.argv[1:])
