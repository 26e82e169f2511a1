// Panels with numbers: the regime, the parts of the loss, bounds, the baseline and the shortest route.

import { stopName, stopsOf, travelBetween } from "./depot.js";
import { $, el, number, sentence, shade, svg } from "./dom.js";
import { fleetLegend, memberName, sample } from "./fleet.js";
import { inMiddle, retentionText, undecided } from "./learner.js";
import { haloRadius, largestError } from "./map.js";
import { TERMS, term } from "./terms.js";

const PARTS = {
  travel: "travel",
  dissimilarity: "error from dissimilar regions",
  initial: "error from the initial model",
  noise: "error from noise",
  pairs: "gain from averaging models",
};
const RULES = { proximal: "Proximal learner", gradient: "Gradient learner" };
export const RIVALS = { baseline: "baseline route", travel: "shortest route" };

/** Show the regime of the learner; return false if the expected error does not exist. */
export function showRegime({ problem, errorHistory }) {
  const { learner, samples } = problem;
  const { features: m, samples: n, rule = "least-squares" } = learner;
  const node = $("regime");
  if (rule === "calibrated") {
    node.className = "";
    node.textContent = `Calibrated learner: retention p₁ = ${number(learner.retention, 4)}, coupling q = ${number(learner.coupling, 4)}, `
      + `noise ν = ${number(learner.noise, 4)} per visit.`;
    return true;
  }
  const known = Number.isFinite(m) && Number.isFinite(n);
  const bare = rule === "least-squares" || learner.regularization === 0;
  const middle = known && bare && inMiddle(problem);
  node.className = middle ? "wrong" : "";
  for (const id of ["features", "samples"]) if (known) $(id).setAttribute("aria-invalid", String(middle));
  const counts = samples ? ` Regions have ${Math.min(...samples)} to ${Math.max(...samples)} samples. If you change n, all regions get that number.` : "";
  if (!known) node.textContent = "";
  else if (!bare) {
    const kept = errorHistory && !undecided(learner) ? `: each visit retains ${retentionText(errorHistory)} of the previous model` : "";
    node.textContent = `${RULES[rule]}, any m and n${kept}.${counts}`;
  } else if (samples) {
    const fewer = samples.filter((count) => count < m).length;
    node.textContent = `${fewer === samples.length ? "Over regime" : fewer ? "Mixed regimes" : "Under regime"}.${counts}`;
  } else if (middle) {
    node.textContent = `m = ${m} and n = ${n}: the expected error does not exist (it is infinite) for m between n − 1 and n + 1. `
      + `Use ${n > 2 ? `m ≤ ${n - 2} or ` : ""}m ≥ ${n + 2}, or increase λ.`;
  } else if (m < n) {
    node.textContent = `Under regime (m ≤ n − 2): training forgets the previous model (r = 0), so the error depends only on the last region.`;
  } else {
    node.textContent = `Over regime (m ≥ n + 2): training retains r = 1 − n/m = ${number((m - n) / m, 4)} of the previous model, so later regions count more.`;
  }
  return !middle;
}

/** Clear all numbers of the plan. */
export function showNoPlan() {
  $("total").textContent = "–";
  $("bar").replaceChildren();
  $("parts").tBodies[0].replaceChildren();
  $("verdict").replaceChildren();
  $("rivals").tBodies[0].replaceChildren();
  $("heat").replaceChildren();
  $("heat").setAttribute("hidden", "");
  for (const id of ["error-history-text", "heat-legend", "time-label"]) $(id).textContent = "";
}

/** Show the loss as a bar and a table, with bounds and guarantee. */
export function showPlan(plan) {
  $("total").textContent = number(plan.loss.total, 6);
  drawBar(plan);
  const shared = Object.keys(PARTS).every((part) => plan.loss[part] >= 0); // with negative parts, there are no shares
  const rows = Object.entries(PARTS).filter(([part]) => part !== "pairs" || plan.loss.pairs).map(([part, name]) => row(part, name, plan.loss[part], shared ? plan.loss.total : 0));
  const total = el("tr", {}, el("td", {}, "total"), el("td", { "data-part": "total" }, number(plan.loss.total, 6)), el("td", {}, ""));
  $("parts").tBodies[0].replaceChildren(...rows, total);
  const gap = plan.optimal ? `0 (optimal, proved${plan.learner.regularization === undefined ? "" : " for this λ"})` : plan.lower_bound === null ? "unknown" : plan.gap === null ? `at most ${number(plan.loss.total - plan.lower_bound, 3)} in loss` : `at most ${number(100 * plan.gap, 3)} %`;
  const guarantee = plan.guarantee === null ? `none: ${plan.guarantee_reason}` : plan.guarantee === 1 ? "optimal (proved)" : `at most ${number(plan.guarantee, 4)} times the least loss: ${plan.guarantee_reason}`;
  const facts = {
    "lower bound": plan.lower_bound === null ? "unknown" : number(plan.lower_bound, 6),
    gap,
    guarantee,
    method: `${plan.method}, ${number(1000 * plan.seconds, 3)} ms`,
  };
  if (!plan.isFleet) facts["last region"] = plan.route[plan.route.length - 1];
  if (plan.skipped.length) facts["skipped regions"] = plan.skipped.join(", ");
  if (plan.untrained !== null) facts["loss without visits"] = number(plan.untrained, 6);
  if (plan.dissimilarities === "estimate") facts.dissimilarities = "unbiased estimates";
  if (plan.loss_at_most !== null && plan.loss_at_most - plan.loss.total > 1e-9 * Math.abs(plan.loss.total)) facts["upper bound"] = number(plan.loss_at_most, 6);
  if (plan.true_loss) facts["with true models"] = number(plan.true_loss.total, 6);
  if (plan.notes.length) facts.note = plan.notes.map(sentence).join(" ");
  $("verdict").replaceChildren(...Object.entries(facts).flatMap(([name, text]) => [
    el("dt", {}, name in TERMS ? term(name) : name), el("dd", { "data-fact": name }, text),
  ]));
}

function row(part, name, value, total) {
  return el("tr", {},
    el("td", {}, el("span", { class: `swatch part-${part}` }), part in TERMS ? term(part, name) : name),
    el("td", { "data-part": part }, number(value)),
    el("td", {}, total > 0 ? share(value / total) : ""));
}

const share = (part) => (part > 0 && part < 1e-4 ? "< 0.01 %" : `${number(100 * part, 3)} %`);

/** Draw the bar: positive parts are stacked to the right; below, negative parts lead back to the total; gains of pairs are hatched. */
function drawBar({ loss, lower_bound: bound, optimal }) {
  const [added, taken] = [Object.keys(PARTS).filter((part) => loss[part] > 0), Object.keys(PARTS).filter((part) => loss[part] < 0)];
  const reach = added.reduce((sum, part) => sum + loss[part], 0);
  const close = bound !== null && !optimal && bound > Math.min(0, loss.total) - Math.max(reach, -loss.total); // otherwise the bound is only in the list
  const [least, most] = [Math.min(0, loss.total, close ? bound : 0), Math.max(reach, loss.total)];
  const whole = most - least || 1;
  const at = (value) => `${(100 * (value - least)) / whole}%`;
  const gain = taken.length > 0;
  const high = gain ? 17 : 26;
  const shape = (part, from, width, y, height) =>
    svg("rect", { class: `part-${part}`, x: at(from), width: `${(100 * width) / whole}%`, y, height, rx: 2 }, svg("title", {}, `${PARTS[part]} ${number(loss[part])}`));
  const parts = [];
  let from = 0;
  for (const part of added) {
    parts.push(shape(part, from, loss[part], 4, high));
    from += loss[part];
  }
  if (gain) {
    parts.push(svg("defs", {}, svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "hatched", width: 6, height: 6 }), svg("line", { class: "hatching", x1: 0, x2: 0, y1: 0, y2: 6 }))));
    for (const part of taken) {
      from += loss[part];
      parts.push(shape(part, from, -loss[part], 4 + high, 11));
    }
    parts.push(svg("line", { class: "total", x1: at(loss.total), x2: at(loss.total), y1: 1, y2: 34 }));
  }
  if (least < 0) parts.push(svg("line", { class: "axis", x1: at(0), x2: at(0), y1: 1, y2: 34 }));
  if (close) {
    parts.push(svg("line", { class: "bound", x1: at(bound), x2: at(bound), y1: 0, y2: 34 }));
    const share = (bound - least) / whole;
    parts.push(svg("text", { x: at(bound), y: 43, "text-anchor": share < 0.12 ? "start" : share > 0.88 ? "end" : "middle" }, "lower bound"));
  }
  $("bar").setAttribute("aria-label", `Parts of the loss${gain ? "; the lower part is subtracted" : ""}`);
  $("bar").replaceChildren(...parts);
}

/** Compare the baseline and the shortest route with this one. */
export function showRivals({ plan, problem, rivals }) {
  const entry = (name, found) => {
    const error = found.loss.total - found.loss.travel;
    return el("tr", {}, el("td", {}, name), ...[found.loss.total, found.loss.travel, error].map((value) => el("td", {}, number(value, 4))),
      el("td", {}, plan.loss.total > 0 ? number(found.loss.total / plan.loss.total, 4) : "–"));
  };
  const rows = Object.entries(rivals).filter(([, rival]) => rival.plan).map(([name, rival]) => entry(`${RIVALS[name]}${problem.visits ? ", all regions" : ""}${problem.fleet ? ", one vehicle" : ""}`, rival.plan));
  $("rivals").tBodies[0].replaceChildren(entry(plan.orders.length > 1 ? "these routes" : "this route", plan), ...rows);
}

/** Show the stops in order, one list per vehicle. */
export function showStops({ plan, problem }) {
  const orders = plan?.orders ?? [];
  $("stops").replaceChildren(...orders.flatMap((order, vehicle) => {
    const list = el("ol", {}, ...stopLines(plan, problem, order, orders.slice(0, vehicle).flat().length));
    if (orders.length === 1) return [list];
    const said = order.length ? `: travel ${number(plan.travels[vehicle], 4)}` : " is not used";
    return [el("h3", {}, sample(vehicle, true), `Vehicle ${vehicle + 1}${said}`), ...(order.length ? [list] : [])];
  }));
}

/** List the stops of a vehicle with the travel to each, its model or λ if stops have their own, and the saving of an optional visit; `before` counts visits of other vehicles. */
function stopLines(plan, problem, order, before) {
  const lambdas = Array.isArray(problem.learner.regularization) ? problem.learner.regularization : null;
  const stops = stopsOf({ order, closed: plan.closed }, problem);
  const first = problem.depot ? 0 : 1; // the depot is not a visit
  return stops.map((stop, k) => {
    const visit = k + first;
    const travel = k ? [`travel ${number(travelBetween(problem, stops[k - 1], stop), 4)}`] : [];
    const visited = visit >= 1 && visit <= order.length;
    const model = plan.models && visited ? [`model ${plan.models[visit - 1] + 1}`] : [];
    const lambda = lambdas && visited ? [`λ ${number(lambdas[visit - 1], 3)}`] : [];
    const saved = plan.contributions && visited ? [`saves ${number(plan.contributions[before + visit - 1] - plan.loss.total, 3)}`] : [];
    const notes = [...travel, ...model, ...lambda, ...saved];
    const name = visit > order.length ? `back to ${stopName(problem, stop)}` : visit ? stopName(problem, stop) : `from ${stopName(problem, stop)}`;
    return el("li", { value: visit }, name, el("span", { class: "hint" }, notes.length ? ` ${notes.join(", ")}` : ""));
  });
}

/** Show the legend of the map. */
export function showLegend({ scores, madeUp, rivals, problem, plan, model, errorHistory }) {
  const ramp = Array.from({ length: 22 }, (_, k) => svg("rect", { x: 5 * k, width: 5.5, height: 12, fill: shade(k / 21) }));
  const line = (name) => svg("svg", {}, svg("line", { class: name, x1: 1, x2: 33, y1: 7, y2: 7 }));
  $("map-legend").replaceChildren(
    el("span", {}, term("score", "score / T"), number(Math.min(...scores), 3), svg("svg", { class: "ramp", "aria-hidden": "true" }, ...ramp), number(Math.max(...scores), 3)),
    ...(errorHistory ? [el("span", { id: "halo-scale" }, plan?.isFleet ? `expected error, ${memberName(problem, model)}` : "expected error", haloScale(largestError(errorHistory)))] : []),
    ...(problem.fleet ? fleetLegend({ problem }) : [el("span", {}, "★ last region")]),
    ...(problem.depot ? [el("span", {}, "□ depot")] : []),
    ...(problem.visits ? ["○ skipped", "× forbidden", "bold outline: required"].map((text) => el("span", {}, text)) : []),
    ...Object.entries(RIVALS).filter(([name]) => rivals[name].shown).map(([name, text]) => el("span", {}, line(`rival ${name}`), text)),
    ...(madeUp ? [el("span", {}, "no coordinates: places from travel costs")] : []));
}

/** Return the scale of halos: nested circles for the largest error and a quarter of it. */
function haloScale(most) {
  const widest = haloRadius(1);
  const circles = [1, 0.25].map((share) => {
    const r = haloRadius(share);
    const y = 2 * (widest - r) + 1;
    return [svg("circle", { class: "halo", cx: widest, cy: 2 * widest - r, r }), svg("path", { class: "axis", d: `M${widest} ${y}H${2 * widest + 4}` }),
      svg("text", { x: 2 * widest + 7, y: y + 9 }, number(share * most, 3))];
  });
  return svg("svg", { class: "halos", viewBox: `0 0 ${2 * widest + 56} ${2 * widest}`, role: "img", "aria-label": `The largest circle is an expected error of ${number(most, 3)}` }, ...circles.flat());
}
