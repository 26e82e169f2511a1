"""Registers, basic blocks and memory of a function in LLVM's assembly language, while it is written."""

from __future__ import annotations

import ast
import contextlib
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from learnroute.kernels.value_types import (
    BOOL,
    FLOAT,
    INT,
    MASK,
    NOTHING,
    Array,
    Element,
    Layout,
    NotInSubsetError,
    Tuple,
    Type,
    parts_of,
)


class Value(NamedTuple):
    """A value: its type, and the registers or constants that hold its parts."""

    kind: Type
    parts: list[str]


class Block:
    """A basic block: lines without a jump, and the jump at their end."""

    def __init__(self, label: str) -> None:
        self.label, self.lines, self.jump = label, [""][:0], ""


class Assembly:
    """The lines of one function, block by block.

    Every variable lives in memory at first; LLVM's own passes move it into registers.
    """

    file: str
    checked: bool

    def _begin(self) -> None:
        """Start with no lines."""
        self.registers, self.labels, self.line = 0, 0, 0
        self.blocks: list[Block] = []
        self.slots: list[str] = []  # variables without a name
        self.block = self._block()
        self._place(self.block)

    def _refused(self, node: ast.AST, why: str) -> NotInSubsetError:
        return NotInSubsetError(f"{self.file}:{getattr(node, 'lineno', self.line)}: {ast.unparse(node)}: {why}")

    def _block(self) -> Block:
        self.labels += 1
        return Block(f"L{self.labels}")

    def _place(self, block: Block) -> None:
        """Go on in a block."""
        self.blocks.append(block)
        self.block = block

    def _emit(self, line: str) -> None:
        if not self.block.jump:
            self.block.lines.append("  " + line)

    def _register(self, line: str) -> str:
        self.registers += 1
        self._emit(f"%r{self.registers} = {line}")
        return f"%r{self.registers}"

    def _go(self, block: Block) -> None:
        if not self.block.jump:
            self.block.jump = f"br label %{block.label}"

    def _fork(self, held: str, yes: Block, no: Block) -> None:
        if not self.block.jump:
            self.block.jump = f"br i1 {held}, label %{yes.label}, label %{no.label}"

    def _slot(self, kind: Type) -> list[str]:
        """Return memory for a value without a name."""
        found = []
        for part in parts_of(kind):
            self.registers += 1
            self.slots.append(f"  %s{self.registers} = alloca {part}")
            found.append(f"%s{self.registers}")
        return found

    def _store(self, value: Value, places: list[str]) -> None:
        for part, held, place in zip(parts_of(value.kind), value.parts, places, strict=True):
            self._emit(f"store {part} {held}, ptr {place}")

    def _load(self, kind: Type, places: list[str]) -> Value:
        loads = [self._register(f"load {p}, ptr {place}") for p, place in zip(parts_of(kind), places, strict=True)]
        return Value(kind, loads)

    def _items(self, value: Value) -> Iterator[Value]:
        assert isinstance(value.kind, Tuple)
        first = 0
        for kind in value.kind.items:
            count = len(parts_of(kind))
            yield Value(kind, value.parts[first : first + count])
            first += count

    @contextlib.contextmanager
    def _counting(self, start: str, stop: str, step: str = "1") -> Iterator[tuple[str, Block, Block]]:
        """Repeat what is emitted in here; yields the counter, where to go for the next round, and where to leave."""
        (counter,) = self._slot(INT)
        test, body, again, after = self._block(), self._block(), self._block(), self._block()
        self._emit(f"store i64 {start}, ptr {counter}")
        self._go(test)
        self._place(test)
        now = self._register(f"load i64, ptr {counter}")
        more = self._register(f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {now}, {stop}")
        self._fork(more, body, after)
        self._place(body)
        yield now, again, after
        self._go(again)
        self._place(again)
        following = self._register(f"add nsw i64 {self._register(f'load i64, ptr {counter}')}, {step}")
        self._emit(f"store i64 {following}, ptr {counter}")
        self._go(test)
        self._place(after)

    def _truth(self, value: Value) -> str:
        if value.kind == BOOL:
            return value.parts[0]
        if value.kind == FLOAT:
            return self._register(f"fcmp une double {value.parts[0]}, 0.0")
        if value.kind in (INT, MASK):
            return self._register(f"icmp ne i64 {value.parts[0]}, 0")
        raise NotInSubsetError(f"{self.file}:{self.line}: only numbers are true or false")

    def _converted(self, value: Value, kind: Type) -> Value:
        if value.kind == kind:
            return value
        if isinstance(value.kind, Tuple) and isinstance(kind, Tuple):
            items = [self._converted(v, k) for v, k in zip(self._items(value), kind.items, strict=True)]
            return Value(kind, [part for item in items for part in item.parts])
        held = value.parts[0]
        if value.kind == BOOL and kind in (INT, MASK):
            return Value(kind, [self._register(f"zext i1 {held} to i64")])
        if value.kind == BOOL and kind == FLOAT:
            return Value(kind, [self._register(f"uitofp i1 {held} to double")])
        if value.kind == INT and kind == FLOAT:
            if held.lstrip("-").isdigit():
                return Value(FLOAT, [float_text(float(held))])
            return Value(kind, [self._register(f"sitofp i64 {held} to double")])
        if value.kind == INT and kind == MASK:
            return Value(MASK, [held])
        if kind == BOOL:
            return Value(BOOL, [self._truth(value)])
        raise NotInSubsetError(f"{self.file}:{self.line}: {value.kind} is no {kind}")

    def _count(self, array: Value) -> str:
        """Return the number of items of an array."""
        count = array.parts[1]
        for part in array.parts[2:]:
            count = self._register(f"mul i64 {count}, {part}")
        return count

    def _times(self, one: str, two: str) -> str:
        return self._register(f"mul nsw i64 {one}, {two}")

    def _least(self, one: str, two: str) -> str:
        less = self._register(f"icmp slt i64 {one}, {two}")
        return self._register(f"select i1 {less}, i64 {one}, i64 {two}")

    def _read(self, element: Element, place: str) -> Value:
        held = self._register(f"load {element.llvm}, ptr {place}, align {element.size}")
        if element.scalar == BOOL:
            held = self._register(f"trunc i8 {held} to i1")
        elif element.llvm == "i8":
            held = self._register(f"{'zext' if element.dtype == 'uint8' else 'sext'} i8 {held} to i64")
        return Value(element.scalar, [held])

    def _write(self, node: ast.AST, element: Element, place: str, value: Value) -> None:
        if element.scalar != FLOAT and value.kind == FLOAT:
            raise self._refused(node, "a fraction is stored as a whole number; int() cuts it off")
        held = self._converted(value, element.scalar).parts[0]
        if element.scalar == BOOL:
            held = self._register(f"zext i1 {held} to i8")
        elif element.llvm == "i8":
            held = self._register(f"trunc i64 {held} to i8")
        self._emit(f"store {element.llvm} {held}, ptr {place}, align {element.size}")

    def _fill(self, node: ast.AST, view: Value, value: Value) -> None:
        """Write an array, or one number, into an array."""
        assert isinstance(view.kind, Array)
        item, count = view.kind.item, self._count(view)
        if isinstance(value.kind, Array):
            if value.kind != view.kind:
                raise self._refused(node, "arrays of different types")
            size = self._register(f"mul i64 {count}, {item.size}")
            ends = f"ptr {view.parts[0]}, ptr {value.parts[0]}"
            self._emit(f"call void @llvm.memmove.p0.p0.i64({ends}, i64 {size}, i1 0)")
            return
        if isinstance(item, Layout):
            raise self._refused(node, "a number is no record")
        with self._counting("0", count) as (now, _, _):
            place = self._register(f"getelementptr inbounds {item.llvm}, ptr {view.parts[0]}, i64 {now}")
            self._write(node, item, place, Value(INT, [now]) if value.kind == NOTHING else value)

    def _check(self, index: str, length: str) -> None:
        """Stop where an index is out of its range; only in kernels that are translated with checks."""
        inside, bad = self._block(), self._block()
        fits = self._register(f"icmp ult i64 {index}, {length}")
        if self.block.jump:
            return
        self.block.jump = f"br i1 {fits}, label %{inside.label}, label %{bad.label}"
        self._place(bad)
        self._emit(f"call void @fault(i64 {self.line}, i64 {index}, i64 {length})")
        self.block.jump = "unreachable"
        self._place(inside)


def constant(value: Any) -> Value | None:
    """Return a number that is known already; None where it is no number."""
    if isinstance(value, (bool, np.bool_)):
        return Value(BOOL, ["true" if value else "false"])
    if isinstance(value, np.uint64):
        return Value(MASK, [str(int(value.astype(np.int64)))])
    if isinstance(value, (int, np.integer)):
        return Value(INT, [str(int(value))])
    if isinstance(value, (float, np.floating)):
        return Value(FLOAT, [float_text(float(value))])
    return None


def float_text(value: float) -> str:
    """Return a fraction as LLVM reads it, bit by bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
