"""Packed structures as values of a module's parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Field:
    """A field of a packed structure: an enumeration's value is its number."""

    name: str
    bits: int
    value: int


@dataclass(frozen=True)
class Record:
    """A packed structure as the value of a parameter.

    Its text is a sized number: simulators and synthesis take that for a structure on their command
    lines, and take nothing else.

    Attributes:
        fields: From the highest bits down, as a structure declares them.
    """

    fields: tuple[Field, ...]

    def __str__(self) -> str:
        number = 0
        for field in self.fields:
            number = number << field.bits | field.value
        return f"{sum(field.bits for field in self.fields)}'h{number:x}"

    @property
    def values(self) -> dict[str, int]:
        """The fields: name -> value."""
        return {field.name: field.value for field in self.fields}

    def changed(self, **values: int) -> "Record":
        """The record with other values of some fields.

        Raises:
            KeyError: If it has no such field.
        """
        if unknown := values.keys() - self.values.keys():
            raise KeyError(f"no fields {', '.join(sorted(unknown))}: {', '.join(self.values)}")
        return Record(
            tuple(replace(each, value=values.get(each.name, each.value)) for each in self.fields)
        )


Values = Mapping[str, int | str | Record]
"""Parameters of a module: name -> value."""
