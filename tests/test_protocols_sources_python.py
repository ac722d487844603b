"""Classes and objects of a module as sources: their public methods share one instance."""

import textwrap

import pytest

from protocols.errors import SourceUnavailable
from protocols.protocol import Annotations, PythonBinding
from protocols.sources import load_source, load_tools

BANK = '''
    from functools import cached_property

    class Base:
        def balance(self) -> int:
            """What there is.

            read_only = True
            """
            return self._cents

    class Account(Base):
        limit = 5
        def __init__(self, cents: int = 100):
            self._cents = cents

        def pay(self, cents: int, to: str = "bob") -> dict[str, int]:
            """Pay somebody.

            Args:
                cents (int): how much
                to (str): [Optional] whom
            """
            self._cents -= cents
            return {"left": self._cents}

        @staticmethod
        def rate(currency: str) -> float:
            return 1.5

        @classmethod
        def known(cls) -> list[str]:
            return [cls.__name__]

        @property
        def secret(self):
            raise RuntimeError("a property is no tool, and is not even read")

        @cached_property
        def lazy(self):
            raise RuntimeError("neither is this one")

        def stream(self):
            yield 1

        def _hidden(self): pass

    class Needy:
        def __init__(self, key): pass
        def f(self): pass

    class Empty: pass

    mine = Account(7)
'''


@pytest.fixture
def bank(tmp_path):
    file = tmp_path / "bank.py"
    file.write_text(textwrap.dedent(BANK))
    return str(file)


def test_public_methods_are_tools_of_one_instance(bank):
    loaded = load_source(f"{bank}:Account")
    box = loaded.tools
    assert (loaded.name, loaded.kind) == ("Account", "python")
    assert list(box) == ["balance", "pay", "rate", "known"]
    pay = box["pay"].protocol
    assert pay.binding == PythonBinding(module="bank:Account", function="pay")
    assert pay.parameters["cents"] == {"type": "integer", "description": "how much"}
    assert (pay.required, pay.description) == ({"cents"}, "Pay somebody.")
    assert box["balance"].protocol.annotations == Annotations(read_only=True)
    assert pay.writes
    assert box["pay"].call({"cents": 30}) == {"left": 70}
    assert box["balance"].call({}) == 70, "all calls share the instance"
    assert box["known"].call({}) == ["Account"]
    assert load_tools(f"{bank}:Account")["balance"].call({}) == 100, "loaded anew it is another one"


def test_an_object_of_the_module_is_taken_as_it_is(bank):
    assert load_tools(f"shop={bank}:mine")["balance"].call({}) == 7


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("", "defines no public functions; a tool is one of these. For the methods of a class name it: '{0}:Base'."),
        (":Nothing", "the module has no public 'Nothing'; its classes are: Base, Account, Needy, Empty."),
        (":_Account", "has no public '_Account'"),
        (":Needy", "an instance cannot be made without arguments: TypeError"),
        (":Empty", "has no public methods"),
    ],
)
def test_what_cannot_be_a_source_says_why(bank, member, message):
    with pytest.raises(SourceUnavailable) as caught:
        load_tools(f"{bank}{member}")
    assert message.format(bank) in str(caught.value)


def total(prices: list[float], tax: float = 0.2) -> float:
    """The sum of prices with tax.

    Args:
        prices: what each thing costs

    read_only = True
    """
    return sum(prices) * (1 + tax)


def greet(name: str) -> str:
    """A greeting."""
    return f"Hello {name}"


def test_functions_are_sources_alone_and_in_lists_beside_others(bank):
    (tool,) = load_tools(total).values()
    assert (tool.alias, tool.protocol.writes, tool.protocol.required) == ("total", False, {"prices"})
    assert tool.protocol.parameters["prices"]["description"] == "what each thing costs"
    assert tool.call({"prices": [1, 2], "tax": 0}) == 3
    box = load_tools([total, greet, f"{bank}:Account"])
    assert {"total", "greet", "balance"} <= set(box)
    assert box["greet"].call({"name": "Ada"}) == "Hello Ada"


@pytest.mark.parametrize("source", [lambda x: x, print, 5])
def test_what_is_no_plain_function_is_refused(source):
    with pytest.raises(SourceUnavailable, match=r"no plain function|no tool source"):
        load_tools(source)
