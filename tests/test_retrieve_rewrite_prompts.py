"""What a model is asked when a query is expanded, word for word."""

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.rewrite import METHODS
from atc.retrieve.rewrite.opening import opening

QUERY = "Is there a night train from Vienna to Zürich on Friday?"
SHOWN = [
    ToolDocument(name="find_trains", description="Trains between\ntwo stations.", parameters={"origin": "", "day": ""}),
    ToolDocument(name="book_hotel", title="Hotel booking"),
]
TOOL = (
    "You design tools (APIs) for an assistant. You are given a user's request. Think of the tools that the assistant "
    "needs to fulfil it, and describe one of them.\n\n"
    "Describe what the tool does in general, not this one request: no names, dates or places of the request. Reply "
    'with a JSON object: "name" (short), "description" (one or two sentences on what it is for), "parameters" (the '
    "names of its arguments)."
)
TOOL_FEEDBACK = TOOL.replace(
    "a user's request. Think of the tools that the assistant needs to fulfil it,",
    "a user's request, and tools that a search found for it; some of them may be what is needed, others are not. "
    "Think of the tools that the assistant needs to fulfil the request,",
)
SEARCH = (
    "You search a library of tools (APIs) for those that an assistant needs to fulfil a user's request. Rewrite the "
    "request as a search query that covers every tool that could be needed.\n\n"
    "A good search query says what the tools do, in the words that their documentation would use, and leaves out what "
    'only this request is about. Reply with a JSON object: "search" is a list of one to six short phrases, one for '
    "each thing that a tool must do."
)
SEARCH_FEEDBACK = SEARCH.replace(
    "request. Rewrite",
    "request. You are given the request, and tools that a first search found; some of them may be what is needed, "
    "others are not. Rewrite",
)
FOUND = """\
Tools found:
- find_trains: Trains between two stations. (parameters: origin, day)
- book_hotel: Hotel booking

Request: Is there a night train from Vienna to Zürich on Friday?"""


@pytest.mark.parametrize(
    ("method", "shown", "system", "asked"),
    [
        ("hyde", [], TOOL, f"Request: {QUERY}"),
        ("q2d", [], TOOL, f"Request: {QUERY}"),
        ("q2e", [], SEARCH, f"Request: {QUERY}"),
        ("hyde-prf", SHOWN, TOOL_FEEDBACK, FOUND),
        ("q2d-prf", SHOWN, TOOL_FEEDBACK, FOUND),
        ("q2e-prf", SHOWN, SEARCH_FEEDBACK, FOUND),
    ],
)
def test_the_prompt_of_a_method(method, shown, system, asked):
    messages = opening(METHODS[method], QUERY, shown)
    assert [(message.role, message.content) for message in messages] == [("system", system), ("user", asked)]


def test_the_prompt_with_an_example():
    system, request, answer, asked = opening(METHODS["hyde-1shot"], QUERY, [])
    assert system.content == TOOL
    assert request.content == (
        "Request: My grandmother in Lisbon turns ninety in May. Could you send her a bouquet of white lilies with a "
        "card, so that it arrives on the morning of her birthday?"
    )
    assert answer.role == "assistant"
    assert answer.content == (
        '{"name": "order_flowers", "description": "Order flowers or a gift from a florist and have it delivered to an '
        'address on a chosen date, with an optional message card.", "parameters": ["bouquet", "recipient_name", '
        '"delivery_address", "delivery_date", "time_of_day", "card_message"]}'
    )
    assert asked.content == f"Request: {QUERY}"
