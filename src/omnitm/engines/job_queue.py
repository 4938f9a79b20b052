"""Which words are still to be trained, what becomes of those that fail, and when a worker counts as hung."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from omnitm.engines.protocol import MOST_SECONDS, Failure, WordJob
from omnitm.errors import EngineError
from omnitm.files import available_cores
from omnitm.parameters import check_integer, check_real

ATTEMPTS = 3  # of a word; a lost machine or a full memory may be passing
_HOPELESS = 20  # words set aside in a row, with none trained in between


class JobQueue:
    """The words of a run: every one is waiting, handed out, done or set aside.

    Attributes
    ----------
    done
        Words that are trained.
    n_failures
        Attempts that failed.
    """

    def __init__(self, jobs: Sequence[WordJob]) -> None:
        self.done = 0
        self.n_failures = 0
        self._total = len(jobs)
        self._waiting = deque(jobs)
        self._failed: Counter[WordJob] = Counter()
        self._n_set_aside = 0
        self._set_aside_in_a_row = 0
        self._news: list[Failure] = []

    @property
    def is_complete(self) -> bool:
        """Whether every word is either done or set aside."""
        return self.done + self._n_set_aside == self._total

    @property
    def n_waiting(self) -> int:
        """Words that no worker has taken."""
        return len(self._waiting)

    def take(self) -> WordJob | None:
        """Take a word to train, if there is one left."""
        return self._waiting.popleft() if self._waiting else None

    def take_batch(self, size: int) -> list[WordJob]:
        """Take up to `size` words; one that has failed before comes alone, so that it harms no other."""
        batch: list[WordJob] = []
        while self._waiting and len(batch) < size:
            # Before a word that has failed the batch ends, and after it too.
            if batch and self._failed[self._waiting[0]]:
                break
            batch.append(self._waiting.popleft())
            if self._failed[batch[-1]]:
                break
        return batch

    def finish(self) -> None:
        """Note that a word is trained and written."""
        self.done += 1
        self._set_aside_in_a_row = 0

    def put_back(self, jobs: Iterable[WordJob]) -> None:
        """Return words that were not at fault; they are next."""
        # `extendleft` turns the order around, so it is turned around before.
        self._waiting.extendleft(reversed(list(jobs)))

    def lose(self, jobs: Sequence[WordJob], problem: str) -> None:
        """Note that words were lost together; it is not known which of them is at fault."""
        self._note(jobs, problem, is_final=False)

    def blame(self, job: WordJob, problem: str) -> None:
        """Note that a word failed: it is tried again after the others, or set aside after its last try."""
        self._failed[job] += 1
        is_final = self._failed[job] >= ATTEMPTS
        self._note((job,), problem, is_final=is_final)
        if not is_final:
            # To the end: other words are trained before the next attempt.
            self._waiting.append(job)
            return
        self._n_set_aside += 1
        self._set_aside_in_a_row += 1
        if self._set_aside_in_a_row >= _HOPELESS:
            raise EngineError(
                f"{_HOPELESS} words in a row failed {ATTEMPTS} times each, the last one with: {problem}. "
                "Nothing can be trained here; words that are finished are kept."
            )

    def news(self) -> list[Failure]:
        """Return the failures since the last call."""
        news, self._news = self._news, []
        return news

    def _note(self, jobs: Sequence[WordJob], problem: str, *, is_final: bool) -> None:
        self.n_failures += 1
        self._news.append(Failure(tuple(jobs), problem, is_final))


_TIMES_THE_LONGEST = 60  # words take differently long, and machines get busy
_LONGEST_STEP = 1.0  # seconds; supervisors look several times a second


def check_n_jobs(n_jobs: int | None) -> int:
    """Check how many threads or processes a user wants; None: one per core that this process may use."""
    return available_cores() if n_jobs is None else check_integer("OmniTMAE", "n_jobs", n_jobs, 1, 4096)


def check_patience(patience: float | None) -> float | None:
    """Check what a user set; None: ten minutes or more, see `WordTraining`."""
    return None if patience is None else check_real("OmniTMAE", "patience", patience, 0.001, MOST_SECONDS)


class HangTimeout:
    """The limit of a run: what its work allows, or sixty times the longest word if that is more."""

    def __init__(self, allowed: float, fixed: float | None = None) -> None:
        self._fixed, self._limit = fixed, allowed

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
        # A longer step means that nobody was looking, not that the worker was silent.
        self.seconds += min(now - self._seen, _LONGEST_STEP)
        self._seen = now

    def end(self) -> float:
        """Start again from 0, and return how long it was."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds
