"""Ctrl-C, Ctrl-D and wrong words at the command line: what was sent, and how to go on, in one sentence."""

import json
import os
import re
import threading

import pytest

from tests.labs.loopback import Reply, serving
from tests.labs.patience import PATIENCE
from tests.labs.terminal import CTRL_C, CTRL_D, at_a_terminal, begin, finish
from tests.labs.user import writes


def document_of(server):
    return ("--tools", f"{server.url}/doc")


@pytest.fixture
def hanging(stack):
    """A shop that does not answer orders, and an event that is set by the first one."""
    on_the_wire, stop = threading.Event(), threading.Event()
    stack.callback(stop.set)
    told = {"200": {"description": ""}}
    paths = {"/order": {"post": {"operationId": "order", "responses": told}}}
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}

    def answer(seen):
        if seen.method == "POST":
            on_the_wire.set()
            stop.wait(PATIENCE)
        return Reply(body=document)

    return stack.enter_context(serving(answer)), on_the_wire


def test_ctrl_c_tells_of_a_write_being_sent(user, hanging):
    server, on_the_wire = hanging
    words = ("tools", "call", "order", *document_of(server), "--allow-writes", "order")
    process, ours = begin(user.work, user.env, *words)
    assert on_the_wire.wait(PATIENCE)
    os.write(ours, CTRL_C)
    said, code = finish(process, ours)
    assert code == 130
    assert said.endswith(
        "atc: interrupted; order was sent and its answer is not known: look at the service before you repeat it.\n"
    ), said


def test_a_repeated_command_sends_no_lost_write(user, hanging):
    """Another task is not held up, and a yes at a terminal begins a new run."""
    server, on_the_wire = hanging
    script = user.work / "script.json"
    script.write_text(json.dumps(["```python\nprint(order())\n```"]))
    words = ["run", "Order.", *document_of(server), "--allow-writes", "order"]
    words += ["--model", f"scripted:{script}", "--strategy", "chain"]
    process, ours = begin(user.work, user.env, *words)
    assert on_the_wire.wait(PATIENCE)
    os.write(ours, CTRL_C)
    said, code = finish(process, ours)
    assert code == 130
    assert "order was sent and its answer is not known: look at the service.\n" in said
    assert re.search(r"atc: interrupted\.\n(.*\n)+Go on with: atc runs resume 2\S+\n$", said), said
    again = user.atc(*words)
    assert (again.returncode, writes(server)) == (2, ["/order"])
    assert "was interrupted and has sent 1 write: order() (its answer is not known)" in again.stderr
    assert "Go on with it: atc runs resume 2" in again.stderr
    assert re.search(r"Forget it: atc runs purge 2\S+ --yes\n", again.stderr)
    script.write_text(json.dumps(["```python\nprint(6 * 7)\n```"]))
    assert user.atc("run", "Compute.", *words[2:]).returncode == 0
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"y\n"])
    assert code == 0, said


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_ctrl_c_ends_a_program_as_a_run(user, hanging, quiet):
    server, on_the_wire = hanging
    (user.work / "program.py").write_text("print(order())")
    words = ["exec", "program.py", *document_of(server), "--allow-writes", "order", *quiet]
    process, ours = begin(user.work, user.env, *words)
    assert on_the_wire.wait(PATIENCE)
    os.write(ours, CTRL_C)
    said, code = finish(process, ours)
    assert code == 130
    end = r"atc: interrupted\.\norder was sent and its answer is not known: look at the service\.\n"
    assert re.search(rf"{end}Go on with: atc runs resume 2\S+\n$", said), said


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_an_interrupted_question_sends_nothing(user, shop, key):
    words = ("tools", "call", "order", *document_of(shop))
    said, code = at_a_terminal(user.work, user.env, *words, typed=[key])
    assert (code, writes(shop)) == (130, [])
    assert said.endswith("\natc: interrupted; nothing was sent.\n"), said
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"y\n"])
    assert (code, writes(shop)) == (0, ["/order"]), said  # it was not decided, and asks again


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_an_interrupted_question_leaves_the_run_resumable(user, shop, key):
    done = user.run_text("print(order()['done'])", *document_of(shop))
    assert done.returncode == 1
    words = ("runs", "resume", "last")
    said, code = at_a_terminal(user.work, user.env, *words, typed=[key])
    assert (code, writes(shop)) == (130, [])
    end = r"atc: interrupted; nothing was sent for this call\.\nGo on with: atc runs resume 2\S+\n$"
    assert re.search(end, said), said
    assert "could not be judged" not in said
    assert said.rpartition("[y/N]: ")[2].partition("\n")[0] in ("", "^C"), said
    shown = user.atc("runs", "show", "last").stdout
    assert "error    interrupted; go on with: atc runs resume " in shown
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"y\n"])
    assert (code, writes(shop)) == (0, ["/order"]), said


def test_a_wrong_answer_is_asked_again(user, shop):
    words = ("tools", "call", "order", *document_of(shop))
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"perhaps\n", b"n\n"])
    assert (code, writes(shop)) == (1, [])
    assert said.count("Send it?") == 1
    assert "\nType y or n. [y/N]: " in said


def test_an_unknown_tool_name_suggests_the_nearest(user, shop):
    called = user.atc("tools", "call", "order", *document_of(shop), "--allow-writes", "ordr")
    probed = user.atc("probe", f"{shop.url}/doc", "-o", "out", "--allow-writes", "ordr")
    assert (called.returncode, probed.returncode) == (1, 2)
    for done in (called, probed):
        assert "--allow-writes: no tool named 'ordr'; did you mean order?" in done.stderr
    assert [seen for seen in shop.seen if seen.target != "/doc"] == []


def test_a_base_url_needs_an_http_scheme(user, shop):
    done = user.atc("tools", "list", *document_of(shop), "--base-url", "ftp://x")
    assert done.returncode == 2
    assert "--base-url must begin with http:// or https://, and 'ftp://x' does not" in done.stderr


def test_wrong_paths_are_usage_errors(user, shop):
    done = user.atc("runs", "export", "last", "-o", str(user.work))
    assert (done.returncode, "is a folder; give the name of a file" in done.stderr) == (2, True)
    done = user.atc("runs", "test", "nodir")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    assert "there is no file or folder 'nodir'" in done.stderr


def test_system_folders_get_no_repair_advice(user):
    done = user.atc("runs", "list", ATC_STATE_DIR="/tmp")
    assert done.returncode == 3, done
    assert "choose a folder of your own" in done.stderr
    assert "chmod" not in done.stderr
