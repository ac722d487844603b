"""ToolQP's training data: Algorithm 1 with a scripted teacher."""

import json
import re

import pytest

pytest.importorskip("numpy")

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import ToolDocument
from toolflow_bench.retrieval.data import RetrievalQuery
from toolflow_bench.toolqp.settings import Settings
from toolflow_bench.toolqp.trajectory import Dropped, Maker, Trajectory, mean_rank

DOCUMENTS = {
    name: ToolDocument(name=name, description=about, parameters={"address": ""})
    for name, about in {
        "MailCat": "MailCat sends a letter by electronic post",
        "search": "Search for a paper",
        "papers": "Search and read a paper of science",
        "ForecastNow": "Says how the weather will be",
        **{f"paper_{number}": "Read a paper" for number in range(8)},
    }.items()
}
QUERY = RetrievalQuery(id="q1", text="Mail Ann", gold=("MailCat",))


class Overlap:
    """A retriever by shared words."""

    def search(self, query, *, k):
        words = set(re.findall(r"\w+", query.lower()))
        scored = []
        for name, document in DOCUMENTS.items():
            held = set(re.findall(r"\w+", f"{document.name} {document.description}".lower()))
            if words & held:
                scored.append((-len(words & held) / len(held), name))
        return Retrieval(hits=tuple(Hit(name, -score) for score, name in sorted(scored)[:k]))


class Teacher(ScriptedModel):
    """Answers each kind of question by the key that its schema asks for, from a list or always the same."""

    def __init__(self, **replies):
        self._of = {key: list(value) if isinstance(value, list) else value for key, value in replies.items()}
        super().__init__(name="teacher")

    def __call__(self, messages, *, schema=None, **options):
        [key] = schema["required"]
        said = self._of[key]
        value = said.pop(0) if isinstance(said, list) and (key != "order") else said
        self._replies = (*self._replies, json.dumps({key: value}))
        return super().__call__(messages, schema=schema, **options)

    def asked(self, key):
        return [
            prompt[-1].content
            for prompt, option in zip(self.prompts, self.options, strict=True)
            if option["schema"]["required"] == [key]
        ]


def made(teacher, query=QUERY, plan="", **settings):
    return Maker(Overlap(), DOCUMENTS, teacher, Settings(**{"candidates": 1, **settings})).make(query, plan)


PLAN = """\
<task_breakdown>
Given a task of mail, retrieve tools that send.
</task_breakdown>
<sub_goals>
["Send a letter."]
</sub_goals>"""


def test_a_query_that_finds_the_tool_at_once_makes_a_trajectory_in_the_papers_form():
    teacher = Teacher(
        plan="Given a task of mail, retrieve tools that send.", goal="Send a letter.", query="electronic post"
    )
    maker = Maker(Overlap(), DOCUMENTS, teacher, Settings(candidates=1))
    trajectory = maker.make(QUERY)
    assert [(message.role, message.content) for message in maker.messages(trajectory)[1:]] == [
        ("user", "User query: Mail Ann"),
        ("assistant", PLAN),
        ("user", "Begin retrieval."),
        ("assistant", "<query>electronic post</query>"),
        (
            "user",
            "System retrieved tools for previous query:\n1. MailCat: MailCat sends a letter by electronic post",
        ),
        ("assistant", "<stop_retrieval>"),
    ]


def test_the_plan_of_the_data_is_taken_where_there_is_one():
    teacher = Teacher(goal="Send a letter.", query="letter")
    assert made(teacher, plan="Send mail.").plan == "Send mail."
    assert teacher.asked("plan") == []


def test_more_is_told_of_the_tool_in_each_round_and_never_its_name():
    queries = ["weather", "how will it be", "says how", "weather will be", "post"]
    teacher = Teacher(plan="Send mail.", goal="Send a letter.", query=queries)
    [step] = made(teacher).steps
    assert [attempt.round for attempt in step.attempts] == [1, 2, 3, 4, 5]
    assert [attempt.rank for attempt in step.attempts] == [101, 101, 101, 101, 1]
    told = teacher.asked("query")
    assert ["sends a letter by electronic post" in one for one in told] == [False, True, True, True, True]
    assert ['The query "how will it be" was tried' in one for one in told] == [False, False, True, True, True]
    assert ["the whole plan behind it" in one for one in told] == [False, False, False, True, True]
    assert ['"parameters": ["address"]' in one for one in told] == [False, False, False, False, True]
    assert not any("MailCat" in one for one in told)


def test_a_candidate_that_names_its_tool_does_not_count():
    teacher = Teacher(plan="Send mail.", goal="Send.", query=["mail-cat", "MAILCAT letter", "letter"])
    [step] = made(teacher).steps
    assert [(attempt.query, attempt.round) for attempt in step.attempts] == [("letter", 3)]


def test_a_name_that_is_a_common_word_gives_nothing_away():
    query = RetrievalQuery(id="q", text="Find it", gold=("search",))
    [step] = made(Teacher(plan="Find.", goal="Find a paper.", query="search for a paper"), query).steps
    assert step.attempts[-1].query == "search for a paper"


def test_what_the_teacher_writes_of_plans_and_goals_is_rid_of_names():
    trajectory = made(Teacher(plan="Use MailCat to send.", goal="Send with Mail Cat.", query="letter"))
    assert trajectory.plan == "Use this tool to send."
    assert trajectory.steps[0].task.goal == "Send with this tool."


def test_of_the_candidates_the_one_with_the_best_rank_is_taken():
    query = RetrievalQuery(id="q", text="x", gold=("papers",))
    teacher = Teacher(plan="Read.", goal="Read.", query=["read a paper", "paper of science", "weather"])
    [step] = made(teacher, query, candidates=3).steps
    assert [(attempt.query, attempt.rank, attempt.round) for attempt in step.attempts] == [("paper of science", 1, 1)]
    assert len({option["seed"] for option in teacher.options}) == 5


def test_a_rank_behind_the_fifth_is_not_valid():
    query = RetrievalQuery(id="q", text="x", gold=("papers",))
    teacher = Teacher(plan="Read.", goal="Read.", query=["read a paper", "science"])
    [step] = made(teacher, query).steps
    assert [attempt.rank for attempt in step.attempts] == [10, 1]


def test_a_request_is_dropped_where_the_last_round_is_in_vain():
    dropped = made(Teacher(plan="Send mail.", goal="Send a letter.", query="weather"))
    assert dropped == Dropped("no valid query", "Send a letter.")


@pytest.mark.parametrize(
    ("replies", "reason"), [({"plan": " "}, "no plan"), ({"plan": "Do.", "goal": 7}, "no sub-goal")]
)
def test_a_reply_without_a_plan_or_goal_drops_the_request(replies, reason):
    assert made(Teacher(**replies)) == Dropped(reason)


def test_tools_come_in_the_order_of_use_and_earlier_steps_are_shown():
    query = RetrievalQuery(id="q", text="Mail Ann the weather", gold=("MailCat", "ForecastNow"))
    teacher = Teacher(
        plan="Both.", order=["ForecastNow", "MailCat"], goal=["Get weather.", "Mail it."], query=["weather", "letter"]
    )
    trajectory = made(teacher, query)
    assert [(step.task.goal, step.task.tools) for step in trajectory.steps] == [
        ("Get weather.", ("ForecastNow",)),
        ("Mail it.", ("MailCat",)),
    ]
    assert '1. Get weather. Found by: "weather"' in teacher.asked("query")[1]


@pytest.mark.parametrize("order", [[], "MailCat", ["ForecastNow", "ForecastNow"], [7]])
def test_an_order_that_leaves_tools_out_loses_none(order):
    query = RetrievalQuery(id="q", text="x", gold=("MailCat", "ForecastNow"))
    teacher = Teacher(plan="Both.", order=order, goal=["A.", "B."], query=["weather letter", "weather letter"])
    assert sorted(tool for step in made(teacher, query).steps for tool in step.task.tools) == ["ForecastNow", "MailCat"]


def test_tools_of_one_goal_share_a_step_and_their_mean_rank_counts():
    query = RetrievalQuery(id="q", text="x", gold=("papers", "search"))
    teacher = Teacher(plan="Find.", order=[], goal="Find a paper.", query="search for a paper of science")
    [step] = made(teacher, query).steps
    assert step.task.tools == ("papers", "search")
    assert step.attempts[-1].rank == 1.5


def test_failed_attempts_are_kept_with_the_papers_probability_and_the_same_each_time():
    def kept(seed):
        found = []
        for number in range(200):
            query = RetrievalQuery(id=f"q{number}", text="x", gold=("MailCat",))
            [step] = made(Teacher(plan="M.", goal="S.", query=["weather", "letter"]), query, seed=seed).steps
            found.append(step.kept)
            assert [attempt.query for attempt in step.shown] == (["weather", "letter"] if step.kept else ["letter"])
        return found

    assert kept(0) == kept(0)
    assert kept(0) != kept(1)
    assert 60 <= sum(kept(0)) <= 100


def test_a_trajectory_that_a_planner_could_not_finish_loses_its_failed_attempts():
    replies = {"plan": "M.", "goal": "S.", "query": ["weather", "weather how", "letter"]}
    [step] = made(Teacher(**replies), keep_failed=1.0, queries=2).steps
    assert [attempt.query for attempt in step.shown] == ["letter"]


def test_with_a_tool_format_the_valid_query_ends_with_the_definition_without_a_name():
    trajectory = made(Teacher(plan="M.", goal="S.", query=["weather", "letter"]), tool_format=True, keep_failed=1.0)
    assert isinstance(trajectory, Trajectory)
    [attempt] = trajectory.steps[0].shown
    assert attempt.query == (
        'letter\n{"description": "this tool sends a letter by electronic post", "parameters": ["address"]}'
    )


def test_a_tool_that_was_not_found_ranks_behind_all():
    assert mean_rank(["a", "b"], [Hit("b", 1.0)]) == (101 + 1) / 2
