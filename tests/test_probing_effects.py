"""What methods, names and descriptions say of effects, and what reads before and after a write show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from probing.effects.known import all_effects
from probing.effects.seen import Timeline, compare
from probing.effects.words import kind_of, repeats_harmlessly
from probing.facts import learn
from probing.sample import Origin, Sample, Value
from protocols.protocol import Annotations, HttpBinding, McpBinding, PythonBinding, ToolProtocol
from protocols.sources.operations import annotations_of


def http(name, method="POST", path="/things", description="", read_only=None):
    annotations = annotations_of(method) if read_only is None else Annotations(read_only=read_only)
    return ToolProtocol(
        name=name,
        description=description,
        annotations=annotations,
        binding=HttpBinding(method=method, url=f"https://x.org{path}"),
    )


def python(name, description="", **hints):
    return ToolProtocol(
        name=name,
        description=description,
        annotations=Annotations(**({"read_only": False} | hints)),
        binding=PythonBinding(module="m", function=name),
    )


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (http("list_things", "GET"), "read"),
        (http("getThing", "GET"), "read"),
        (http("get_deleted_things", "GET"), "read"),
        (http("reset_status", "GET"), "remove"),
        (http("deleteThing", "GET"), "remove"),
        (http("addThing", "GET"), "create"),
        (http("report", "GET"), "read"),
        (http("get_things_by_id", "GET"), "read"),
        (http("things", "DELETE"), "remove"),
        (http("replace_thing", "PUT"), "update"),
        (http("things", "PATCH"), "update"),
        (http("things", "POST"), "create"),
        (http("search_things", "POST"), "read"),
        (http("post_things_search", "POST", "/things/search"), "create"),
        (http("cancel_booking", "POST"), "remove"),
        (http("post_bookings_cancellation_by_id", "POST"), "remove"),
        (http("find_and_delete", "POST"), "remove"),
        (http("get_or_create_user", "POST"), "create"),
        (http("unfollow", "POST"), "remove"),
        (http("log_out", "POST"), "end"),
        (python("get_balance"), "read"),
        (python("transfer"), "create"),
        (python("rm"), "remove"),
        (python("frobnicate"), "update"),
        (python("frobnicate", "Deletes the frobs of a user."), "remove"),
        (python("frobnicate", "Lists the frobs of a user."), "read"),
        (python("frobnicate", read_only=True), "read"),
        (ToolProtocol(name="read_graph", binding=McpBinding(server="s", tool="read_graph")), "read"),
        (ToolProtocol(name="delete_entities", binding=McpBinding(server="s", tool="d")), "remove"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_kinds(protocol, kind):
    assert kind_of(protocol)[0] == kind
    assert kind_of(protocol)[1]


@pytest.mark.parametrize(
    ("name", "again"), [("create_note", True), ("send_message", False), ("pay_invoice", False), ("notify_all", False)]
)
def test_what_tells_or_pays_somebody_is_not_repeated(name, again):
    assert repeats_harmlessly(http(name)) is again


def world(*told):
    """Facts by tool from `(protocol, samples)` pairs; samples are numbered in the order of all."""
    protocols = {protocol.name: protocol for protocol, _, _ in told}
    samples = [
        Sample(
            number=number,
            tool=protocol.name,
            arguments={name: Value(value, Origin(kind="generated")) for name, value in arguments.items()},
            response=response if not isinstance(response, int) else None,
            outcome="refused" if isinstance(response, int) else "done",
            status=response if isinstance(response, int) else None,
        )
        for number, (protocol, arguments, response) in enumerate(told, start=1)
    ]
    return {name: learn(protocol, samples) for name, protocol in protocols.items()}


LIST, ADD = http("list_things", "GET"), http("add_thing")
ONE, TWO, THREE = ({"id": f"t{n}1", "name": name} for n, name in enumerate(("one", "two", "three"), start=1))


def hints(told):
    found = all_effects(world(*told))
    return {
        name: (e.annotations.read_only, e.annotations.destructive, e.annotations.idempotent)
        for name, e in found.items()
    }


def test_without_calls_method_and_name_speak():
    protocols = [LIST, ADD, http("put_thing", "PUT"), http("drop", "DELETE"), http("search", "POST")]
    facts = {protocol.name: learn(protocol, []) for protocol in protocols}
    found = {name: e.annotations for name, e in all_effects(facts).items()}
    assert found["list_things"] == Annotations(read_only=True)
    assert found["add_thing"] == Annotations(read_only=False)
    assert found["put_thing"] == Annotations(read_only=False, idempotent=True)
    assert found["drop"] == Annotations(read_only=False, destructive=True, idempotent=True)
    assert found["search"].read_only is False  # its name alone proves nothing


@pytest.mark.parametrize(
    ("method", "declared", "read_only"),
    [("GET", None, True), ("GET", False, False), ("POST", None, False), ("POST", True, True)],
)
def test_what_a_source_says_counts_and_what_it_leaves_out_is_read_from_the_method(method, declared, read_only):
    protocol = replace(http("things", method), annotations=Annotations(read_only=declared))
    found = all_effects({"things": learn(protocol, [])})["things"]
    assert found.annotations.read_only is read_only
    assert found.why["read_only"]


def test_a_search_after_which_nothing_changed_only_reads():
    search = http("search_things")
    told = [(LIST, {}, [ONE]), (search, {"q": "o"}, [ONE]), (LIST, {}, [ONE])]
    assert hints(told)["search_things"] == (True, None, None)


def test_a_search_after_which_anything_changed_does_not():
    search = http("search_things")
    for later in ([ONE, TWO], [], [{**ONE, "views": 1}]):
        told = [(LIST, {}, [ONE]), (search, {"q": "o"}, [ONE]), (LIST, {}, later)]
        assert hints(told)["search_things"][0] is False


def test_a_post_that_is_not_called_a_read_is_none_whatever_reads_show():
    told = [(LIST, {}, [ONE]), (ADD, {"q": "o"}, [ONE]), (LIST, {}, [ONE])]
    assert hints(told)["add_thing"][0] is False


def test_another_write_between_makes_the_reads_worth_nothing():
    search, other = http("search_things"), http("touch_thing")
    told = [(LIST, {}, [ONE]), (other, {}, {}), (search, {"q": "o"}, [ONE]), (LIST, {}, [ONE])]
    assert hints(told)["search_things"][0] is False


def test_a_change_that_has_nothing_to_do_with_a_write_is_not_its_own():
    clock = {"now": "12:00", "up": 100}
    told = [
        (http("get_clock", "GET"), {}, clock),
        (ADD, {"name": "two"}, TWO),
        (http("get_clock", "GET"), {}, clock | {"now": "12:01"}),
    ]
    assert hints(told)["add_thing"] == (False, None, None)


@pytest.mark.parametrize(
    ("later", "wanted"),
    [
        ([ONE, TWO], (False, False, None)),  # added
        ([], (False, True, None)),  # gone
        ([{**ONE, "name": "two"}], (False, None, None)),  # altered
        ([ONE], (False, None, None)),
    ],
)
def test_what_a_read_shows_of_a_write(later, wanted):
    told = [(LIST, {}, [ONE]), (ADD, {"id": "t11", "name": "two"}, TWO), (LIST, {}, later)]
    assert hints(told)["add_thing"] == wanted


@pytest.mark.parametrize(
    ("second", "then", "idempotent"),
    [
        (TWO, [ONE, TWO], True),
        (THREE, [ONE, TWO, THREE], False),
        (THREE, [ONE, TWO], False),  # nobody shows it, but it has another id
        (409, [ONE, TWO], None),  # refused now is not refused always
    ],
)
def test_a_second_equal_call(second, then, idempotent):
    told = [(LIST, {}, [ONE]), (ADD, {"name": "two"}, TWO), (LIST, {}, [ONE, TWO])]
    told += [(ADD, {"name": "two"}, second), (LIST, {}, then)]
    assert hints(told)["add_thing"][2] is idempotent


def test_a_put_that_does_it_once_more_is_not_idempotent():
    put = http("put_thing", "PUT")
    told = [(LIST, {}, [ONE]), (put, {"name": "two"}, TWO), (LIST, {}, [ONE, TWO])]
    told += [(put, {"name": "two"}, THREE), (LIST, {}, [ONE, TWO, THREE])]
    assert hints(told)["put_thing"] == (False, False, False)


def test_a_get_that_is_called_a_write_is_one():
    assert hints([(http("delete_thing", "GET"), {}, {})])["delete_thing"][:2] == (False, True)


def test_a_thing_that_is_found_no_more_is_gone():
    get, drop = http("get_thing", "GET", "/things/{id}"), http("drop_thing", "DELETE", "/things/{id}")
    found = compare(
        *(
            Sample(number=n, tool=t.name, arguments={"id": Value("t11", Origin(kind="generated"))}, **more)
            for n, t, more in (
                (2, drop, {}),
                (1, get, {"response": ONE}),
                (3, get, {"outcome": "refused", "status": 404}),
            )
        )
    )
    assert found.removed == (ONE,)
    assert found.related
    assert found.telling


def test_what_is_only_called_like_a_read_may_have_acted():
    timeline = Timeline(world((python("get_x"), {}, 5), (LIST, {}, [ONE]), (python("get_y"), {}, {})))
    assert [timeline.acts(sample) for sample in timeline.samples] == [False, False, True]
