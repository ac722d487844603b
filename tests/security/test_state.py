"""State that somebody else can write to is refused, what is written is private, and one run has one process."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.labs.patience import PATIENCE
from tests.labs.user import Going, User, service, writes

ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can make other users' files and namespaces"
)


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path)


# --- folders


def owned_by_another(folder: Path) -> None:
    os.chown(folder, 12345, 12345)


def linked(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def shared_with_a_group(folder: Path) -> None:
    os.chown(folder, -1, 12345)
    folder.chmod(0o770)


SPOILED = {
    "by a group": (shared_with_a_group, "chmod -R go-w "),
    "by everybody": (lambda folder: folder.chmod(0o757), "chmod -R go-w "),
    "a link": (linked, "rm "),
    "another's": (owned_by_another, "chown -R 0 "),
    "replaceable": (lambda folder: folder.parent.chmod(0o777), "chmod go-w "),
    "in another's": (lambda folder: owned_by_another(folder.parent), "chown 0 "),
}


@ROOT_ONLY
@pytest.mark.parametrize("how", SPOILED)
def test_changeable_state_folders_name_the_repairing_command(user, how):
    spoil, command = SPOILED[how]
    state = user.home / "state" / "atc"
    assert user.atc("runs", "list").returncode == 0
    spoil(state)
    refused = user.atc("runs", "list")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (3, "", 1), refused
    assert command in refused.stderr
    subprocess.run(command + refused.stderr.rpartition(command)[2], shell=True, check=True)
    assert user.atc("runs", "list").returncode == 0


@ROOT_ONLY
@pytest.mark.parametrize("name", ["saved-tools", "learned"])
@pytest.mark.parametrize("how", ["by everybody", "a link", "another's"])
def test_so_is_a_folder_in_it(user, stack, name, how):
    folder = user.home / "state" / "atc" / name
    folder.mkdir(parents=True, mode=0o700)
    SPOILED[how][0](folder)
    shop = service(stack, ("find", "get", "/find"))
    done = user.run_text("print(find())", "--tools", f"{shop.url}/doc")
    assert (done.returncode, name in done.stderr) == (3, True), done
    assert [seen.target for seen in shop.seen if seen.target != "/doc"] == []


@ROOT_ONLY
def test_the_users_own_group_is_nobody_else(user):
    """Programs with the umask 002 make such folders, where each user has a group of their own."""
    assert user.atc("runs", "list").returncode == 0
    state = user.home / "state" / "atc"
    for folder in (state, state.parent, user.home):
        folder.chmod(0o775)
    done = user.atc("runs", "list")
    assert done.returncode == 0, done.stderr


OTHER_USER = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups")


@ROOT_ONLY
@pytest.mark.skipif(
    subprocess.run(
        [*OTHER_USER, sys.executable, "-c", ""], check=False, capture_output=True
    ).returncode
    != 0,
    reason="another user cannot run this Python",
)
@pytest.mark.parametrize(
    ("owner", "group", "mode", "told"),
    [
        (0, 12345, 0o2775, ""),
        (0, 0, 0o777, "user 0, its owner, can repair it"),
        (1000, 1000, 0o755, "run atc as that user"),
        (0, 0, 0o1777, "a folder of your own"),
    ],
)
def test_users_without_rights_learn_their_options(user, owner, group, mode, told):
    """Volumes of containers: a group's, everybody's, the host user's, and one like /tmp."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        volume = Path(place) / "volume"
        volume.mkdir()
        os.chown(volume, owner, group)
        volume.chmod(mode)
        settings = {"ATC_STATE_DIR": str(volume), "HOME": place, "XDG_CONFIG_HOME": place}
        user.work = Path(place)
        done = user.atc("runs", "list", before=OTHER_USER, **settings)
        assert (done.returncode, told in done.stderr) == (3 if told else 0, True), done
        if mode == 0o1777:
            settings["ATC_STATE_DIR"] = f"{volume}/atc-12345"
            assert user.atc("runs", "list", before=OTHER_USER, **settings).returncode == 0


@ROOT_ONLY
def test_root_takes_over_no_folder(user):
    assert user.atc("runs", "list").returncode == 0
    owned_by_another(user.home / "state" / "atc")
    assert "run atc as that user (a container with --user 12345)" in user.atc("runs", "list").stderr


@ROOT_ONLY
def test_a_changeable_cache_is_refused(user):
    cache = user.home / "cache" / "atc"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    refused = user.atc(
        "models",
        "pull",
        "smollm2",
        PIP_INDEX_URL="http://127.0.0.1:9",
        HTTPS_PROXY="http://127.0.0.1:9",
    )
    assert (refused.returncode, "chmod go-w" in refused.stderr) == (3, True), refused


@ROOT_ONLY
def test_other_users_settings_and_trust_count_nothing(user):
    user.settings.write_text("sandbox = 'unconfined'\n")
    os.chown(user.settings, 12345, 12345)
    refused = user.atc("tools", "list")
    assert (refused.returncode, "belongs to another user" in refused.stderr) == (2, True), refused
    user.settings.unlink()
    (user.work / "atc.toml").write_text("sandbox = 'unconfined'\n")
    assert user.atc("config", "trust").returncode == 0
    book = user.settings.with_name("trusted.json")
    os.chown(book, 12345, 12345)
    refused = user.atc("runs", "list")
    assert (refused.returncode, "trusted.json" in refused.stderr) == (3, True), refused


def test_files_are_private_whatever_the_umask(user, stack):
    shop = service(stack, ("find", "get", "/find"))
    before = os.umask(0)
    try:
        solved, _ = user.run("print(find()['done'])", "--tools", f"{shop.url}/doc")
        assert solved.returncode == 0, solved.stderr
        done = [
            user.atc("runs", "save", "last", "--as-tool", "finding"),
            user.atc("runs", "export", "last", "-o", "out/run.json"),
            user.atc("runs", "export", "last", "--html", "-o", "out/run.html"),
            user.atc("tools", "import", f"{shop.url}/doc", "-o", "out/tools"),
            user.atc("tools", "index", "--tools", f"{shop.url}/doc", "--words-only"),
            user.atc("probe", f"{shop.url}/doc", "-o", "out/probed", "--model", "none"),
        ]
        (user.work / "atc.toml").write_text("max_calls = 3\n")
        done.append(user.atc("config", "trust"))
    finally:
        os.umask(before)
    assert [one.returncode for one in done if one.returncode != 0] == [], done
    made = [
        user.home / "state",
        user.home / "cache",
        user.work / "out",
        user.settings.with_name("trusted.json"),
    ]
    open_to_others = [
        f"{path} {path.stat().st_mode & 0o777:o}"
        for top in made
        for path in (top, *top.rglob("*"))
        if path.exists() and path.stat().st_mode & 0o077
    ]
    assert open_to_others == []
    assert (user.home / "state" / "atc" / "learned").is_dir()


# --- one run, one process


@pytest.fixture
def going(stack, user) -> Going:
    return Going(stack, user)


def stop_between_transactions(process: int, store: Path) -> None:
    """Stop a process while it holds no lock of its store."""
    while True:
        os.kill(process, signal.SIGSTOP)
        with closing(sqlite3.connect(store, timeout=0)) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                os.kill(process, signal.SIGCONT)
            else:
                return


CONTAINER = ("unshare", "-p", "-f", "--kill-child", "--mount-proc")


@ROOT_ONLY
@pytest.mark.parametrize(
    "there", [CONTAINER, ("unshare", "-p", "-f", "--kill-child")], ids=["own /proc", "host's /proc"]
)
def test_a_run_working_elsewhere_is_not_taken(going, user, there):
    begun = going.begin()
    listed = user.atc("runs", "list", before=there)
    assert "  running  " in listed.stdout, listed
    refused = user.atc("runs", "resume", "last", before=there)
    assert (
        refused.returncode,
        f"is being worked on by process {begun.pid} on" in refused.stderr,
    ) == (2, True), refused
    assert user.atc("runs", "purge", "last", "--yes", before=there).returncode == 2
    going.go.set()
    assert begun.wait(PATIENCE) == 0
    assert writes(going.shop) == ["/order"]


def test_a_locally_killed_run_continues_at_once(going, user):
    begun = going.begin()
    assert "  running  " in user.atc("runs", "list").stdout
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    assert "  interrupted  " in user.atc("runs", "list").stdout, "no lease is waited for"
    going.go.set()
    done = user.atc("runs", "resume", "last")
    assert (done.returncode, writes(going.shop)) == (0, ["/order"]), done


@ROOT_ONLY
def test_a_stopped_process_sends_nothing_once_replaced(going, user):
    """It stands in a container; its run is taken from outside, and then it comes back."""
    begun = going.begin(*CONTAINER)
    inside = int(Path(f"/proc/{begun.pid}/task/{begun.pid}/children").read_text().split()[0])
    stop_between_transactions(inside, user.home / "state" / "atc" / "runs.sqlite")
    going.go.set()
    done = user.atc("runs", "resume", "last")
    assert (done.returncode, writes(going.shop)) == (0, ["/order"]), done
    assert "for a sign of life" in done.stderr, "nobody waits without knowing why"
    os.kill(inside, signal.SIGCONT)
    begun.wait(PATIENCE)
    assert writes(going.shop) == ["/order"]
