"""Kernels, plain Python functions in a small subset of the language, to LLVM's assembly language.

The subset: numbers, C-contiguous NumPy arrays and records, tuples and NamedTuples; assignments, `if`, `while`, `for`
over `range` or over a tuple that is written out; calls of other kernels, of `len`, `min`, `max`, `abs`, `int`, of some
functions of `math`, and of `np.empty`, `zeros`, `ones`, `full` and `arange`. Arrays are read and written item by item,
row by row, or as a slice along one axis; they are not added or compared as a whole. Indices are not negative, unless
they are written out (`a[-1]`). What is outside of the subset is refused when it is translated.

A name has one type in a function, the widest that it is given: types are found by translating until none changes.
Arrays that a function makes are freed when it returns, unless it returns an array; then the function that called it
frees them.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Callable
from functools import cache
from typing import Any

from learnroute.kernels.assembly import Block, Value
from learnroute.kernels.expressions import Expressions
from learnroute.kernels.value_types import (
    FLOAT,
    INT,
    NOTHING,
    Element,
    NotInSubsetError,
    Record,
    Tuple,
    Type,
    holds_arrays,
    parts_of,
    result_type,
    unified,
)

# What machine code calls from outside, and what every kernel brings along: arrays are chained, and freed that way
PRELUDE = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare double @exp(double)
declare double @log(double)
declare double @asin(double)
declare void @fault(i64, i64, i64)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.rint.f64(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @allocate(ptr %arena, i64 %bytes) {
  %all = add i64 %bytes, 16
  %new = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %new, null
  br i1 %none, label %failed, label %made
failed:
  call void @fault(i64 -1, i64 %bytes, i64 0)
  unreachable
made:
  %last = load ptr, ptr %arena
  store ptr %last, ptr %new
  store ptr %new, ptr %arena
  %found = getelementptr i8, ptr %new, i64 16
  ret ptr %found
}

define internal void @release(ptr %arena, ptr %mark) {
  br label %next
next:
  %here = load ptr, ptr %arena
  %done = icmp eq ptr %here, %mark
  br i1 %done, label %end, label %one
one:
  %before = load ptr, ptr %here
  store ptr %before, ptr %arena
  call void @free(ptr %here)
  br label %next
end:
  ret void
}

define void @release_all(ptr %last) {
  %arena = alloca ptr
  store ptr %last, ptr %arena
  call void @release(ptr %arena, ptr null)
  ret void
}
"""
EXTERNAL = ("malloc", "free", "exp", "log", "asin", "memset", "memmove", "memcpy")


class Unit:
    """All functions that a kernel needs, translated for the types of its arguments."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[Type, ...], checked: bool = False) -> None:
        self.checked = checked
        self.functions: dict[tuple[Any, tuple[Type, ...]], tuple[str, Type] | None] = {}
        self.texts: list[str] = []
        name, self.returns = self.instance(function, kinds)
        self.text = PRELUDE + "\n".join(self.texts) + _entry(name, kinds, self.returns)

    def instance(self, function: Callable[..., Any], kinds: tuple[Type, ...]) -> tuple[str, Type]:
        """Return name and result of a function for some types of arguments."""
        key = (function, kinds)
        if key not in self.functions:
            self.functions[key] = None
            name = f"k{len(self.functions)}_{function.__name__}"
            translated = _Function(self, function, kinds, name)
            self.texts.append(translated.text)
            self.functions[key] = name, translated.returns or NOTHING
        found = self.functions[key]
        if found is None:
            raise NotInSubsetError(f"{function.__name__}: a kernel does not call itself")
        return found


def _entry(name: str, kinds: tuple[Type, ...], returns: Type) -> str:
    """Return the function that Python calls: it reads arguments from one buffer and writes results to another."""
    lines = ["define void @entry(ptr %in, ptr %out) {", "  %arena = alloca ptr", "  store ptr null, ptr %arena"]
    passed = ["ptr %arena"]
    for number, part in enumerate(part for kind in kinds for part in parts_of(kind)):
        stored = "i64" if part == "i1" else part
        lines.append(f"  %a{number} = getelementptr i64, ptr %in, i64 {number}")
        lines.append(f"  %b{number} = load {stored}, ptr %a{number}")
        if part == "i1":
            lines.append(f"  %c{number} = trunc i64 %b{number} to i1")
        passed.append(f"{part} %{'c' if part == 'i1' else 'b'}{number}")
    parts = parts_of(returns)
    result = "" if not parts else "%found = "
    lines.append(f"  {result}call {result_type(returns)} @{name}({', '.join(passed)})")
    for number, part in enumerate(parts):
        lines.append(f"  %d{number} = extractvalue {result_type(returns)} %found, {number}")
        lines.append(f"  %e{number} = getelementptr i64, ptr %out, i64 {number}")
        if part == "i1":
            lines.append(f"  %f{number} = zext i1 %d{number} to i64")
        lines.append(f"  store {'i64 %f' if part == 'i1' else part + ' %d'}{number}, ptr %e{number}")
    lines.append("  %last = load ptr, ptr %arena")
    if holds_arrays(returns):
        lines.append(f"  %end = getelementptr i64, ptr %out, i64 {len(parts)}")
        lines.append("  store ptr %last, ptr %end")
    else:
        lines.append("  call void @release_all(ptr %last)")
    return "\n".join([*lines, "  ret void", "}", ""])


@cache
def _definitions(file: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a file by the lines that they begin in."""
    tree = ast.parse("".join(linecache.getlines(file)))
    return {
        min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


class _Function(Expressions):
    """One function for some types of arguments."""

    def __init__(self, unit: Unit, function: Callable[..., Any], kinds: tuple[Type, ...], name: str) -> None:
        self.name, self.instance, self.checked = name, unit.instance, unit.checked
        self.scope = {**vars(builtins), **function.__globals__}
        self.file = function.__code__.co_filename
        tree = _definitions(self.file).get(function.__code__.co_firstlineno)
        if tree is None or tree.name != function.__name__:
            raise NotInSubsetError(f"{function.__name__}: its source code is not known")
        self.body = tree.body
        self.arguments = [argument.arg for argument in tree.args.args]
        if len(self.arguments) != len(kinds):
            raise NotInSubsetError(f"{function.__name__} takes {len(self.arguments)} arguments, not {len(kinds)}")
        self.types: dict[str, Type] = dict(zip(self.arguments, kinds, strict=True))
        self.returns: Type | None = None
        self.changed, self.allocates = True, False
        while self.changed:  # until no name has become wider
            self.changed = False
            self._translate()
        self.text = self._text(kinds)

    def _translate(self) -> None:
        self._begin()
        self.jumps: list[tuple[Block | None, Block | None]] = []  # of the loops around: for `continue` and `break`
        self._statements(self.body)
        if self.returns in (None, NOTHING):
            self._return(Value(NOTHING, []))

    def _text(self, kinds: tuple[Type, ...]) -> str:
        passed, stores = ["ptr %arena"], []
        for argument, kind in zip(self.arguments, kinds, strict=True):
            values = Value(kind, [])
            for number, part in enumerate(parts_of(kind)):
                passed.append(f"{part} %arg.{argument}.{number}")
                values.parts.append(f"%arg.{argument}.{number}")
            if self.types[argument] == kind:
                for number, part in enumerate(parts_of(kind)):
                    stores.append(f"  store {part} %arg.{argument}.{number}, ptr %{argument}.{number}")
            elif kind == INT and self.types[argument] == FLOAT:
                stores.append(f"  %wide.{argument} = sitofp i64 %arg.{argument}.0 to double")
                stores.append(f"  store double %wide.{argument}, ptr %{argument}.0")
            else:
                raise NotInSubsetError(f"{self.name}: {argument} changes its type")
        places = [
            f"  %{name}.{number} = alloca {part}"
            for name, kind in self.types.items()
            for number, part in enumerate(parts_of(kind))
        ]
        mark = ["  %mark = load ptr, ptr %arena"] if self.allocates else []
        head = f"define internal {result_type(self.returns or NOTHING)} @{self.name}({', '.join(passed)}) {{"
        lines = [head, "start:", *places, *self.slots, *stores, *mark, f"  br label %{self.blocks[0].label}"]
        for block in self.blocks:
            lines += [f"{block.label}:", *block.lines, "  " + (block.jump or "unreachable")]
        return "\n".join([*lines, "}", ""])

    # Statements

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.line = statement.lineno
            handler = getattr(self, "_on_" + type(statement).__name__.lower(), None)
            if handler is None:
                raise self._refused(statement, "kernels have no such statement")
            handler(statement)

    def _on_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else a docstring
            self._value(node.value)

    def _on_pass(self, node: ast.Pass) -> None:
        """Do nothing."""

    def _on_assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Tuple):
            values = [self._value(item) for item in node.value.elts]
            value = Value(Tuple(tuple(v.kind for v in values)), [part for v in values for part in v.parts])
        else:
            value = self._value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _on_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = self._of_name(node.target)
            self._set(node.target.id, self._binary(node, node.op, old, self._value(node.value)))
            return
        element, place = self._place_of(node.target)
        old = self._read(element, place)
        self._write(node, element, place, self._binary(node, node.op, old, self._value(node.value)))

    def _on_if(self, node: ast.If) -> None:
        then, other, after = self._block(), self._block(), self._block()
        self._branch(node.test, then, other)
        for block, body in ((then, node.body), (other, node.orelse)):
            self._place(block)
            self._statements(body)
            self._go(after)
        self._place(after)

    def _on_while(self, node: ast.While) -> None:
        test, body, after = self._block(), self._block(), self._block()
        self._go(test)
        self._place(test)
        self._branch(node.test, body, after)
        self._place(body)
        self._loop(node, test, after)
        self._go(test)
        self._place(after)

    def _on_for(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Tuple):
            for item in node.iter.elts:
                self._assign(node.target, self._value(item))
                self._loop(node, None, None)
            return
        if not isinstance(node.iter, ast.Call) or self._static(node.iter.func) is not range:
            raise self._refused(node.iter, "a loop goes over a range")
        bounds = [self._whole(bound) for bound in node.iter.args]
        step = bounds.pop() if len(bounds) == 3 else "1"
        if not step.lstrip("-").isdigit():
            raise self._refused(node.iter, "the step of a range is written out")
        start, stop = bounds if len(bounds) == 2 else ("0", bounds[0])
        with self._counting(start, stop, step) as (now, again, after):
            self._assign(node.target, Value(INT, [now]))
            self._loop(node, again, after)

    def _loop(self, node: ast.While | ast.For, again: Block | None, after: Block | None) -> None:
        if node.orelse:
            raise self._refused(node, "a loop of a kernel has no else")
        self.jumps.append((again, after))
        self._statements(node.body)
        self.jumps.pop()

    def _on_break(self, node: ast.Break) -> None:
        self._leave(node, self.jumps[-1][1])

    def _on_continue(self, node: ast.Continue) -> None:
        self._leave(node, self.jumps[-1][0])

    def _leave(self, node: ast.stmt, block: Block | None) -> None:
        if block is None:
            raise self._refused(node, "a loop over a tuple runs to its end")
        self._go(block)

    def _on_return(self, node: ast.Return) -> None:
        self._return(Value(NOTHING, []) if node.value is None else self._value(node.value))

    def _return(self, value: Value) -> None:
        if self.block.jump:
            return
        wanted = value.kind if self.returns is None else unified(self.returns, value.kind)
        self.changed = self.changed or (wanted != self.returns and self.returns is not None)
        self.returns = wanted
        value = self._converted(value, wanted)
        if self.allocates and not holds_arrays(wanted):
            self._emit("call void @release(ptr %arena, ptr %mark)")
        parts = parts_of(wanted)
        if not parts:
            self.block.jump = "ret void"
            return
        whole = "undef"
        for number, (part, held) in enumerate(zip(parts, value.parts, strict=True)):
            whole = self._register(f"insertvalue {result_type(wanted)} {whole}, {part} {held}, {number}")
        self.block.jump = f"ret {result_type(wanted)} {whole}"

    # Assignment

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value.kind, Tuple) or len(value.kind.items) != len(target.elts):
                raise self._refused(target, "there are not as many values as names")
            for item, part in zip(target.elts, self._items(value), strict=True):
                self._assign(item, part)
        elif isinstance(target, ast.Subscript):
            found = self._subscript(target)
            if isinstance(found, Value):
                self._fill(target, found, value)
            else:
                self._write(target, *found, value)
        else:
            self._write(target, *self._place_of(target), value)

    def _set(self, name: str, value: Value) -> None:
        kind = self.types.get(name)
        wanted = value.kind if kind is None else unified(kind, value.kind)
        if wanted != kind:
            self.changed = self.changed or kind is not None
            self.types[name] = wanted
        places = [f"%{name}.{number}" for number in range(len(parts_of(wanted)))]
        self._store(self._converted(value, wanted), places)

    def _place_of(self, target: ast.expr) -> tuple[Element, str]:
        """Return where in memory a number is: an item of an array, or a field of a record."""
        if isinstance(target, ast.Attribute):
            record = self._value(target.value)
            if isinstance(record.kind, Record):
                return self._field(target, record)
        elif isinstance(target, ast.Subscript):
            found = self._subscript(target)
            if not isinstance(found, Value):
                return found
        raise self._refused(target, "nothing can be stored there")
