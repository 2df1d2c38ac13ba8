"""Bootstrapping as an operation of the language."""

import math

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.elementwise import Value, check_value, each
from ringsmith.program.nodes import Bound
from ringsmith.program.source import caller
from ringsmith.program.vector import EncryptedVector


def bootstrap(x: Value) -> Value:
    """Returns the same numbers with the levels that the parameters have for programs.

    The parameters must bootstrap (``CkksParameters.bootstrapping``), as the named set ``boot-test``
    does. Numbers must lie in [-1, 1], or be complex of at most that magnitude: ``bounded`` promises
    it where it does not follow from the ranges of the inputs. The result is off by an error that
    the forecast states. It takes no levels of the program.

    Args:
        x: The encrypted vector or array, at any level.

    Raises:
        ProgramError: When numbers may be larger; in BFV.
    """
    source = caller()
    check_value(x, "bootstrap(x)", source)
    if x.trace.space.exact:
        raise source.error("bootstrap: BFV is not bootstrapped: use CKKS")

    def applied(vector: EncryptedVector) -> EncryptedVector:
        largest = vector.trace.span(vector.index).magnitude
        if not largest <= math.sqrt(2) + 1e-5:
            raise source.error(
                f"bootstrap: numbers may reach {largest:.3g} by the ranges of the inputs, and at "
                "most 1 is allowed: scale them down, or promise what you know: "
                "bootstrap(bounded(x, 1))"
            )
        made = vector._unary(Op.BOOTSTRAP, np.positive)
        bound = Bound(-largest, largest, source, computed=True)
        made.trace.annotate(made.index, bound=bound)
        return made

    return each(x, applied, np.positive)
