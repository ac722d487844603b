"""`atc run --after`."""

import json

import pytest

from atc.store import Store
from tests.labs.user import writes

READ = "print(find()['done'])"
ORDER = f"{READ}\norder()"


def begin(user, server, program: str = READ, *more: str):
    done = user.run_text(program, "--tools", f"{server.url}/doc", *more)
    assert done.returncode == 0, done.stderr


def test_a_follow_up_takes_tools_and_model(user, shop):
    begin(user, shop)
    asked = len(shop.seen)
    done = user.atc("run", "Once more?", "--after", "last")
    assert (done.returncode, done.stdout) == (0, "/find\n"), done.stderr
    assert "call      find() → {done: string} · from the earlier run" in done.stderr
    assert [seen.target for seen in shop.seen[asked:]] == ["/doc"]
    shown = user.atc("runs", "show", "last").stdout
    assert ": Do it.\n" in shown.partition("after    ")[2]
    assert "· from the earlier run" in shown
    assert "from the earlier run" in user.atc("runs", "export", "last", "--html").stdout


def test_permissions_are_given_for_each_run(user, shop):
    begin(user, shop, ORDER, "--allow-writes", "order", "--trust", "find")
    done = user.atc("run", "Once more?", "--after", "last")
    assert done.returncode == 1
    assert "--allow-writes order" in done.stderr
    assert len(writes(shop)) == 1
    allowed = ("--after", "last", "--allow-writes", "order")
    assert user.atc("run", "And again?", *allowed).returncode == 0
    assert len(writes(shop)) == 2


def test_a_paused_follow_up_is_resumed(user, shop):
    begin(user, shop)
    done = user.run_text(ORDER, "--after", "last")
    assert done.returncode == 1
    done = user.atc("runs", "resume", "last", "--allow-writes", "order")
    assert (done.returncode, done.stdout) == (0, "/find\n"), done.stderr
    assert [seen.target for seen in shop.seen if seen.target != "/doc"] == ["/find", "/order"]


@pytest.mark.parametrize(
    ("name", "said"), [("lsat", "no run 'lsat'; "), ("last", "has no program, so nothing can")]
)
def test_a_wrong_run_is_one_sentence(user, shop, name, said):
    begin(user, shop)
    with Store(user.home / "state" / "atc" / "runs.sqlite") as store:
        run = store.create("Do it.")
        running = user.atc("run", "And?", "--after", run)
        store.finish(run, status="error", error="down")
    assert (running.returncode, "is still going" in running.stderr) == (2, True), running.stderr
    done = user.atc("run", "And?", "--after", name)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert said in done.stderr


def test_a_run_without_tools_here_asks_for_them(user, shop):
    begin(user, shop)
    with Store(user.home / "state" / "atc" / "runs.sqlite") as store, store._transaction() as db:
        text = db.execute("SELECT document FROM runs").fetchone()[0]
        document = json.loads(text)
        document["identities"] = {"find": "another"}
        db.execute("UPDATE runs SET document = ?", (json.dumps(document),))
    done = user.atc("run", "And?", "--after", "last")
    assert (done.returncode, "name tools with --tools" in done.stderr) == (2, True), done.stderr
    assert user.run_text(READ, "--after", "last", "--tools", f"{shop.url}/doc").returncode == 0


def test_untrusted_folders_decide_nothing_more(user, shop):
    """Neither the tools of a follow-up, nor more than the tools of such a folder may do."""
    begin(user, shop)
    folder = user.work / "atc.toml"
    folder.write_text('tools = ["other.json"]\n')
    done = user.atc("run", "Once more?", "--after", "last")
    assert (done.returncode, done.stdout) == (0, "/find\n"), done.stderr
    folder.write_text('allow_writes = ["order"]\n')
    done = user.atc("run", "Once more?", "--after", "last")
    assert (done.returncode, "'allow_writes' is not taken" in done.stderr) == (2, True), done.stderr


def test_tools_of_untrusted_folders_stay_restricted(user):
    """They get no consent from the user's settings, also after the folder's file is gone."""
    told = {"200": {"description": "", "content": {"application/json": {}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example.org"}],
        "paths": {"/order": {"post": {"operationId": "order", "responses": told}}},
    }
    (user.work / "shop.json").write_text(json.dumps(document))
    (user.work / "atc.toml").write_text('tools = ["shop.json"]\n')
    user.settings.write_text('allow_writes = ["order"]\n')
    first = user.run_text("print(1)")
    assert first.returncode == 0, first.stderr
    (user.work / "atc.toml").unlink()
    done = user.run_text("order()\nprint(1)", "--after", "last")
    assert (done.returncode, "--allow-writes order" in done.stderr) == (1, True), done.stderr


def test_a_dry_run_follows_too(user, shop):
    begin(user, shop)
    done = user.run_text("print(2)", "--after", "last", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "print(2)\n"), done.stderr
