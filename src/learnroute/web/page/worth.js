// Comparing learners: learners on routes side by side, and the total loss against λ.

import { drawAxes } from "./charts.js";
import { Comparison } from "./comparison.js";
import { $, el, number, sentence, svg } from "./dom.js";
import { basis, rule } from "./learner.js";

const LEARNERS = {
  "least-squares": "least squares", proximal: "proximal, one λ", schedule: "proximal, schedule", "chosen-visits": "proximal, optional", "running-mean": "running mean",
  recursive: "recursive least squares", "mean-model": "mean model (bound)",
};
const ROUTES = { shortest: "shortest", "papers-best": "best for least squares", "own-best": "best" };
const NO_RULE = ["chosen-visits", "recursive", "mean-model"]; // rows that are not a rule of a problem's learner
const [PAPER, INSET] = [12, 42]; // px from the axis to least squares (λ = 0), and to the smallest λ
const WIDE = 6; // multiple of the lowest loss beyond which losses are drawn on a logarithmic axis
const HEADS = ["route", "error", "travel", "total loss", "reduction", "memory", "λ"];

export class Worth extends Comparison {
  constructor(onProgress, onTake) {
    super({ task: "learners", name: "worth", button: "compare-learners", again: "compare the learners again", parts: ["worth-table", "worth-picture", "worth-legend"] }, onProgress, onTake);
  }

  basisOf(state) { // independent of the learner's own rule and λ
    return basis(state);
  }

  show(state) {
    const { rows, notes, dissimilarities, complete } = this.found;
    const first = rows.find((row) => row.total !== null).total;
    this.showLines(rows.map((row) => this.line(row, first, state)));
    draw(this.found);
    const best = rows.filter((row) => row.total !== null && row.learner !== "mean-model").reduce((a, b) => (b.total < a.total ? b : a));
    const floor = rows[rows.length - 1];
    this.say(`Least total loss: ${number(best.total)} (${LEARNERS[best.learner]}, ${ROUTES[best.route_kind]} route). Floor: ${number(floor.total)}. Choose a row to apply its learner and route.`);
    const said = [
      ...(dissimilarities === "estimate" ? ["errors use unbiased estimates of the dissimilarities"] : []),
      ...notes,
      ...(complete ? [] : ["the time limit was reached; better routes or λ may exist"]),
    ];
    $("worth-notes").replaceChildren(...said.map((note) => el("li", {}, sentence(note))));
  }

  line(row, first, state) {
    const name = LEARNERS[row.learner];
    const free = row.total !== null && !NO_RULE.includes(row.learner);
    const label = `Apply ${name}, route: ${ROUTES[row.route_kind]}`;
    const share = row.saves === null || !(row.saves >= 0 && row.saves <= first) ? null : `${number(Math.round((1000 * row.saves) / first) / 10)} % of the total loss of the first row`;
    const [low, high] = row.regularization_range ?? [];
    const within = low === undefined ? null : `${Array.isArray(row.regularization) ? "multiplied by " : ""}${number(low, 2)} … ${number(high, 2)}: loss within 1 %`;
    const cells = [
      ROUTES[row.route_kind], row.refused === null ? number(row.error) : "none", row.travel_cost === null ? "" : number(row.travel_cost),
      row.total === null ? "" : number(row.total), row.saves === null ? "" : number(row.saves, 3), row.memory ?? "",
    ];
    const titles = [null, null, null, null, share, null].map((title) => row.refused ?? title);
    return el("tr", { class: free ? "free" : "", "data-learner": row.learner, "data-route": row.route_kind, "aria-current": free && isShown(row, state) ? "true" : null, onclick: free ? () => this.onTake(row) : () => {} },
      el("td", {}, free ? el("button", { type: "button", class: "take", "aria-label": label }, name) : name),
      ...cells.map((text, k) => el("td", { title: titles[k], "data-head": HEADS[k] }, text)),
      el("td", { title: within, "data-head": "λ" }, lambdaText(row.regularization)));
  }
}

/** Return the learner of a row: unchanged m, n and σ with the row's rule. */
export function learnerOf(row, { features, samples, noise = 0 }) {
  const own = { features, samples, noise };
  return row.learner === "least-squares" ? own : { ...own, rule: "proximal", regularization: row.regularization };
}

function isShown(row, { problem: { learner }, plan }) {
  const wanted = learnerOf(row, learner);
  const alike = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  return rule(wanted) === rule(learner) && alike(wanted.regularization, learner.regularization) && alike(row.order, plan?.order);
}

function lambdaText(lambda) {
  if (lambda === null) return "";
  return Array.isArray(lambda) ? `${number(Math.min(...lambda), 2)} … ${number(Math.max(...lambda), 2)}` : number(lambda, 3);
}

/** Return the range of losses: from the lowest one to those of least squares and of a very large λ. */
function lossRange({ rows, curves }) {
  const floor = rows[rows.length - 1].total;
  const limits = curves.map(({ limit }) => limit).filter((limit) => limit !== null);
  const ends = curves.flatMap(({ totals }) => [totals[0], totals[totals.length - 1]]);
  const low = Math.min(floor, ...curves.map(({ totals }) => Math.min(...totals)));
  const most = Math.max(...ends);
  const top = limits.length ? Math.max(...limits) : low > 0 ? Math.min(most, WIDE * Math.max(floor, Math.min(...ends))) : most;
  return [low, Math.max(top, Math.min(most, top + 0.5 * Math.abs(top)))];
}

/** Draw the total loss against λ, one curve per route; diamonds at the left are least squares, the floor is dashed. */
function draw(found) {
  const node = $("worth-picture");
  const { rows, curves, regularizations: lambdas } = found;
  const [low, high] = lossRange(found);
  const wide = low > 0 && high > WIDE * low;
  const room = wide ? (high / low) ** 0.06 : 0.06 * (high - low || 1);
  const range = wide ? [low / room, high * room] : [low - room, high + room];
  const every = node.clientWidth < 480 ? 2 : 1;
  const powers = [];
  for (let power = Math.ceil(Math.log10(lambdas[0]) - 1e-9) + 1; power <= Math.log10(lambdas.at(-1)) + 1e-9; power += every) powers.push({ value: 10 ** power, text: number(10 ** power) });
  const { parts, x, y, left: axis, right, top, bottom } = drawAxes(node,
    { name: "λ, regularisation", range: [lambdas[0], lambdas.at(-1)], scale: Math.log10, marks: powers, inset: INSET },
    { name: "total loss", range, ...(wide ? { scale: Math.log10, marks: decades(...range) } : {}) });
  const left = axis + PAPER;
  const floor = rows[rows.length - 1].total;
  parts.push(
    svg("clipPath", { id: "worth-frame" }, svg("rect", { x: axis, y: 0, width: right + 8 - axis, height: bottom })),
    svg("text", { x: left, y: bottom + 15, "text-anchor": "middle" }, "0"),
    svg("line", { class: "floor", x1: axis, x2: right, y1: y(floor), y2: y(floor) }, svg("title", {}, `floor ${number(floor)}`)));
  const whole = svg("g", { "clip-path": "url(#worth-frame)" });
  for (const { route_kind: kind, totals, limit } of curves) {
    const points = [...(limit === null ? [] : [[left, y(limit)]]), ...totals.map((loss, k) => [x(lambdas[k]), y(loss)])];
    whole.append(svg("polyline", { class: `worth-curve ${kind}`, "data-route": kind, points: points.map((point) => point.join()).join(" ") }, svg("title", {}, `route: ${routeName(found, kind)}`)));
    if (limit !== null) whole.append(svg("path", { class: `worth-mark ${kind} paper`, d: `M${left} ${y(limit) - 6}l6 6l-6 6l-6 -6z` }, svg("title", {}, `least squares: ${number(limit)}`)));
    const best = totals.indexOf(Math.min(...totals));
    whole.append(svg("circle", { class: `worth-mark ${kind}`, cx: x(lambdas[best]), cy: y(totals[best]), r: 4 }, svg("title", {}, `λ = ${number(lambdas[best], 2)}: ${number(totals[best])}`)));
  }
  const least = curves.reduce((a, b) => (Math.min(...b.totals) < Math.min(...a.totals) ? b : a)).totals;
  const best = least.indexOf(Math.min(...least));
  parts.push(svg("line", { class: "best-lambda", x1: x(lambdas[best]), x2: x(lambdas[best]), y1: top, y2: bottom }));
  parts.push(svg("text", { class: "best-lambda", x: x(lambdas[best]), y: top - 4, "text-anchor": "middle" }, `best λ = ${number(lambdas[best], 2)}`));
  node.replaceChildren(...parts, whole);
  const sample = (shape) => svg("svg", { "aria-hidden": "true" }, shape);
  $("worth-legend").replaceChildren(
    ...curves.map(({ route_kind: kind }) => el("span", {}, sample(svg("line", { class: `worth-curve ${kind}`, x1: 1, x2: 33, y1: 7, y2: 7 })), `route: ${routeName(found, kind)}`)),
    el("span", {}, sample(svg("path", { class: "worth-mark", d: "M17 1l6 6l-6 6l-6 -6z" })), "least squares (λ = 0)"),
    el("span", {}, sample(svg("line", { class: "floor", x1: 1, x2: 33, y1: 7, y2: 7 })), "floor"));
}

/** Describe a route, which may be the shortest and the best at once. */
function routeName({ rows, curves }, kind) {
  const order = curves.find((curve) => curve.route_kind === kind).order.join();
  const kinds = rows.filter((row) => ["least-squares", "proximal"].includes(row.learner) && row.order?.join() === order).map((row) => ROUTES[row.route_kind]);
  return [...new Set(kinds)].join(", ");
}

/** Return the marks of a logarithmic axis. */
function decades(low, top) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= top; power++) {
    for (const digit of [1, 2, 5]) if (digit * 10 ** power >= low && digit * 10 ** power <= top) found.push(digit * 10 ** power);
  }
  const every = Math.ceil(found.length / 8);
  return found.filter((_, k) => k % every === 0).map((value) => ({ value, text: number(value, 4) }));
}
