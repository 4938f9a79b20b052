"""Models in the form of model hubs: a folder with the packed model and its card, local or on Hugging Face."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omnitm.errors import FileError, ParameterError, needs_extra
from omnitm.files.kinds import PACKED_FILE
from omnitm.files.plain import write_file, writing
from omnitm.sharing.card import CardFacts, facts_as_json, model_card
from omnitm.store.loading import stored_model
from omnitm.store.packing import write_packed
from omnitm.vectors.word_vectors import WordVectors

CARD_FILE = "README.md"


def save_pretrained(
    vectors: WordVectors, folder: str | Path, facts: CardFacts, *, name: str | None, load: str | None = None
) -> None:
    """Write the packed model and its card; an older model in the folder is replaced."""
    folder = Path(folder)
    model = stored_model(vectors)
    if folder.exists() and not folder.is_dir():
        raise FileError(folder, "is a file; save_pretrained needs a folder")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    load = load or f"WordVectors.from_pretrained({str(folder)!r})"
    card = model_card(vectors, facts, name=name or folder.absolute().name, load=load)
    write_packed(folder / PACKED_FILE, model, card=facts_as_json(facts), force=True)
    write_file(folder / CARD_FILE, card.encode())


def find_pretrained(name: str | Path, **download: Any) -> Path:
    """Find a model by path, or fetch it from the hub into its cache; nothing is fetched if it is there."""
    path = Path(name)
    if path.is_dir() and (path / PACKED_FILE).exists():
        return path / PACKED_FILE
    if path.exists():
        return path
    if not isinstance(name, str) or name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise FileError(name, "does not exist; give a folder, a file, or OWNER/NAME on the Hugging Face hub")
    hub = _hub("from_pretrained")
    with _hub_errors(hub, name):
        return Path(hub.hf_hub_download(name, PACKED_FILE, **download)).resolve()


def push_to_hub(
    vectors: WordVectors,
    repo_id: str,
    facts: CardFacts,
    *,
    private: bool = False,
    token: str | None = None,
    revision: str | None = None,
    commit_message: str = "Add an omnitm model",
) -> str:
    """Make the repository if need be and upload model and card; return the address of the commit."""
    hub = _hub("push_to_hub")
    with tempfile.TemporaryDirectory() as folder:
        load = f"WordVectors.from_pretrained({repo_id!r})"
        save_pretrained(vectors, folder, facts, name=repo_id.rpartition("/")[2], load=load)
        with _hub_errors(hub, repo_id):
            api = hub.HfApi(token=token, library_name="omnitm")
            api.create_repo(repo_id, private=private, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repo_id, folder_path=folder, revision=revision, commit_message=commit_message
            )
    return str(commit.commit_url)


def _hub(feature: str) -> Any:
    with needs_extra(feature, "hub"):
        import huggingface_hub
    return huggingface_hub


@contextlib.contextmanager
def _hub_errors(hub: Any, name: str) -> Iterator[None]:
    """Turn the hub's errors into one that begins with the name of the model."""
    errors = hub.errors
    network = errors.HfHubHTTPError.__bases__  # of whichever HTTP library the hub uses
    try:
        yield
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        problem = "is not in the cache, and the hub cannot be reached or offline mode is on"
        raise FileError(name, f"{problem}; connect once, or copy the model's folder here") from error
    except errors.RepositoryNotFoundError as error:
        raise FileError(name, "is not on the hub, or needs a token (`hf auth login`)") from error
    except errors.EntryNotFoundError as error:
        raise FileError(name, f"has no {PACKED_FILE}: it is not an omnitm model") from error
    except errors.HFValidationError as error:
        raise ParameterError(f"{name!r} is not the name of a model on the hub: {error}") from error
    except (OSError, *network) as error:
        raise FileError(name, f"the hub refuses or cannot be reached: {str(error)[:200]}") from error
