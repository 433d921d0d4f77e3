"""Which methods there are, read from the sources without importing them.

Help, completion and the public names need to know the names of the methods, and nothing
else of them. The line that adds a method and the literals at the head of its class say
all of that; importing them would first import scikit-learn.
"""

import ast
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

_ROOM = "credalis.cluster."


class Method(NamedTuple):
    """What is said of a method before it is imported.

    Attributes
    ----------
    name : str
        Name in the literature: that of the class, or of a variant.
    parameters : mapping
        Parameters that make the variant.
    needs_side_information : bool
        Whether it is another method without labels or pairs.
    is_for_many_rows : bool
        Whether its time and memory grow with the number of rows, not with its square.
    is_for_categories : bool
        Whether numbers are categories to it.
    is_for_more_tables : bool
        Whether it is the same as another method if there is but one table.
    """

    name: str
    parameters: Mapping[str, Any]
    needs_side_information: bool
    is_for_many_rows: bool
    is_for_categories: bool
    is_for_more_tables: bool


@cache
def class_names() -> tuple[str, ...]:
    """Names of the public estimators."""
    try:
        return tuple(_files_of_classes())
    except OSError:  # an installation without sources
        from credalis.cluster import estimator_classes

        return tuple(cls.__name__ for cls in estimator_classes())


@cache
def listed_methods() -> tuple[Method, ...]:
    """All methods and their variants, those that need side information last."""
    try:
        found = [
            method
            for name, path in _files_of_classes().items()
            for method in _methods(name, _literals(name, path))
        ]
    except (OSError, ValueError):
        # There are no sources, or a class computes what it says of itself.
        found = _imported_methods()
    return tuple(sorted(found, key=lambda method: method.needs_side_information))


def _imported_methods() -> list[Method]:
    """The same from the classes themselves."""
    from credalis.cluster import estimator_classes

    return [
        method
        for cls in estimator_classes()
        for method in _methods(
            cls.__name__,
            {
                "_variants": cls.variants(),
                "_needs_side_information": cls._needs_side_information,
                "_is_for_many_rows": cls._is_for_many_rows,
                "_is_for_categories": cls._is_for_categories,
                "_is_for_more_tables": cls._is_for_more_tables,
            },
        )
    ]


def _methods(class_name: str, said: Mapping[str, Any]) -> list[Method]:
    variants = said.get("_variants", {class_name: {}})
    return [
        Method(
            name,
            parameters,
            said.get("_needs_side_information", False),
            said.get("_is_for_many_rows", False),
            said.get("_is_for_categories", False),
            said.get("_is_for_more_tables", False),
        )
        for name, parameters in variants.items()
    ]


def _files_of_classes() -> dict[str, str]:
    """File of each class that `credalis.cluster` imports from a room of methods."""
    return {
        alias.name: f"{node.module.removeprefix('credalis.').replace('.', '/')}.py"
        for node in _parsed("cluster/__init__.py").body
        if isinstance(node, ast.ImportFrom)
        and node.module is not None
        and node.module.startswith(_ROOM)
        and not node.module.removeprefix(_ROOM).startswith("_")
        for alias in node.names
    }


def _literals(class_name: str, path: str) -> dict[str, Any]:
    """What a class says of itself by `_variants` and flags."""
    wanted = {
        "_variants",
        "_needs_side_information",
        "_is_for_many_rows",
        "_is_for_categories",
        "_is_for_more_tables",
    }
    found = {}
    for node in _parsed(path).body:
        if not (isinstance(node, ast.ClassDef) and node.name == class_name):
            continue
        for line in node.body:
            if isinstance(line, ast.Assign):
                target, value = line.targets[0], line.value
            elif isinstance(line, ast.AnnAssign) and line.value is not None:
                target, value = line.target, line.value
            else:
                continue
            if isinstance(target, ast.Name) and target.id in wanted:
                found[target.id] = ast.literal_eval(value)
    return found


def _parsed(path: str) -> ast.Module:
    text = pkgutil.get_data("credalis", path)
    if text is None:
        raise FileNotFoundError(path)
    return ast.parse(text)
