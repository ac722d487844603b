"""What the agents of ConAgents are told, word for word, in a run that comes by every prompt."""

from __future__ import annotations

from pathlib import Path

from atc.agent import Agent
from atc.config import Config
from atc.models.scripted import ScriptedModel
from protocols.errors import ToolError
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.test_strategies_conagents import ACCEPT, CODE, LONG, call, instruct, send_back

SNAPSHOT = Path(__file__).parent / "data" / "conagents_prompts.md"
REPLIES = (
    instruct("List the films of Lang.", "find_person", "the titles"), send_back("It lists no films.", "grounding"),
    LONG[0], ACCEPT, call("list_films", person="p7"), ACCEPT, send_back("The id is p1.", "execution"),
    LONG[2], ACCEPT, "No code.", CODE,
    instruct("Count the films of Lang (p1).", "count_films", "how many"), ACCEPT, call("count_films", person="p1"),
    ACCEPT, "There are 2.", call("finish", answer="2"),
)  # fmt: skip


def film_tools():
    def list_films(arguments):
        if arguments["person"] != "p1":
            raise ToolError(404, "there is no such person")
        return [{"title": title, "plot": "x" * 3_000} for title in ("Metropolis", "M")]

    def tool(name, call, /, **properties):
        schema = {"type": "object", "properties": properties, "required": ["person"]}
        reads = Annotations(read_only=True)
        return Tool(ToolProtocol(name=name, description=f"{name}.", input_schema=schema, annotations=reads), call)

    text, whole = {"type": "string"}, {"type": "integer"}
    return Toolbox(
        [
            tool("list_films", list_films, person=text, pages=whole),
            tool("count_films", lambda _: {"count": 2}, person=text),
            tool("find_person", dict, person=text),
        ]
    )


def written(model):
    """The prompts as one page: of each only what the one before it did not hold."""
    page, before = [], []
    for number, prompt in enumerate(model.prompts):
        page += [f"# {number}"]
        page += [f"[{message.role}]\n{message.content}" for message in prompt if message not in before]
        before = [*before, *(message for message in prompt if message.role == "system"), *prompt]
    return "\n\n".join(page) + "\n"


def test_every_prompt():
    model = ScriptedModel(*REPLIES)
    with ZygoteSandbox() as sandbox:
        agent = Agent(film_tools(), model=model, sandbox=sandbox, config=Config(strategy="conagents"))
        solution = agent.run("How many films are there of Lang?")
    assert solution.answer == "2"
    assert written(model) == SNAPSHOT.read_text(encoding="utf-8")
