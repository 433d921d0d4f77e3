"""Where the engines other than NumPy are, imported when they are asked for."""

from typing import Any


def torch_engine() -> Any:
    """The package that trains with PyTorch, or an error that says how to get it."""
    try:
        from credalis.network import _torch
    except ImportError as error:
        raise ImportError(
            "engine='torch' needs PyTorch: pip install credalis[torch]"
        ) from error
    return _torch
