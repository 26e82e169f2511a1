"""Machine code of kernels: made by LLVM, kept in a folder of the user's, called from Python.

A kernel is compiled once for each list of types that it is called with, together with the kernels that it calls. Its
machine code is kept for the next process under a name that depends on all source code of this package, on the
processor and on LLVM. Where time is short (`kernels.in_a_hurry`), it is compiled several times as quickly to code that
is about half as fast, and that is not kept. Python hands over one buffer with all arguments, and gets one with the
results; other threads of Python go on meanwhile.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import struct
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from learnroute import kernels
from learnroute.kernels.value_types import BOOL, FLOAT, INT, Array, Element, Scalar, Tuple, Type, parts_of, type_of

MOST_FOLDERS = 6  # versions of this package whose machine code is kept
# LLVM's passes: its usual pipeline takes three times as long, for code that is at most a tenth faster
PASSES = (
    "sroa", "simplify_cfg", "instruction_combine", "new_gvn", "loop_rotate", "instruction_combine", "simplify_cfg",
    "dead_arg_elimination",
)  # fmt: skip
QUICK_PASSES = ("sroa",)
_lock = threading.Lock()
_numbers = itertools.count()  # of pieces of machine code in this process
_loaded_once: set[str] = set()  # kernels whose machine code is in memory


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs the machine code of a kernel."""
    return _Dispatcher(function).__call__


class _Dispatcher:
    """A kernel's machine code, by the types of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.entries: dict[tuple[Any, ...], _Entry] = {}

    def __call__(self, *args: Any) -> Any:
        flat: list[Any] = []
        key = _flatten(args, flat)
        entry = self.entries.get(key)
        if entry is None or not entry.good:
            with _lock:
                entry = self._good_entry(key, args)
        return entry.call(flat)

    def _good_entry(self, key: tuple[Any, ...], args: tuple[Any, ...]) -> _Entry:
        """Return what another thread made meanwhile, or what this hurry may use as well; else compile or load."""
        entry = self.entries.get(key)
        if entry is not None and not entry.good and kernels.hurry() and not entry.kept_by_now:
            entry.hurry = kernels.hurry()
        if entry is None or not entry.good:
            entry = self.entries[key] = _Entry(self.function, tuple(type_of(arg) for arg in args))
        return entry


def _flatten(values: tuple[Any, ...], flat: list[Any]) -> tuple[Any, ...]:
    """Append the parts of all arguments to `flat`; return what tells their types apart."""
    key: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            key.append((value.dtype, value.ndim, value.flags.c_contiguous))
            flat.append(value.ctypes.data)
            flat.extend(value.shape)
        elif isinstance(value, tuple):
            key.append((kind, _flatten(value, flat)))
        else:
            key.append(kind)
            flat.append(value)
    return tuple(key)


class _Entry:
    """Machine code for one list of types; what was compiled in a hurry is good for hurries alone."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[Type, ...]) -> None:
        from learnroute.kernels.translator import Unit

        parts = [part for kind in kinds for part in parts_of(kind)]
        self.packer = struct.Struct("".join("d" if part == "double" else "q" for part in parts))
        self.path = path = _cache_file(function, kinds)
        kept = _read(path)
        self.hurry = 0  # the number of the one that it was compiled or last used in
        if kept is None:
            self.hurry = kernels.hurry()
            unit = Unit(function, kinds, checked=_checked())
            self.returns, code = unit.returns, _machine_code(unit.text, quickly=bool(self.hurry))
            if not self.hurry:
                _write(path, code, unit.returns)
        else:
            self.returns, code = kept
        self.library = _loaded(code)
        (kernels.compiled_in_haste if self.hurry else _loaded_once).add(function.__name__.strip("_"))
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)(self.library["entry"])
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.library["release_all"])
        self.slots = len(parts_of(self.returns)) + 1

    @property
    def good(self) -> bool:
        """Whether it is good enough for now."""
        return not self.hurry or self.hurry == kernels.hurry()

    @property
    def kept_by_now(self) -> bool:
        """Whether some process has kept better code."""
        return self.path is not None and self.path.exists()

    def call(self, flat: list[Any]) -> Any:
        """Run it on the parts of its arguments."""
        found = (ctypes.c_int64 * self.slots)()
        self.run(self.packer.pack(*flat), ctypes.addressof(found))
        if self.slots == 1:
            return None
        result, _ = _python_value(self.returns, found, 0)
        if found[self.slots - 1]:
            self.release(found[self.slots - 1])
        return result


def _python_value(kind: Type, found: Any, first: int) -> tuple[Any, int]:
    """Return a result as Python knows it, and how many slots are read."""
    if isinstance(kind, Scalar):
        if kind == FLOAT:
            return ctypes.c_double.from_buffer(found, 8 * first).value, first + 1
        if kind == BOOL:
            return bool(found[first]), first + 1
        return (found[first] if kind == INT else np.uint64(found[first] & 0xFFFFFFFFFFFFFFFF)), first + 1
    if isinstance(kind, Array):
        assert isinstance(kind.item, Element)
        array = np.empty(found[first + 1 : first + 1 + kind.axes], dtype=kind.item.dtype)
        ctypes.memmove(array.ctypes.data, found[first], array.nbytes)
        return array, first + 1 + kind.axes
    assert isinstance(kind, Tuple)
    items = []
    for item in kind.items:
        value, first = _python_value(item, found, first)
        items.append(value)
    return (kind.made_by(*items) if kind.made_by else tuple(items)), first


# LLVM


@cache
def _llvm() -> tuple[Any, Any]:
    """Return LLVM, and what it keeps machine code in."""
    import llvmlite.binding as llvm

    if llvm.llvm_version_info[0] < 20:  # newer ones do it themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm, llvm.create_lljit_compiler(_machine(llvm, 1))


def _machine(llvm: Any, level: int) -> Any:
    """Return what LLVM knows of this processor; with level 0, code is made several times as quickly."""
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level, jit=True)


def _machine_code(text: str, quickly: bool = False) -> bytes:
    """Optimise and compile."""
    llvm, _ = _llvm()
    machine = _machine(llvm, 0 if quickly else 1)
    module = llvm.parse_assembly(f'target triple = "{machine.triple}"\n{text}')
    passes = llvm.create_new_module_pass_manager()
    for name in QUICK_PASSES if quickly else PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0)))
    code: bytes = machine.emit_object(module)
    return code


def _loaded(code: bytes) -> Any:
    """Put machine code into memory; return the addresses of its functions, which hold it there."""
    from learnroute.kernels.translator import EXTERNAL

    llvm, linker = _llvm()
    builder = llvm.JITLibraryBuilder().add_object_img(code).export_symbol("entry").export_symbol("release_all")
    known = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.msvcrt
    for name in EXTERNAL:
        builder.import_symbol(name, ctypes.cast(getattr(known, name), ctypes.c_void_p).value)
    builder.import_symbol("fault", ctypes.cast(_FAULT, ctypes.c_void_p).value)
    return builder.link(linker, f"kernel{next(_numbers)}")


def _fault(line: int, index: int, length: int) -> None:
    """Stop the process: memory is used up, or an index is out of its range."""
    what = f"no memory for {index} bytes" if line < 0 else f"line {line}: index {index} of {length}"
    sys.stderr.write(f"learnroute: {what}\n")
    sys.stderr.flush()
    os.abort()


_FAULT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_fault)


def _checked() -> bool:
    """Whether indices are checked, which makes kernels slower: for finding faults."""
    return bool(os.environ.get("LEARNROUTE_CHECKED"))


# The folder of machine code


@cache
def kernel_folder() -> Path | None:
    """Return this version's folder, or None where none can be written."""
    given = os.environ.get("LEARNROUTE_CACHE_DIR")
    if given:
        base = Path(given)
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "learnroute"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "learnroute"
    folder = base / "kernels" / _version()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(folder)
        others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in others[MOST_FOLDERS:]:
            for file in old.iterdir():
                file.unlink(missing_ok=True)
            old.rmdir()
        writable = os.access(folder, os.W_OK)
    except OSError:
        return folder if folder.is_dir() else None
    return folder if writable else None


@cache
def _version() -> str:
    """Return a name for all source code of this package, this processor and this LLVM."""
    import llvmlite
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    for text in (llvmlite.__version__, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), sys.platform):
        digest.update(text.encode())
    digest.update(str(_checked()).encode())
    return digest.hexdigest()[:24]


def known_kernels() -> set[str]:
    """Return the names of kernels whose machine code is in memory or in this version's folder, for some types."""
    folder = kernel_folder()
    try:
        return _loaded_once | {file.name.partition("-")[0] for file in (() if folder is None else folder.iterdir())}
    except OSError:  # the folder was removed
        return set(_loaded_once)


def _cache_file(function: Callable[..., Any], kinds: tuple[Type, ...]) -> Path | None:
    folder = kernel_folder() if str(function.__module__).startswith("learnroute.") else None
    if folder is None:
        return None
    name = hashlib.sha256(repr((function.__module__, function.__qualname__, kinds)).encode()).hexdigest()[:24]
    return folder / f"{function.__name__.strip('_')}-{name}"


def _read(path: Path | None) -> tuple[Type, bytes] | None:
    """Return what was kept: the type of the result, and machine code."""
    import pickle

    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, body = content[:32], content[32:]
    if hashlib.sha256(body).digest() != digest:  # damaged
        return None
    kind, code = pickle.loads(body)
    return kind, code


def _write(path: Path | None, code: bytes, returns: Type) -> None:
    """Keep machine code: written beside and renamed, so that no process ever reads half of it."""
    import pickle

    if path is None:
        return
    body = pickle.dumps((returns, code))
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(file.name, path)
    except OSError:
        return
