"""A local web page to look at a model with: search, compare, rules, evidence, a map of the vocabulary."""

from typing import TYPE_CHECKING, Any

from omnitm.explorer.schemas import ExplorerSettings

if TYPE_CHECKING:
    from omnitm.explorer.app import create_app, serve

__all__ = ["ExplorerSettings", "create_app", "serve"]


def __getattr__(name: str) -> Any:
    """Import what needs the extra when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'omnitm.explorer' has no attribute {name!r}")
    from omnitm.explorer import app

    return getattr(app, name)
