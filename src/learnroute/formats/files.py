"""Read text files with clear error messages, and write files atomically."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from learnroute.errors import InputError, did_you_mean

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LARGEST_FILE = 1 << 30  # bytes of a text file
PIECE = 1 << 20  # bytes read at once, and allocated whatever the size of the file
LONGEST_NAME = 255  # bytes of a file's name
TEMPORARY = ".learnroute-"  # prefix of the names of files that are being written
LOCKED_BYTE = (1 << 31) - 1  # the locked byte of a file on Windows, where other processes cannot read a locked byte


def read_text(path: Path) -> str:
    """Return a file's text (UTF-8); reject files that cannot be read."""
    with open_file(path) as file:
        return text_of(file, path)


def text_of(file: IO[bytes], where: object) -> str:
    """Return the text (UTF-8) of an open file or stream; reject text beyond the size limit without reading it all."""
    try:
        content = bytearray()
        while len(content) <= LARGEST_FILE and (piece := file.read(PIECE)):
            content += piece
        if len(content) > LARGEST_FILE:
            raise InputError(f"is too large; files are limited to {LARGEST_FILE:,} bytes", where=where)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not a text file in UTF-8 (byte {error.start}); save it as UTF-8", where=where) from None
    except OSError as error:
        raise InputError(f"cannot be read ({_cause(error)})", where=where) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextlib.contextmanager
def open_file(path: Path, largest: int | None = LARGEST_FILE) -> Iterator[IO[bytes]]:
    """Open a regular file for reading; reject devices and pipes, which may never end or never begin."""
    try:
        # `open` would block on a pipe without a writer; for a regular file, the flag has no effect
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({_cause(error)})", where=path) from None
    try:
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            raise InputError("cannot be read (Is a directory)", where=path)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("is a device or a pipe; give a regular file, or - for JSON on standard input", where=path)
        if largest is not None and about.st_size > largest:
            raise InputError(f"{about.st_size:,} bytes; files are limited to {largest:,}", where=path)
        with open(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def no_such_file(path: Path) -> InputError:
    """Return the error for a missing file, which suggests a file with a similar name in the same folder."""
    with contextlib.suppress(OSError, ValueError):
        if path.parent.is_dir():
            hint = did_you_mean(path.name, [str(file.name) for file in path.parent.iterdir()])
            return InputError(f"no such file; {hint}" if hint.endswith("?") else "no such file", where=path)
        return InputError(f"no such file; there is no folder {path.parent}", where=path)
    return InputError("no such file", where=path)


def exists(path: Path) -> bool:
    """Return whether a file or folder exists; reject names that no file can have."""
    try:
        return path.exists()
    except OSError as error:
        raise InputError(f"cannot be accessed ({_cause(error)})", where=path) from None


def is_folder(path: Path) -> bool:
    """Return whether a folder exists; reject names that no folder can have."""
    return exists(path) and path.is_dir()


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_owned(path: Path, text: str, owner: Path) -> None:
    """Write a companion text file of its owner; reject it if another owner has one with different content."""
    if exists(path) and not exists(owner) and read_text(path) != text:
        raise InputError("exists and belongs to another problem; write to another folder", where=path)
    write_text(path, text)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they do not exist."""
    if exists(folder) and not folder.is_dir():
        raise InputError("is a file; give a folder", where=folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be created ({error.strerror})", where=folder) from None


def check_destination(path: Path, known: Iterable[str], what: str = "format") -> None:
    """Reject, before the work begins, a path that could not be written afterwards."""
    if path.suffix.lower() not in known:
        kinds = ", ".join(suffix or "a folder" for suffix in known)
        given = f"unknown {what} {path.suffix!r}" if path.suffix else f"the name has no extension for the {what}"
        raise InputError(f"{given}; known are {kinds}", where=path)
    if path.suffix and is_folder(path):
        raise InputError("is a folder; give a file name", where=path)
    if exists(path) and not (path.is_file() or path.is_dir()):
        raise InputError("is a device or a pipe; give a file name", where=path)
    if not path.parent.is_dir():
        raise InputError(f"cannot be written (no folder {path.parent})", where=path)
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot be written (folder {path.parent} is read-only)", where=path)


@contextlib.contextmanager
def errors_naming(path: object) -> Iterator[None]:
    """Prefix errors raised in this context with the file's name, unless they name a companion file."""
    try:
        yield
    except InputError as error:
        raise (error.within(path) if error.where is None else error) from None
    except OSError as error:
        raise InputError(f"cannot be read ({_cause(error)})", where=error.filename or path) from None


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and rename it to `path` at the end if no error occurred.

    The temporary file is locked meanwhile, so that `remove_leftovers` can distinguish it from files of killed writers.
    """
    temporary: Path | None = None
    locked: int | None = None
    try:
        temporary, locked = _temporary_file(path)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written ({_cause(error)})", where=path) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if locked is not None:
            os.close(locked)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed writers left in a folder, but not files that are still being written."""
    for path in folder.glob(f"{TEMPORARY}*"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
            try:
                if stat.S_ISREG(os.fstat(handle).st_mode) and lock(handle):
                    path.unlink()
            finally:
                os.close(handle)


def _temporary_file(path: Path) -> tuple[Path, int | None]:
    """Create an empty file with a unique name; return it with the handle that unlocks it, if it could be locked.

    Temporary files of killed writers in the folder are removed.
    """
    import tempfile

    remove_leftovers(path.parent)
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY, suffix=path.suffix)
        locked = os.name == "posix" and lock(handle)  # on Windows, an open file cannot be renamed
        lost = not os.fstat(handle).st_nlink  # removed as a leftover before it was locked
        if lost or not locked:
            os.close(handle)
        if not lost:
            return Path(name), handle if locked else None


def lock(handle: int) -> bool:
    """Lock an open file, and return whether that succeeded; closing the file unlocks it."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _cause(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
