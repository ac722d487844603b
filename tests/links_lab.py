"""Services in this process to probe for links: tools are functions, and each call's fate is known."""

from itertools import islice

from probing.facts import ArgumentFacts, ToolFacts, place_of
from probing.links import link_tests, observed_links
from probing.pools import Pools
from probing.sample import Origin, Sample, Value
from probing.shape import text_of
from protocols.protocol import Annotations, HttpBinding, ToolProtocol


class Refused(Exception):
    """The value of this argument is wrong."""


class Missing(Exception):
    """There is no such thing as this argument names."""


class Service:
    """Tools in this process, the calls made so far and what is known from them."""

    def __init__(self, **tools):
        self.functions = {name: function for name, (_, function) in tools.items()}
        self.protocols = {name: protocol(name, path, function) for name, (path, function) in tools.items()}
        self.pools = Pools(self.protocols.values())
        self.samples = []
        self._fate = {}

    def call(self, tool, **arguments):
        given = {n: v if isinstance(v, Value) else Value(v, Origin(kind="generated")) for n, v in arguments.items()}
        outcome = {"outcome": "done"}
        try:
            outcome["response"] = self.functions[tool](**{name: value.value for name, value in given.items()})
        except (Refused, Missing) as error:
            fate = "refused" if isinstance(error, Refused) else "not_found"
            outcome = {"outcome": "refused", "status": 422 if fate == "refused" else 404}
            self._fate.setdefault((tool, error.args[0]), []).append((fate, given[error.args[0]]))
        sample = Sample(number=len(self.samples) + 1, tool=tool, arguments=given, **outcome)
        self.samples.append(sample)
        self.pools.add(sample)
        return sample

    def from_path(self, tool, argument, path, **others):
        """Call with a value of a response: `list_users users[].id`."""
        place = self.pools.place(*path.split())
        value = next(v for t, v in place.values.items() if (tool, argument, t) not in self._tried())
        return self.call(tool, **{argument: value}, **others)

    @property
    def facts(self):
        return {name: self._facts(protocol) for name, protocol in self.protocols.items()}

    @property
    def links(self):
        return observed_links(self.facts, self.pools)

    def found(self, consumer=None):
        return {
            (one.consumer, one.link.argument, one.link.tool, one.link.path)
            for one in self.links
            if consumer in (None, one.consumer)
        }

    def test_links(self, rounds=2, each=3):
        for _ in range(rounds):
            for name in self.protocols:
                for test in list(islice(link_tests(self.facts, self.pools, tools=[name]), each)):
                    self.call(name, **test.arguments)

    def _tried(self):
        return {(s.tool, name, text_of(v.value)) for s in self.samples for name, v in s.arguments.items()}

    def _facts(self, protocol):
        mine = tuple(sample for sample in self.samples if sample.tool == protocol.name)
        arguments = {}
        for name in protocol.parameters:
            taken = {repr(s.arguments[name].value): s.arguments[name] for s in mine if s.done and name in s.arguments}
            fates = self._fate.get((protocol.name, name), [])
            arguments[name] = ArgumentFacts(
                name=name,
                place=place_of(protocol, name),
                required=name in protocol.required,
                accepted=tuple(taken.values()),
                refused=tuple(value for fate, value in fates if fate == "refused"),
                not_found=tuple(value for fate, value in fates if fate == "not_found"),
            )
        return ToolFacts(protocol=protocol, samples=mine, arguments=arguments)


def protocol(name, path, function):
    """A bare description of a function at a path: its arguments by name."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    optional = names[len(names) - len(function.__defaults__ or ()) :]
    return ToolProtocol(
        name=name,
        input_schema={
            "type": "object",
            "properties": {n: {} for n in names},
            "required": [n for n in names if n not in optional],
        },
        annotations=Annotations(read_only=True),
        binding=HttpBinding(method="GET", url=f"https://a.example{path}"),
    )


def pick(table, key, argument):
    """The thing of that key; `Missing` by the argument's name where there is none."""
    if key not in table:
        raise Missing(argument)
    return table[key]
