"""Which modules have no doctests to collect where an optional package is missing."""

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
