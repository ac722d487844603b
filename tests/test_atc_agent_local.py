"""The whole of it with the embedded model: real weights, real service over HTTP, real sandbox."""

import os
from pathlib import Path

import pytest

from atc.agent import Agent
from atc.config import Config
from atc.models.fetch import cached
from protocols.sources import load_tools
from toolflow_bench.grade import grade
from toolflow_bench.task import Question

QUESTION = Question(
    id="name", question="What is the full name of the airline whose code is VX?", answer="Virgin America", type="text"
)


@pytest.mark.local_model
def test_a_question_of_one_call():
    if not (os.environ.get("ATC_MODEL_PATH") or cached()):
        pytest.skip("the embedded model is not fetched; 'atc models pull' gets it")
    pytest.importorskip("starlette", reason="the flights service needs the extra 'toolflow'")
    from atc.models.local import LocalModel
    from protocols.invoke import Invoker
    from toolflow_bench.services.flights import create_app
    from toolflow_bench.services.serve import serve

    own = os.environ.get("ATC_MODEL_PATH")
    model = LocalModel(Path(own) if own else cached())
    try:
        with serve(create_app()) as service, Invoker() as invoker:
            toolbox = load_tools(f"flights={service.document_url}", invoker=invoker)
            with Agent(toolbox, model=model, config=Config(samples=2, max_repairs=1)) as agent:
                solution = agent.run(QUESTION.question, max_seconds=400)
    finally:
        model.close()
    assert solution.attempts
    assert grade(solution.answer, QUESTION).correct, solution.answer
