"""The list of backends; no other module lists them.

Another package adds one by an entry point in group ``ringsmith.backends``: its name is the
architecture's, its object a :class:`ringsmith.backends.base.Backend`.
"""

import warnings
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import getfile
from pathlib import Path

from ringsmith.backends.base import Backend, Design
from ringsmith.backends.inspector import Inspector
from ringsmith.caching import cached
from ringsmith.design_files import SUFFIX, architecture_of
from ringsmith.errors import DeviceError, ParameterError, ProgramError

GROUP = "ringsmith.backends"

REFERENCE = "cpu"
"""The device that defines every bit, and that others are compared with."""

_OWN = {
    "cpu": "ringsmith.backends.cpu",
    "rpau": "ringsmith.backends.rpau.backend",
    "stream": "ringsmith.backends.stream.backend",
    "vector": "ringsmith.backends.vector.backend",
}
"""Module of each backend of ours, which has it as ``BACKEND``."""


EXTENSIONS = (
    "ringsmith.backends.rpau.compiler._scheduler",
    "ringsmith.backends.rpau.model._model",
)
"""Compiled modules that our backends need; without them they cannot be imported."""


_SOURCES = (".py", ".toml", ".yaml", ".so")


class BackendWarning(UserWarning):
    """A package offers a backend that cannot be used."""


@cached
def backend(name: str) -> Backend:
    """A backend by its name.

    Raises:
        ParameterError: If there is none, or the package that offers it cannot be used.
    """
    if name in _OWN:
        found: Backend = import_module(_OWN[name]).BACKEND
        return found
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _foreign(point)
    raise ParameterError(f"there is no architecture {name!r}: choose one of {', '.join(names())}")


def names() -> list[str]:
    """Names of all backends, ours first."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    for name in points.keys() & _OWN.keys():
        warnings.warn(
            f"architecture {name!r} of {_whose(points[name])} has the name of one of ours and is "
            "left out: its package must give it another",
            BackendWarning,
            stacklevel=2,
        )
    return [*_OWN, *sorted(points.keys() - _OWN.keys())]


@cached
def backends() -> tuple[Backend, ...]:
    """All backends, ours first; one of another package that cannot be used is warned of."""
    found = []
    for name in names():
        try:
            found.append(backend(name))
        except ParameterError as error:
            warnings.warn(str(error), BackendWarning, stacklevel=2)
    return tuple(found)


def backends_with_designs() -> list[Backend]:
    """The backends that programs are compiled for."""
    return [each for each in backends() if each.capabilities.designs]


def source_files(name: str) -> list[Path]:
    """The files of an architecture that decide its designs' numbers."""
    folder = Path(getfile(type(backend(name)))).parent
    return sorted(each for each in folder.rglob("*") if each.suffix in _SOURCES)


def inspectors() -> list[Inspector]:
    """How architectures are looked into, of those that can be."""
    return [found for each in backends() if (found := each.inspector()) is not None]


def backend_of(design: Design) -> Backend:
    """The backend of a design."""
    return backend(design.architecture)


def inspector_of(design: Design, without: str) -> Inspector:
    """How a design's architecture is looked into.

    Args:
        design: The design.
        without: What cannot be done with the design where nothing does, after "architecture X".

    Raises:
        ProgramError: If its architecture has no inspector.
    """
    found = backend_of(design)
    inspector = found.inspector()
    if inspector is None:
        raise ProgramError(f"architecture {found.name} {without}: choose a design of another")
    return inspector


def fitting_backend() -> Backend:
    """The first backend that makes a design to fit a program."""
    return next(each for each in backends() if each.capabilities.fits)


def multiplications(kind: str, design: Design | None) -> tuple[str, ...]:
    """The variants of BFV's multiplication that a device computes; empty: it takes any, or none.

    Args:
        kind: The device.
        design: Its design; None: the smallest that runs a program, if it needs one.

    Raises:
        DeviceError: If no backend has such devices.
    """
    if design is not None:
        return backend_of(design).limits(design).bfv_multiplications
    if not takes_design(kind):
        return ()
    fitting = fitting_backend()
    limits = (fitting.limits(fitting.load_design(name)) for name in fitting.designs())
    return next((each.bfv_multiplications for each in limits if each.bfv_multiplications), ())


def device_kinds() -> list[str]:
    """What ``open_device`` opens: the kinds of all backends, each once."""
    return list(dict.fromkeys(kind for each in backends() for kind in each.kinds))


def takes_design(kind: str) -> bool:
    """Whether a device of a kind is of some design.

    Raises:
        DeviceError: If no backend has such devices.
    """
    return backend_without_designs(kind) is None


def backend_without_designs(kind: str) -> Backend | None:
    """The backend whose devices of a kind run graphs themselves; None: they need a design.

    Raises:
        DeviceError: If no backend has such devices.
    """
    if kind in _OWN and not (own := backend(kind)).capabilities.designs:
        return own  # and no other package is imported
    having = [each for each in backends() if kind in each.kinds]
    if not having:
        raise DeviceError(f"there is no device {kind!r}: choose one of {', '.join(device_kinds())}")
    return next((each for each in having if not each.capabilities.designs), None)


def design_names() -> list[str]:
    """Names of the designs that come with the backends."""
    return sorted(name for each in backends_with_designs() for name in each.designs())


def named_design(design: str | Path | Design) -> Design:
    """A design by its name or the path of its TOML file, or as it is given.

    Raises:
        ParameterError: If there is no design of that name, or the file does not describe a design.
        TypeError: If it is nothing of these.
    """
    if isinstance(design, Path):
        design = str(design)
    if isinstance(design, str):
        return backend_named(design).load_design(design)
    if not isinstance(getattr(design, "architecture", None), str):
        raise TypeError(
            f"design: {type(design).__name__} was given where a design belongs: give its name, "
            'such as "nano", the path of its TOML file, or a design'
        )
    return design


def backend_named(design: str) -> Backend:
    """The backend of a design's name or TOML file; only the file's architecture is read.

    Raises:
        ParameterError: If there is no design of that name, or the file names no architecture.
    """
    having = backends_with_designs()
    for each in having:
        if design in each.designs():
            return each
    if not design.endswith(SUFFIX):
        raise ParameterError(
            f"there is no design {design!r}: choose one of {', '.join(design_names())}, or give "
            f"the path of a file that ends with {SUFFIX}"
        )
    architecture = architecture_of(design, sorted(each.name for each in having))
    return backend(architecture)


def _foreign(point: EntryPoint) -> Backend:
    """The backend of another package."""
    what = f"architecture {point.name!r} of {_whose(point)} ({point.value})"
    try:
        found = point.load()
    except Exception as error:  # any error of another package's import
        raise ParameterError(
            f"{what} cannot be imported: {type(error).__name__}: {error}: mend the package, or "
            "uninstall it"
        ) from error
    if not isinstance(found, Backend) or found.name != point.name:
        raise ParameterError(
            f"{what} is no ringsmith.backends.base.Backend of that name: mend the package, or "
            "uninstall it"
        )
    return found


def _whose(point: EntryPoint) -> str:
    """Who offers an entry point."""
    return f"package {point.dist.name}" if point.dist is not None else "a package"
