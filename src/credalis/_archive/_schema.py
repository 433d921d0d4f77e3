"""What the state of an object in a file may be.

A class that can be in a file has a schema: a rule for each entry of its state, in
words such as ``Array("f", ("n_clusters", None))`` or ``Number(above=0)``. An entry that
breaks its rule, is missing or is not known is a ValueError that names it. Sizes have
names: the first entry that has one says how large it is, and the others must agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from credalis._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    shown,
)

Sizes = dict[str, int]
Entries = Mapping[str, Any]

_KIND_NAMES = {"f": "floats", "i": "integers", "b": "booleans", "U": "text"}


class Rule(Protocol):
    """What a value may be."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse another value with a ValueError; take note of sizes."""


@dataclass(frozen=True)
class Number:
    """A number within bounds, finite unless infinity stands for something."""

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    or_infinite: bool = False

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no number, and numbers out of bounds."""
        if self.or_infinite and isinstance(value, float) and np.isinf(value):
            return
        check_number(
            name, value, above=self.above, at_least=self.at_least, at_most=self.at_most
        )
        # NumPy computes with integers of Python as far as they have 64 bits.
        if isinstance(value, int) and abs(value) >= 2**63:
            raise ValueError(f"{name} must be a number of 64 bits, got {value:.3g}")


@dataclass(frozen=True)
class Integer:
    """An integer within bounds; with ``size`` it is how large that size is."""

    at_least: int | None = None
    at_most: int | None = None
    size: str | None = None

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no integer, integers out of bounds, and other sizes."""
        number = check_integer(
            name, value, at_least=self.at_least, at_most=self.at_most
        )
        if self.size is not None:
            check_size(name, self.size, number, sizes)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is neither."""
        check_flag(name, value)


@dataclass(frozen=True)
class Text:
    """Any text."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no text."""
        if not isinstance(value, str):
            raise ValueError(f"{name} must be text, got {shown(value)}")


class Choice:
    """One of some texts."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other texts."""
        check_choice(name, value, self.choices)


@dataclass(frozen=True)
class Nothing:
    """None."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is something."""
        if value is not None:
            raise ValueError(f"{name} must be None, got {shown(value)}")


class OneOf:
    """What one of some rules allows; the last one says what is wrong."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what all of them refuse."""
        for rule in self.rules[:-1]:
            known = dict(sizes)
            try:
                rule.check(name, value, known)
            except ValueError:
                continue
            sizes.update(known)
            return
        self.rules[-1].check(name, value, sizes)


@dataclass(frozen=True)
class Array:
    """An array of a kind of numbers, of a shape, within bounds.

    Parameters
    ----------
    kind : str
        "f" for floats, "i" for integers, "b" for booleans, "U" for text.
    shape : tuple or None
        For each axis its size as a number, the name of its size, or None for any;
        None for any shape.
    above, at_least, at_most : float or None
        Bounds of all entries.
    below : str or None
        Name of a size that all entries are less than: they are indices.
    is_ascending : bool
        Whether every entry is larger than the one before.
    """

    kind: str
    shape: tuple[int | str | None, ...] | None
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    below: str | None = None
    is_ascending: bool = False

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other kinds, other shapes, other numbers, and infinite ones."""
        expected = f"an array of {_KIND_NAMES[self.kind]}"
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{name} must be {expected}, got {shown(value)}")
        kind = "U" if value.dtype.kind == "O" else value.dtype.kind
        if kind != self.kind:
            raise ValueError(f"{name} must be {expected}, got one of {value.dtype}")
        shape = value.shape if self.shape is None else self.shape
        if value.ndim != len(shape):
            raise ValueError(
                f"{name} must be {expected} with {len(shape)} axes, got shape "
                f"{value.shape}"
            )
        for axis, size in enumerate(shape):
            place = f"{name}.shape[{axis}]"
            if isinstance(size, str):
                check_size(place, size, value.shape[axis], sizes)
            elif size is not None and size != value.shape[axis]:
                raise ValueError(f"{place} must be {size}, got {value.shape[axis]}")
        if value.size and self.kind in "fi":
            self._check_entries(name, value, sizes)

    def _check_entries(self, name: str, value: np.ndarray, sizes: Sizes) -> None:
        smallest, largest = value.min(), value.max()
        for entry in (smallest.item(), largest.item()):
            # Also finds NaN, which is the smallest and the largest wherever it is.
            check_number(
                f"each entry of {name}",
                entry,
                above=self.above,
                at_least=self.at_least,
                at_most=self.at_most,
            )
        if self.below in sizes and largest >= sizes[self.below]:
            raise ValueError(
                f"each entry of {name} must be less than {self.below} = "
                f"{sizes[self.below]}, got {largest}"
            )
        if self.is_ascending and (value[1:] <= value[:-1]).any():
            raise ValueError(f"{name} must be ascending")


class Instance:
    """An object of one of some classes, which have been checked on their own."""

    def __init__(self, *classes: type) -> None:
        self.classes = classes

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse objects of other classes."""
        if not isinstance(value, self.classes):
            listed = " or a ".join(cls.__name__ for cls in self.classes)
            raise ValueError(
                f"{name} must be a {listed}, got {type(value).__name__} {shown(value)}"
            )


@dataclass(frozen=True)
class Each:
    """A list or tuple whose items follow a rule."""

    rule: Rule
    at_least: int = 0

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other containers, and the first item that breaks the rule."""
        if not isinstance(value, (list, tuple)) or len(value) < self.at_least:
            raise ValueError(
                f"{name} must be a list of at least {self.at_least} items, got "
                f"{shown(value)}"
            )
        for j, item in enumerate(value):
            self.rule.check(f"{name}[{j}]", item, sizes)


@dataclass(frozen=True)
class Named:
    """A dictionary from any texts to values that follow a rule."""

    rule: Rule

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other containers, and the first value that breaks the rule."""
        if not isinstance(value, dict) or not all(
            isinstance(key, str) for key in value
        ):
            raise ValueError(f"{name} must be a dictionary, got {shown(value)}")
        for key, item in value.items():
            self.rule.check(f"{name}[{key!r}]", item, sizes)


@dataclass(frozen=True)
class Plain:
    """Text, numbers, None, and lists and dictionaries of them."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse arrays and other objects."""
        if isinstance(value, (list, tuple)):
            Each(self).check(name, value, sizes)
        elif isinstance(value, dict):
            Named(self).check(name, value, sizes)
        elif value is not None and not isinstance(value, (bool, str, int, float)):
            raise ValueError(f"{name} must be text or a number, got {shown(value)}")


@dataclass(frozen=True)
class Fields:
    """A dictionary of known entries.

    Parameters
    ----------
    required, optional : dict of str to Rule
        The entries, checked in this order: what says how large a size is comes before
        what must agree with it.
    relations : tuple of callables
        Checks of several entries together, which are given the name of the owner and
        the entries.
    first : dict of str to Rule
        Optional entries that are checked before the required ones.
    """

    required: Mapping[str, Rule]
    optional: Mapping[str, Rule] = field(default_factory=dict)
    relations: tuple[Callable[[str, Entries], None], ...] = ()
    first: Mapping[str, Rule] = field(default_factory=dict)

    def extended(
        self,
        required: Mapping[str, Rule],
        optional: Mapping[str, Rule] | None = None,
        *relations: Callable[[str, Entries], None],
    ) -> "Fields":
        """The same with further entries; required ones may have been optional."""
        kept = {k: v for k, v in self.optional.items() if k not in required}
        return Fields(
            {**self.required, **required},
            {**kept, **(optional or {})},
            self.relations + relations,
            self.first,
        )

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse entries that are missing, not known or break their rule."""
        if not isinstance(value, dict):
            raise ValueError(f"{name} must be a dictionary, got {shown(value)}")
        rules = {**self.first, **self.required, **self.optional}
        for entry in value:
            if entry not in rules:
                raise ValueError(
                    f"{name}.{entry} is not declared: the schema of its class must "
                    "say what it may be"
                )
        for entry, rule in rules.items():
            if entry in value:
                rule.check(f"{name}.{entry}", value[entry], sizes)
            elif entry in self.required:
                raise ValueError(f"{name}.{entry} is missing")
        for relation in self.relations:
            relation(name, value)


@dataclass(frozen=True)
class Fitted:
    """Parameters, which the class knows, and attributes that a fit has set.

    Parameters
    ----------
    fitted : Fields
        The attributes; an object that was not fitted has none but private ones.
    parameters : dict of str to Rule
        Parameters that predictions depend on and nothing else checks.
    relations : tuple of callables
        Checks of attributes that depend on parameters, which are given the name of
        the owner, the parameters and the attributes.
    """

    fitted: Fields
    parameters: Mapping[str, Rule] = field(default_factory=dict)
    relations: tuple[Callable[[str, Entries, Entries], None], ...] = ()

    def extended(
        self,
        required: Mapping[str, Rule],
        optional: Mapping[str, Rule] | None = None,
        *relations: Callable[[str, Entries, Entries], None],
    ) -> "Fitted":
        """The same with further attributes."""
        return Fitted(
            self.fitted.extended(required, optional),
            self.parameters,
            self.relations + relations,
        )

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse parameters and attributes that break their rules."""
        state = Fields({"parameters": Named(Anything()), "fitted": Named(Anything())})
        state.check(name, value, sizes)
        parameters, fitted = value["parameters"], value["fitted"]
        for parameter, rule in self.parameters.items():
            if parameter in parameters:
                rule.check(f"{name}.{parameter}", parameters[parameter], sizes)
        if all(attribute.startswith("_") for attribute in fitted):
            known = self.fitted
            rules = {**known.first, **known.required, **known.optional}
            Fields({}, rules).check(name, fitted, sizes)
            return
        self.fitted.check(name, fitted, sizes)
        for relation in self.relations:
            relation(name, parameters, fitted)


@dataclass(frozen=True)
class Anything:
    """Anything: another rule looks at it."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse nothing."""


def check_size(name: str, size: str, number: int, sizes: Sizes) -> None:
    """Take note of a size, or refuse another one than was noted before."""
    if sizes.setdefault(size, number) != number:
        raise ValueError(f"{name} must be {size} = {sizes[size]}, got {number}")
