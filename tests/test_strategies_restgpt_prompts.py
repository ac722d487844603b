"""What RestGPT's planner, selector, caller and parser are told, word for word."""

from __future__ import annotations

from importlib.resources import files

from atc.strategies.restgpt_parts import prompts

PROMPTS = {
    "call": (
        "You carry out one step of a plan by calling the functions that were picked for it.\n"
        "\n"
        "Rules:\n"
        '- Each reply is one JSON object and nothing else: {"name": NAME, "arguments": {…}}\n'
        "- NAME is one of the given functions. Take the values of its arguments from the plan and the "
        "background, ids letter by letter. Leave optional arguments out where the plan does not need them.\n"
        "- `$instructions` is not sent: it says what is to be read from the response, in words as exact as "
        "the plan's, conditions and order included.\n"
        "- You are told what was read from the response. If the call failed and another would do better, "
        "make it.\n"
        '- As soon as the plan is carried out, or cannot be, reply with {"name": "$result", "arguments": '
        '{"text": "…"}}. The text names the function that was called, what for, and what came out of it, '
        "with every name and id: nobody sees more than that.\n"
        "- Do what the plan says and nothing else."
    ),
    "call_error": ("That call was not made. $error"),
    "call_response": ("Response: $response"),
    "call_task": ("Functions:\n\n```python\n$functions\n```\n\nBackground:\n$background\n\nPlan: $plan"),
    "parse_code": (
        "You write a few lines of Python that get one piece of information out of an API's response.\n"
        "\n"
        "The response is in the variable `data`: what this function returned.\n"
        "\n"
        "```python\n"
        "$function\n"
        "```\n"
        "\n"
        "It was called as $call\n"
        "The response is about: $about$sample\n"
        "\n"
        "Wanted: $wanted\n"
        "\n"
        "Rules:\n"
        "- Use `data`, and only with keys that are declared; do not define it, and call no function of the "
        "API.\n"
        "- Conditions of what is wanted (a role, a year, the most, the first) become conditions of the code. "
        "What the call itself asked for is fulfilled by the response, and is not tested again.\n"
        "- Print the result in one short sentence that names what it is, with names and ids. A list is "
        "printed on one line.\n"
        "- A value that may be None must be tested before it is compared or added.\n"
        "- Reply with one ```python block and nothing else."
    ),
    "parse_read": (
        "An API was called as $call, for: $about\n"
        "\n"
        "Its response:\n"
        "$data\n"
        "\n"
        "Wanted: $wanted\n"
        "\n"
        "Say what is wanted in one short sentence, with names and ids, and nothing that does not stand in "
        "the response. If it holds no such thing, say what it holds instead; if it tells of an error, say "
        "which."
    ),
    "parse_sample": ("The beginning of `data`:\n$data"),
    "plan": (
        "You plan how a request is fulfilled by APIs that you do not see. You say in plain words what is to "
        "be done next, one step at a time; somebody else picks and calls the API for it, and tells you what "
        "came of it.\n"
        "\n"
        "Rules:\n"
        "- A step is one sentence, as specific as what is known allows: write names and ids that you were "
        'told ("the books of Ursula K. Le Guin (a17)"), not "this author". What is to be filtered, sorted or '
        "counted belongs into the step.\n"
        "- Read what was called. If it did not yet fulfil your step, write `Continue.` and what is left of "
        "the step, so that another API is called for it. If it went wrong, plan another way.\n"
        "- Plan nothing that is done already, and never write an API response yourself.\n"
        "- As soon as the request is fulfilled, write a line that begins with `Final Answer:`, and behind it "
        "the answer alone, as a bare value without a sentence around it.\n"
        "\n"
        "An example:\n"
        "\n"
        "User query: Which publisher brought out the longest book that Ursula Le Guin published in 1974?\n"
        "Plan step 1: find the longest book that Ursula Le Guin published in 1974\n"
        "API response: search_authors was called for the author. The id of Ursula K. Le Guin is a17.\n"
        "Plan step 2: Continue. Find the longest book that Ursula K. Le Guin (a17) published in 1974\n"
        "API response: list_books was called for her books of 1974. The longest is The Dispossessed (341 "
        "pages), its publisher_id is p4.\n"
        "Plan step 3: get the name of the publisher p4\n"
        "API response: get_publisher was called for p4. Its name is Harper & Row.\n"
        "Thought: I have what was asked for.\n"
        "Final Answer: Harper & Row"
    ),
    "plan_next": ("Write plan step $step, or the line `Final Answer:` if the request is fulfilled."),
    "plan_none": ("nothing was called: there was no step in that reply."),
    "plan_result": ("API response: $result"),
    "plan_task": ("User query: $task\nWrite plan step 1."),
    "select": (
        "You pick the API for one step of a plan. Somebody else calls it, reads its response, and can filter "
        "and sort what it holds.\n"
        "\n"
        "APIs:\n"
        "$apis\n"
        "\n"
        "Rules:\n"
        "- Use no API that is not listed.\n"
        "- Most steps need one API; name several only if the step needs their responses together.\n"
        "- If the step needs an id that is neither in it nor in the background, pick the API that gives the "
        "id: the step is continued afterwards. Never make an id up.\n"
        "- What is in the background is known: do not ask for it again.\n"
        "- If the background fulfils the step already, no API is called.\n"
        "\n"
        "Each reply is one JSON object and nothing else, one of these:\n"
        '{"name": "call_apis", "arguments": {"apis": ["…"], "plan": "what to call it for: with which ids and '
        'values of the background, and what to get out of its response"}}\n'
        '{"name": "no_call", "arguments": {"result": "what the step asks for, from the background"}}'
    ),
    "select_error": ("That cannot be done. $error Reply again, in the same form."),
    "select_next": ("API response: $result\n\nThe step is not fulfilled yet. Instruction: $step"),
    "select_task": ("Background:\n$background\n\nStep: $step"),
}


def test_every_prompt_reads_as_it_is_meant_to() -> None:
    found = {file.name.removesuffix(".md"): file for file in files(prompts).iterdir() if file.name.endswith(".md")}
    assert {name: file.read_text(encoding="utf-8").strip() for name, file in sorted(found.items())} == PROMPTS
