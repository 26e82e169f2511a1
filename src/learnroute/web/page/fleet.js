// Several vehicles or models: the fields, the visits of each, and the comparison of fleets.

import { Comparison } from "./comparison.js";
import { stopsOf } from "./depot.js";
import { $, el, number, sentence, svg } from "./dom.js";
import { basis } from "./learner.js";

const COLOURS = 8; // classes own-0, own-1, …
const PLUS = [[-0.5, -1.25], [0.5, -1.25], [0.5, -0.5], [1.25, -0.5], [1.25, 0.5], [0.5, 0.5], [0.5, 1.25], [-0.5, 1.25], [-0.5, 0.5], [-1.25, 0.5], [-1.25, -0.5], [-0.5, -0.5]];
const UP = [[0, -1.5], [1.3, 0.9], [-1.3, 0.9]];
const turned = (points, angle) => points.map(([x, y]) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)]);
const SHAPES = [ // of models, as in the pictures of the command line; the first one is a circle
  null, UP, [[-0.95, -0.95], [0.95, -0.95], [0.95, 0.95], [-0.95, 0.95]], [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]],
  turned(UP, Math.PI), PLUS, turned(PLUS, Math.PI / 4), turned(UP, -Math.PI / 2),
].map((points) => points?.map((point) => point.map((part) => part.toFixed(3)).join()).join(" ") ?? null);

/** Return the shape of a model as points around 0; null for a circle. */
export const shapeOf = (model) => SHAPES[model % SHAPES.length];

/** Return the class with the colour of a vehicle or model. */
export const ownClass = (number) => `own-${number % COLOURS}`;

/** Return the symbol of a vehicle or model. */
export function sample(k, line) {
  const points = shapeOf(k);
  return svg("svg", { class: `sample ${ownClass(k)}`, viewBox: "0 0 34 14", "aria-hidden": "true" },
    line ? svg("line", { class: "leg", x1: 1, x2: 33, y1: 7, y2: 7 }) : null,
    points ? svg("polygon", { points, transform: "translate(17 7) scale(4.6)" }) : svg("circle", { cx: 17, cy: 7, r: 5 }));
}

/** Return a plan with its visits: region, vehicle, position in its route, and the trained model, numbered from 0. */
export function withVisits(plan, { regions }) {
  const index = new Map(regions.map((name, i) => [name, i]));
  const orders = plan.routes.map((route) => route.map((name) => index.get(name)));
  const visits = orders.flatMap((order, vehicle) => order.map((region, place) => ({ region, vehicle, place, model: plan.models?.[place] ?? vehicle })));
  return { ...plan, orders, order: orders.flat(), visits, isFleet: orders.length > 1 || Boolean(plan.models) };
}

/** Return given routes in the form that the service expects. */
export const routesOf = ({ route, routes, models }) => (routes ? { routes } : { route, models });

/** Return the visits that train a model, in order. */
export const trainings = ({ visits }, model) => visits.filter((visit) => visit.model === model);

/** Return the models that are trained by a visit. */
export const trainedModels = ({ visits }) => [...new Set(visits.map(({ model }) => model))].sort((a, b) => a - b);

/** Return the route of each vehicle: its stops, its colour, and its number of visits when the shown model has had `time` visits. */
export function toursOf({ plan, problem, model, time }) {
  const own = trainings(plan, model);
  return plan.orders.map((order, vehicle) => ({
    order, stops: stopsOf({ order, closed: plan.closed }, problem), colour: plan.orders.length > 1 ? ownClass(vehicle) : "",
    made: vehicle !== own[0]?.vehicle || time >= own.length ? Infinity : time > 0 ? own[time - 1].place + 1 : 0,
  }));
}

const nameOf = ({ fleet }) => (fleet?.models > 1 ? "model" : "vehicle");
const sizeOf = ({ fleet }) => Math.max(fleet?.vehicles ?? 1, fleet?.models ?? 1);
const serves = (fleet) => fleet.serve ?? (fleet.models > 1 ? "own" : "merged");

/** Return the name of a vehicle or model of a problem. */
export const memberName = (problem, k) => `${nameOf(problem)} ${k + 1}`;

/** Return the legend of colours and shapes. */
export function fleetLegend({ problem }) {
  const { fleet } = problem;
  if (!fleet) return [];
  const shown = Math.min(sizeOf(problem), COLOURS);
  return [
    ...Array.from({ length: shown }, (_, k) => el("span", {}, sample(k, nameOf(problem) === "vehicle"), memberName(problem, k))),
    ...(sizeOf(problem) > shown ? [el("span", {}, "further ones repeat these")] : []),
    ...(serves(fleet) === "own" ? [el("span", {}, "coloured outline: the model that serves the region")] : []),
  ];
}

/** Return the problem with the fleet of the fields; `field` has just changed. Only one of vehicles and models is above 1. */
export function withFleet({ fleet: before = {}, ...problem }, field) {
  const other = { vehicles: "models", models: "vehicles" }[field];
  if (other) $(other).value = 1;
  const count = (id) => Number($(id).value);
  const single = count("vehicles") === 1 && count("models") === 1;
  const limited = $("limit").value !== "";
  if (single && !limited) return problem;
  const kind = count("models") === 1 ? "vehicles" : "models";
  const fleet = { [kind]: count(kind) };
  const serve = $("serve").value;
  if (!single && (!other || before[kind] > 1)) Object.assign(fleet, serve === "equal" ? { serve: "merged", weights: serve } : { serve });
  if (kind === "vehicles" && $("paid").value === "longest") fleet.travel = "longest";
  if (limited) fleet.limit = Number($("limit").value);
  return { ...problem, fleet };
}

/** Show the fields of the fleet. */
export function showFleet({ problem: { fleet } }) {
  for (const id of ["vehicles", "models"]) if (document.activeElement !== $(id)) $(id).value = fleet?.[id] ?? 1;
  $("fleet-chosen").hidden = !fleet;
  $("limit").disabled = !fleet;
  if (!fleet) return;
  $("serve-label").hidden = sizeOf({ fleet }) === 1;
  $("paid-label").hidden = !(fleet.vehicles > 1);
  $("serve").value = fleet.weights === "equal" ? "equal" : serves(fleet);
  $("paid").value = fleet.travel ?? "total";
  if (document.activeElement !== $("limit")) $("limit").value = fleet.limit ?? "";
}

/** Show visits and travel of each vehicle or model, and its weight in the average or the regions that it serves. */
export function showMembers({ plan, problem }) {
  const shown = Boolean(plan?.isFleet && problem.fleet);
  $("members").hidden = !shown;
  if (!shown) return;
  const { travels, weights, served_by: servedBy } = plan;
  const several = plan.orders.length > 1;
  const serving = (k) => Object.keys(servedBy).filter((name) => servedBy[name] === k).join(", ") || "no region";
  const line = (name, visits, travel, service) => el("tr", {}, ...[name, visits, travel, service].filter((cell) => cell !== null).map((cell) => el("td", {}, ...[cell].flat())));
  const rows = Array.from({ length: sizeOf(problem) }, (_, k) => {
    const visits = trainings(plan, k).length;
    return line([sample(k, several), memberName(problem, k)], visits || (several ? "not used" : "untrained"), several ? number(travels?.[k], 4) : null,
      weights ? `${number(weights[k], 3)} of the average` : serving(k));
  });
  if (servedBy && Object.values(servedBy).includes(null)) rows.push(line("initial model", "", several ? "" : null, serving(null)));
  const heads = [nameOf(problem), "visits", ...(several ? ["travel"] : []), "serves"];
  $("members").tHead.replaceChildren(el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head))));
  $("members").tBodies[0].replaceChildren(...rows);
}

/** List the trained models, whose error histories can be shown. */
export function showModels({ plan, problem, model }) {
  $("history-model-label").hidden = !plan?.isFleet;
  if (!plan?.isFleet) return;
  $("history-model").replaceChildren(...trainedModels(plan).map((k) => el("option", { value: k }, memberName(problem, k))));
  $("history-model").value = model;
}

/** The comparison of fleets: error, travel and total loss of each. */
export class FleetTable extends Comparison {
  constructor(onProgress, onTake) {
    super({ task: "fleet", name: "fleets", button: "compare-fleets", again: "compare the fleets again", parts: ["fleets-table"] }, onProgress, onTake);
  }

  basisOf(state) { // independent of the current fleet's size and serving mode
    const { travel, limit, weights } = state.problem.fleet ?? {};
    const { fleet, ...problem } = state.problem;
    return [...basis({ ...state, problem }), state.problem.learner, travel, limit, weights];
  }

  show({ problem }) {
    const { rows, best, notes } = this.found;
    this.showLines(rows.map((row, k) => this.line(row, k === best, problem)));
    this.say(`Least total loss: ${number(rows[best].total)} (${fleetName(rows[best])}). Choose a row to plan for its fleet.`);
    $("fleets-notes").replaceChildren(...notes.map((note) => el("li", {}, sentence(note))));
  }

  line(row, best, problem) {
    const [name, free] = [fleetName(row), row.serve !== "federated"];
    const current = free && sizeOf(problem) === row.models && (row.models === 1 || (nameOf(problem) === (row.vehicles > 1 ? "vehicle" : "model") && serves(problem.fleet) === row.serve));
    return el("tr", { class: `${free ? "free" : ""}${best ? " best" : ""}`, "aria-current": current ? "true" : null, onclick: free ? () => this.onTake(row) : () => {} },
      el("td", {}, free ? el("button", { type: "button", class: "take", "aria-label": `Plan for ${name}` }, name) : name),
      ...Object.entries({ error: row.error, travel: row.travel, "longest route": row.longest, "total loss": row.total }).map(([head, value]) => el("td", { "data-head": head }, number(value, 4))),
      el("td", { "data-head": "samples" }, row.samples ?? ""),
      el("td", {}, best ? "best" : ""));
  }
}

/** Return the fleet of a row as a member of a problem; undefined for one vehicle with one model. */
export function fleetOf({ vehicles, models, serve }, { travel, limit, weights } = {}) {
  if (models === 1 && travel === undefined && limit === undefined) return undefined;
  const size = vehicles > 1 || models === 1 ? { vehicles } : { models };
  return { ...size, serve, ...(travel ? { travel } : {}), ...(limit === undefined ? {} : { limit }), ...(weights && serve === "merged" ? { weights } : {}) };
}

function fleetName({ vehicles, models, serve, rounds }) {
  if (serve === "federated") return `federated averaging, ${rounds} round${rounds === 1 ? "" : "s"} of fresh data`;
  if (models === 1) return "1 vehicle";
  return `${vehicles > 1 ? `${vehicles} vehicles` : `${models} models`}, ${serve}`;
}
