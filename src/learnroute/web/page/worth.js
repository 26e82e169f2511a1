// Which learner is worth it: learners on routes side by side, and the total loss against λ.

import { Comparison } from "./comparison.js";
import { $, el, number, svg, ticks } from "./dom.js";
import { basis, rule } from "./learner.js";

const LEARNERS = {
  "least-squares": "least squares (paper)", proximal: "proximal, one λ", schedule: "proximal, λ by visit", "chosen-visits": "proximal, chosen visits", "running-mean": "running mean, λ = t − 1",
  recursive: "recursive least squares", "mean-model": "floor: mean model",
};
const ROUTES = { shortest: "shortest", "papers-best": "paper’s best", "own-best": "own best" };
const NO_RULE = ["chosen-visits", "recursive", "mean-model"]; // rows that are no rule of a problem's learner
const EDGE = { left: 62, right: 22, top: 12, bottom: 36 };
const [PAPER, GAP] = [12, 30]; // px from the axis to the paper's learner, and from there to the least λ
const WIDE = 6; // times the least loss: losses further apart are drawn on a logarithmic axis

export class Worth extends Comparison {
  constructor(onProgress, onTake) {
    super("learners", "worth", "learners", ["worth-table", "worth-picture", "worth-legend"], onProgress, onTake);
  }

  basisOf(state) { // the learner's own rule and λ do not count
    return basis(state);
  }

  show(state) {
    const { rows, notes, dissimilarities, complete } = this.found;
    const first = rows.find((row) => row.total !== null).total;
    this.showLines(rows.map((row) => this.line(row, first, state)));
    draw(this.found);
    const best = rows.filter((row) => row.total !== null && row.learner !== "mean-model").reduce((a, b) => (b.total < a.total ? b : a));
    const floor = rows[rows.length - 1];
    this.say(`Least total loss: ${LEARNERS[best.learner]}, route: ${ROUTES[best.route_kind]}, ${number(best.total)}; the floor is ${number(floor.total)}. Choose a row to apply its learner and route.`);
    const said = [
      ...(dissimilarities === "estimate" ? ["errors are by unbiased estimates of the dissimilarities"] : []),
      ...notes,
      ...(complete ? [] : ["the time limit came first: better routes or λ may exist"]),
    ];
    $("worth-notes").replaceChildren(...said.map((note) => el("li", {}, note)));
  }

  line(row, first, state) {
    const name = LEARNERS[row.learner];
    const free = row.total !== null && !NO_RULE.includes(row.learner);
    const label = `Apply ${name}, route: ${ROUTES[row.route_kind]}`;
    const share = row.saves === null || !(first > 0) ? null : `${number(Math.round((1000 * row.saves) / first) / 10)} % of the first row’s total`;
    const [low, high] = row.regularization_range ?? [];
    const within = low === undefined ? null : `${Array.isArray(row.regularization) ? "all times " : ""}${number(low, 2)} … ${number(high, 2)}: within 1 % of the loss`;
    const cells = [
      ROUTES[row.route_kind], row.refused === null ? number(row.error) : "none", row.travel_cost === null ? "" : number(row.travel_cost),
      row.total === null ? "" : number(row.total), row.saves === null ? "" : number(row.saves, 3), row.memory ?? "",
    ];
    const titles = [null, null, null, null, share, null].map((title) => row.refused ?? title);
    return el("tr", { class: free ? "free" : "", "data-learner": row.learner, "data-route": row.route_kind, "aria-current": free && isShown(row, state) ? "true" : null, onclick: free ? () => this.onTake(row) : () => {} },
      el("td", {}, free ? el("button", { type: "button", class: "take", "aria-label": label }, name) : name),
      ...cells.map((text, k) => el("td", { title: titles[k] }, text)),
      el("td", { title: within }, lambdaText(row.regularization)));
  }
}

/** The learner of a row: m, n and σ as they are, and its own rule. */
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

/** From the least loss to what training as the paper does, or hardly at all, costs. */
function lossRange({ rows, curves }) {
  const floor = rows[rows.length - 1].total;
  const limits = curves.map(({ limit }) => limit).filter((limit) => limit !== null);
  const ends = curves.flatMap(({ totals }) => [totals[0], totals[totals.length - 1]]);
  const low = Math.min(floor, ...curves.map(({ totals }) => Math.min(...totals)));
  const most = Math.max(...ends);
  const top = limits.length ? Math.max(...limits) : low > 0 ? Math.min(most, WIDE * Math.max(floor, Math.min(...ends))) : most;
  return [low, Math.max(top, Math.min(most, top + 0.5 * Math.abs(top)))];
}

/** Total loss against λ, one curve a route; diamonds at the left are the paper's learner, the floor is dashed. */
function draw(found) {
  const node = $("worth-picture");
  const [width, height] = [node.clientWidth || 320, node.clientHeight || 220];
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const { rows, curves, regularizations: lambdas } = found;
  const [least, most] = [lambdas[0], lambdas[lambdas.length - 1]].map(Math.log10);
  const [low, top] = lossRange(found);
  const wide = low > 0 && top > WIDE * low;
  const scale = wide ? Math.log10 : (loss) => loss;
  const room = 0.06 * (scale(top) - scale(low) || 1);
  const [y0, y1] = [scale(low) - room, scale(top) + room];
  const left = EDGE.left + PAPER;
  const x = (lambda) => left + GAP + ((Math.log10(lambda) - least) / (most - least)) * (width - EDGE.right - left - GAP);
  const y = (loss) => height - EDGE.bottom - ((scale(loss) - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
  const bottom = height - EDGE.bottom;
  const parts = [
    svg("clipPath", { id: "worth-frame" }, svg("rect", { x: EDGE.left, y: 0, width: width - EDGE.left, height: bottom })),
    svg("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: bottom, y2: bottom }),
    svg("line", { class: "axis", x1: EDGE.left, x2: EDGE.left, y1: EDGE.top, y2: bottom }),
    svg("text", { x: (width + EDGE.left) / 2, y: height - 4, "text-anchor": "middle" }, "λ, regularisation"),
    svg("text", { transform: `translate(12 ${(bottom + EDGE.top) / 2}) rotate(-90)`, "text-anchor": "middle" }, "total loss"),
    svg("text", { x: left, y: bottom + 15, "text-anchor": "middle" }, "paper"),
  ];
  const every = width < 420 ? 2 : 1;
  for (let power = Math.ceil(least - 1e-9) + 1; power <= most + 1e-9; power += every) {
    parts.push(svg("line", { class: "axis", x1: x(10 ** power), x2: x(10 ** power), y1: bottom, y2: bottom + 4 }));
    parts.push(svg("text", { x: x(10 ** power), y: bottom + 15, "text-anchor": "middle" }, number(10 ** power)));
  }
  const marks = wide ? decades(low, top) : ticks(y0, y1, 6);
  for (const loss of marks) parts.push(svg("text", { x: EDGE.left - 5, y: y(loss) + 4, "text-anchor": "end" }, number(loss, 4)));
  const floor = rows[rows.length - 1].total;
  parts.push(svg("line", { class: "floor", x1: EDGE.left, x2: width - EDGE.right, y1: y(floor), y2: y(floor) }, svg("title", {}, `floor ${number(floor)}`)));
  const whole = svg("g", { "clip-path": "url(#worth-frame)" });
  for (const { route_kind: kind, totals, limit } of curves) {
    const points = [...(limit === null ? [] : [[left, y(limit)]]), ...totals.map((loss, k) => [x(lambdas[k]), y(loss)])];
    whole.append(svg("polyline", { class: `worth-curve ${kind}`, "data-route": kind, points: points.map((point) => point.join()).join(" ") }, svg("title", {}, `route: ${routeName(found, kind)}`)));
    if (limit !== null) whole.append(svg("path", { class: `worth-mark ${kind} paper`, d: `M${left} ${y(limit) - 6}l6 6l-6 6l-6 -6z` }, svg("title", {}, `the paper’s learner: ${number(limit)}`)));
    const best = totals.indexOf(Math.min(...totals));
    whole.append(svg("circle", { class: `worth-mark ${kind}`, cx: x(lambdas[best]), cy: y(totals[best]), r: 4 }, svg("title", {}, `λ = ${number(lambdas[best], 2)}: ${number(totals[best])}`)));
  }
  node.replaceChildren(...parts, whole);
  const sample = (shape) => svg("svg", { "aria-hidden": "true" }, shape);
  $("worth-legend").replaceChildren(
    ...curves.map(({ route_kind: kind }) => el("span", {}, sample(svg("line", { class: `worth-curve ${kind}`, x1: 1, x2: 33, y1: 7, y2: 7 })), `route: ${routeName(found, kind)}`)),
    el("span", {}, sample(svg("path", { class: "worth-mark", d: "M17 1l6 6l-6 6l-6 -6z" })), "the paper’s learner"),
    el("span", {}, sample(svg("line", { class: "floor", x1: 1, x2: 33, y1: 7, y2: 7 })), "floor"));
}

/** What a route is: one may be the shortest and the best at once. */
function routeName({ rows, curves }, kind) {
  const order = curves.find((curve) => curve.route_kind === kind).order.join();
  const kinds = rows.filter((row) => ["least-squares", "proximal"].includes(row.learner) && row.order?.join() === order).map((row) => ROUTES[row.route_kind]);
  return [...new Set(kinds)].join(", ");
}

/** Losses beside a logarithmic axis. */
function decades(low, top) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= top; power++) {
    for (const digit of [1, 2, 5]) if (digit * 10 ** power >= low && digit * 10 ** power <= top) found.push(digit * 10 ** power);
  }
  const every = Math.ceil(found.length / 8);
  return found.filter((_, k) => k % every === 0);
}
