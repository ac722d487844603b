"""Atomic writes, and private files and folders, which other users can neither read nor change."""

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
_SYSTEM_FOLDERS = frozenset(
    Path("/", name)
    for name in (
        "", "bin", "boot", "dev", "dev/shm", "etc", "home", "lib", "lib64", "media", "mnt", "opt",
        "proc", "run", "sbin", "srv", "sys", "tmp", "usr", "usr/local", "var", "var/cache",
        "var/lib", "var/log", "var/run", "var/spool", "var/tmp",
    )
)  # fmt: skip
"""Folders of the operating system. Messages never propose to change their permissions."""
_ELSEWHERE = (
    "give atc a folder that stands where nobody else can write (ATC_STATE_DIR, ATC_CACHE_DIR)"
)


class CannotWrite(AtcError):
    """An output file cannot be written."""


def write_whole(path: Path, text: str, *, mode: int = FILE_MODE) -> None:
    """Write a file atomically. Only the current user can read it, unless `mode` allows more.

    Raises:
        CannotWrite: it cannot be written. The message has the reason.
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
    """Create a folder and its missing parents. Only the current user can access the new folders.

    The permissions do not depend on the umask.

    Raises:
        OSError: one cannot be created, or its name is taken by a file.
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
    """Open a file so that only this user can access it, for the argument `opener` of `open`.

    If the file is a symbolic link, this fails.
    """
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)


def private_file(path: Path) -> None:
    """Create an empty private file unless it exists, and make sure that it is private.

    Some libraries open a file by its name, so they cannot use `private_opener`.

    Raises:
        NotPrivate, OSError: it is a link, belongs to another user, or cannot be created.
    """
    os.close(private_opener(str(path), os.O_RDWR | os.O_CREAT))
    keep_private(path)


def deny_others(folder: Path) -> None:
    """Remove the permissions of other users from a folder and everything in it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


class NotPrivate(AtcError):
    """A private file or folder is a link, belongs to another user, or is open to others."""


def keep_private(path: Path) -> None:
    """Remove the permissions of other users from the file at `path`, if it exists.

    Raises:
        NotPrivate: it is a link, or belongs to another user.
    """
    try:
        status = path.lstat()
        _refuse_foreign(path, status, owners=(os.geteuid(),))
        if status.st_mode & 0o077:
            path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
    except FileNotFoundError:
        return


def private_folder(path: Path, *, anywhere: bool = False) -> None:
    """Create a private folder, or check that no other user can change the existing one.

    A user who can write to the folder or replace it controls what is read from it. Other users may
    list the folder, because its files are private. If `anywhere` is true, the folders above it are
    not checked.

    Raises:
        NotPrivate: it is a link or another user's, or others can write to it or replace it. The
            message has the command that repairs it.
        OSError: it cannot be created.
    """
    path = path.absolute()
    make_folders(path)
    check_folder(path, anywhere=anywhere)


def check_folder(path: Path, *, anywhere: bool = False) -> None:
    """Check that no other user can change a folder. Do nothing if it does not exist.

    If `anywhere` is true, the folders above it are not checked.

    Raises:
        NotPrivate: it is a link or another user's, or others can write to it or replace it. The
            message has the command that repairs it.
    """
    path = path.absolute()
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    _refuse_foreign(path, status, owners=(0, os.geteuid()))
    if is_writable_by_others(status):
        mode = stat.S_IMODE(status.st_mode)
        problem = (
            f"{str(path)!r} can be changed by other users (mode {mode:04o}),"
            " who decide what is read from it"
        )
        raise NotPrivate(f"{problem}; {_repair('chmod -R go-w', path, status)}")
    if not anywhere:
        check_above(path)


def is_writable_by_others(status: os.stat_result) -> bool:
    """Return True if a file's permissions allow some other user to write to it.

    Other users are all except the owner of the file, this user and root.
    """
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private_group(
        status.st_gid, status.st_uid
    )


def _is_private_group(group: int, owner: int) -> bool:
    """Return True if a group has no members except the owner or this user.

    Such a group has the same name as the user. If the group has no name, as in a container, it has
    the same number as the user.
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
    """Check that no other user can replace `path` by changing a folder above it.

    `path` itself may be a symbolic link of this user.

    Raises:
        NotPrivate: another user can replace it. The message has the command that repairs this.
    """
    owners = {0, os.geteuid(), *_unmapped_user()}
    for above in _folders_above(path):
        try:
            status = above.lstat()
        except FileNotFoundError:
            continue
        if status.st_uid not in owners:
            problem = (
                f"{str(path)!r} stands in {str(above)!r},"
                " which belongs to another user, who could replace it"
            )
            raise NotPrivate(f"{problem}; {_repair(f'chown {os.geteuid()}', above, status)}")
        # In a folder such as /tmp, with the sticky bit, nobody renames what another user owns.
        if (
            not stat.S_ISLNK(status.st_mode)
            and is_writable_by_others(status)
            and not status.st_mode & stat.S_ISVTX
        ):
            problem = f"{str(path)!r} stands in {str(above)!r}, in which other users can replace it"
            raise NotPrivate(f"{problem}; {_repair('chmod go-w', above, status)}")


def _refuse_foreign(path: Path, status: os.stat_result, *, owners: Collection[int]) -> None:
    """Raise `NotPrivate` if `path` is a link or its owner is not in `owners`."""
    if stat.S_ISLNK(status.st_mode):
        raise NotPrivate(
            f"{str(path)!r} is a symbolic link, so what it holds may be somebody else's;"
            f" remove the link with: rm {shlex.quote(str(path))}"
        )
    if status.st_uid not in owners:
        problem = (
            f"{str(path)!r} belongs to another user ({status.st_uid}), who could read and change it"
        )
        raise NotPrivate(f"{problem}; {_repair(f'chown -R {os.geteuid()}', path, status)}")


def _repair(repair: str, path: Path, status: os.stat_result) -> str:
    """Return advice for a path that other users can change.

    The advice is to run the command `repair` if this user may run it, and otherwise an alternative.
    For a folder that many users share, such as /tmp, the advice is to choose another folder.
    """
    if status.st_mode & stat.S_ISVTX or path in _SYSTEM_FOLDERS:
        return "choose a folder of your own (ATC_STATE_DIR, ATC_CACHE_DIR)"
    whole = f"{repair} {shlex.quote(str(path))}"
    owner = status.st_uid
    user = os.geteuid()
    foreign = repair.startswith("chown")
    if user == owner or (user == 0 and not foreign):
        return f"repair it with: {whole}"
    if user == 0:  # in a container, the folder may be the host's
        return (
            f"run atc as that user (a container with --user {owner}),"
            f" or, if it is to be yours, repair it with: {whole}"
        )
    if foreign:
        return f"run atc as that user, or {_ELSEWHERE}"
    return f"user {owner}, its owner, can repair it with 'chmod go-w'; or {_ELSEWHERE}"


def _folders_above(path: Path) -> Iterator[Path]:
    """Yield all parent folders of `path`, without duplicates.

    They are those of the path as it is written, and those of the path with links resolved.
    """
    yield from dict.fromkeys([*path.parents, *path.resolve().parents])


def _unmapped_user() -> set[int]:
    """Return the user to whom foreign files seem to belong in a user namespace, as a set.

    The set has the id of this user. In a container without root on the host, folders of the host
    (`/`) seem to belong to this user. Outside of a user namespace, the set is empty.
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
    """Return the exception that says that a file cannot be written, and why."""
    return CannotWrite(f"cannot write {str(path)!r}: {error.strerror or error}; give another file.")
