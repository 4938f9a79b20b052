"""A local web page to look at a model with: search, compare, rules, evidence, a map of the vocabulary."""

from typing import TYPE_CHECKING, Any

from omnitm.explorer.schemas import ExplorerSettings

if TYPE_CHECKING:
    from omnitm.explorer.app import create_app
    from omnitm.explorer.server import serve

__all__ = ["ExplorerSettings", "create_app", "serve"]

_HOMES = {"create_app": "omnitm.explorer.app", "serve": "omnitm.explorer.server"}


def __getattr__(name: str) -> Any:
    """Import what needs the extra when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'omnitm.explorer' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
