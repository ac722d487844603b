"""What a model contributes to probing: instances, values, helpers; and what it cannot do."""

import re
import threading
from dataclasses import replace

import pytest

from atc.models.scripted import ScriptedModel
from probing.sample import Origin, Value
from probing.teacher import Teacher
from probing.teacher.instance import from_note, read_reply, to_note
from protocols.errors import ModelUnavailable, ToolError
from protocols.protocol import PythonBinding
from protocols.render import token_estimate
from sandbox.trusted import TrustedSandbox
from tests.probing_library import TOKEN, Library

BOOKS = """\
Question: Which books did Ursula Le Guin publish in 1974?
```python
authors = search_authors(name="Ursula")
print(list_books(author_id=authors[0]["author_id"], year=1974))
```
"""


def program(*lines):
    return "Question: What is there?\n```python\n" + "\n".join(lines) + "\n```"


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    yield library
    library.log.close()


@pytest.fixture(scope="module")
def sandbox():
    with TrustedSandbox(say=lambda text: None) as sandbox:
        yield sandbox


@pytest.fixture
def teach(library, sandbox):
    def teach(*replies):
        model = ScriptedModel(*replies)
        return model, Teacher(model, sandbox, library.caller, library.toolbox, library.log)

    return teach


def attempt(library, teacher, tool="list-books", helpers=("search-authors",)):
    return teacher.instance(library.facts(tool), [library.facts(name) for name in helpers], round=1)


def prompt(model, number=-1):
    return "\n".join(message.content for message in model.prompts[number])


def test_a_proposed_program_finds_the_id_that_the_tool_needs(library, teach):
    library.sample("search-authors", name="Borges")
    _, teacher = teach(BOOKS)
    instance = attempt(library, teacher)
    assert instance.worked
    assert instance.question == "Which books did Ursula Le Guin publish in 1974?"
    assert [sample.number for sample in library.log.samples][1:] == list(instance.samples) == [2, 3]
    found = library.log.samples[-1]
    assert (found.purpose, found.round, found.done) == ("model", 1, True)
    assert found.arguments["author_id"].origin == Origin(
        kind="response", tool="search-authors", path="[].author_id", sample=2
    )
    assert found.arguments["year"].origin == Origin(kind="model")
    assert library.facts("list-books").done == (found,)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (program("print(list_books(author_id="), "SyntaxError"),
        ("I would rather not.", "no program"),
        (program("print(search_authors(name='Ursula'))"), "did not call list_books"),
        (program("print(list_books(author_id='a17')['pages'])"), "KeyError"),
        (program("print(list_books(author_id='zz'))"), "no author"),
        (program("try:\n    list_books(author_id='zz')\nexcept ToolError:\n    pass"), "no author"),
        (program("print(list_books(writer='a17'))"), "no argument 'writer'"),
        (program("print(search_authors(name='nobody'))\nlist_books(author_id='none')"), "no author"),
        (program("while True:\n    list_books(author_id='a17')"), "tool_calls"),
    ],
)
def test_an_attempt_that_does_not_work_says_why(library, teach, reply, error):
    _, teacher = teach(reply)
    instance = attempt(library, teacher)
    assert not instance.worked
    assert error in instance.error
    assert "\n" not in instance.error
    assert teacher.instances("list-books") == (instance,)
    assert from_note(to_note(instance)) == instance


def test_the_next_attempt_is_told_what_the_last_one_taught(library, teach):
    model, teacher = teach(program("list_books(author_id='zz')"), BOOKS)
    first = attempt(library, teacher)
    assert attempt(library, teacher).worked
    assert "list_books(author_id='zz') failed: HTTP 404: no author" in prompt(model)
    assert model.prompts[1][-2].content.endswith(first.program + "```")
    assert [(o["temperature"], o["seed"]) for o in model.options] == [(0.0, 0), (0.7, 1)]


def test_what_was_wrong_on_purpose_is_no_example(library, teach):
    """A service that takes anything answers wrong values too."""
    library.sample("search-authors", name="Borges")
    wrong = {"name": Value("e", Origin(kind="generated"))}
    library.caller.call("search-authors", wrong, purpose="refuse")
    model, teacher = teach(BOOKS)
    attempt(library, teacher, "search-authors", ())
    shown = model.prompts[0][-1].content
    assert "search_authors(name='Borges') gave" in shown
    assert "name: such as 'Borges'" in shown
    assert "'e'" not in shown


def test_an_error_in_the_program_alone_is_told_too(library, teach):
    model, teacher = teach(program("print(undefined)"), BOOKS)
    attempt(library, teacher)
    attempt(library, teacher)
    assert "NameError" in model.prompts[1][-1].content


def test_a_call_is_never_repeated(library, teach):
    library.sample("list-books", author_id="a17")
    _, teacher = teach(program("for _ in range(9):\n    list_books(author_id='a17')"))
    assert attempt(library, teacher).worked
    assert library.calls == [("list-books", {"author_id": "a17"})]


def test_the_budget_holds_for_programs_too(tmp_path, sandbox):
    library = Library(tmp_path, per_tool=2)
    model = ScriptedModel(program("for n in range(9):\n    list_books(author_id='a17', year=n)"))
    instance = attempt(library, Teacher(model, sandbox, library.caller, library.toolbox, library.log))
    library.log.close()
    assert len(library.calls) == 2
    assert not instance.worked
    assert "spent" in instance.error


def test_after_the_run_no_call_is_made(library):
    """A run that ended at a limit may leave a thread behind that is about to call."""

    class Leaky(TrustedSandbox):
        def run(self, source, tools, *, limits, journal):
            self.tools = tools
            return super().run(source, tools, limits=limits, journal=journal)

    sandbox = Leaky(say=lambda text: None)
    teacher = Teacher(ScriptedModel(BOOKS), sandbox, library.caller, library.toolbox, library.log)
    assert attempt(library, teacher).worked
    made = len(library.calls)
    with pytest.raises(ToolError, match="over"):
        sandbox.tools["list_books"].call({"author_id": "a3"})
    assert len(library.calls) == made


def test_calls_are_made_one_by_one_on_the_thread_that_waits(library, teach):
    threads = []

    def answer(given):
        threads.append(threading.current_thread())
        return {"n": given["n"]}

    library.add("count", answer, "/count", "n")
    _, teacher = teach(
        program(
            "import asyncio",
            "results = await asyncio.gather(*(asyncio.to_thread(count, n=n) for n in range(5)))",
            "print(sum(result['n'] for result in results))",
        )
    )
    assert attempt(library, teacher, "count", ()).worked
    assert threads == [threading.main_thread()] * 5


def test_arguments_that_nobody_named_may_be_guessed(library, teach):
    library.add("weather", lambda given: {"days": [given["city"]]}, "/weather")
    model, teacher = teach(program("print(weather(city='Oslo'))"), program("print(weather(town='Oslo'))"))
    assert attempt(library, teacher, "weather", ()).worked
    assert "its arguments are not known" in prompt(model)
    assert library.calls == [("weather", {"city": "Oslo"})]
    assert "no argument 'town'" in attempt(library, teacher, "weather", ()).error


def test_an_answer_with_nothing_in_it_has_not_worked(library, teach):
    _, teacher = teach(program("search_authors(name='nobody')"))
    instance = attempt(library, teacher, "search-authors", ())
    assert not instance.worked
    assert "found nothing" in instance.error
    assert len(instance.samples) == 1


def test_a_function_that_hangs_is_stopped(tmp_path, sandbox):
    library = Library(tmp_path, timeout_seconds=0.2)
    library.add("hang", lambda given: threading.Event().wait(), "/hang")
    library._tools[-1] = replace(
        library._tools[-1],
        protocol=replace(library._tools[-1].protocol, binding=PythonBinding(module="m", function="f")),
    )
    model = ScriptedModel(program("hang()"))
    instance = attempt(library, Teacher(model, sandbox, library.caller, library.toolbox, library.log), "hang", ())
    library.log.close()
    assert "no result within 0.2 s" in instance.error


def test_ctrl_c_during_a_call_reaches_whoever_waits(library, teach):
    def answer(given):
        raise KeyboardInterrupt

    library.add("slow", answer, "/slow")
    _, teacher = teach(program("slow()"))
    with pytest.raises(KeyboardInterrupt):
        attempt(library, teacher, "slow", ())


@pytest.mark.parametrize("helpers", [(), ("delete-all",)])
@pytest.mark.parametrize("caught", [True, False])
def test_an_order_in_a_response_reaches_no_tool_that_the_caller_refuses(library, teach, helpers, caught):
    """The worst case: the model does what the response says."""
    library.sample("read-notice")
    obeying = ["try:", "    delete_all()", "except BaseException:", "    pass"] if caught else ["delete_all()"]
    model, teacher = teach(program(*obeying, "print(read_notice())"))
    instance = attempt(library, teacher, "read-notice", helpers)
    assert [name for name, _ in library.calls] == ["read-notice"]
    assert instance.worked == caught
    shown = model.prompts[0][-1].content
    quoted = [line for line in shown.splitlines() if "delete_all" in line and not line.startswith("def ")]
    assert len(quoted) == 1, "the order stays within the one line that quotes it"
    assert quoted[0].startswith("- read_notice() gave {")
    assert shown.count("```") == 2


def test_no_secret_is_shown_to_the_model(library, teach):
    library.sample("login", user="ada")
    model, teacher = teach(BOOKS)
    attempt(library, teacher, helpers=("login",))
    assert TOKEN not in prompt(model)
    assert "<secret>" in prompt(model)


def test_without_a_sandbox_there_are_no_instances(library):
    teacher = Teacher(ScriptedModel(), None, library.caller, library.toolbox, library.log)
    assert attempt(library, teacher) is None


def test_a_model_that_fails_is_asked_twice_and_then_left_alone(library, teach):
    model, teacher = teach(*[ModelUnavailable("the endpoint is down; try again later.")] * 2)
    assert attempt(library, teacher) is None
    assert teacher.suggest(library.facts("search-authors"), library.facts("search-authors").arguments["name"]) == []
    assert teacher.select(library.facts("list-books"), [library.facts("read-notice")]) == []
    library.sample("search-authors", name="Borges")
    assert teacher.words(library.facts("search-authors"), None).description == ""
    assert len(model.prompts) == 2
    assert teacher.failed == "the endpoint is down; try again later."


def test_a_model_that_comes_back_is_used_again(library, teach):
    _, teacher = teach(ModelUnavailable("busy"), BOOKS)
    assert attempt(library, teacher) is None
    assert teacher.failed == "busy"
    assert attempt(library, teacher).worked
    assert teacher.failed == ""


def test_what_was_asked_before_is_not_asked_again(tmp_path, sandbox):
    first = Library(tmp_path)
    teacher = Teacher(ScriptedModel('{"values": ["Borges"]}', BOOKS), sandbox, first.caller, first.toolbox, first.log)
    name = first.facts("search-authors").arguments["name"]
    assert teacher.suggest(first.facts("search-authors"), name) == ["Borges"]
    instance = attempt(first, teacher)
    first.log.close()
    again = Library(tmp_path)
    silent = Teacher(ScriptedModel(), sandbox, again.caller, again.toolbox, again.log)
    assert silent.suggest(again.facts("search-authors"), name) == ["Borges"]
    assert silent.instances("list-books") == (instance,)
    assert (silent.asked, silent.failed) == (0, "")
    again.log.close()


def test_another_model_is_asked_anew(library, sandbox):
    library.sample("read-notice")
    tool, probed = needing(library, "volume_ref"), [library.facts("read-notice")]
    for name, chosen in (("one", "[]"), ("two", '["read-notice"]'), ("one", "never asked")):
        model = ScriptedModel(f'{{"functions": {chosen}}}', name=name)
        teacher = Teacher(model, sandbox, library.caller, library.toolbox, library.log)
        assert teacher.select(tool, probed) == (["read-notice"] if name == "two" else [])
        assert teacher.asked == (0 if chosen == "never asked" else 1)


def test_what_was_proposed_and_not_tried_is_given_before_more_is_asked(library, teach):
    model, teacher = teach('{"values": ["zz", "yy"]}', '{"values": ["zz", "a17"]}')
    suggest = lambda: teacher.suggest(library.facts("list-books"), library.facts("list-books").arguments["author_id"])  # noqa: E731
    assert suggest() == ["zz", "yy"]
    library.sample("list-books", author_id="zz")
    assert suggest() == ["yy"]
    library.sample("list-books", author_id="yy")
    assert len(model.prompts) == 1
    assert suggest() == ["a17"]


# Programs under the protocol that is written in the end


def test_a_program_holds_where_it_runs_over_the_final_protocol_without_a_call(library, teach):
    _, teacher = teach(program("books = list_books(author_id='a3')", "print(books['books'][0]['title'])"))
    instance = attempt(library, teacher)
    assert instance.worked
    made = len(library.calls)
    before = library.facts("list-books").protocol
    single = {"type": "object", "properties": {"books": {}}, "required": ["books"]}
    renamed = {"type": "object", "properties": {"writer": {}}}
    assert teacher.holds(instance, {})
    assert not teacher.holds(instance, {"list-books": replace(before, output_schema=single)})
    assert not teacher.holds(instance, {"list-books": replace(before, input_schema=renamed)})
    assert len(library.calls) == made


# Helpers


def test_a_helper_that_links_name_needs_no_model(library, teach):
    library.sample("search-authors", name="Borges")
    model, teacher = teach()
    assert teacher.select(library.facts("list-books"), [library.facts("search-authors")]) == ["search-authors"]
    assert model.prompts == []


def test_what_fed_a_tool_helps_to_show_its_use(library, teach):
    library.sample("search-authors", name="Borges")
    fed = Value("a3", Origin(kind="response", tool="search-authors", path="[].author_id", sample=1))
    library.caller.call("list-books", {"author_id": fed}, purpose="discover")
    model, teacher = teach()
    assert teacher.select(library.facts("list-books"), [library.facts("search-authors")]) == ["search-authors"]
    assert teacher.select(library.facts("list-books"), [library.facts("read-notice")]) == []
    assert model.prompts == []


def needing(library, name):
    library.add("show-shelf", lambda given: None, "/shelves", name)
    return library.facts("show-shelf")


def test_where_no_link_tells_the_model_chooses_among_the_probed(library, teach):
    library.sample("search-authors", name="Borges")
    library.sample("list-books", author_id="a17")
    tool = needing(library, "volume_ref")
    model, teacher = teach('{"functions": ["list-books", "list-books", "format-disk"]}')
    probed = [library.facts("search-authors"), library.facts("list-books")]
    assert teacher.select(tool, probed) == ["list-books"]
    offered = model.options[0]["schema"]["properties"]["functions"]["items"]["enum"]
    assert set(offered) == {"search-authors", "list-books"}
    assert "It needs: volume_ref" in prompt(model)


@pytest.mark.parametrize("reply", ["nonsense", "[]", '{"functions": 5}', '{"functions": ["nobody"]}', "{"])
def test_a_choice_that_is_none_is_left_out(library, teach, reply):
    library.sample("search-authors", name="Borges")
    tool = needing(library, "volume_ref")
    _, teacher = teach(reply)
    assert teacher.select(tool, [library.facts("search-authors")]) == []


@pytest.mark.parametrize("name", ["page", "q", "date", "sort"])
def test_what_a_caller_makes_up_needs_no_helper(library, teach, name):
    library.sample("search-authors", name="Borges")
    tool = needing(library, name)
    model, teacher = teach()
    assert teacher.select(tool, [library.facts("search-authors")]) == []
    assert model.prompts == []


# Values


def test_proposed_values_are_new_and_as_the_schema_has_them(library, teach):
    library.sample("list-books", author_id="zz")
    model, teacher = teach('{"values": ["zz", "a17", "a17", "string", "author_id", "a\\nb", "", null, "a3"]}')
    facts = library.facts("list-books")
    assert teacher.suggest(facts, facts.arguments["author_id"]) == ["a17", "a3"]
    assert model.options[0]["schema"]["properties"]["values"]["maxItems"] == 5
    assert "Led to nothing: 'zz'" in prompt(model)


@pytest.mark.parametrize(
    ("schema", "item", "kept"),
    [
        ({"type": "integer", "minimum": 3}, {"type": "integer"}, [5]),
        ({"type": "array", "items": {"type": "string"}}, None, []),
        ({}, {"type": ["string", "integer"]}, [5, 2, "x1"]),
    ],
)
def test_the_reply_is_bound_by_the_type_of_the_argument(library, teach, schema, item, kept):
    library.add("show-shelf", lambda given: None, "/shelves", "n", n=schema)
    model, teacher = teach('{"values": [5, 2, "x1"]}')
    facts = library.facts("show-shelf")
    assert teacher.suggest(facts, facts.arguments["n"]) == kept
    asked = model.options[0]["schema"]["properties"]["values"]["items"]
    assert item is None or asked == item


# Replies and prompts


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        (BOOKS, "Which books did Ursula Le Guin publish in 1974?"),
        ("**Question:** Who?\n```python\nf()\n```", "Who?"),
        ("Who is it?\n```python\nf()\n```", "Who is it?"),
        ("```python\n# Question: Who?\nf()\n```", "Who?"),
        ("```python\nf()\n```", ""),
        ("\n\nWho?\n\n```python\nf()\n```", "Who?"),
        ("Question: a\x1b[31m\u202eb" + "c" * 500, None),
    ],
)
def test_the_question_is_one_plain_line(reply, question):
    read = read_reply(reply).question
    assert question is None or read == question
    assert read.isprintable()
    assert len(read) <= 200


def test_a_prompt_stays_below_1500_tokens_whatever_the_tools_say(library, teach):
    for number in range(8):
        library.sample("list-books", author_id=f"{number}" * 300, year="\n```\n" * 50)
    library.sample("search-authors", name="e")
    library.sample("read-notice")
    library.sample("login", user="x" * 2000)
    model, teacher = teach(program("list_books(author_id='" + "x" * 100 + "')"), BOOKS)
    helpers = ("search-authors", "read-notice", "login", "delete-all")
    attempt(library, teacher, helpers=helpers)
    attempt(library, teacher, helpers=helpers)
    for number in range(2):
        assert token_estimate(prompt(model, number)) < 1500
        assert not re.search(r"[^\S\n ]", prompt(model, number))
