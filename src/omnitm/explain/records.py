"""Results as plain data: every explanation is a dataclass that turns into JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

import numpy as np


class Record:
    """A dataclass with a `to_dict` that `json.dumps` takes as it is."""

    def to_dict(self) -> dict[str, Any]:
        """Return names and values, nested records and arrays included, as plain Python objects."""
        names = [field.name for field in fields(cast("Any", self))]
        return {name: _plain(getattr(self, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
