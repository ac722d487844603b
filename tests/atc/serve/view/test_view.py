"""`atc runs view`: what its pages say, who may see them and change something, and what a browser makes of them."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import requests
import uvicorn

from atc.archive.recording import without_secrets
from atc.cli.runs import _resume_with
from atc.core.events import AttemptEnded, ModelAsked, ModelReplied, NoteAdded, ToolCalled
from atc.core.program import Program
from atc.core.types import Attempt, Fact, Fault, Finding, Solution, Usage
from atc.safety.questions import AskPerson, Question
from atc.serve.view.provenance import provenance
from atc.serve.view.resumes import Resumes
from atc.serve.view.run_page import page
from atc.serve.view.server import Viewer, serve
from atc.serve.view.source import diff_programs, highlight_lines
from atc.store import RunStore, Store
from protocols.files import file_of_bytes
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from sandbox.trace import Failure, ToolCall, Trace
from tests.labs.browser import HOSTILE, Browser, needs_chromium
from tests.labs.patience import PATIENCE
from tests.labs.stores import both_stores, open_store
from tests.labs.viewed_runs import RIGHT, TASK, WRONG, desk, many_calls

pytestmark = pytest.mark.usefixtures("shared_sandbox")


def call(index: int, tool: str, line: int = 1, *, result: Any = None, **arguments: Any) -> ToolCall:
    return ToolCall(index=index, tool=tool, arguments=arguments, line=line, result=result)


# Where values came from


def test_values_point_to_the_response_holding_them() -> None:
    calls = [
        call(0, "search", result={"results": [{"id": 41}, {"id": 42}]}, name="Nolan"),
        call(1, "film", 2, id=41, flags={"deep": [42, True]}),
    ]
    found = provenance(calls, "Films by Nolan")
    assert [(o.argument, o.call, o.path) for o in found[0]] == [("name", None, "")]
    assert [(o.argument, o.call, o.path) for o in found[1]] == [
        ("id", 0, "results[0].id"),
        ("flags.deep[0]", 0, "results[1].id"),
    ]


def test_of_equal_values_the_first_counts() -> None:
    calls = [
        call(0, "search", result={"first": 4117}),
        call(1, "echo", result={"said": 4117}),
        call(2, "film", id=4117),
    ]
    assert [(o.call, o.path) for o in provenance(calls, "")[2]] == [(0, "first")]


@pytest.mark.parametrize("value", [None, True, 0, 3, "", "id", 10**400, 1.5, "x" * 100_000])
def test_values_of_every_kind_are_looked_for(value: Any) -> None:
    calls = [call(0, "a", result=[value]), call(1, "b", value=value)]
    found = provenance(calls, "")
    assert all(origin.call == 0 for origin in found[1])


# Programs


@pytest.mark.parametrize(
    "source", ["", "x = 1", "a\r\nb\rc\n", "'''\nopen", "\x0c\n\u2028x", "def f(:\n\tpass\n\n\n"]
)
def test_every_line_of_any_source_is_there_once(source: str) -> None:
    lines = highlight_lines(source)
    assert len(lines) == len(
        source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    )
    diff_programs(source, source + "\nmore()\n")


def test_a_change_counts_its_lines() -> None:
    found = diff_programs("a\nb\nc\n", "a\nB\nB2\nc\n")
    assert (found.added, found.removed) == (2, 1)
    assert [row.kind for row in found.rows if row is not None] == [
        "",
        "removed",
        "added",
        "added",
        "",
    ]


# The server


@contextmanager
def viewing(store: RunStore, resumes: Resumes | None = None) -> Iterator[str]:
    """An address of a viewer that serves while this is open, which lets one browser in."""
    ready: SimpleQueue[Callable[[], str]] = SimpleQueue()
    servers: SimpleQueue[uvicorn.Server] = SimpleQueue()
    made = uvicorn.Server.__init__

    def noted(server: uvicorn.Server, *args: Any) -> None:
        made(server, *args)
        servers.put(server)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "__init__", noted)
        viewer = Viewer(store, resumes or Resumes(lambda *_, **__: None))
        thread = threading.Thread(
            target=serve, args=(viewer,), kwargs={"port": 0, "ready": ready.put}
        )
        thread.start()
        try:
            yield ready.get(timeout=PATIENCE)()
        finally:
            servers.get(timeout=PATIENCE).should_exit = True
            thread.join(PATIENCE)


@cache
def entered(url: str) -> tuple[str, str]:
    """Where the pages are, and the cookie that an address is exchanged for."""
    answer = requests.get(url, timeout=PATIENCE, allow_redirects=False)
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return urljoin(url, answer.headers["location"]), cookie


def ask(
    url: str, path: str = "", method: str = "GET", body: str | None = None, **headers: str
) -> tuple[int, str, Any]:
    """Status, text and headers of an answer to who was let in by an address."""
    base, cookie = entered(url)
    given = {name.replace("_", "-"): value for name, value in {"Cookie": cookie, **headers}.items()}
    target = path if path.startswith("http") else base + path
    answer = requests.request(
        method, target, data=body, headers=given, timeout=PATIENCE, allow_redirects=False
    )
    return answer.status_code, answer.text, answer.headers


def test_only_the_address_with_its_token_is_answered(store: RunStore) -> None:
    run = many_calls(store, 3)
    with viewing(store) as url:
        split = urlsplit(entered(url)[0])
        host = f"http://{split.netloc}"
        assert split.hostname == "127.0.0.1"
        for path in (f"runs/{run}", ""):
            status, text, headers = ask(url, path)
            assert status == 200
            assert "Page through everything." in text
            assert headers["cache-control"] == "no-store"
            assert headers["content-security-policy"] == "frame-ancestors 'none'"
            assert headers["referrer-policy"] == "no-referrer"
        for wrong in (
            "/",
            "/wrong/",
            f"/{'x' * 32}/runs/{run}",
            f"/runs/{run}",
            split.path.rstrip("/"),
            "//",
            "/%00/",
        ):
            assert ask(url, host + wrong)[0] == 404, wrong
        assert ask(url, f"runs/{run}", Host="evil.example")[0] == 421
        assert ask(url, f"runs/{run}", Host=f"evil.example:{split.port}")[0] == 421
        assert ask(url, f"runs/{run}", Origin="http://evil.example")[0] == 403
        assert ask(url, "runs/none")[0] == 404
        assert ask(url, f"runs/{run}", Cookie="")[0] == 403
        assert ask(url, f"runs/{run}", Cookie="atc-view=x")[0] == 403


def test_only_the_page_itself_changes_anything(store: RunStore) -> None:
    run, begun = many_calls(store, 1), []
    with viewing(store, Resumes(lambda run, **how: begun.append((run, how)))) as url:
        own = f"http://{urlsplit(url).netloc}"
        good = {"Origin": own, "Content_Type": "application/json"}
        path = f"runs/{run}/resume"
        assert ask(url, path)[0] == 405
        assert ask(url, path, "HEAD")[0] == 405
        for status, headers in [
            (403, good | {"Origin": "http://evil.example"}),
            (403, good | {"Origin": "null"}),
            (403, {"Content_Type": "application/json"}),
            (415, good | {"Content_Type": "text/plain"}),
            (415, {"Origin": own}),
        ]:
            assert ask(url, path, "POST", "{}", **headers)[0] == status, headers
        assert ask(url, f"{own}/wrong/{path}", "POST", "{}", **good)[0] == 404
        assert ask(url, path, "POST", "{}", **good, Cookie="")[0] == 403
        assert (
            ask(url, f"runs/{run}/answer", "POST", '{"question": 1, "allow": true}', **good)[0]
            == 409
        )
        for body in (
            "",
            "[]",
            '{"question": "1", "allow": true}',
            '{"question": 1, "allow": 1}',
            "x" * 9_999,
        ):
            assert ask(url, f"runs/{run}/answer", "POST", body, **good)[0] == 400, body
        assert begun == []
        assert ask(url, path, "POST", '{"resend": true, "accept_orphans": "yes"}', **good)[0] == 200
        for _ in range(2000):
            if begun:
                break
            time.sleep(0.01)
    assert [(name, how["resend"], how["accept_orphans"]) for name, how in begun] == [
        (run, True, False)
    ]


# What the pages say


def doubted(store: RunStore) -> str:
    """A solved run whose answer has doubts, after a program that the check refused."""
    finding = Finding(code="unknown-tool", message="there is no tool fin", line=1)
    other = Finding(code="unknown-tool", message="there is no tool fon", line=2)
    fault = Fault(
        kind="unknown_tool",
        message="line 1: there is no tool fin",
        line=1,
        evidence=(Fact(kind="finding", text="line 2: there is no tool fon"),),
    )
    attempts = (
        Attempt(Program("fin()\nfon()"), (finding, other), None, fault),
        Attempt(Program("print(7)"), (), Trace(stdout="7"), None, ("One page was read.",), round=1),
    )
    run = store.create("How many?", model="gpt-5-mini")
    for number, attempt in enumerate(attempts):
        store.observer(run)(AttemptEnded(number, attempt))
    usage = Usage(model_calls=2, input_tokens=1000, output_tokens=500)
    store.finish(
        run, Solution(task="t", attempts=attempts, status="solved", answer="7", usage=usage)
    )
    return run


def test_standing_doubts_keep_a_page_from_green(store: RunStore) -> None:
    text = page(without_secrets(store.load(doubted(store))))
    head = text[text.index('<div id="head"') : text.index('<div id="act"')]
    assert '<span class="class status doubted">solved</span>' in head
    assert '<div class="result doubted">' in head
    assert "Doubt: One page was read." in head


def test_what_is_found_is_said_once(store: RunStore) -> None:
    text = page(without_secrets(store.load(doubted(store))))
    assert text.count("there is no tool fin") == 1
    assert text.count("there is no tool fon") == 1


def test_the_list_shows_cost_reasons_and_doubts(store: RunStore) -> None:
    doubted(store)
    store.finish(store.create("Mail Ann."), status="error", error="the <b>model</b> is down")
    with viewing(store) as url:
        text = ask(url)[1]
    assert '<span class="reason error">the &lt;b&gt;model&lt;/b&gt; is down</span>' in text
    assert '<span class="class status doubted">solved</span>' in text
    assert '<span class="reason doubted">Doubt: One page was read.</span>' in text
    assert "1,500 tokens<span>$0.00125</span>" in text


# In a browser

Atc = Callable[..., tuple[int, str, str]]


def only(store: RunStore) -> str:
    return store.list(1)[0].run_id


@needs_chromium
def test_a_run_shows_fault_change_and_arrows(own_folders, atc_: Atc, browser: Browser) -> None:
    atc_(
        "run",
        TASK,
        *desk(own_folders, WRONG, RIGHT),
        "--allow-writes",
        "all",
        "--trust",
        "value=18.9",
    )
    assert atc_("runs", "export", "last", "--html", "-o", own_folders / "run.html")[0] == 0
    assert (own_folders / "run.html").stat().st_mode & 0o077 == 0
    browser.size(1200, 3000).open(f"file://{own_folders}/run.html")
    for part in (
        TASK,
        "18.90 refunded",
        "misread result",
        "its keys are order_no, item, total, state",
        "Changed: +7 −4 lines",
        "5 calls",
        "from the journal",
        "4 tools found, 4 called",
        "2 requests",
    ):
        assert part in browser.text, part
    assert browser.run("document.querySelector('.row.fault').textContent").endswith(
        'order["days"] > 7:'
    )
    changed = browser.run("document.querySelector('.change').textContent")
    assert re.search(r"added: # Late by more than a week", changed)
    assert re.search(r"removed: late = \[\]", changed)
    assert browser.run("document.querySelectorAll('#attempt-2 .lanes .tip').length") == 4
    browser.run("location.hash = '#a2-call3'")
    browser.until("document.querySelector('#a2-call3 details').open")
    said = browser.run("document.querySelector('#a2-call3 .arguments').innerText")
    assert re.search(r"order_no\s+A-2107\s+↩ from call 1 at orders\[0\].order_no", said)
    assert browser.console == []


@contextmanager
def opened(state: Path) -> Iterator[tuple[RunStore, str]]:
    """The command's own viewer over the runs of a state folder."""
    with Store(state / "runs.sqlite") as store:
        resumes = Resumes(_resume_with(store))
        with viewing(store, resumes) as url:
            yield store, url
        resumes.close()


@needs_chromium
def test_writes_are_allowed_and_refused_on_pages(own_folders, atc_: Atc, browser: Browser) -> None:
    options = desk(own_folders, WRONG, RIGHT)
    assert atc_("run", TASK, *options)[0] == 1
    with opened(own_folders / "state") as (store, url):
        browser.size(1200, 900).open(f"{url}runs/{only(store)}")
        assert "This run is paused" in browser.text
        browser.click("Go on, and ask me here")
        browser.until("document.body.innerText.includes('A call waits for you')")
        assert "argument 'amount' = 18.9" in browser.text
        assert "One value comes neither from you nor from your settings" in browser.text
        browser.click("Refuse")
        browser.until("document.body.innerText.includes('This run is paused')")
        assert store.load("last").summary.status == "paused"
        browser.click("Go on, and ask me here")
        browser.click("Allow")
        browser.until("document.body.innerText.includes('18.90 refunded')")
        browser.until("document.querySelector('.class.solved')")
        assert browser.console == []
        made = [
            one.call
            for one in store.load("last").calls
            if one.call.tool == "refund_order" and not one.call.reused
        ]
        assert [one.outcome for one in made] == ["not_run", "not_run", "done"]


@needs_chromium
def test_a_page_whose_viewer_has_ended_offers_nothing(
    own_folders, atc_: Atc, browser: Browser
) -> None:
    assert atc_("run", TASK, *desk(own_folders, WRONG, RIGHT))[0] == 1
    with opened(own_folders / "state") as (store, url):
        browser.open(f"{url}runs/{only(store)}")
        browser.click("Go on, and ask me here")
        browser.until("document.body.innerText.includes('A call waits for you')")
    browser.until("document.body.innerText.includes('The viewer has ended; nothing was sent')")
    assert browser.run("[...document.querySelectorAll('[data-post]')].every((one) => one.disabled)")


def test_an_answer_is_for_the_waiting_question() -> None:
    question = Question(
        tool=Tool(ToolProtocol(name="pay"), lambda _: None), arguments={"amount": 3}
    )
    said: list[bool] = []

    def resume(run: str, *, ask_person: AskPerson, **_: bool) -> None:
        said.extend([ask_person(question), ask_person(question)])

    resumes = Resumes(resume)
    assert resumes.start("r")
    assert not resumes.start("r")
    first = waiting(resumes, "r")
    assert not resumes.answer("r", first + 1, allow=True)
    assert not resumes.answer("other", first, allow=True)
    assert resumes.answer("r", first, allow=True)
    second = waiting(resumes, "r", after=first)
    assert not resumes.answer("r", first, allow=True)
    assert second != first
    resumes.close()
    assert said == [True, None]
    assert not resumes.start("r")


def test_a_viewer_without_terminal_allows_nothing(store: RunStore) -> None:
    run, begun = many_calls(store, 1), []
    store.finish(run, status="interrupted")
    resumes = Resumes(lambda run, **how: begun.append(run), person=False)
    with viewing(store, resumes) as url:
        page = ask(url, f"runs/{run}")[1]
        assert "started without a terminal" in page
        assert '/resume"' not in page
        good = {"Origin": f"http://{urlsplit(url).netloc}", "Content_Type": "application/json"}
        for how in ("{}", '{"resend": true}', '{"accept_orphans": true}'):
            assert ask(url, f"runs/{run}/resume", "POST", how, **good)[0] == 409
        assert begun == []


def waiting(resumes: Resumes, run: str, *, after: int = 0) -> int:
    """The number of the question that waits."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        going = resumes._runs[run]
        if going.question is not None and going.number > after:
            return going.number
        time.sleep(0.005)
    raise AssertionError("nothing is asked")


@needs_chromium
def test_buttons_copy_what_the_page_shows(store: RunStore, browser: Browser) -> None:
    run = doubted(store)
    with viewing(store) as url:
        browser.open(f"{url}runs/{run}")
        browser.run(
            "navigator.clipboard.writeText = async (text) => { (window.copies ||= []).push(text); }"
        )
        for label in ("Copy the id", "Copy the answer", "Copy the program"):
            browser.click(label)
        browser.until("window.copies?.length === 3")
        assert browser.run("window.copies") == [run, "7", "fin()\nfon()"]
        assert browser.console == []


@needs_chromium
@both_stores
def test_a_run_is_followed_while_it_goes_on(place: str, store: RunStore, browser: Browser) -> None:
    with open_store(place) as other, viewing(store) as url:  # the process that works on the run
        run = many_calls(other, 2, running=True)
        browser.open(f"{url}runs/{run}")
        assert "running" in browser.text
        browser.run("document.querySelector('#a1-call1 details').open = true")
        observe = other.observer(run)
        observe(ToolCalled(0, call(2, "list_pages", 3, after="cursor-0001"), complete=False))
        browser.until("document.querySelectorAll('.call').length === 3")
        assert browser.run("document.querySelector('#a1-call2 .marks').textContent") == "running"
        assert browser.run("document.querySelector('#a1-call1 details').open")
        observe(ToolCalled(0, call(2, "list_pages", 3, after="cursor-0001", result={"rows": []})))
        browser.until("document.querySelector('#a1-call2.done')")
        other.finish(run, status="interrupted", error="KeyboardInterrupt()")
        browser.until("document.body.innerText.includes('This run is interrupted')")
        browser.open(url)
        assert browser.run("document.querySelector('.runs .class').textContent") == "interrupted"
        many_calls(other, 1, task="A second task.")
        browser.until("document.body.innerText.includes('A second task.')")
        assert browser.console == []


@needs_chromium
def test_the_list_is_searched_and_filtered(store: RunStore, browser: Browser) -> None:
    for number in range(3):
        many_calls(store, 1, task=f"Count the films of {number}.")
    store.finish(
        store.create("Mail Ann.", model="gpt-5"), status="error", error="the model is down"
    )
    shown = "[...document.querySelectorAll('.runs > li:not([hidden]) .task')].map((one) => one.textContent).join()"
    with viewing(store) as url:
        browser.open(f"{url}#search=films+1.")
        assert browser.run(shown) == "Count the films of 1."
        assert "1 of 4 runs" in browser.text
        browser.open(f"{url}#status=error")
        assert browser.run(shown) == "Mail Ann."
        assert "the model is down" in browser.text
        browser.open(url)
        browser.press("/")
        for letter in "gpt":
            browser.press(letter)
        browser.until(f"{shown} === 'Mail Ann.'")
        browser.run("document.activeElement.blur()")
        browser.press("j")
        assert browser.run("document.activeElement.textContent") == "Mail Ann."
        browser.press("Enter")
        browser.until("location.pathname.includes('/runs/')")
        assert browser.console == []


def hostile(store: RunStore, port: int) -> str:
    bad = HOSTILE.format(port=port)
    run = store.create(bad, model=bad, strategy=bad, sandbox=bad, tools=(bad, bad + "2"))
    observe = store.observer(run)
    source = f"x = 1\n{bad}\n# {bad}\n"
    observe(ModelAsked(bad, (Message("user", bad),)))
    observe(ModelReplied(bad, Completion(text=bad, model=bad)))
    observe(NoteAdded(bad))
    made = [
        replace(call(n, bad, n + 1, result={bad: [bad], "v": bad}), arguments={bad: bad}, error=error, curl=bad,
                note=bad, within=bad, drift=(bad,), outcome=outcome)
        for n, (error, outcome) in enumerate([(None, "done"), (bad, "refused"), (bad, "unknown")])
    ]  # fmt: skip
    for one in made:
        observe(ToolCalled(0, one))
    fault = Fault(kind="misread_result", message=bad, call=0, tool=bad, path=bad, line=2,
                  evidence=(Fact(kind="keys", text=bad),))  # fmt: skip
    finding = Finding(code=bad, message=bad, line=3)
    trace = Trace(
        calls=tuple(made), stdout=bad, failure=Failure(kind="exception", type=bad, message=bad)
    )
    attempts = [
        Attempt(Program("x = 0\n" + source), (finding,), None, None, (bad,), (finding,)),
        Attempt(Program(source), (), trace, fault, (bad,), (finding,), execution=0),
    ]
    for number, attempt in enumerate(attempts):
        observe(AttemptEnded(number, attempt))
    store.finish(
        run, Solution(task=bad, attempts=tuple(attempts), status="failed", answer=bad), error=bad
    )
    return run


@needs_chromium
def test_no_content_acts_in_the_browser(store: RunStore, browser: Browser, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        run = hostile(store, listener.getsockname()[1])
        exported = tmp_path / "page.html"
        exported.write_text(page(without_secrets(store.load(run))))
        question = Question(
            tool=Tool(ToolProtocol(name="pay"), lambda _: None),
            arguments={"to": HOSTILE.format(port=1)},
        )
        resumes = Resumes(lambda run, ask_person, **_: ask_person(question))
        with viewing(store, resumes) as url:
            resumes.start(run)
            waiting(resumes, run)
            for address in (f"{url}runs/{run}", url, f"file://{exported}"):
                browser.open(address)
                browser.run(
                    "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
                )
                browser.run(
                    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
                )
                assert "taken" not in browser.run("document.title")[:5], address
                assert (
                    browser.run(
                        "document.querySelectorAll('img, iframe, [onfocus], [autofocus]').length"
                    )
                    == 0
                )
                assert browser.run(
                    "[...document.links].every((one) => /^(http:..127.0.0.1|file:)/.test(one.href))"
                )
                assert browser.run("document.scripts.length") == 1
                assert browser.console == []
                source = browser.run("document.documentElement.outerHTML")
                for unseen in "\x00\x07\x1b\u202e\u2066\ufeff\u200b\u2028":
                    assert unseen not in source, ascii(unseen)
            resumes.close()
        with pytest.raises(BlockingIOError):
            listener.accept()


@needs_chromium
def test_the_policy_holds_where_escaping_would_fail(
    store: RunStore, browser: Browser, tmp_path: Path
) -> None:
    text = page(without_secrets(store.load(many_calls(store, 1))))
    bad = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><style>p{top:0}</style>"
    (tmp_path / "page.html").write_text(text.replace("</header>", bad + "</header>"))
    browser.open(f"file://{tmp_path}/page.html")
    assert browser.run("document.title").startswith("Page through everything.")
    assert sum("Content Security Policy" in line for line in browser.console) >= 3


@needs_chromium
def test_a_thousand_calls_fit_a_narrow_window(
    store: RunStore, browser: Browser, record_property: Callable[[str, object], None]
) -> None:
    run = many_calls(store, 1000)
    with viewing(store) as url:
        began = time.perf_counter()
        browser.size(400, 800).open(f"{url}runs/{run}")
        paint = browser.until(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        )
        record_property("first_paint_ms", paint)
        record_property("loaded_seconds", time.perf_counter() - began)
        assert browser.run("document.querySelectorAll('.call').length") == 1000
        assert browser.run("document.querySelectorAll('.lanes .tip').length") == 999
        assert browser.run("document.documentElement.scrollWidth") <= 400
        browser.size(1200, 900).open(f"{url}runs/{run}#a1-call990")
        browser.until("document.querySelector('#a1-call990 details').open")
        assert (
            browser.run("document.querySelector('#a1-call990').getBoundingClientRect().top") < 900
        )


def test_large_texts_are_cut_and_pages_stay_small(store: RunStore) -> None:
    run = many_calls(store, 300)
    stored = store.load(run)
    long = [
        replace(one, result={"text": "<" * 50_000}, arguments={"q": "&" * 50_000})
        for one in stored.attempts[0].calls
    ]
    attempt = stored.attempts[0]
    big = replace(
        stored,
        attempts=(replace(attempt, trace=replace(attempt.trace, calls=tuple(long))),),
        calls=(),
    )
    text = page(big)
    assert len(text) < 40_000_000
    assert "more: atc runs show --json" in text


AXE = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "atc-axe/node_modules/axe-core/axe.min.js"
)


@needs_chromium
@pytest.mark.skipif(
    not AXE.exists(), reason="there is no axe-core; .ci/chromium installs it where npm is"
)
@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_can_be_used_by_everybody(
    own_folders, atc_: Atc, browser: Browser, *, dark: bool
) -> None:
    """No serious finding of axe-core, at the width of a telephone, with everything opened."""
    assert atc_("run", TASK, *desk(own_folders, WRONG, RIGHT))[0] == 1
    with opened(own_folders / "state") as (store, url):
        run = only(store)
        with Store(own_folders / "state" / "runs.sqlite") as other:
            hostile(other, 9)
        for path, width in (("", 1200), ("", 400), (f"runs/{run}", 1200), (f"runs/{run}", 400)):
            browser.size(width, 900, dark=dark).open(url + path)
            browser.run(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
            )
            assert browser.run("document.documentElement.scrollWidth") <= width
            browser.run(AXE.read_text(encoding="utf-8") + "; 0")
            found = browser.run(
                "axe.run().then((all) => all.violations.filter((one) => ['serious', 'critical'].includes(one.impact))"
                ".map((one) => [one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]))"
            )
            assert found == [], (path, width)


# Files


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def stored_file(store: RunStore, data: bytes, name: str, media: str) -> str:
    """A run with a call that returned a file, and the path of the file."""
    run = store.create("a task")
    file = file_of_bytes(data, name, media)
    store.files(run).add(file)
    returned = ToolCall(index=0, tool="f", arguments={}, line=1, result=dict(file), files=((),))
    observe = store.observer(run)
    observe(ToolCalled(0, returned, True))
    trace = Trace(calls=(returned,))
    observe(AttemptEnded(0, Attempt(Program("f()"), trace=trace, execution=0)))
    store.finish(run, status="interrupted")
    return f"runs/{run}/files/{file.info.sha256}"


@pytest.mark.parametrize(
    ("data", "name", "media", "shown"),
    [
        (PNG, "a.png", "image/png", True),
        (b"<svg onload='alert(1)'/>", "a.svg", "image/svg+xml", False),
        (b"<script>alert(1)</script>", "a.html", "text/html", False),
        (b"<script>alert(1)</script>", "a.png", "image/png", False),
        (b"%PDF-1.7", 'a".pdf', "application/pdf", False),
    ],
)
def test_only_pictures_are_displayed(
    store: RunStore, data: bytes, name: str, media: str, *, shown: bool
) -> None:
    path = stored_file(store, data, name, media)
    with viewing(store) as url:
        status, _, headers = ask(url, path)
        page = ask(url, path.partition("/files")[0])[1]
    assert status == 200
    assert headers["content-type"] == (media if shown else "application/octet-stream")
    assert headers["content-disposition"].startswith("inline" if shown else "attachment; filename=")
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'; sandbox" in headers["content-security-policy"]
    assert ("<img" in page) == (media == "image/png")


def test_a_run_shows_its_own_files_only(store: RunStore) -> None:
    path = stored_file(store, PNG, "a.png", "image/png")
    other = stored_file(store, b"x", "b.txt", "text/plain").partition("/files")[0]
    with viewing(store) as url:
        assert ask(url, f"{other}/files/{path.rpartition('/')[2]}")[0] == 404
        run = path.split("/")[1]
        store.delete([run])
        assert ask(url, path)[0] == 404
