// Visits: required, optional and forbidden regions, and the best route for each number of visits.

import { calculated } from "./api.js";
import { drawAxes, rangeOf } from "./charts.js";
import { $, el, number, sentence, svg } from "./dom.js";

const NEXT = { optional: "required", required: "forbidden", forbidden: "optional" };
const SIDES = { total: "total loss (error and travel)", error: "expected error" };
const LIMITS = { budget: "budget", "at-most": "at_most", repeat: "repeat" }; // fields and their members of `visits`
const PARTS = ["visits-curve", "visits-legend"];

/** Return whether a region must (required), may (optional) or cannot (forbidden) be visited; "" if all regions are visited. */
export function wishOf({ visits, regions }, region) {
  if (!visits) return "";
  if (visits.required === "all" || visits.required?.includes(regions[region])) return "required";
  return visits.forbidden?.includes(regions[region]) ? "forbidden" : "optional";
}

/** Return the problem with the next setting (required, forbidden, optional) of a region. */
export function withNextWish(problem, region) {
  const { visits, regions } = problem;
  const others = (names = []) => (names === "all" ? regions : names).filter((name) => name !== regions[region]);
  const made = { required: others(visits.required), forbidden: others(visits.forbidden) };
  made[NEXT[wishOf(problem, region)]]?.push(regions[region]);
  return { ...problem, visits: { ...visits, ...made } };
}

/** Return the problem with the visits given by the fields: all regions, or those that pay within the limits. */
export function withVisiting({ visits = {}, ...problem }) {
  if ($("visit-all").checked) return problem;
  const made = { ...visits };
  for (const [id, member] of Object.entries(LIMITS)) {
    if ($(id).value === "") delete made[member];
    else made[member] = Number($(id).value);
  }
  return { ...problem, visits: made };
}

/** The fields, the slider and the curve; the curve is calculated for the shown problem. */
export class VisitCurve {
  /** `onProgress` is called with the progress of a calculation, `onRow(row)` to show the routes of a row. */
  constructor(onProgress, onRow) {
    Object.assign(this, { onProgress, onRow, found: null, problem: null, rate: null });
  }

  /** Calculate the curve of the shown problem unless it is known already. */
  async ask(state, signal) {
    const { problem, rate } = state;
    if (!problem.visits || this.isOf(state)) return;
    this.say("Calculating the best route for each number of visits…");
    try {
      const found = await calculated("visits", { problem, travel_rate: rate }, signal, this.onProgress);
      Object.assign(this, { found, problem, rate });
      this.show(state);
    } catch (error) {
      this.forget();
      if (error.name === "AbortError") this.say("Cancelled.");
      else this.say(error.message, "wrong");
    } finally {
      $("working").hidden = true;
    }
  }

  isOf({ problem, rate }) {
    return this.found !== null && problem === this.problem && rate === this.rate;
  }

  /** Remove the curve. */
  forget() {
    this.found = null;
    for (const id of PARTS) $(id).setAttribute("hidden", "");
    $("visit-count").disabled = true;
    $("visit-count-label").textContent = "";
    this.say("");
  }

  say(text, kind = "") {
    $("visits-text").className = `hint ${kind}`;
    $("visits-text").textContent = text;
  }

  /** The rows with a route, in the order of the slider. */
  get routes() {
    return this.found.rows.filter((row) => row.visits > 0);
  }

  /** Handle a move of the slider. */
  slide() {
    this.onRow(this.routes[Number($("visit-count").value) - 1]);
  }

  /** Show which regions are to be visited, and the curve; the curve of another problem is dimmed. */
  show(state) {
    const { problem: { visits }, plan, given } = state;
    if (!visits && $("visits-chosen").hidden) return; // nothing has changed
    $(visits ? "visit-paying" : "visit-all").checked = true;
    $("visits-chosen").hidden = !visits;
    for (const [id, member] of Object.entries(LIMITS)) {
      $(id).disabled = !visits;
      if (document.activeElement !== $(id)) $(id).value = visits?.[member] ?? "";
    }
    $("best-visits").setAttribute("aria-pressed", String(!given));
    if (!visits) this.forget();
    if (!this.found) return;
    const current = this.isOf(state);
    for (const id of [...PARTS, "visits-text"]) $(id).classList.toggle("old", !current);
    $("visit-count").disabled = !current;
    if (!current) return;
    const now = this.routes.findIndex((row) => row === given);
    this.draw(now >= 0 ? now : this.routes.findIndex((row) => row.visits === plan?.order.length));
  }

  draw(now) {
    const { rows, best, summary, notes } = this.found;
    for (const id of PARTS) $(id).removeAttribute("hidden");
    const row = this.routes[now];
    $("visit-count").max = this.routes.length;
    if (row) $("visit-count").value = now + 1;
    const text = row ? `${visitsText(row.visits)}${row === rows[best] ? " (best)" : ""}` : "";
    $("visit-count").setAttribute("aria-valuetext", text);
    $("visit-count-label").textContent = row ? `${text}: error ${number(row.error, 4)}, travel ${number(row.travel, 4)}, total ${number(row.total, 4)}` : "";
    this.say([summary, ...notes].map(sentence).join(" "));
    drawCurve(this.found, row, this.onRow);
  }
}

const visitsText = (many) => (many === 0 ? "untrained" : many === 1 ? "1 visit" : `${many} visits`);

/** Draw expected error and total loss against travel; points of the total are labelled by their number of visits. */
function drawCurve({ rows, best, floor }, row, onRow) {
  const node = $("visits-curve");
  const most = Math.max(...rows.map(({ travel }) => travel)) || 1;
  const range = rangeOf([floor, ...rows.flatMap(({ error, total }) => [error, total])]);
  const { parts, x, y, left, right, top, bottom } = drawAxes(node, { name: "travel of the whole route", range: [0, most] }, { name: "loss per region", range });
  parts.push(svg("line", { class: "floor", x1: left, x2: right, y1: y(floor), y2: y(floor) }, svg("title", {}, `error of the mean model ${number(floor)}`)));
  if (row) parts.push(svg("line", { class: "visits-now", x1: x(row.travel), x2: x(row.travel), y1: top, y2: bottom }));
  for (const side of Object.keys(SIDES)) {
    parts.push(svg("polyline", { class: `visits-line ${side}`, points: rows.map((one) => `${x(one.travel)},${y(one[side])}`).join(" ") }));
    for (const one of rows) {
      parts.push(mark(side, x(one.travel), y(one[side]), one === row ? 6.5 : 4, one.visits ? { "data-row": one.visits, onclick: () => onRow(one) } : {},
        svg("title", {}, `${visitsText(one.visits)}: ${side} ${number(one[side])}, travel ${number(one.travel)}`)));
    }
  }
  parts.push(svg("circle", { class: "visits-best", cx: x(rows[best].travel), cy: y(rows[best].total), r: 10 }));
  const placed = [];
  for (const one of new Set([rows[0], rows[best], rows[rows.length - 1], ...(row ? [row] : []), ...rows])) {
    const text = one.visits ? String(one.visits) : "untrained";
    const wide = 7 * text.length;
    const begin = Math.min(x(one.travel) + 8, right + 10 - wide);
    const box = [begin, y(one.total) - 9, begin + wide];
    if (placed.some(([from, at, to]) => box[0] < to + 3 && from < box[2] + 3 && Math.abs(at - box[1]) < 13)) continue;
    placed.push(box);
    parts.push(svg("text", { class: "visits-label", x: box[0], y: box[1] }, text));
  }
  node.replaceChildren(...parts);
  const sample = (...shapes) => svg("svg", { "aria-hidden": "true" }, ...shapes);
  $("visits-legend").replaceChildren(
    ...Object.entries(SIDES).map(([side, text]) => el("span", {}, sample(svg("line", { class: `visits-line ${side}`, x1: 1, x2: 33, y1: 7, y2: 7 }), mark(side, 17, 7, 4)), text)),
    el("span", {}, sample(svg("circle", { class: "visits-best", cx: 17, cy: 7, r: 6 })), "least total loss"),
    el("span", {}, sample(svg("line", { class: "floor", x1: 1, x2: 33, y1: 7, y2: 7 })), "error of the mean model"));
}

/** Return the mark of a point: a square for totals, a dot for errors. */
const mark = (side, cx, cy, r, more = {}, ...children) => (side === "total"
  ? svg("rect", { class: `visits-mark ${side}`, x: cx - r, y: cy - r, width: 2 * r, height: 2 * r, ...more }, ...children)
  : svg("circle", { class: `visits-mark ${side}`, cx, cy, r, ...more }, ...children));
