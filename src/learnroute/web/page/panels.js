// Numbers: the regime, the parts of the loss, what is proved, the one-sided routes.

import { $, el, number, shade, svg } from "./dom.js";

const PARTS = {
  travel: "travel",
  dissimilarity: "error: dissimilar regions",
  initial: "error: first model",
  noise: "error: noise",
};
const RIVALS = { baseline: "baseline", travel: "travel" };

/** Say which regime the learner is in; false where the expected error does not exist. */
export function showRegime({ learner: { features: m, samples: n }, samples }) {
  const node = $("regime");
  if (samples) {
    const fewer = samples.filter((count) => count < m).length;
    const regime = fewer === samples.length ? "Over regime" : fewer ? "Mixed regimes" : "Under regime";
    node.className = "";
    node.textContent = `${regime}: regions have ${Math.min(...samples)} to ${Math.max(...samples)} samples; changing n gives all the same number.`;
    return true;
  }
  const middle = Number.isFinite(m) && Number.isFinite(n) && Math.abs(m - n) <= 1;
  node.className = middle ? "wrong" : "";
  if (!Number.isFinite(m) || !Number.isFinite(n)) {
    node.textContent = "";
    return true;
  }
  for (const id of ["features", "samples"]) $(id).setAttribute("aria-invalid", String(middle));
  if (middle) {
    node.textContent = `m = ${m} and n = ${n}: the expected error does not exist for m between n − 1 and n + 1 (the samples just `
      + `determine the model, and the mean error is infinite). Use ${n > 2 ? `m ≤ ${n - 2} or ` : ""}m ≥ ${n + 2}.`;
  } else if (m < n) {
    node.textContent = `Under regime (m ≤ n − 2): each region is learnt from scratch, so only the last region counts; r = 0.`;
  } else {
    const r = (m - n) / m;
    node.textContent = `Over regime (m ≥ n + 2): training in a region keeps r = 1 − n/m = ${number(r, 4)} of the old model; later regions count more.`;
  }
  return !middle;
}

/** The loss as a bar and a table, and what is proved about it. */
export function showPlan(plan) {
  $("total").textContent = number(plan.loss.total, 6);
  drawBar(plan);
  const rows = Object.entries(PARTS).map(([part, name]) => row(part, name, plan.loss[part], plan.loss.total));
  const total = el("tr", {}, el("td", {}, "total"), el("td", { "data-part": "total" }, number(plan.loss.total, 6)), el("td", {}, ""));
  $("parts").tBodies[0].replaceChildren(...rows, total);
  const gap = plan.optimal ? "0 (proved optimal)" : plan.gap === null ? "unknown" : `at most ${number(100 * plan.gap, 3)} %`;
  const guarantee = plan.guarantee === null ? "none" : plan.guarantee === 1 ? "the least loss" : `at most ${number(plan.guarantee, 4)} times the least loss`;
  const facts = {
    "lower bound": number(plan.lower_bound, 6),
    gap,
    guarantee: `${guarantee}: ${plan.guarantee_reason}`,
    method: `${plan.method}, ${number(1000 * plan.seconds, 3)} ms`,
    last: plan.route[plan.route.length - 1],
  };
  if (plan.true_loss) facts["with true models"] = number(plan.true_loss.total, 6);
  if (plan.notes.length) facts.note = plan.notes.join("; ");
  $("verdict").replaceChildren(...Object.entries(facts).flatMap(([name, text]) => [
    el("dt", {}, name), el("dd", { "data-fact": name }, text),
  ]));
}

function row(part, name, value, total) {
  return el("tr", {},
    el("td", {}, el("span", { class: `swatch part-${part}` }), name),
    el("td", { "data-part": part }, number(value)),
    el("td", {}, total > 0 ? share(value / total) : ""));
}

const share = (part) => (part > 0 && part < 1e-4 ? "< 0.01 %" : `${number(100 * part, 3)} %`);

function drawBar(plan) {
  const most = Math.max(plan.loss.total, plan.lower_bound ?? 0) || 1;
  const parts = [];
  let from = 0;
  for (const part of Object.keys(PARTS)) {
    const width = (100 * plan.loss[part]) / most;
    parts.push(svg("rect", { class: `part-${part}`, x: `${from}%`, width: `${width}%`, y: 4, height: 26, rx: 2 }, svg("title", {}, `${PARTS[part]} ${number(plan.loss[part])}`)));
    from += width;
  }
  if (plan.lower_bound !== null && !plan.optimal) {
    const x = `${(100 * plan.lower_bound) / most}%`;
    parts.push(svg("line", { class: "bound", x1: x, x2: x, y1: 0, y2: 34 }));
    parts.push(svg("text", { x, y: 43, "text-anchor": "middle" }, "lower bound"));
  }
  $("bar").replaceChildren(...parts);
}

/** The one-sided routes beside this one. */
export function showRivals(plan, rivals) {
  const entry = (name, found) => {
    const error = found.loss.dissimilarity + found.loss.initial + found.loss.noise;
    return el("tr", {}, el("td", {}, name), ...[found.loss.total, found.loss.travel, error].map((value) => el("td", {}, number(value, 4))),
      el("td", {}, number(found.loss.total / plan.loss.total, 4)));
  };
  const rows = Object.entries(rivals).filter(([, rival]) => rival.plan).map(([name, rival]) => entry(RIVALS[name], rival.plan));
  $("rivals").tBodies[0].replaceChildren(entry("this route", plan), ...rows);
}

/** What the colours and lines of the map mean. */
export function showLegend({ scores, madeUp, rivals }) {
  const ramp = Array.from({ length: 22 }, (_, k) => svg("rect", { x: 5 * k, width: 5.5, height: 12, fill: shade(k / 21) }));
  const line = (name) => svg("svg", {}, svg("line", { class: name, x1: 1, x2: 33, y1: 7, y2: 7 }));
  $("map-legend").replaceChildren(
    el("span", {}, `score / T ${number(Math.min(...scores), 3)}`, svg("svg", { class: "ramp", "aria-hidden": "true" }, ...ramp), number(Math.max(...scores), 3)),
    el("span", {}, svg("svg", {}, svg("circle", { class: "halo", cx: 17, cy: 7, r: 7 })), "expected error now"),
    el("span", {}, "★ last region"),
    ...Object.entries(RIVALS).filter(([name]) => rivals[name].shown).map(([name, text]) => el("span", {}, line(`rival ${name}`), text)),
    ...(madeUp ? [el("span", {}, "places made up from travel costs")] : []));
}
