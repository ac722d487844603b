"""Files written whole or not at all, and files and folders that nobody else may read or change."""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from protocols.errors import AtcError

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_ELSEWHERE = (
    "give atc a folder that stands where nobody else can write (ATC_STATE_DIR, ATC_CACHE_DIR)"
)


class CannotWrite(AtcError):
    """A file of the result cannot be written."""


def write_whole(path: Path, text: str, *, mode: int = FILE_MODE) -> None:
    """Write a file whole or not at all, readable by its user alone unless `mode` says otherwise.

    Raises:
        CannotWrite: it cannot be; says why.
    """
    try:
        make_folders(path.parent)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(
                descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                file.write(text)
            Path(temporary).chmod(mode)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise write_error(path, error) from error


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing, each for its user alone, whatever the umask.

    Raises:
        OSError: one cannot be made, or something else has its name.
    """
    if path.is_dir():
        return
    make_folders(path.parent)
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise
        return
    path.chmod(FOLDER_MODE)  # the umask may have taken bits of the owner's


def private_opener(name: str, flags: int) -> int:
    """Open a file as `open(…, opener=private_opener)`: a new one is its user's alone, and no link is followed."""
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)


def private_file(path: Path) -> None:
    """Make an empty file for its user alone where there is none, for a library that opens it by its name.

    Raises:
        NotPrivate, OSError: it is a link, or another user's, or cannot be made.
    """
    os.close(private_opener(str(path), os.O_RDWR | os.O_CREAT))
    keep_private(path)


def deny_others(folder: Path) -> None:
    """Take from everybody but the owner what they may do with a folder that a library has filled."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


class NotPrivate(AtcError):
    """A file or folder that was to be the user's alone is a link, belongs to somebody else, or is open to others."""


def keep_private(path: Path) -> None:
    """Take from everybody but the owner what they may do with the file at `path`; do nothing if there is none.

    Raises:
        NotPrivate: it is a link, or another user's.
    """
    try:
        status = path.lstat()
        _refuse_foreign(path, status, owners=(os.geteuid(),))
        if status.st_mode & 0o077:
            path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
    except FileNotFoundError:
        return


def private_folder(path: Path, *, anywhere: bool = False) -> None:
    """Make a folder for its user alone, or check that nobody else can change what stands in the one that is there.

    Whoever can write to the folder, or can put another one in its place, decides what is read from it. A folder that
    others may only look into is left so: its files are private. `anywhere`: the folder may stand in one of others.

    Raises:
        NotPrivate: it is a link, another user's, or others can write to it or replace it. Says the repairing command.
        OSError: it cannot be made.
    """
    path = path.absolute()
    make_folders(path)
    check_folder(path, anywhere=anywhere)


def check_folder(path: Path, *, anywhere: bool = False) -> None:
    """Check a folder as `private_folder` does, without making one; do nothing if there is none.

    Raises:
        NotPrivate: see `private_folder`.
    """
    path = path.absolute()
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    _refuse_foreign(path, status, owners=(0, os.geteuid()))
    if is_writable_by_others(status):
        told = (
            f"{str(path)!r} can be changed by other users (mode {stat.S_IMODE(status.st_mode):04o}), who decide what is"
            " read from it"
        )
        raise NotPrivate(f"{told}; {_repair('chmod -R go-w', path, status)}")
    if not anywhere:
        check_above(path)


def is_writable_by_others(status: os.stat_result) -> bool:
    """Return True if somebody besides the owner, this user and root may write to what has this status."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private_group(
        status.st_gid, status.st_uid
    )


def _is_private_group(group: int, owner: int) -> bool:
    """Return True if a group is the one that the owner or this user alone has: of the same name, with no other member.

    Where neither has a name, as in a container, it is the group of the same number.
    """
    users = {owner, os.geteuid()}
    names = {_name_of(user) for user in users}
    try:
        known = grp.getgrgid(group)
    except KeyError:
        return group in users
    return known.gr_name in names and names | {"root"} >= set(known.gr_mem)


def _name_of(user: int) -> str | None:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return None


def check_above(path: Path) -> None:
    """Check that nobody else can put something else in the place of `path`, which may be a link of this user.

    Raises:
        NotPrivate: another user can, in one of the folders above it. Says the repairing command.
    """
    owners = {0, os.geteuid(), *_unmapped_user()}
    for above in _folders_above(path):
        try:
            status = above.lstat()
        except FileNotFoundError:
            continue
        if status.st_uid not in owners:
            told = f"{str(path)!r} stands in {str(above)!r}, which belongs to another user, who could replace it"
            raise NotPrivate(f"{told}; {_repair(f'chown {os.geteuid()}', above, status)}")
        # In a folder such as /tmp, with the sticky bit, nobody renames what another user owns.
        if (
            not stat.S_ISLNK(status.st_mode)
            and is_writable_by_others(status)
            and not status.st_mode & stat.S_ISVTX
        ):
            told = f"{str(path)!r} stands in {str(above)!r}, in which other users can replace it"
            raise NotPrivate(f"{told}; {_repair('chmod go-w', above, status)}")


def _refuse_foreign(path: Path, status: os.stat_result, *, owners: Collection[int]) -> None:
    """Raise NotPrivate if `path` is a link or belongs to none of `owners`."""
    if stat.S_ISLNK(status.st_mode):
        raise NotPrivate(
            f"{str(path)!r} is a symbolic link, so what it holds may be somebody else's; remove the link with:"
            f" rm {shlex.quote(str(path))}"
        )
    if status.st_uid not in owners:
        told = (
            f"{str(path)!r} belongs to another user ({status.st_uid}), who could read and change it"
        )
        raise NotPrivate(f"{told}; {_repair(f'chown -R {os.geteuid()}', path, status)}")


def _repair(repair: str, path: Path, status: os.stat_result) -> str:
    """Return what this user can do about `path`: the command `repair` if they may give it, else what else there is."""
    whole = f"{repair} {shlex.quote(str(path))}"
    owner = status.st_uid
    user = os.geteuid()
    foreign = repair.startswith("chown")
    if user == owner or (user == 0 and not foreign):
        return f"repair it with: {whole}"
    if user == 0:  # in a container, the folder may be the host's
        return f"run atc as that user (a container with --user {owner}), or, if it is to be yours, repair it with: {whole}"
    if foreign:
        return f"run atc as that user, or {_ELSEWHERE}"
    if status.st_mode & stat.S_ISVTX:
        mine = shlex.quote(str(path / f"atc-{user}"))
        return f"give atc a folder of your own in it (ATC_STATE_DIR or ATC_CACHE_DIR={mine})"
    return f"user {owner}, its owner, can repair it with 'chmod go-w'; or {_ELSEWHERE}"


def _folders_above(path: Path) -> Iterator[Path]:
    """Yield the folders above `path`, as it is written and as it is once links are followed, each once."""
    yield from dict.fromkeys([*path.parents, *path.resolve().parents])


def _unmapped_user() -> set[int]:
    """Return the user id of everybody who has none in a user namespace, where there are such; else nothing.

    In a container without root on the host, the host's own folders (`/`) seem to belong to that user.
    """
    try:
        if Path("/proc/self/uid_map").read_text(encoding="ascii").split() == [
            "0",
            "0",
            "4294967295",
        ]:
            return set()
        return {int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii"))}
    except (OSError, ValueError):
        return set()


def write_error(path: Path, error: OSError) -> CannotWrite:
    """Return the error for a file that the system does not let us write."""
    return CannotWrite(f"cannot write {str(path)!r}: {error.strerror or error}; give another file.")
