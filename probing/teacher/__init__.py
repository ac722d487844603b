"""What a model contributes to probing (§4 of the ATC paper): instances, values, helpers and words. Never a type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from probing.facts import ArgumentFacts, ToolFacts
from probing.gate.caller import Caller
from probing.log import Log
from probing.prompts import fill
from probing.teacher.instance import Instance, from_note, holds, read_reply, run_instance, to_note
from probing.teacher.messages import conversation, evidence, titled, told
from probing.teacher.presented import given, inert, presented, seen, values_at
from probing.teacher.replies import Replies
from probing.teacher.selection import MOST_HELPERS, feeding, line, linked, listed, private
from probing.teacher.selection import reply_schema as choice
from probing.teacher.suggestion import MOST_VALUES, usable
from probing.teacher.suggestion import reply_schema as proposal
from probing.teacher.words import Words, wanted
from protocols.ask import Ask
from protocols.jsontypes import Json, JsonObject
from protocols.links import guess_links
from protocols.protocol import ToolProtocol
from protocols.render import stubs_within
from protocols.schema import resolve, types
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.errors import SandboxUnavailable

_STUBS = 450
"""Tokens of stubs in one prompt: with all that stands around them it stays below 1,500."""


class Teacher:
    """Asks a model about tools. Where the model or the sandbox fails, each question has an empty answer.

    Every reply is kept in the log. What a tool said reaches the model as quoted data, and all that a model can do with
    it is to write a program whose calls go through the Caller, or a text that is stripped to one plain line.
    """

    def __init__(self, ask: Ask, sandbox: Sandbox | None, caller: Caller, toolbox: Toolbox, log: Log) -> None:
        self._sandbox, self._caller, self._toolbox, self._log = sandbox, caller, toolbox, log
        self._replies = Replies(ask, log)
        self._aliases = {tool.protocol.name: alias for alias, tool in toolbox.items()}
        self._sandbox_failed = ""
        self._presented: dict[str, tuple[int, ToolProtocol]] = {}

    @property
    def failed(self) -> str:
        """Why the model, or the sandbox, was of no use last; empty while they are."""
        return self._sandbox_failed or self._replies.failed

    @property
    def asked(self) -> int:
        """How many questions were put to the model, those answered from the log not counted."""
        return self._replies.asked

    def instances(self, tool: str) -> tuple[Instance, ...]:
        """All instances of a tool that were tried, those of earlier probings of the same folder included."""
        found: list[Instance] = []
        while (note := self._log.notes.get(_instance_key(tool, len(found)))) is not None:
            found.append(from_note(note))
        return tuple(found)

    def instance(self, tool: ToolFacts, helpers: Sequence[ToolFacts], *, round: int) -> Instance | None:  # noqa: A002
        """One attempt at instance discovery (I_p): a question and a program, run over `tool` and `helpers`.

        The first is the model's best; each later one is told what the last one ran into, and drawn at random. None
        where there is no model or no sandbox.
        """
        if self._sandbox is None or self._sandbox_failed:
            return None
        earlier = self.instances(tool.name)
        facts = [tool, *helpers]
        tools = self._tools(facts)
        text, tools = stubs_within(tools, budget=_STUBS)
        facts = [one for one in facts if one.name in {known.protocol.name for known in tools.values()}]
        reply = self._replies.text(
            conversation(self._aliases[tool.name], text, self._seen(tools, facts), earlier[-1:]),
            temperature=0.7 if earlier else 0.0,
            seed=len(earlier),
            max_tokens=320,
        )
        if reply is None:
            return None
        shown = [sample for one in facts for sample in one.samples]
        try:
            instance = run_instance(
                read_reply(reply), tool.name, tools,
                shown=shown, sandbox=self._sandbox, caller=self._caller, round=round,
            )  # fmt: skip
        except SandboxUnavailable as error:
            self._sandbox_failed = str(error)
            return None
        self._log.note(_instance_key(tool.name, len(earlier)), to_note(instance))
        return instance

    def holds(self, instance: Instance, protocols: Mapping[str, ToolProtocol]) -> bool:
        """Whether an instance's program runs over `protocols` (by tool) as it ran when it was proposed.

        They say more than was known then, such as that a response has a single field, which programs do not see. No
        call is made: each is answered from the log.
        """
        if self._sandbox is None or self._sandbox_failed or not instance.worked:
            return False
        made = {sample.tool for sample in self._log.samples if sample.number in instance.samples}
        tools = self._toolbox.only(self._aliases[name] for name in sorted(made | {instance.tool}))
        tools = tools.map(lambda tool: replace(tool, protocol=protocols.get(tool.protocol.name, tool.protocol)))
        try:
            return holds(instance, tools, self._log, self._sandbox)
        except SandboxUnavailable as error:
            self._sandbox_failed = str(error)
            return False

    def select(self, tool: ToolFacts, probed: Sequence[ToolFacts]) -> list[str]:
        """Names of at most four probed tools that may give what `tool` needs (I_s), the best first.

        Those that have given it what it took go first, then those that links name. The model is asked only for
        arguments that nothing links to a response.
        """
        needed = private(tool)
        others = [self._known(facts) for facts in probed if facts.name != tool.name]
        known = {other.name for other in others}
        found = [name for name in feeding(tool) if name in known]
        if not needed or not others:
            return found[:MOST_HELPERS]
        mine = self._known(tool)
        by_links = linked(mine, [argument.name for argument in needed], others)
        found += [name for names in zip_longest(*by_links.values()) for name in names if name is not None]
        unlinked = [argument.name for argument in needed if argument.name not in by_links]
        if unlinked and len(set(found)) < MOST_HELPERS:
            shown = listed(mine, [other for other in others if other.name not in found])
            asked = fill(
                "select_task",
                tool=titled(mine),
                arguments=", ".join(map(inert, unlinked)),
                others="\n".join(map(line, shown)),
            )
            names = [other.name for other in shown]
            reply = self._replies.json(told("select", asked, most=MOST_HELPERS), schema=choice(names), max_tokens=120)
            chosen = reply.get("functions") if isinstance(reply, dict) else None
            found += [name for name in chosen if name in names] if isinstance(chosen, list) else []
        return list(dict.fromkeys(found))[:MOST_HELPERS]

    def suggest(self, tool: ToolFacts, argument: ArgumentFacts) -> list[Json]:
        """At most five values of an argument that were not tried yet, each valid under what is known of it.

        Of what was proposed before, what is left; the model is asked when nothing is.
        """
        protocol = self._known(tool)
        schema = resolve(protocol.parameters.get(argument.name, {}), protocol.input_schema)
        if "enum" in schema or "const" in schema or {"object", "boolean"} & set(types(schema)):
            return []  # other sources have all of its values, or better ones
        kept = f"values of {argument.name} of {tool.name}"
        proposed: list[Json] = self._log.notes.get(kept, [])
        if left := list(usable(proposed, argument, schema)):
            return left[:MOST_VALUES]
        reply = self._replies.json(
            told("suggest", self._about(tool, argument), most=MOST_VALUES), schema=proposal(schema), max_tokens=160
        )
        values = reply.get("values") if isinstance(reply, dict) else None
        found = list(usable(values if isinstance(values, list) else (), argument, schema))[:MOST_VALUES]
        if found:
            self._log.note(kept, [*proposed, *found])
        return found

    def words(self, facts: ToolFacts, schema: JsonObject | None) -> Words:
        """What the tool, its arguments and the fields of its response (its `schema`) mean, as far as nobody said."""
        missing = wanted(facts, schema)
        if not missing or not facts.done:
            return Words()
        protocol = facts.protocol
        arguments = (
            evidence(name, given(facts, facts.arguments[name])[:3]) for name in missing.arguments or facts.arguments
        )
        fields = (evidence(path, values_at(protocol, facts.done, path)) for path in missing.fields)
        asked = fill(
            "words_task",
            tool=titled(protocol),
            arguments="\n".join(arguments) or "none",
            fields="\n".join(fields) or "none",
        )
        room = 60 + 30 * (len(missing.arguments) + len(missing.fields))
        reply = self._replies.json(told("words", asked), schema=missing.schema(), max_tokens=room)
        return missing.read(reply, tool=facts.name)

    def _about(self, tool: ToolFacts, argument: ArgumentFacts) -> str:
        """What is asked about one argument."""
        tools = self._tools([tool])
        text, _ = stubs_within(tools, budget=_STUBS)
        tried = [
            f"{said}: {', '.join(values)}"
            for said, values in (
                ("Accepted before", given(tool, argument)[-5:]),
                ("Led to nothing", given(tool, argument, accepted=False)[-8:]),
            )
            if values
        ]
        return fill(
            "suggest_task",
            stub=text,
            seen=self._seen(tools, [tool]),
            argument=inert(argument.name),
            known="\n".join(tried) or "No value is known.",
        )

    def _known(self, facts: ToolFacts) -> ToolProtocol:
        """See `presented`; made anew when there are more samples."""
        kept = self._presented.get(facts.name)
        if kept is None or kept[0] != len(facts.samples):
            kept = self._presented[facts.name] = len(facts.samples), presented(facts)
        return kept[1]

    def _tools(self, facts: Iterable[ToolFacts]) -> Toolbox:
        """The tools as they are known, with links between them."""
        linked_up = {protocol.name: protocol for protocol in guess_links([self._known(one) for one in facts])}
        chosen = self._toolbox.only(self._aliases[name] for name in linked_up)
        return chosen.map(lambda tool: replace(tool, protocol=linked_up[tool.protocol.name]))

    def _seen(self, tools: Toolbox, facts: Sequence[ToolFacts]) -> str:
        """What was seen of the first tool, its refusals too, and of the others a response each."""
        lines: list[str] = []
        for number, one in enumerate(facts):
            lines += seen(tools[self._aliases[one.name]], one.samples, refusals=0 if number else 3)
        return "\n".join(lines) or "- nothing yet"


def _instance_key(tool: str, number: int) -> str:
    return f"instance {number} of {tool}"
