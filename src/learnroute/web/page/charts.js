// Shared parts of the small charts: axes with names and numbers, and room for them.

import { svg, ticks } from "./dom.js";

const [TOP, BOTTOM, LETTER] = [16, 36, 7]; // px; LETTER is the maximum width of a letter of 12 px

/** Return the marks of an axis between two values, about one per `space` px. */
export const marksOf = ([low, high], length, space) => ticks(low, high, Math.max(2, length / space));

/** Return the range of some values, with room at both ends. */
export function rangeOf(values, share = 0.06) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = share * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

/**
 * Draw the axes of a chart. `x` and `y` have a name, a range and, if the axis is not linear, a scale and marks (value,
 * text); `x.inset` px are left free before the smallest value. Returns the drawn parts and the positions of values: x(value), y(value).
 */
export function drawAxes(node, x, y) {
  const [width, height] = [node.clientWidth || 320, node.clientHeight || 240];
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const bottom = height - BOTTOM;
  const yMarks = y.marks ?? marksOf(y.range, bottom - TOP, 32);
  const left = 26 + LETTER * Math.max(...yMarks.map(({ text }) => text.length), 1);
  const widest = (marks) => LETTER * Math.max(...marks.map(({ text }) => text.length), 1);
  const xMarks = x.marks ?? marksOf(x.range, width - left, 28 + widest(marksOf(x.range, width - left, 60)));
  const right = width - Math.max(14, widest(xMarks) / 2 + 2);
  const begin = left + (x.inset ?? 12);
  const place = ({ range, scale = (value) => value }, from, to) => (value) =>
    from + ((scale(value) - scale(range[0])) / (scale(range[1]) - scale(range[0]) || 1)) * (to - from);
  const [atX, atY] = [place(x, begin, right), place(y, bottom, TOP)];
  const parts = [
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    svg("line", { class: "axis", x1: left, x2: left, y1: TOP, y2: bottom }),
    svg("text", { x: (right + left) / 2, y: height - 4, "text-anchor": "middle" }, x.name),
    svg("text", { transform: `translate(12 ${(bottom + TOP) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.name),
    ...xMarks.map(({ value, text }) => svg("text", { class: "tick-x", x: atX(value), y: bottom + 15, "text-anchor": "middle" }, text)),
    ...yMarks.map(({ value, text }) => svg("text", { class: "tick-y", x: left - 5, y: atY(value) + 4, "text-anchor": "end" }, text)),
  ];
  return { parts, x: atX, y: atY, left, right, top: TOP, bottom };
}
