"""What a model is asked when tools are expanded and queries taken apart, word for word."""

import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.document import ToolDocument
from atc.retrieve.expand import KINDS
from atc.retrieve.intents import extract

TOOL = ToolDocument(name="tides", description="High and low water at a port.", parameters={"port": "where", "day": ""})
OTHER = ToolDocument(name="ferries", description="When ferries leave.")
SHOWN = '{"name": "tides", "description": "High and low water at a port.", "parameters": ["port", "day"]}'
SYSTEM = {
    "queries": (
        "You are given the documentation of a tool as JSON. Write one message that a person sends to an "
        "assistant who has this tool, and that the assistant can only answer by using it. Reply with JSON.\n"
        "\n"
        "- The person wants something done and has never heard of the tool: the message names neither the "
        "tool nor an app, an API or a plugin.\n"
        "- Make up concrete details (places, dates, names, products, amounts), and give a value for "
        "everything that the tool needs to be told.\n"
        "- Say enough that it is clear why just this tool is needed. Be inventive: any use that the "
        "documentation allows is welcome."
    ),
    "facets": (
        "You are given the documentation of a tool as JSON. Reply with what people say to an assistant who "
        "has this tool: one message for each key of the reply, in the words of a person who wants something "
        "done and has never heard of the tool.\n"
        "\n"
        "- Each message is about another use of the tool, and its details (places, dates, names, products, "
        "amounts) are made up.\n"
        "- The assistant can only answer it by using the tool: stay with what the documentation says that the"
        " tool does.\n"
        "- No message names the tool, an app, an API or a plugin.\n"
        "\n"
        "The keys: `question` is a short question; `command` is a short order; `situation` tells of a "
        "personal situation and what would help in it; `problem` tells of something that goes wrong and asks "
        "for help; `detailed` is a long request with several wishes; `beginner` is asked by somebody who "
        "knows nothing of the subject; `keywords` are five to ten words that would be typed into a search "
        "box."
    ),
    "contrast": (
        "You are given the documentation of a tool, and of others that are easily taken for it. Reply with "
        "JSON that tells the tool from the others.\n"
        "\n"
        "- `only` says in one sentence what this tool is for and the others are not.\n"
        "- `first`, `second` and `third` are messages from people to an assistant. Each can be handled with "
        "this tool, and with none of the others. The details (places, dates, names, products, amounts) are "
        "made up.\n"
        "- No message names a tool, an app, an API or a plugin."
    ),
}
INTENTS = (
    "You read what a user says to an assistant and list what the user wants done: one short phrase for "
    "each thing that takes a tool of its own. Reply with JSON.\n"
    "\n"
    "- Keep what says which tool is needed: the subject, the place, the kind of thing, conditions.\n"
    "- Leave out greetings, feelings and background that change nothing about the task.\n"
    '- Each phrase is understood without the others: put names in the place of "it" and "there".\n'
    "- One thing stays one phrase, however many conditions it has. Add nothing that the user did not ask "
    "for."
)


@pytest.mark.parametrize("kind", ["queries", "facets", "contrast"])
def test_the_model_is_told_what_to_write(kind):
    system, *example, last = KINDS[kind].messages(TOOL, others=[OTHER])
    assert system.content == SYSTEM[kind]
    assert [message.role for message in example] == ["user", "assistant"]
    others = (
        "These tools are easily taken for it, and are not meant:\n"
        '{"name": "ferries", "description": "When ferries leave."}'
        f"\n\nThis tool is meant:\n{SHOWN}"
    )
    assert last.content == (others if kind == "contrast" else SHOWN)


def test_what_was_written_is_kept_under_these_versions():
    """A prompt, example or schema that changes has every tool expanded anew: change these only with intent."""
    versions = {name: kind.version for name, kind in KINDS.items()}
    assert versions == {"queries": "618c462431de", "facets": "171b6ddf7e9e", "contrast": "8855a96b4ff4"}


def test_a_nameless_prompt_leaves_out_name_and_title():
    [*_, last] = KINDS["queries"].messages(TOOL, unnamed=True)
    assert last.content == '{"description": "High and low water at a port.", "parameters": ["port", "day"]}'


def test_the_intent_extractor_is_told_what_to_list():
    model = ScriptedModel('{"intents": ["high water in Dover"]}')
    extract("When is high water in Dover?", model)
    system, *examples, last = model.prompts[0]
    assert system.content == INTENTS
    assert len(examples) == 6
    assert last.content == "When is high water in Dover?"
