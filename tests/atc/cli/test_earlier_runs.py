"""A command that is given again sends no write of another run of its task a second time."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.labs.loopback import Reply, serving
from tests.labs.patience import PATIENCE
from tests.labs.terminal import CTRL_D, at_a_terminal, begin, finish
from tests.labs.user import writes

ORDER = "print(order()['done'])"
LATER = f"{ORDER}\n1 / 0"


@pytest.fixture
def slow_shop(stack):
    """A shop that answers no order before the event is set."""
    answered = threading.Event()
    stack.callback(answered.set)
    told = {"200": {"description": "", "content": {"application/json": {}}}}
    paths = {"/order": {"post": {"operationId": "order", "responses": told}}}
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}

    def answer(seen):
        if seen.method == "POST":
            answered.wait(PATIENCE)
        return Reply(body=document if seen.method == "GET" else {"done": seen.target})

    return stack.enter_context(serving(answer)), answered


def order_words(user, server, program: str, task: str = "Order.") -> list[str]:
    script = user.work / "script.json"
    script.write_text(json.dumps([f"```python\n{program}\n```"] * 4))
    words = ["run", task, "--tools", f"{server.url}/doc", "--model", f"scripted:{script}"]
    return [*words, "--allow-writes", "order"]


def test_simultaneous_runs_send_one_write(user, slow_shop):
    server, answered = slow_shop
    words = order_words(user, server, ORDER)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(user.atc, *words) for _ in range(3)]
        pool.submit(_release, server, waiting, answered)
        done = [one.result() for one in waiting]
    assert writes(server) == ["/order"]
    assert sorted(one.returncode for one in done) in ([0, 1, 1], [0, 1, 2], [0, 2, 2])
    for refused in (one for one in done if one.returncode):
        assert "another process is working on this task: its run 2" in refused.stderr


def _release(server, waiting, answered):
    """Let the shop answer as soon as all runs but one have ended."""
    done = threading.Semaphore(0)
    for one in waiting:
        one.add_done_callback(lambda _: done.release())
    for _ in waiting[1:]:
        done.acquire(timeout=PATIENCE)
    answered.set()


def test_a_task_being_worked_on_asks_first(user, slow_shop):
    server, answered = slow_shop
    words = order_words(user, server, ORDER)
    process, ours = begin(user.work, user.env, *words)
    while not writes(server):
        pass
    again = user.atc(*words)
    assert (again.returncode, writes(server)) == (2, ["/order"])
    assert "another process is working on this task" in again.stderr
    assert "purge" not in again.stderr  # nobody can remove a run that goes on
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"\n"])
    assert (code, writes(server)) == (2, ["/order"]), said
    answered.set()
    said, code = finish(process, ours)
    assert code == 0, said
    said, code = at_a_terminal(user.work, user.env, *words)
    assert (code, writes(server)) == (0, ["/order"] * 2), said  # a solved run holds nothing up


def test_a_failed_run_with_writes_asks_first(user, shop):
    words = order_words(user, shop, LATER)
    first = user.atc(*words)
    assert first.returncode == 1
    assert "1 write was sent: order()\n" in first.stderr
    again = user.atc(*words)
    assert (again.returncode, writes(shop)) == (2, ["/order"])
    found = re.search(
        r"run (\S+) of this task has failed and has sent 1 write: order\(\)", again.stderr
    )
    assert f"See it: atc runs show {found[1]}. " in again.stderr
    assert "atc runs resume" not in again.stderr  # it cannot be resumed
    assert f"Forget it: atc runs purge {found[1]} --yes\n" in again.stderr
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"y\n"])
    assert (code, writes(shop)) == (1, ["/order"] * 2), said
    other = order_words(user, shop, "print(find()['done'])", task="Find.")
    assert user.atc(*other).returncode == 0  # another task


def test_a_spent_budget_counts_as_unfinished(user, slow_shop):
    server, _ = slow_shop
    words = order_words(user, server, ORDER)
    first = user.atc(*words, "--max-seconds", "2")
    run = re.search(r"· run (\S+)\n", first.stderr)[1]
    go_on = f"atc runs resume {run} --max-seconds N"
    assert f"The run's budget is spent: max_seconds = 2. Go on with: {go_on}\n" in first.stderr
    again = user.atc(*words)
    assert (again.returncode, writes(server)) == (2, ["/order"])
    assert f"Go on with it: {go_on}. " in again.stderr


@pytest.mark.parametrize(("caught", "status"), [(False, "has failed"), (True, "is solved")])
def test_a_skipped_unknown_write_asks_first(user, stack, caught, status):
    shop = _losing_shop(stack)
    program = f"try:\n    {ORDER}\nexcept ToolError:\n    print('none')" if caught else ORDER
    words = order_words(user, shop, program)
    user.atc(*words, "--on-unknown", "skip")
    again = user.atc(*words)
    assert (again.returncode, writes(shop)) == (2, ["/order"]), again.stderr
    assert f"{status} and has sent 1 write: order() (its answer is not known)" in again.stderr


def test_a_write_that_happened_counts_as_done(user, stack):
    shop = _losing_shop(stack)
    words = order_words(user, shop, "order()\nprint('ordered')")
    paused = user.atc(*words)
    assert paused.returncode == 1
    resume = re.search(r"If it did: atc (runs resume \S+ --on-unknown done)\. ", paused.stderr)[1]
    clash = user.atc(*resume.split(), "--resend")
    assert (clash.returncode, "did not happen" in clash.stderr) == (2, True)
    done = user.atc(*resume.split())
    assert (done.returncode, done.stdout, writes(shop)) == (0, "ordered\n", ["/order"])
    assert user.atc(*words).returncode == 1  # a solved run without a write in doubt


def test_a_needed_result_says_that_it_was_lost(user, stack):
    shop = _losing_shop(stack)
    paused = user.atc(*order_words(user, shop, ORDER))
    resume = re.search(r"atc (runs resume \S+ --on-unknown done)", paused.stderr)[1]
    failed = user.atc(*resume.split())
    assert (failed.returncode, writes(shop)) == (1, ["/order"])
    shown = user.atc("runs", "show", "last").stdout
    assert "order() has the result None. Its answer was lost, and a person said" in shown


def _losing_shop(stack):
    """A shop that breaks the connection after each order."""
    told = {"200": {"description": "", "content": {"application/json": {}}}}
    paths = {"/order": {"post": {"operationId": "order", "responses": told}}}
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}

    def answer(seen):
        return Reply(body=document) if seen.method == "GET" else Reply(status=504, body={})

    return stack.enter_context(serving(answer))


def test_an_interrupted_start_question_names_no_run(user, shop):
    words = order_words(user, shop, LATER)
    user.atc(*words)
    said, code = at_a_terminal(user.work, user.env, *words, typed=[CTRL_D])
    assert (code, "Go on with" in said, writes(shop)) == (130, False, ["/order"])
