"""Options of the subcommands that decrypt what others may see."""

from typing import Annotated, TypedDict

import typer

Share = Annotated[
    int | None,
    typer.Option(
        metavar="QUERIES",
        help="Let others see the results: decryptions under this key that they may see in all.",
    ),
]
StatisticalSecurity = Annotated[
    int | None, typer.Option(help="With --share: bits, 20 to 64; 30, if none.")
]


class Shared(TypedDict):
    """The arguments ``share`` and ``statistical_security`` of a decryption."""

    share: int | None
    statistical_security: int


def shared(share: int | None, statistical_security: int | None) -> Shared:
    """Returns the arguments of a decryption.

    Raises ParameterError when there is a security without ``--share``.
    """
    from ringsmith.errors import ParameterError
    from ringsmith.params.flooding import STATISTICAL_SECURITY

    if share is None and statistical_security is not None:
        raise ParameterError("--statistical-security goes with --share QUERIES: name both")
    chosen = STATISTICAL_SECURITY if statistical_security is None else statistical_security
    return {"share": share, "statistical_security": chosen}
