"""What may follow in a program: what the steps derive, what they refuse, and that they come to an end."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import Any

import pytest

pytest.importorskip("llguidance")

import atc.prompts
from atc.check.types import Atom, Record
from atc.decode.bounds import Bounds
from atc.decode.errors import Undecodable
from atc.decode.lark import lark
from atc.decode.program import FENCE, Statements
from atc.decode.program.beginning import Unreadable, levels_at_end, scope_at_end
from atc.grounding import made_up
from atc.types import Program
from protocols.protocol import Link
from protocols.toolbox import Tool, Toolbox
from tests.check_lab import NUMBER, SHOP, TEXT, WHOLE, arr, maybe, obj, services, tool
from tests.decode_program_lab import accepts, long_tokenizer, pieces, told, walk

SHORT = Bounds(statements=4)
BOOK = obj(title=TEXT, length=maybe(WHOLE), publisher_id=TEXT)
LIBRARY = Toolbox(
    [
        tool("search_authors", {"name": TEXT}, obj(authors=arr(obj(author_id=TEXT, name=TEXT)))),
        tool(
            "list_books",
            {"author_id": TEXT, "year": WHOLE, "page": WHOLE},
            obj(books=arr(BOOK), page=WHOLE, pages=WHOLE),
            optional=("year", "page"),
        ),
        tool("get_publisher", {"publisher_id": TEXT}, obj(publisher_id=TEXT, name=TEXT, city=TEXT)),
        tool("rate", {"stars": NUMBER, "genre": {"enum": ["novel", 'it"s']}}, None, optional=("genre",)),
    ]
)
FOUND = 'found = search_authors(name="x")\n'
BOOKS = f'{FOUND}page = list_books(author_id=found[0]["author_id"])\n'


def derives(before: str, line: str, tools: Toolbox = LIBRARY, task: str = "") -> bool:
    return accepts(lark(Statements(tools, task=task).next(before).grammar), line) is None


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", 'authors = search_authors(name="Ursula Le Guin")\n'),
        ("", "authors = search_authors(name='x')[0]['author_id']\n"),
        ("", "rate(stars=3)\n"),
        ("", 'rate(genre="novel", stars=4.5)\n'),
        (FOUND, 'print(found[0]["name"], len(found))\n'),
        (FOUND, 'books = list_books(author_id=found[0]["author_id"], page=2)\n'),
        (FOUND, "for author in found:\n"),
        (FOUND, 'le = next(author for author in found if author["name"] == "x")["author_id"]\n'),
        (BOOKS, 'for book in page["books"]:\n'),
        (BOOKS, 'if page["page"] < page["pages"] and len(page["books"]) > 3:\n'),
        (BOOKS, 'known = [book for book in page["books"] if book["length"] is not None]\n'),
        (BOOKS, 'total = sum(book["length"] for book in page["books"] if book["length"] is not None)\n'),
        (BOOKS, 'best = max(page["books"], key=lambda book: book["title"])["publisher_id"]\n'),
        (f'{BOOKS}novels = page["books"]\n', 'first = min(novels, key=lambda novel: novel["title"])\n'),
        (f'{BOOKS}novels = page["books"]\n', 'names = [book["title"] for book in novels]\n'),
        (BOOKS, "print(f\"{page['pages']} pages: {found[0]['name']}\")\n"),
        (f"{BOOKS}total = 0\n", 'total += page["pages"] * 2\n'),
        (f"{BOOKS}rows = []\n", 'rows.append(page["books"][-1]["title"])\n'),
        (f"{BOOKS}rows = {{}}\n", 'rows[page["books"][0]["title"]] = page["pages"]\n'),
        (f'{BOOKS}for book in page["books"]:\n', '    if book["length"] is None:\n'),
        (
            f'{BOOKS}for book in page["books"]:\n    if book["length"] is not None:\n',
            '        x = book["length"] + 1\n',
        ),
        ("try:\n    rate(stars=1)\n", "except ToolError as error:\n"),
        ("try:\n    rate(stars=1)\nexcept ToolError as error:\n", "    if error.status == 404:\n"),
        ("", "# Look the author up first.\n"),
        ("x = 1\nif x > 2:\n", "    # Then ask again.\n"),
        ("# Look the author up first.\n", "x = search_authors(name='y')\n"),
        ("x = 1\nif x > 2:\n    x = 3\n", "elif x == 1:\n"),
    ],
)
def test_ordinary_statement_follows(before: str, line: str) -> None:
    assert derives(before, line)


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", "x = find_authors(name='y')\n"),
        ("", "x = search_authors(title='y')\n"),
        ("", "x = search_authors()\n"),
        ("", "x = search_authors('y')\n"),
        ("", "x = search_authors(name=5)\n"),
        ("", "rate(stars=3, genre='poem')\n"),
        ("", "rate(stars=3, stars=4)\n"),
        ("", "print(found)\n"),
        ("", "search_authors = 3\n"),
        ("", "for = 3\n"),
        ("", "x = ٣\n"),
        ("", "import os\n"),
        ("", "x = __import__('os')\n"),
        ("", FENCE),
        ("", "# One statement a step.\nx = 1\n"),
        ("# One line.\n", "# No second one.\n"),
        ("x = 1\nif x > 2:\n", "# Not outside the block.\n"),
        ("", "\n"),
        (FOUND, f'print(f"{"so " * 15}{{len(found)}}")\n'),
        (FOUND, 'print(found["authors"])\n'),
        (FOUND, 'print(found[0]["title"])\n'),
        (FOUND, "if found > 3:\n"),
        (BOOKS, 'x = page["books"][0]["length"] + 1\n'),
        (BOOKS, 'x = sum(book["length"] for book in page["books"])\n'),
        (BOOKS, "elif page:\n"),
        (f"{BOOKS}for book in page['books']:\n", "print(1)\n"),
        ("while True:\n    x = 1\n", "print(x)\n"),
        ("try:\n    rate(stars=1)\n", "print(1)\n"),
    ],
)
def test_what_would_be_a_finding_does_not_follow(before: str, line: str) -> None:
    assert not derives(before, line)


def test_worked_example_of_the_prompt_is_derived() -> None:
    source = resources.files(atc.prompts).joinpath("example_program.md").read_text("utf-8")
    source = source.removeprefix("```python\n").split("```")[0]
    before, refused = "", []
    for line in pieces(source):
        if not derives(before, line):
            refused.append(line)
        before += line
    assert refused == []
    assert Statements(LIBRARY).next(before).may_end


def linked(support: Tool) -> Tool:
    links = (Link(argument="author_id", tool="search_authors", path="authors[].author_id", support="declared"),)
    return replace(support, protocol=replace(support.protocol, links=links))


LINKED = Toolbox([linked(t) if t.alias == "list_books" else t for t in LIBRARY.values()])


def test_id_takes_linked_values_first() -> None:
    assert derives("", 'x = list_books(author_id="a1")\n', LINKED)
    assert derives(FOUND, 'x = list_books(author_id=found[0]["author_id"])\n', LINKED)
    assert not derives(FOUND, 'x = list_books(author_id="a1")\n', LINKED)
    assert not derives(FOUND, 'x = list_books(author_id=found[0]["name"])\n', LINKED)
    assert derives(FOUND, 'x = list_books(author_id="LGU")\n', LINKED, task="Which books has LGU written?")
    assert derives(f'{FOUND}one = found[0]["author_id"]\n', "x = list_books(author_id=one)\n", LINKED)


def test_id_may_be_fetched_by_a_call_within_the_call() -> None:
    box = Toolbox(
        [
            tool("get_award", {"award_id": WHOLE}, obj(person_id=TEXT, jury_id=maybe(TEXT), film=TEXT)),
            made_of("get_person", "person_id", "get_award", "person_id"),
            made_of("get_juror", "jury_id", "get_award", "jury_id"),
            made_of("get_author", "author_id", "search_authors", "authors[].author_id"),
            *(one for one in LIBRARY.values() if one.alias == "search_authors"),
        ]
    )
    assert derives("", 'x = get_person(person_id=get_award(award_id=3)["person_id"])\n', box)
    assert not derives("", 'x = get_person(person_id=get_award(award_id=3)["film"])\n', box)
    assert not derives("", "x = get_person(person_id=get_award(award_id=3))\n", box)
    assert not derives("", 'x = get_juror(jury_id=get_award(award_id=3)["jury_id"])\n', box), "it may be None"
    first = 'search_authors(name="x")[0]["author_id"]'
    assert derives("", f"x = get_author(author_id={first})\n", box)
    for seed in range(3):
        made = walk(box, seed, statements=Statements(box, bounds=SHORT))
        assert made.clean, told(made)


def made_of(name: str, argument: str, source: str, path: str, schema: Any = TEXT) -> Tool:
    """A tool whose only argument is what stands at a path of another's response."""
    one = tool(name, {argument: schema}, obj(name=TEXT, **{argument: schema}))
    links = (Link(argument=argument, tool=source, path=path, support="declared"),)
    return replace(one, protocol=replace(one.protocol, links=links))


def test_id_may_come_from_where_no_link_leads_if_its_pattern_is_one_of_those_wanted() -> None:
    def ids(*kinds: str) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({'|'.join(kinds)})_[a-z2-7]{{5}}$"}

    route = tool("get_route", {"from_place_id": ids("ci", "af"), "to_place_id": ids("ci", "af")}, obj(km=WHOLE))
    links = tuple(Link(argument=a, tool="get_city", path="city_id", support="declared") for a in route.required)
    box = Toolbox(
        [
            replace(route, protocol=replace(route.protocol, links=links)),
            tool("get_city", {"name": TEXT}, obj(city_id=ids("ci"), owner_id=ids("ow"), name=TEXT)),
            tool("get_airfield", {"code": TEXT}, obj(airfield_id=ids("af"), runway={"type": "string"})),
        ]
    )
    before = 'city = get_city(name="Rome")\nfield = get_airfield(code="FCO")\n'
    for value, good in (('city["city_id"]', True), ('field["airfield_id"]', True), ('city["owner_id"]', False)):
        line = f'x = get_route(from_place_id=city["city_id"], to_place_id={value})\n'
        assert derives(before, line, box) is good, value
    assert not derives(before, 'x = get_route(from_place_id=field["runway"], to_place_id=city["city_id"])\n', box)


@pytest.mark.parametrize(
    ("source", "ends"),
    [
        ("x = 1\nprint(x)\n", True),
        ("x = 1\n", False),
        ("x = 1\nif x:\n    print(x)\n", False),
        ("x = 1\nif x:\n    print(x)\nelse:\n    x = 2\n", False),
        ("x = 1\nif x:\n    print(x)\nelif x > 1:\n    print(2)\nelse:\n    print(3)\n", True),
        ("for x in [1, 2]:\n    print(x)\n", True),
        ("for x in [1, 2]:\n    if x > 1:\n        print(x)\n        break\n", False),
        ("for x in [1, 2]:\n    if x > 1:\n        continue\n    print(x)\n", False),
        ("x = 1\nwhile x < 3:\n    print(x)\n    x += 1\n", False),
        ("x = 1\nwhile True:\n    for y in [1]:\n        break\n    print(x)\n    break\n", True),
        ("try:\n    rate(stars=1)\n    print(1)\nexcept ToolError:\n    x = 1\n", False),
        ("try:\n    rate(stars=1)\n    print(1)\nexcept ToolError:\n    print(2)\n", True),
        ("# print(1)\nx = 1\n", False),
    ],
)
def test_end_needs_an_answer_on_every_way(source: str, ends: bool) -> None:
    step = Statements(LIBRARY).next(source)
    assert step.may_end is ends
    assert (accepts(lark(step.grammar), FENCE) is None) is ends


def made(name: str, schema: dict[str, Any], *, required: bool = True) -> Toolbox:
    """A tool with an argument whose values another tool yields, and one of which none does."""
    links = (Link(argument=name, tool="look", path=f"rows[].{name}", support="declared"),)
    give = tool("give", {name: schema, "note": TEXT}, None, optional=("note",) if required else ("note", name))
    look = tool("look", {"word": TEXT}, obj(rows=arr(obj(**{name: schema, "label": TEXT}))))
    return Toolbox([look, replace(give, protocol=replace(give.protocol, links=links))])


CODE = {"type": "string", "pattern": "^[0-9A-Z]{3}$"}
OPAQUE = {"type": "string", "pattern": "^pk_[a-z2-7]{5}$"}
MIXED = {"type": "string", "pattern": "^[A-Za-z0-9]{2}$"}
KEY = {"type": "string", "pattern": "^[0-9]{2}[A-Z]{2}$"}
DATE = {"type": "string", "format": "date"}
TASK = "Which flights of Delta left JFK for Boston on 4 July 2013, by plane n14228 or 47ab?"


@pytest.mark.parametrize(
    ("name", "schema", "value", "allowed"),
    [
        ("airport", CODE, '"JFK"', True),
        ("airport", CODE, '"BOS"', True),
        ("airport", CODE, '"B0S"', False),
        ("park_id", OPAQUE, '"pk_abcde"', False),
        ("park_id", OPAQUE, '"pk_b2cde"', False),
        ("airline", MIXED, '"DL"', True),
        ("airline", MIXED, '"dl"', False),
        ("airport", TEXT, '"Boston"', True),
        ("airport", TEXT, '"Chicago"', False),
        ("airport", {"enum": ["BOS", "X12"]}, '"BOS"', True),
        ("airport", {"enum": ["BOS", "X12"]}, '"X12"', False),
        ("tail", {"type": "string", "minLength": 2}, '"N14228"', True),
        ("tail", {"type": "string", "minLength": 2}, '"N14229"', False),
        ("number", WHOLE, "2013", True),
        ("number", WHOLE, "1234", False),
        ("flight_id", WHOLE, "7", False),
        ("season", WHOLE, "7", True),
        ("radius_km", WHOLE, "250", True),
        ("hour", {"type": "integer", "minimum": 0, "maximum": 23}, "17", True),
        ("date", DATE, '"2013-07-05"', True),
        ("date", TEXT, '"2013-07-05"', True),
        ("date", {"type": "string", "pattern": "^2013-[0-9]{2}-[0-9]{2}$"}, '"2013-07-04"', True),
        ("ids", arr(CODE), '["JFK"]', True),
        ("ids", arr(CODE), '["B0S"]', False),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_literal_that_nobody_gave_is_not_written(
    name: str, schema: dict[str, Any], value: str, allowed: bool, required: bool
) -> None:
    box = made(name, schema, required=required)
    line = f"give({name}={value})\n"
    assert derives("", line, box, task=TASK) is allowed
    assert derives('x = look(word="a")\n', line, box, task=TASK) is allowed
    if allowed:
        assert not made_up(Program(source=line), TASK, box)


def test_what_a_call_gives_for_each_item_counts_as_nothing_where_it_is_none() -> None:
    box = Toolbox(
        [
            tool("list_trips", {"day": TEXT}, obj(trips=arr(obj(trip_id=TEXT, seats=WHOLE)), page=WHOLE)),
            tool("get_trip", {"trip_id": TEXT}, obj(minutes=maybe(WHOLE), stops=WHOLE)),
        ]
    )
    before = 'found = list_trips(day="monday")\n'
    of_each, each = 'get_trip(trip_id=trip["trip_id"])', 'for trip in found["trips"]'
    assert derives(before, f'x = max({of_each}["minutes"] or 0 {each})\n', box)
    assert derives(before, f'x = sum({of_each}["minutes"] or 0 {each} if trip["seats"] > 4)\n', box)
    assert derives(before, f'x = max({of_each}["stops"] {each})\n', box)
    assert not derives(before, f'x = max({of_each}["minutes"] {each})\n', box), "it may be None"
    assert not derives(before, f'x = min({of_each}["minutes"] or 0 {each})\n', box), (
        "what is not known is not the least"
    )
    for seed in range(3):
        made = walk(box, seed, statements=Statements(box, bounds=SHORT))
        assert made.clean, told(made)


def test_sets_have_no_places_tuples_are_no_lists_and_dates_no_free_texts() -> None:
    date = {"type": "string", "format": "date"}
    box = Toolbox(
        [tool("plan", {"day": date, "note": TEXT, "marks": arr(NUMBER)}, None, optional=("day", "note", "marks"))]
    )
    assert derives("seen = {'a', 'b'}\n", "for one in seen:\n", box)
    assert not derives("seen = {'a', 'b'}\n", "x = seen[0]\n", box)
    assert not derives("seen = {'a', 'b'}\n", "for one in seen[1:]:\n", box)
    assert derives("seen = ['a', 'b']\n", "for one in seen[1:]:\n", box)
    assert derives("seen = [1, 2]\n", "plan(marks=seen)\n", box)
    assert not derives("seen = (1, 2)\n", "plan(marks=seen)\n", box)
    assert derives("n = 1\n", 'plan(note=f"day {n}")\n', box)
    assert not derives("n = 1\n", 'plan(day=f"day {n}")\n', box)


def test_texts_are_compared_with_what_they_may_be_equal_to() -> None:
    city, storm = ({"type": "string", "pattern": f"^{kind}_[a-z2-7]{{5}}$"} for kind in ("ci", "st"))
    answer = obj(city_ids=arr(city), storm_ids=arr(storm), name=TEXT, kind={"const": "wind"}, winds=arr(obj(id=storm)))
    before = 'found = search(word="x")\n'
    box = Toolbox([tool("search", {"word": TEXT}, answer)])
    one, other = 'found["storm_ids"][0]', 'found["city_ids"][0]'
    assert derives(before, f'if {one} == found["storm_ids"][1]:\n', box)
    assert derives(before, f'if {one} == found["name"] or found["name"] != {other}:\n', box)
    assert not derives(before, f"if {one} == {other}:\n", box), "never equal"
    assert derives(before, f'if {one} not in found["storm_ids"]:\n', box)
    assert not derives(before, f'if {one} in found["city_ids"]:\n', box)
    assert derives(before, 'if "ci_abcde" in found["city_ids"]:\n', box)
    assert not derives(before, 'if "abcde" in found["city_ids"]:\n', box)
    assert derives(before, f'x = [wind["id"] for wind in found["winds"] if wind["id"] == {one}]\n', box)
    assert not derives(before, f'x = [wind["id"] for wind in found["winds"] if wind["id"] == {other}]\n', box)
    assert derives(before, 'if found["kind"] == "wind":\n', box)
    assert not derives(before, 'if found["kind"] == "rain":\n', box)
    for seed in range(3):
        made = walk(box, seed, statements=Statements(box, bounds=SHORT))
        assert made.clean, told(made)


def test_where_none_is_tested_the_other_branch_does_not_use_it() -> None:
    before = "n = 3\nbest = n if n > 2 else None\n"
    assert derives(before, "x = best + 1 if best is not None else 0\n")
    assert derives(before, "x = 'none' if best is None else best + 1\n")
    assert not derives(before, "x = 1 if best is not None else best + 1\n")
    assert not derives(before, "x = best + 1 if best is None else 2\n")


def test_whole_numbers_take_no_precision_alone() -> None:
    assert derives("n = 3\n", 'print(f"{n:,} {n:.2f}")\n')
    assert not derives("n = 3\n", 'print(f"{n:.2}")\n')


def test_an_id_that_no_tool_gives_is_written_where_the_task_gives_it() -> None:
    box = Toolbox([tool("get_park", {"park_id": OPAQUE}, obj(name=TEXT)), tool("list_states", {"page": WHOLE}, None)])
    line = 'park = get_park(park_id="pk_abcde")\n'
    assert not derives("", line, box, task="How large is Yosemite?")
    assert derives("", line, box, task="How large is pk_abcde?")
    assert derives("", line, box), "nobody knows the task"
    assert derives("", "x = list_states(page=1)\n", box, task="How large is Yosemite?")


def test_an_id_is_compared_with_what_the_task_gives_or_another_value_of_the_program() -> None:
    box = Toolbox([tool("list_parks", {"state": TEXT}, obj(park_ids=arr(OPAQUE), code=CODE))])
    before = 'parks = list_parks(state="Ohio")\n'
    line = 'if parks["park_ids"][0] == "pk_abcde":\n'
    assert not derives(before, line, box, task="Is the first park of Ohio its largest?")
    assert derives(before, line, box, task="Is pk_abcde the first park of Ohio?")
    assert derives(before, line, box), "nobody knows the task"
    assert derives(before, 'if parks["code"] == "7AB":\n', box, task="Is the first park of Ohio its largest?")


def test_tool_without_a_value_for_an_id_waits_for_one_or_fetches_it() -> None:
    task, box = "Which author wrote most?", made("key", KEY)
    assert not derives("", 'give(note="a", key="12AB")\n', box, task=task)
    assert derives("", 'give(key=look(word="most")[0]["key"], note="a")\n', box, task=task)
    circle = Toolbox(
        [made_of("lead", "key", "follow", "key", KEY), made_of("follow", "key", "lead", "key", KEY), *box.values()]
    )
    step = Statements(circle.only(["lead", "follow", "look"]), task=task).next("")
    assert "look(" in lark(step.grammar)
    assert "follow(" not in lark(step.grammar)
    before = 'x = look(word="most")\n'
    assert derives(before, 'give(key=x[0]["key"], note="a")\n', box, task=task)
    assert not derives(before, 'give(key=x[0]["label"])\n', box, task=task)
    assert not derives(f'{before}y = "12AB"\n', "give(key=y)\n", box, task=task)
    assert derives(f'{before}y = "12AB"\n', "give(key=y)\n", box, task="What is 12AB?")
    assert derives(f'{before}y = x[0]["key"]\n', "give(key=y)\n", box, task=task)
    optional = made("key", KEY, required=False)
    assert derives("", 'give(note="a")\n', optional, task=task)
    assert not derives(before, 'give(note=x[0]["key"])\n', box, task=task)


def test_value_of_another_pattern_does_not_fit() -> None:
    day = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
    look = tool("look", {"word": TEXT}, obj(code=CODE, day=day, words=TEXT))
    box = Toolbox([look, tool("plan", {"start": day}, None)])
    before = 'x = look(word="a")\n'
    assert derives(before, 'plan(start=x["day"])\n', box)
    assert not derives(before, 'plan(start=x["code"])\n', box)


def test_unknown_response_may_be_read_as_one_likes() -> None:
    box = Toolbox([tool("look", {"word": TEXT}, None)])
    assert derives('x = look(word="a")\n', 'print(x["rows"][0]["id"], x["total"] + 1)\n', box)


@pytest.mark.parametrize("name", ['a"]\nimport os\n', "it's", "back\\slash", "{x}", "```", "\u2028", "a\x00b"])
def test_hostile_keys_and_values_stay_within_their_quotes(name: str) -> None:
    hostile = Toolbox(
        [
            tool("get", {"id": TEXT, "kind": {"enum": [name, "plain"]}}, obj(**{name: TEXT, "count": WHOLE})),
            tool("put", {"text": TEXT, name: TEXT}, obj(**{name: {"enum": [name, "b"]}}), optional=(name,)),
        ]
    )
    for seed in range(2):
        made = walk(hostile, seed, statements=Statements(hostile, bounds=SHORT))
        assert made.clean, told(made)
        assert "import os" not in made.source.replace("\\nimport os", "")


def test_scope_at_end_knows_what_holds_inside_the_open_blocks() -> None:
    source = f'{BOOKS}for book in page["books"]:\n    if book["length"] is not None:\n'
    names = scope_at_end(source, LIBRARY)
    assert set(names) == {"found", "page", "book"}
    assert isinstance(names["book"], Record)
    assert dict(names["book"].refined)["length"] == Atom("int")
    levels = levels_at_end(source, LIBRARY)
    assert [(level.keyword, level.indent) for level in levels] == [("", ""), ("for", "    "), ("if", "        ")]
    assert levels[2].otherwise is not None


def test_scope_after_an_end_of_a_block_is_not_reached() -> None:
    levels = levels_at_end("while True:\n    x = 1\n", LIBRARY)
    assert not levels[0].inside.reached
    assert levels[1].inside.reached
    assert levels_at_end("while True:\n    x = 1\n    if x:\n        break\n", LIBRARY)[0].inside.reached


@pytest.mark.parametrize("source", ["x = \n", "x = (1\n", "  x = 1\ny = 2\n", "if x:\nprint(1)\n", 'x = "a\n'])
def test_text_that_begins_no_program_is_refused(source: str) -> None:
    with pytest.raises(Unreadable):
        scope_at_end(source, LIBRARY)
    with pytest.raises(Undecodable, match="cannot be read"):
        Statements(LIBRARY).next(source)


def test_program_of_full_length_can_only_print_and_end() -> None:
    steps = Statements(LIBRARY, bounds=Bounds(statements=2))
    step = steps.next("x = 1\nif x:\n")
    assert accepts(lark(step.grammar), "    print(x)\n") is None
    assert accepts(lark(step.grammar), "    y = 2\n") is not None
    ended = steps.next("x = 1\nprint(x)\n")
    assert ended.must_end
    assert accepts(lark(ended.grammar), FENCE) is None


def test_blocks_are_not_nested_without_end() -> None:
    steps = Statements(LIBRARY, bounds=Bounds(blocks=1))
    grammar = lark(steps.next("x = 1\nif x:\n").grammar)
    assert accepts(grammar, "    if x:\n") is not None
    assert accepts(grammar, "    x = 2\n") is None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("box", ["shop", "library", "flights"])
def test_random_programs_are_free_of_findings(box: str, seed: int) -> None:
    flights = services("flights")
    tools = {"shop": SHOP.only(list(SHOP)[:8]), "library": LINKED, "flights": flights.only(list(flights)[:6])}[box]
    made = walk(tools, seed, statements=Statements(tools, bounds=SHORT))
    assert made.clean, told(made)


@pytest.mark.parametrize("seed", range(2))
def test_masks_over_long_tokens_stay_within_the_limits_of_the_lexer(seed: int) -> None:
    # A mask that cannot be computed makes a server go on without a grammar.
    flights = services("flights")
    tools = flights.only(list(flights)[:24])
    steps = Statements(tools, bounds=SHORT, task=TASK)
    made = walk(tools, seed, statements=steps, task=TASK, tokenizer=long_tokenizer())
    assert made.clean, told(made)


def test_comment_does_not_open_the_next_statement() -> None:
    grammar = lark(Statements(LIBRARY).next("").grammar)
    assert accepts(grammar, "# Your corrected program here\n") is None
    assert accepts(grammar, "# Your corrected program here\nx = 1\n") is not None
