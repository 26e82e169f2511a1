"""Expressions of kernels: numbers, conditions, arrays and calls."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from learnroute.kernels.assembly import Assembly, Block, Value, constant
from learnroute.kernels.value_types import (
    BOOL,
    ELEMENTS,
    FLOAT,
    INT,
    MASK,
    NOTHING,
    Array,
    Element,
    Layout,
    Record,
    Scalar,
    Tuple,
    Type,
    element_of,
    holds_arrays,
    parts_of,
    result_type,
    unified,
)

MATH = {
    math.sqrt: "llvm.sqrt.f64", math.exp: "exp", math.log: "log", math.asin: "asin", np.rint: "llvm.rint.f64",
}  # fmt: skip  # fmt: skip
SIGNED = {ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne"}
ORDERED = {ast.Lt: "olt", ast.LtE: "ole", ast.Gt: "ogt", ast.GtE: "oge", ast.Eq: "oeq", ast.NotEq: "une"}
WHOLE = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
         ast.LShift: "shl"}  # fmt: skip  # fmt: skip
REAL = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}


class Expressions(Assembly):
    """Expressions of one function."""

    scope: dict[str, Any]  # names outside of the function
    types: dict[str, Type]  # of its variables
    instance: Callable[[Any, tuple[Type, ...]], tuple[str, Type]]  # name and result of another kernel
    allocates: bool
    changed: bool

    def _static(self, node: ast.AST) -> Any:
        """Return what an expression is before anything runs: a constant, a function, a module; else None."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self._static(node.operand)
            return -inner if isinstance(inner, (int, float)) else None
        if isinstance(node, ast.Name):
            return None if node.id in self.types else self.scope.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._static(node.value), node.attr, None)
        return None

    def _value(self, node: ast.expr) -> Value:
        static = self._static(node)
        if static is not None and (known := constant(static)):
            return known
        handler = getattr(self, "_of_" + type(node).__name__.lower(), None)
        if handler is None:
            raise self._refused(node, "kernels have no such expression")
        return cast("Value", handler(node))

    def _whole(self, node: ast.expr) -> str:
        value = self._value(node)
        if value.kind not in (INT, BOOL):
            raise self._refused(node, "a whole number is needed")
        return self._converted(value, INT).parts[0]

    def _of_name(self, node: ast.Name) -> Value:
        kind = self.types.get(node.id)
        if kind is None:
            raise self._refused(node, "no value is known for this name")
        return self._load(kind, [f"%{node.id}.{number}" for number in range(len(parts_of(kind)))])

    def _of_tuple(self, node: ast.Tuple) -> Value:
        values = [self._value(item) for item in node.elts]
        return Value(Tuple(tuple(v.kind for v in values)), [part for v in values for part in v.parts])

    def _of_attribute(self, node: ast.Attribute) -> Value:
        owner = self._value(node.value)
        if isinstance(owner.kind, Record):
            return self._read(*self._field(node, owner))
        if isinstance(owner.kind, Array) and node.attr == "shape":
            return Value(Tuple((INT,) * owner.kind.axes), owner.parts[1:])
        if isinstance(owner.kind, Tuple) and owner.kind.made_by:
            for name, item in zip(owner.kind.made_by._fields, self._items(owner), strict=True):
                if name == node.attr:
                    return item
        raise self._refused(node, "no such attribute")

    def _of_subscript(self, node: ast.Subscript) -> Value:
        found = self._subscript(node)
        return found if isinstance(found, Value) else self._read(*found)

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, [self._register(f"xor i1 {self._truth(self._value(node.operand))}, true")])
        value = self._value(node.operand)
        if value.kind == BOOL:
            value = self._converted(value, INT)
        if isinstance(node.op, ast.USub):
            if value.kind == FLOAT:
                return Value(FLOAT, [self._register(f"fneg double {value.parts[0]}")])
            return Value(value.kind, [self._register(f"sub i64 0, {value.parts[0]}")])
        if isinstance(node.op, ast.Invert) and value.kind in (INT, MASK):
            return Value(value.kind, [self._register(f"xor i64 {value.parts[0]}, -1")])
        raise self._refused(node, "kernels have no such operation")

    def _of_binop(self, node: ast.BinOp) -> Value:
        return self._binary(node, node.op, self._value(node.left), self._value(node.right))

    def _binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        if not isinstance(left.kind, Scalar) or not isinstance(right.kind, Scalar):
            raise self._refused(node, "only numbers are computed with")
        if left.kind == BOOL and right.kind == BOOL and isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return Value(BOOL, [self._register(f"{WHOLE[type(op)]} i1 {left.parts[0]}, {right.parts[0]}")])
        kind = unified(unified(left.kind, right.kind), FLOAT if isinstance(op, ast.Div) else INT)
        one, two = self._converted(left, kind).parts[0], self._converted(right, kind).parts[0]
        if kind == FLOAT and type(op) in REAL:
            return Value(FLOAT, [self._register(f"{REAL[type(op)]} double {one}, {two}")])
        if kind != FLOAT and type(op) in WHOLE:
            return Value(kind, [self._register(f"{WHOLE[type(op)]} i64 {one}, {two}")])
        if kind != FLOAT and isinstance(op, ast.RShift):
            return Value(kind, [self._register(f"{'ashr' if kind == INT else 'lshr'} i64 {one}, {two}")])
        if kind == INT and isinstance(op, (ast.FloorDiv, ast.Mod)):
            return Value(INT, [self._floored(one, two, isinstance(op, ast.Mod))])
        raise self._refused(node, "kernels have no such operation")

    def _floored(self, one: str, two: str, rest: bool) -> str:
        """Return quotient or rest of a division that rounds down, as Python's does."""
        quotient = self._register(f"sdiv i64 {one}, {two}")
        left = self._register(f"srem i64 {one}, {two}")
        some = self._register(f"icmp ne i64 {left}, 0")
        mixed = self._register(f"xor i64 {left}, {two}")
        opposite = self._register(f"icmp slt i64 {mixed}, 0")
        down = self._register(f"and i1 {some}, {opposite}")
        if rest:
            added = self._register(f"add i64 {left}, {two}")
            return self._register(f"select i1 {down}, i64 {added}, i64 {left}")
        less = self._register(f"sub i64 {quotient}, 1")
        return self._register(f"select i1 {down}, i64 {less}, i64 {quotient}")

    def _of_compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1:
            return self._decided(node)
        return Value(
            BOOL, [self._compared(node, node.ops[0], self._value(node.left), self._value(node.comparators[0]))]
        )

    def _compared(self, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> str:
        if not isinstance(left.kind, Scalar) or not isinstance(right.kind, Scalar) or type(op) not in SIGNED:
            raise self._refused(node, "only numbers are compared")
        kind = unified(unified(left.kind, right.kind), INT)
        one, two = self._converted(left, kind).parts[0], self._converted(right, kind).parts[0]
        if kind == FLOAT:
            return self._register(f"fcmp {ORDERED[type(op)]} double {one}, {two}")
        relation = SIGNED[type(op)]
        return self._register(f"icmp {relation.replace('s', 'u') if kind == MASK else relation} i64 {one}, {two}")

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        return self._decided(node)

    def _decided(self, node: ast.expr) -> Value:
        """Return whether a condition holds, as a value."""
        (place,) = self._slot(BOOL)
        yes, no, after = self._block(), self._block(), self._block()
        self._branch(node, yes, no)
        for block, held in ((yes, "true"), (no, "false")):
            self._place(block)
            self._emit(f"store i1 {held}, ptr {place}")
            self._go(after)
        self._place(after)
        return self._load(BOOL, [place])

    def _branch(self, node: ast.expr, yes: Block, no: Block) -> None:
        """Go to one block or the other; what need not be looked at is not."""
        if isinstance(node, ast.BoolOp):
            for operand in node.values[:-1]:
                following = self._block()
                if isinstance(node.op, ast.And):
                    self._branch(operand, following, no)
                else:
                    self._branch(operand, yes, following)
                self._place(following)
            self._branch(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._branch(node.operand, no, yes)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            left = self._value(node.left)
            for op, comparator in zip(node.ops, node.comparators, strict=True):
                right = self._value(comparator)
                held = self._compared(node, op, left, right)
                following = yes if comparator is node.comparators[-1] else self._block()
                self._fork(held, following, no)
                if following is not yes:
                    self._place(following)
                left = right
        else:
            self._fork(self._truth(self._value(node)), yes, no)

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        then, other, after = self._block(), self._block(), self._block()
        self._branch(node.test, then, other)
        ends, values = [], []
        for block, branch in ((then, node.body), (other, node.orelse)):
            self._place(block)
            values.append(self._value(branch))
            ends.append(self.block)
        kind = unified(values[0].kind, values[1].kind)
        places = self._slot(kind)
        for end, value in zip(ends, values, strict=True):
            self.block = end
            self._store(self._converted(value, kind), places)
            self._go(after)
        self._place(after)
        return self._load(kind, places)

    # Arrays

    def _subscript(self, node: ast.Subscript) -> Value | tuple[Element, str]:
        """Return a part of an array, a record, or where a number of it is."""
        array = self._value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(array.kind, Tuple):
            index = self._static(node.slice)
            if not isinstance(index, int):
                raise self._refused(node, "the index of a tuple is written out")
            return list(self._items(array))[index]
        if not isinstance(array.kind, Array) or len(indices) > array.kind.axes:
            raise self._refused(node, "no array of so many axes")
        pointer, shape = array.parts[0], array.parts[1:]
        offset, kept = "", len(indices)  # in rows of the axes that are left
        for axis, index in enumerate(indices):
            if isinstance(index, ast.Slice):
                if axis != len(indices) - 1 or index.step is not None:
                    raise self._refused(node, "only the last index may be a slice, without a step")
                kept = axis
                break
            whole = self._index(index, shape[axis])
            if self.checked:
                self._check(whole, shape[axis])
            offset = whole if not offset else self._register(f"add nsw i64 {self._times(offset, shape[axis])}, {whole}")
        rest = shape[kept:]
        if kept < len(indices):
            cut = indices[-1]
            assert isinstance(cut, ast.Slice)
            low = "0" if cut.lower is None else self._least(self._index(cut.lower, rest[0]), rest[0])
            high = rest[0] if cut.upper is None else self._least(self._index(cut.upper, rest[0]), rest[0])
            start = low if not offset else self._register(f"add nsw i64 {self._times(offset, rest[0])}, {low}")
            offset, rest = start, [self._register(f"sub nsw i64 {high}, {low}"), *rest[1:]]
            inner = rest[1:]
        else:
            inner = rest
        for length in inner:
            offset = self._times(offset, length)
        item = array.kind.item
        step = item.llvm if isinstance(item, Element) else f"[{item.size} x i8]"
        place = self._register(f"getelementptr inbounds {step}, ptr {pointer}, i64 {offset or 0}")
        if rest:
            return Value(Array(item, len(rest)), [place, *rest])
        return Value(Record(item), [place]) if isinstance(item, Layout) else (item, place)

    def _index(self, node: ast.expr, length: str) -> str:
        index = self._whole(node)
        return self._register(f"add nsw i64 {length}, {index}") if index.startswith("-") else index

    def _field(self, node: ast.Attribute, record: Value) -> tuple[Element, str]:
        assert isinstance(record.kind, Record)
        for name, element, offset in record.kind.layout.fields:
            if name == node.attr:
                return element, self._register(f"getelementptr inbounds i8, ptr {record.parts[0]}, i64 {offset}")
        raise self._refused(node, "no such field")

    def _new_array(self, node: ast.Call, function: Any) -> Value:
        """Translate np.empty, np.zeros, np.ones, np.full and np.arange."""
        given = list(node.args)
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        shape = self._value(given.pop(0))
        lengths = shape.parts if isinstance(shape.kind, Tuple) else [self._converted(shape, INT).parts[0]]
        value: Value | None = self._value(given.pop(0)) if function is np.full else None
        dtype = named.pop("dtype", given.pop(0) if given else None)
        if named or given:
            raise self._refused(node, "kernels do not know these arguments")
        if dtype is not None:
            item = element_of(np.dtype(self._static(dtype)))
        else:
            item = ELEMENTS["int64" if function is np.arange or (value and value.kind == INT) else "float64"]
            if value and value.kind == BOOL:
                item = ELEMENTS["bool"]
        array = self._allocated(item, lengths)
        if function is np.zeros:
            value = Value(BOOL, ["false"])
        elif function is np.ones:
            value = Value(BOOL, ["true"])
        elif function is np.arange:
            value = Value(NOTHING, [])  # each item is its own number
        if value is not None:
            self._fill(node, array, value)
        return array

    def _allocated(self, item: Element | Layout, lengths: list[str]) -> Value:
        if not self.allocates:
            self.allocates = self.changed = True
        array = Value(Array(item, len(lengths)), ["", *lengths])
        size = self._register(f"mul i64 {self._count(array)}, {item.size}")
        array.parts[0] = self._register(f"call ptr @allocate(ptr %arena, i64 {size})")
        return array

    # Calls

    def _of_call(self, node: ast.Call) -> Value:
        function = self._static(node.func)
        if function is None and isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
            array = self._value(node.func.value)
            assert isinstance(array.kind, Array)
            copy = self._allocated(array.kind.item, array.parts[1:])
            self._fill(node, copy, array)
            return copy
        if function in (np.empty, np.zeros, np.ones, np.full, np.arange):
            return self._new_array(node, function)
        values = [self._value(argument) for argument in node.args]
        if node.keywords:
            raise self._refused(node, "kernels are called by position")
        if function in (min, max):
            best = values[0]
            for value in values[1:]:
                kind = unified(best.kind, value.kind)
                best, value = self._converted(best, kind), self._converted(value, kind)
                better = self._compared(node, ast.Lt() if function is min else ast.Gt(), value, best)
                held = f"select i1 {better}, {parts_of(kind)[0]} {value.parts[0]}, {parts_of(kind)[0]} {best.parts[0]}"
                best = Value(kind, [self._register(held)])
            return best
        if function is len:
            return Value(INT, [values[0].parts[1]])
        if function is abs:
            return self._absolute(values[0])
        if function in (int, np.int64, np.uint64):
            return self._cut_off(node, values[0], MASK if function is np.uint64 else INT)
        if function in (float, np.float64):
            return self._converted(values[0], FLOAT)
        if function in (bool, np.bool_):
            return self._converted(values[0], BOOL)
        if function in MATH:
            held = self._converted(values[0], FLOAT).parts[0]
            return Value(FLOAT, [self._register(f"call double @{MATH[function]}(double {held})")])
        if hasattr(function, "_fields"):
            return Value(Tuple(tuple(v.kind for v in values), function), [part for v in values for part in v.parts])
        if hasattr(function, "interpreted"):
            return self._called(function.interpreted, values)
        raise self._refused(node, "kernels do not know this function")

    def _called(self, function: Any, values: list[Value]) -> Value:
        name, kind = self.instance(function, tuple(value.kind for value in values))
        if holds_arrays(kind) and not self.allocates:  # what it made is freed here
            self.allocates = self.changed = True
        given = ["ptr %arena"]
        for value in values:
            given += [f"{part} {held}" for part, held in zip(parts_of(value.kind), value.parts, strict=True)]
        call = f"call {result_type(kind)} @{name}({', '.join(given)})"
        parts = parts_of(kind)
        if not parts:
            self._emit(call)
            return Value(NOTHING, [])
        whole = self._register(call)
        found = [self._register(f"extractvalue {result_type(kind)} {whole}, {n}") for n in range(len(parts))]
        return Value(kind, found)

    def _absolute(self, value: Value) -> Value:
        if value.kind == FLOAT:
            return Value(FLOAT, [self._register(f"call double @llvm.fabs.f64(double {value.parts[0]})")])
        negative = self._register(f"icmp slt i64 {value.parts[0]}, 0")
        other = self._register(f"sub i64 0, {value.parts[0]}")
        return Value(INT, [self._register(f"select i1 {negative}, i64 {other}, i64 {value.parts[0]}")])

    def _cut_off(self, node: ast.AST, value: Value, kind: Scalar) -> Value:
        if value.kind == FLOAT:
            return Value(kind, [self._register(f"fptosi double {value.parts[0]} to i64")])
        if value.kind in (INT, MASK):
            return Value(kind, value.parts)
        return self._converted(value, kind)
