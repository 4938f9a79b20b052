"""Whether it helps to ask who leans on a word, beside what its own machine leans on.

    python benchmarks/topic_columns.py MODEL --data DIR

Asked of development data alone. The smoothed topic profile of a word is made of its row of the matrix of
profiles: what its own machine learned. The column of the word says in which other words' profiles it stands
out, so it was learned by other machines. The log, `results/topic-columns.json`, has a row per way to put both
together (rows; columns; both: the mean of the two cosines; sums: the smoothed sum of row and column) and per
power of the singular values. MODEL is trained on both kinds of contexts, with 40,000 words of Wikipedia for
the log that is kept. All other parts of the similarity are as they are.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from similarity_weights import N_CATEGORY_WORDS, category_score, pair_score, spread

from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import (
    PATTERNED,
    TOPIC,
    Profiles,
    best_known,
    closeness_of,
    coded,
    most_frequent,
)
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.truncated_svd import patterns_of_rows
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results" / "topic-columns.json"
POWERS = (0.0, 0.25, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    vectors = WordVectors.load(arguments.model)
    profiles: Profiles = vectors.profiles
    rows = [scored(vectors, profiles, ("rows", TOPIC.power), profiles.topic_rows, arguments.data)]
    # The columns in the order of the rows, so that a word has the same place in both.
    own = profiles.topic.some(np.arange(len(vectors))).tocsr()[:, vectors.row_features]
    columns = at_length_one(own.T.tocsr())
    matrices = {"columns": columns, "sums": at_length_one((own + columns).tocsr())}
    patterned = most_frequent(vectors, PATTERNED)
    for name, matrix in matrices.items():
        found = patterns_of_rows(ordered(matrix[patterned]), TOPIC.n_patterns)
        projected = matrix @ found.right
        for power in POWERS:
            smooth = unit_rows((projected * found.singular ** np.float32(power - 1)).astype(np.float32))
            of_forms = unit_rows(profiles.forms.matrix @ smooth)
            rows.append(scored(vectors, profiles, (name, power), of_forms, arguments.data))
            if name == "columns":
                both = unit_rows(np.hstack([profiles.topic_rows, of_forms]))
                rows.append(scored(vectors, profiles, ("both", power), both, arguments.data))
    RESULTS.write_text(json.dumps({"category_words": N_CATEGORY_WORDS, "rows": rows}, indent=1) + "\n")


def scored(
    vectors: WordVectors,
    profiles: Profiles,
    way: tuple[str, float],
    topic_rows: NDArray[np.float32],
    data: Path | None,
) -> dict[str, Any]:
    """Score the similarity with other smoothed topic profiles, with their own closeness and spread."""
    topic_codes, step = coded(topic_rows)
    closeness = profiles.closeness.copy()
    closeness[:, 0] = closeness_of(topic_codes, best_known(vectors))
    wider = spread(profiles.topic_rows) / spread(topic_rows)
    vectors.profiles = replace(
        profiles,
        scales=profiles.scales * [1, 1, wider, 1, 1, 1],
        topic_rows=topic_rows,
        topic_codes=topic_codes,
        code_steps=np.array([step, profiles.code_steps[1]]),
        closeness=closeness,
    )
    related, similarity = Combined("related"), Combined("similarity")
    scores = {
        "related_simlex": pair_score(vectors, related, "SimLex-999", data),
        "related_men_odd": pair_score(vectors, related, "MEN, odd lines", data),
        "simlex": pair_score(vectors, similarity, "SimLex-999", data),
        "men_odd": pair_score(vectors, similarity, "MEN, odd lines", data),
        "semcat_p10": category_score(vectors, similarity, data),
    }
    row = {
        "smoothed": way[0],
        "power": way[1],
        **{key: round(score, 4) for key, score in scores.items()},
    }
    print(json.dumps(row), flush=True)
    return row


def at_length_one(matrix: Any) -> Any:
    """Scale the rows of a sparse matrix to length 1."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1
    return (sparse.diags(1 / lengths) @ matrix).astype(np.float32)


def ordered(matrix: Any) -> Any:
    """Return a copy whose columns ascend in each row, as native code wants them."""
    found = sparse.csr_matrix(matrix)
    found.sort_indices()
    return found


if __name__ == "__main__":
    main()
