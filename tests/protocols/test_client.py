"""Python callables as tools, and protocols that cannot be called."""

import asyncio
import dataclasses
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pydantic
import pytest

from protocols.client import Credential, Invoker, InvokeSettings, to_json
from protocols.errors import ToolError
from protocols.protocol import Annotations, PythonBinding, ToolProtocol


def tool(name="add", *, read_only=None, binding=None):
    return ToolProtocol(
        name=name,
        annotations=Annotations(read_only=read_only),
        binding=binding or PythonBinding(module="mine", function=name),
    )


def bound(function, **options):
    return Invoker().bind(tool("f", **options), {"f": function})


def test_coroutines_and_asynchronous_generators_are_awaited():
    async def later(x):
        await asyncio.sleep(0)
        return x

    async def each(x, /, *more, last=2):
        yield x
        yield last

    assert bound(later)({"x": 1}) == 1
    assert bound(each)({"x": 1, "last": 3}) == [1, 3]


def test_unnamed_modules_are_not_run():
    call = Invoker().bind(tool(binding=PythonBinding(module="os", function="getcwd")))
    with pytest.raises(
        ToolError, match="'getcwd' of the Python module 'os', which you did not name"
    ) as caught:
        call({})
    assert caught.value.outcome == "not_run"


@pytest.mark.parametrize(
    ("read_only", "outcome"), [(True, "refused"), (False, "unknown"), (None, "unknown")]
)
def test_an_exception_is_a_tool_error(read_only, outcome):
    def fails():
        raise ValueError("no such\n airport \x1b[31m" + "x" * 2000)

    with pytest.raises(ToolError) as caught:
        bound(fails, read_only=read_only)({})
    assert caught.value.body.startswith("f: ValueError: no such airport \\x1b[31mxxx")
    assert len(caught.value.body) == 500
    assert (caught.value.status, caught.value.outcome) == (None, outcome)


def test_arguments_that_do_not_fit_run_nothing():
    ran = []
    with pytest.raises(ToolError, match="missing a required argument: 'a'") as caught:
        bound(lambda a: ran.append(a))({"b": 1})
    assert (caught.value.outcome, ran) == ("not_run", [])


def test_functions_may_fail_or_try_to_leave():
    def gone():
        raise ToolError(404, "gone")

    def leaves():
        raise SystemExit("bye")

    with pytest.raises(ToolError, match="HTTP 404: gone"):
        bound(gone)({})
    with pytest.raises(ToolError, match="SystemExit: bye"):
        bound(leaves)({})

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bound(interrupted)({})


def test_secrets_stay_out_of_messages_and_results():
    settings = InvokeSettings(credentials={"k": Credential(value="hunter2hunter2", hosts=())})

    def says(fail):
        if fail:
            raise ValueError("hunter2hunter2")
        return {"a": ["key hunter2hunter2"]}

    call = Invoker(settings).bind(tool("f"), {"f": says})
    assert call({"fail": False}) == {"a": ["key ***"]}
    with pytest.raises(ToolError, match=r"ValueError: \*\*\*"):
        call({"fail": True})


class Color(Enum):
    RED = "red"


@dataclasses.dataclass
class Leg:
    origin: str
    at: datetime


class Plane(pydantic.BaseModel):
    tail: str
    built: date


class Array:
    def tolist(self):
        return [[1.0, float("nan")]]


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (
            Leg("JFK", datetime(2013, 1, 1, 5, tzinfo=UTC)),
            {"origin": "JFK", "at": "2013-01-01T05:00:00Z"},
        ),
        (Plane(tail="N1", built=date(2001, 2, 3)), {"tail": "N1", "built": "2001-02-03"}),
        ({Color.RED: (1, 2), 3: None, True: False}, {"red": [1, 2], "3": None, "true": False}),
        (frozenset({3}), [3]),
        (Decimal("1.5"), "1.5"),
        (float("inf"), None),
        (timedelta(minutes=2), "PT2M"),
        (b"\xff\xfe", "__4="),
        ("half \ud800", "half \ufffd"),
        ((i * i for i in range(3)), [0, 1, 4]),
        (Array(), [[1.0, None]]),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_to_json(value, json):
    result = to_json(value)
    assert (result, type(result)) == (json, type(json))


def test_what_has_no_json():
    endless = []
    endless.append(endless)
    for value in (object(), endless, len, 10**5000):
        with pytest.raises(TypeError, match="the result"):
            to_json(value)
    with pytest.raises(ToolError, match="the result is a object, which is not JSON") as caught:
        bound(object)({})
    assert caught.value.outcome == "unknown"
