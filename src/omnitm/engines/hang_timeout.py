"""How long a worker may be silent before it counts as hung, and is replaced as if it had died."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.parameters import check_real

if TYPE_CHECKING:
    from omnitm.machine import AutoencoderSettings

_LEAST_SECONDS = 600.0
# Per example, and per clause or merged document of it: some thousand times what it takes on a good machine.
_SECONDS_PER_STEP = 0.01
_TIMES_THE_LONGEST = 60
_MOST_SECONDS = 1e7  # what the watchdog of a Ray worker can count
_LONGEST_STEP = 1.0


def check_patience(patience: float | None) -> float | None:
    """Check what a user set; None: ten minutes or more, see `silence_allowed`."""
    return None if patience is None else check_real("OmniTMAE", "patience", patience, 0.001, _MOST_SECONDS)


def silence_allowed(settings: AutoencoderSettings, n_words: int = 1) -> float:
    """Return the seconds in which some words must be finished when nothing else is known of them.

    >>> from omnitm.machine import AutoencoderSettings
    >>> silence_allowed(AutoencoderSettings())
    760.0
    """
    steps = n_words * settings.total_examples * max(settings.n_clauses, settings.accumulation)
    return min(_LEAST_SECONDS + _SECONDS_PER_STEP * steps, _MOST_SECONDS)


class Patience:
    """The limit of a run: what the settings allow, or sixty times the longest word if that is more."""

    def __init__(self, settings: AutoencoderSettings, fixed: float | None = None) -> None:
        self._fixed = fixed
        self._limit = silence_allowed(settings)

    @property
    def limit(self) -> float:
        """Seconds without a finished word after which a worker is hung."""
        return self._limit if self._fixed is None else self._fixed

    def learn(self, seconds: float) -> None:
        """Note how long a word has taken."""
        self._limit = max(self._limit, _TIMES_THE_LONGEST * seconds)


class Silence:
    """Seconds since the last sign of life, counted in small steps.

    A computer that was asleep, or a supervisor that was, so is not taken for a silent worker.
    """

    def __init__(self, now: float) -> None:
        self.seconds = 0.0
        self._seen = now

    def wait_until(self, now: float) -> None:
        """Let time pass."""
        self.seconds += min(now - self._seen, _LONGEST_STEP)
        self._seen = now

    def end(self) -> float:
        """Start again from 0, and return how long it was."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds
