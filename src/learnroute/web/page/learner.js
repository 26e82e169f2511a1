// The learner: its rule, and λ on a logarithmic slider with least squares at its left end.

import { $, number, svg } from "./dom.js";

const [LEAST, MOST, STEPS] = [-3, 5, 20]; // λ from 10^LEAST to 10^MOST, with STEPS steps per decade
const LAST = (MOST - LEAST) * STEPS + 1; // position 0 is the paper's learner
const THUMB = 8; // px from the edge of the slider to the middle of its thumb at either end

/** Return λ at a position of the slider, with three digits. */
export const lambdaAt = (place) => Number((10 ** (LEAST + (place - 1) / STEPS)).toPrecision(3));

/** Return the position of a λ on the slider. */
export const placeOf = (lambda) => (lambda > 0 ? Math.min(Math.max(1 + STEPS * (Math.log10(lambda) - LEAST), 1), LAST) : 0);

/** Return one representative λ: the geometric mean of a schedule. */
function typical(regularization) {
  if (!Array.isArray(regularization)) return Number(regularization) || 0;
  const logs = regularization.filter((lambda) => lambda > 0).map(Math.log);
  return logs.length ? Math.exp(logs.reduce((a, b) => a + b) / logs.length) : 0;
}

/** Return the rule by which a learner trains. */
export const rule = (learner) => learner.rule ?? "least-squares";

/** Return only m, n and σ; usable defaults if the learner's law was measured. */
export const shape = (learner) => {
  const { features = 80, samples = 100, noise = 0 } = learner;
  return { features, samples, noise: calibrated(learner) ? 0 : noise };
};

/** Return whether the learner's law was measured: it then has neither m nor n, and its ν is not σ. */
export const calibrated = (learner) => rule(learner) === "calibrated";

/** Return whether a plan is to choose λ. */
export const undecided = ({ regularization }) => typeof regularization === "string";

/** Return whether the paper's learner has no expected error, because m is within 1 of some n. */
export function inMiddle({ learner, samples }) {
  if (calibrated(learner)) return false;
  return (samples ?? [learner.samples]).some((n) => Math.abs(learner.features - n) <= 1);
}

/** Return the learner selected by the slider. If the paper's learner has no expected error, the slider ends at the smallest λ. */
export function slid(problem) {
  const place = Math.max(Number($("lambda").value), inMiddle(problem) ? 1 : 0);
  if (place === 0) return shape(problem.learner);
  return { ...shape(problem.learner), rule: "proximal", regularization: lambdaAt(place) };
}

/** Return the learner given by the fields; a newly chosen rule starts with members that suit m and n. */
export function trained(before, { features, samples, noise }) {
  const asked = $("rule").value;
  const made = { features, samples, noise };
  if (asked === "calibrated") return before;
  if (asked === "least-squares") return made;
  if (asked === "proximal") return { ...made, rule: asked, regularization: before.regularization ?? 1 };
  const own = rule(before) === "gradient";
  const gentle = Number((1 / (1 + Math.sqrt(features / samples)) ** 2).toPrecision(2)); // half the rate at which steps diverge
  return { ...made, rule: asked, steps: own ? value("steps") : 10, rate: own ? value("step-size") : gentle || 0.1 };
}

const value = (id) => ($(id).value === "" ? NaN : Number($(id).value));

/** Return the data that a chosen λ depends on. */
export function basis({ problem, rate }) {
  const { features, samples, noise = 0 } = problem.learner;
  return [problem.travel, problem.dissimilarity_estimate ?? problem.dissimilarity ?? problem.vectors ?? problem.transfer, problem.samples, problem.initial_estimate ?? problem.initial, JSON.stringify([problem.constraints ?? {}, problem.visits, problem.fleet]), features, samples, noise, rate];
}

/** Return whether a result for a basis is still valid for the shown state. */
export const holds = (state, old) => basis(state).every((part, k) => part === old[k]);

/** Return the chosen λ if it is still the best one for the shown state. */
export function chosenNow(state) {
  const { chosen } = state;
  return chosen && holds(state, chosen.basis) ? chosen : null;
}

/** Show the learner's rule, and what is known about λ. */
export function showLearner(state) {
  const { problem } = state;
  const { learner } = problem;
  const [kind, middle] = [rule(learner), inMiddle(problem)];
  $("rule").querySelector('[value="calibrated"]').hidden = kind !== "calibrated";
  $("rule").value = kind;
  for (const id of ["features", "samples", "noise"]) $(id).disabled = kind === "calibrated";
  $("regularization").hidden = kind === "gradient" || kind === "calibrated";
  $("gradient").hidden = kind !== "gradient";
  for (const [id, member] of [["steps", learner.steps], ["step-size", learner.rate]]) {
    $(id).disabled = kind !== "gradient";
    if (kind === "gradient" && document.activeElement !== $(id) && Number.isFinite(member)) $(id).value = member;
  }
  if (kind === "gradient" || kind === "calibrated") return;
  const lambda = kind === "proximal" ? learner.regularization : 0;
  const asking = undecided(learner);
  const several = Array.isArray(lambda);
  if (!asking) $("lambda").value = Math.round(placeOf(typical(lambda)));
  const text = asking ? "choosing…" : several ? `${number(Math.min(...lambda), 3)} … ${number(Math.max(...lambda), 3)}, one per stop`
    : placeOf(lambda) ? number(lambda, 4) : "0 (least squares)";
  $("lambda-label").textContent = text;
  $("lambda").setAttribute("aria-valuetext", `λ = ${text}`);
  $("lambda").setAttribute("aria-invalid", String(middle && !asking && placeOf(typical(lambda)) === 0));
  $("lambda-note").textContent = [saidOf(chosenNow(state), lambda), middle ? leftEnd(problem) : ""].filter(Boolean).join(" ");
  drawScale(chosenNow(state), lambda, middle);
}

function saidOf(chosen, lambda) {
  if (!chosen) return "";
  const [low, high] = chosen.range.map((end) => number(end, 3));
  if (chosen.kind === "schedule") return `One λ per stop, chosen with the route. If all are multiplied by ${low} … ${high}, the loss stays within 1 %.`;
  const best = number(chosen.regularization, 4);
  const here = lambda === chosen.regularization ? `λ = ${best} was chosen with the route.` : `The best λ is ${best}.`;
  return `${here} Green band: λ from ${low} to ${high} has a loss within 1 % of it, on the same route.`;
}

function leftEnd({ learner: { features, samples }, samples: counts }) {
  const n = counts ? "the n of a region" : `n = ${samples}`;
  return `λ = 0 is not available: m = ${features} is within 1 of ${n}, so least squares has no expected error.`;
}

/** Draw decades below the slider, the range of λ that are nearly as good as the best, and the λ of a schedule. */
function drawScale(chosen, lambda, middle) {
  const node = $("lambda-scale");
  const width = node.clientWidth || 300;
  const at = (place) => THUMB + (place / LAST) * (width - 2 * THUMB);
  const parts = [];
  if (chosen) {
    const factor = chosen.kind === "schedule" ? typical(chosen.regularization) : 1;
    const [from, to] = chosen.range.map((end) => at(placeOf(factor * end)));
    parts.push(svg("rect", { class: "band", x: from, width: Math.max(to - from, 3), y: 0, height: 8, rx: 3 }));
    if (chosen.kind === "auto") parts.push(svg("path", { class: "best", d: `M${at(placeOf(chosen.regularization))} -1v10` }));
  }
  if (Array.isArray(lambda)) {
    lambda.forEach((one, k) => parts.push(svg("path", { class: "best", "data-stop": k + 1, d: `M${at(placeOf(one))} 0v8` })));
  }
  parts.push(svg("text", { class: middle ? "unavailable" : "", x: 0, y: 22 }, "0"));
  for (let power = LEAST + 1; power <= MOST; power += 2) {
    const x = at(placeOf(10 ** power));
    parts.push(svg("path", { class: "tick", d: `M${x} 0v8` }));
    parts.push(svg("text", { x, y: 22, "text-anchor": "middle" }, number(10 ** power)));
  }
  node.replaceChildren(...parts);
}

/** Return the share of the old model that a visit keeps on average, as one number or a range. */
export function retentionText({ retentions }) {
  const [least, most] = [Math.min(...retentions), Math.max(...retentions)];
  const shown = [number(least, 3), number(most, 3)];
  return shown[0] === shown[1] ? shown[0] : `${shown[0]} … ${shown[1]}`;
}
