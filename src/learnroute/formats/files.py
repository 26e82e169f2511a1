"""Reading text with clear refusals, and writing so that no file is ever half there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from learnroute.errors import InputError

LARGEST_FILE = 1 << 30


def read_text(path: Path) -> str:
    """Return a file's text (UTF-8), or refuse."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path.stat().st_size:,} bytes; files are limited to {LARGEST_FILE:,}", where=path)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", where=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8 text; save the file as UTF-8", where=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({_cause(error)})", where=path) from None


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_beside(path: Path, text: str, owner: Path) -> None:
    """Write a text file that goes with its owner, unless it is there for another owner and says something else."""
    if path.exists() and not owner.exists() and read_text(path) != text:
        raise InputError("is there already, for another problem; write this one into another folder", where=path)
    write_text(path, text)


def make_folder(folder: Path) -> None:
    """Make a folder, and those it is in, unless it is there."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; give a folder", where=folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", where=folder) from None


def check_destination(path: Path, known: Iterable[str], what: str = "format") -> None:
    """Refuse a path that could not be written later, before the work for it begins."""
    if path.suffix.lower() not in known:
        kinds = ", ".join(suffix or "a folder" for suffix in known)
        raise InputError(f"unknown {what} {path.suffix!r}; known are {kinds}", where=path)
    if path.suffix and path.is_dir():
        raise InputError("is a folder; give a file name", where=path)
    if not path.parent.is_dir():
        raise InputError(f"cannot be written (no folder {path.parent})", where=path)
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot be written (folder {path.parent} is read-only)", where=path)


@contextlib.contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Let refusals in here begin with the file's name, unless they name another one that belongs to it."""
    try:
        yield
    except InputError as error:
        raise (error.within(path) if error.where is None else error) from None


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a temporary path beside the wanted one, and rename it to that at the end if all went well."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".learnroute-", suffix=path.suffix)
        os.close(handle)
        temporary = Path(name)
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


def _cause(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
