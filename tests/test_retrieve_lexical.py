"""BM25 as a ranker: equal to bm25s' own, ties by name."""

import bm25s
import numpy as np

from atc.retrieve.lexical import Lexical
from atc.retrieve.words import tokens
from tests.retrieve_index_lab import found

TEXTS = {
    "weather_now": "current weather of a city, temperature and wind",
    "weather_week": "weather forecast of a week for a city",
    "flight_search": "find cheap flights between two airports",
    "flight_status": "the status of a flight: delayed, landed",
    "zoo_animals": "animals of the zoo: zebras, lions",
}


def test_scores_are_those_of_bm25s() -> None:
    theirs = bm25s.BM25(k1=1.5, b=0.75)
    theirs.index([tokens(text) for text in TEXTS.values()], show_progress=False)
    for query in ("weather in a city", "zebras on a flight to the zoo zoo", "status"):
        [ours] = Lexical.build(TEXTS, TEXTS.values()).scores([query])
        np.testing.assert_allclose(ours, theirs.get_scores(tokens(query)), rtol=1e-6)


def test_equal_documents_come_in_the_order_of_their_names() -> None:
    names = [f"tool_{i:05}" for i in np.random.default_rng(0).permutation(10_000)]
    ranker = Lexical.build(names, ["the same description"] * len(names))
    assert found(ranker, "same description", n=12) == [f"tool_{i:05}" for i in range(12)]
