"""Find a data set: in a folder, in an installed package, in the cache, or at its official address."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.errors import FileError

if TYPE_CHECKING:
    from omnitm.evaluation.datasets import DataSet

DATA_VARIABLE = "OMNITM_DATA"
_SUBFOLDERS = ("", "wordsim", "word-sim")
_SECONDS = 20
_LARGEST = 1 << 24


def locate(known: DataSet, data: str | Path | None = None, *, download: bool = True) -> Path:
    """Find the file of a data set.

    Looks into `data` (or the folder named by OMNITM_DATA) and its sub-folder `wordsim`, then into installed
    packages, then into the user's cache, and then asks the network.

    Parameters
    ----------
    data
        Folder to look into; None: the folder named by OMNITM_DATA, if any.
    download
        Whether the network may be asked.
    """
    folder = data_folder(data)
    found = _in_folder(known, folder) or _in_packages(known) or _in_cache(known)
    if found:
        return found
    problem = "downloads are switched off"
    if download:
        try:
            return _download(known)
        except (OSError, ValueError) as error:
            problem = f"{known.address} cannot be reached ({getattr(error, 'reason', None) or error})"
    places = (
        f"{folder} and its sub-folder wordsim"
        if folder
        else f"no folder was given, {DATA_VARIABLE} is not set"
    )
    raise FileError(
        known.files[0],
        f"the data set {known.name} is not here ({places}), in no installed package, and {problem}; "
        f"get it from {known.home}, put it into a folder DIR as {known.files[0]}, and add --data DIR",
    )


def data_folder(data: str | Path | None) -> Path | None:
    """Return the folder with data: the one given, or the one that OMNITM_DATA names."""
    if data is None:
        named = os.environ.get(DATA_VARIABLE)
        return Path(named) if named else None
    folder = Path(data)
    if not folder.is_dir():
        raise FileError(folder, "is not a folder; --data needs the folder that holds the data sets")
    return folder


def cache_folder() -> Path:
    """Return the folder where downloaded sets are kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "omnitm" / "data"


def _in_folder(known: DataSet, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    places = (folder / sub / name for name in known.files for sub in _SUBFOLDERS)
    return next((place for place in places if place.is_file()), None)


def _in_packages(known: DataSet) -> Path | None:
    for package, inside in known.packaged:
        spec = importlib.util.find_spec(package)  # finds the folder without importing the package
        for place in (spec.submodule_search_locations if spec else None) or ():
            if (Path(place) / inside).is_file():
                return Path(place) / inside
    return None


def _in_cache(known: DataSet) -> Path | None:
    path = cache_folder() / known.files[0]
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == known.sha256:
        return path
    return None


def _download(known: DataSet) -> Path:
    """Fetch a set into the cache; only the very content that is known counts."""
    request = urllib.request.Request(known.address, headers={"User-Agent": "omnitm"})  # noqa: S310 - our own list
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - our own list
        content: bytes = answer.read(_LARGEST)
    found = hashlib.sha256(content).hexdigest()
    if found != known.sha256:
        raise ValueError(f"it gave other content: SHA-256 {found[:12]}..., expected {known.sha256[:12]}...")
    path = cache_folder() / known.files[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)
    return path


def make_folder(folder: Path) -> Path:
    """Make a folder for results unless it is there; an error says why it cannot be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            folder, f"is no folder that results can go to ({error.strerror}); name another."
        ) from None
    return folder
