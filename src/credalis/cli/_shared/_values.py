"""Values of options that click has no type for."""

import re
from typing import Any

import click

AUTO = "auto"
_RANGE = re.compile(r"(\d+)-(\d+)")


class ClearLevel(click.ParamType):
    """A level of belief above 2/3 and at most 1."""

    name = "level"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or a usage error."""
        from credalis.partition._verdicts import check_clear_level

        try:
            return check_clear_level(float(value))
        except ValueError:
            self.fail(f"must be a number above 2/3 and at most 1, got {value!r}")


class NumberOfClusters(click.ParamType):
    """A number, a range of numbers to try, or "auto"."""

    name = "number"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | range | str:
        """What the text says: a number, a range to choose from, or "auto"."""
        if isinstance(value, (int, range)) or value == AUTO:
            return value
        numbers = _RANGE.fullmatch(value)
        if numbers:
            first, last = map(int, numbers.groups())
            if 2 <= first < last:
                return range(first, last + 1)
        elif value.isdecimal() and int(value) >= 2:
            return int(value)
        self.fail(
            f"must be a number of 2 or more, a range such as 2-10, or auto, got "
            f"{value!r}",
            param,
            ctx,
        )
