"""Which doctests are collected: not those of modules that miss an optional package."""

import doctest
import inspect
from importlib.util import find_spec

_NEEDS = {
    "torch": "src/credalis/network/_torch/*",
    "click": "src/credalis/cli/*",
    "starlette": "src/credalis/app/*",
}


def _is_missing(package):
    try:
        return find_spec(package) is None
    except ImportError:
        return True


collect_ignore_glob = [path for package, path in _NEEDS.items() if _is_missing(package)]

_is_from_module = doctest.DocTestFinder._from_module


def _unwrapped_is_from_module(finder, module, found):
    """Of a decorated function, too, whose globals are those of the decorator."""
    return _is_from_module(finder, module, inspect.unwrap(found))


doctest.DocTestFinder._from_module = _unwrapped_is_from_module
