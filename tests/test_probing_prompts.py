"""What a model is asked while tools are probed, word for word."""

import ast

import pytest

from atc.models.scripted import ScriptedModel
from probing.infer import infer
from probing.prompts import fill
from probing.teacher import Teacher
from probing.teacher.instance import read_reply
from protocols.render import token_estimate
from tests.probing_library import Library

INSTANCE = """\
Functions:

```python
class Author(TypedDict):
    author_id: str
    name: str

def list_books(*, author_id: Any, year: Any = ...) -> Any:
    \"""GET /authors/{author_id}/books

    author_id: from search_authors(…)[0]["author_id"]
    \"""

def search_authors(*, name: str = ...) -> list[Author]:
    \"""GET /authors

    name: such as 'Borges'
    \"""
```

Seen so far:
- list_books(author_id='zz') failed: HTTP 404: no author 'zz'
- search_authors(name='Borges') gave [{'author_id': 'a3', 'name': 'Jorge Luis Borges'}]

Try: list_books"""

AGAIN = """\
That did not work: it failed in line 1: NameError: name 'author' is not defined.
Write another question and program for list_books, with other values; do not repeat the mistake."""

SELECT = """\
Function: show-shelf (GET /shelves)
It needs: volume_ref

Other functions, and what each gives:
- search-authors (GET /authors): author_id, name

Which of them give what it needs?"""

SUGGEST = """\
Function:

```python
def list_books(*, author_id: Any, year: Any = ...) -> Any:
    \"""GET /authors/{author_id}/books\"""
```

Seen so far:
- list_books(author_id='zz') failed: HTTP 404: no author 'zz'

Argument: author_id
Led to nothing: 'zz'"""

WORDS = """\
Function: search-authors (GET /authors)
Arguments:
- name: such as 'Borges'
Fields of its response:
- [].author_id: such as 'a3'
- [].name: such as 'Jorge Luis Borges'"""


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.sample("search-authors", name="Borges")
    library.sample("list-books", author_id="zz")
    yield library
    library.log.close()


class NoSandbox:
    def run(self, source, tools, *, limits, journal):
        from sandbox.trace import Failure, Frame, Trace

        failure = Failure(
            kind="exception", type="NameError", message="name 'author' is not defined", frames=(Frame(line=1),)
        )
        return Trace(failure=failure)


def asked(library, replies, ask):
    """The last message of each prompt."""
    model = ScriptedModel(*replies)
    ask(Teacher(model, NoSandbox(), library.caller, library.toolbox, library.log))
    return [messages[-1].content for messages in model.prompts]


def test_an_instance(library):
    def ask(teacher):
        for _ in range(2):
            teacher.instance(library.facts("list-books"), [library.facts("search-authors")], round=1)

    assert asked(library, ["Question: Who?\n```python\nprint(author)\n```"] * 2, ask) == [INSTANCE, AGAIN]


def test_helpers(library):
    library.add("show-shelf", lambda given: None, "/shelves", "volume_ref")
    facts = [library.facts("search-authors")]
    assert asked(library, ["{}"], lambda teacher: teacher.select(library.facts("show-shelf"), facts)) == [SELECT]


def test_values(library):
    facts = library.facts("list-books")
    assert asked(library, ["{}"], lambda teacher: teacher.suggest(facts, facts.arguments["author_id"])) == [SUGGEST]


def test_words(library):
    facts = library.facts("search-authors")
    schema = infer([sample.response for sample in facts.done])
    assert asked(library, ["{}"], lambda teacher: teacher.words(facts, schema)) == [WORDS]


def test_the_worked_example_is_a_reply_as_it_is_wanted():
    question, program = read_reply(fill("instance_example_reply"))
    assert question.endswith("?")
    called = {node.func.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)}
    assert called == {"search_authors", "list_books", "print"}
    assert all(f"def {name}(" in fill("instance_example_task") for name in called - {"print"})


def test_what_stands_in_every_prompt_is_short():
    said = [fill(name) for name in ("instance", "instance_example_task", "instance_example_reply", "words")]
    assert token_estimate("\n".join(said)) < 600


def test_a_missing_or_surplus_variable_of_a_prompt_is_an_error():
    with pytest.raises(KeyError, match="seen"):
        fill("instance_task", stubs="x", tool="y")
    with pytest.raises(KeyError, match="colour"):
        fill("select", most="4", colour="z")
