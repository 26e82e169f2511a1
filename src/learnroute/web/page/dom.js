// Small helpers: elements, numbers, colours.

export const $ = (id) => document.getElementById(id);

/** Make an HTML element. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Return a text as a sentence: with a capital letter and a full stop. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** Format a number with at most `digits` significant digits, without an exponent if possible. */
export function number(value, digits = 5) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) return value.toExponential(Math.min(digits, 4) - 1);
  return String(Number(value.toPrecision(digits)));
}

const pen = document.createElement("canvas").getContext("2d");

/** Return the width of a text in a chart or on the map, in px. */
export function widthOf(text) {
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** Return the largest entry of a matrix of any size. */
export const largest = (matrix) => matrix.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), -Infinity);

const CIVIDIS = [[254, 232, 56], [188, 174, 108], [125, 124, 120], [68, 78, 108], [0, 34, 78]];

/** Return the colour of a share between 0 (low, yellow) and 1 (high, dark blue). */
export function shade(share) {
  const at = Math.min(Math.max(Number.isFinite(share) ? share : 0, 0), 1) * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  const mixed = CIVIDIS[k].map((from, c) => Math.round(from + (at - k) * (CIVIDIS[k + 1][c] - from)));
  return `rgb(${mixed.join(",")})`;
}

/** Return a text colour that is legible on that colour. */
export const inkOn = (share) => (share > 0.45 ? "#fff" : "#111");

/** Return about `count` marks (value, text) of an axis between two values, with enough digits to distinguish them. */
export function ticks(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  const text = (value) => {
    if (value === 0) return "0";
    const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - Math.floor(Math.log10(step) + 1e-9);
    const plain = Math.abs(value) < 1e6 && step >= 1e-6;
    return plain ? value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) : value.toExponential(Math.max(0, digits));
  };
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) + 1e-12 * step; k++) {
    const value = Number((k * step).toPrecision(12));
    found.push({ value, text: text(value) });
  }
  return found;
}
