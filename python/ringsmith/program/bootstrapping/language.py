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
    does. Numbers must have a range that the lowest modulus holds: q_0 over the scale, less
    ``ratio_bits`` bits, which is 2^10 for ``boot-test``; of larger ranges the error is larger by as
    much. ``bounded`` promises a range where it does not follow from those of the inputs. The result
    is off by an error that the forecast states. It takes no levels of the program.

    Most programs need no call: tracing with parameters that bootstrap places bootstrappings itself.

    Args:
        x: The encrypted vector or array, at any level.

    Raises:
        ProgramError: When numbers may be larger, or their range is unknown; in BFV.
    """
    source = caller()
    check_value(x, "bootstrap(x)", source)
    if x.trace.space.exact:
        raise source.error("bootstrap: BFV is not bootstrapped: use CKKS")

    def applied(vector: EncryptedVector) -> EncryptedVector:
        largest = vector.trace.span(vector.index).magnitude
        if not math.isfinite(largest):
            raise source.error(
                "bootstrap: the range of the numbers is unknown: promise what you know: "
                "bootstrap(bounded(x, 1))"
            )
        made = vector._unary(Op.BOOTSTRAP, np.positive)
        bound = Bound(-largest, largest, source, computed=True)
        made.trace.annotate(made.index, bound=bound)
        return made

    return each(x, applied, np.positive)
