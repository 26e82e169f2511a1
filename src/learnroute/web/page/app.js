// The page: one state, one function that changes it (changed), one that calculates (calculate).

import { calculated, get, post } from "./api.js";
import { Newest, setStale } from "./calculating.js";
import { depotFollowing, depotWithOneLess, depotWithOneMore, madeDepot, withoutDepot } from "./depot.js";
import { $, el, sentence } from "./dom.js";
import { Player, drawHeat, showTime } from "./error_history.js";
import { checkEnds, listenToRegion, showEnds, showInitial, showSelected, writtenInitial } from "./fields.js";
import { readAddress, readExample, readFiles, saveFile, showFormats, showSource } from "./files.js";
import { FleetTable, fleetOf, routesOf, showFleet, showMembers, showModels, trainedModels, trainings, withFleet, withVisits } from "./fleet.js";
import { Steps, clearAddress, keep, kept, linkTo } from "./keeping.js";
import { basis, shape, showLearner, slid, trained, undecided } from "./learner.js";
import { RouteMap } from "./map.js";
import { showLegend, showNoPlan, showPlan, showRegime, showRivals, showStops } from "./panels.js";
import { added, detours, moved, removed, scores, waysWithOneLess, waysWithOneMore, waysWithout } from "./problem.js";
import { accept, complain, refuse, say } from "./saying.js";
import { listenToTerms } from "./terms.js";
import { startTheme } from "./theme.js";
import { Tradeoff } from "./tradeoff.js";
import { VisitCurve, wishOf, withNextWish, withVisiting } from "./visits.js";
import { Worth, learnerOf } from "./worth.js";

const FIRST = "city-survey";
const PAUSE = 80; // ms without a move of the slider before a plan is made for its λ
const MOST_HISTORY = 300; // maximum number of regions for which the error history is requested

const state = {
  problem: null, detour: null, geographic: false, madeUp: false, scores: [], selected: null,
  method: "auto", rate: 1, given: null, plan: null, histories: null, errorHistory: null, model: 0, visits: 0, time: 0, part: 1, chosen: null, before: null, ways: null, source: "",
  rivals: { baseline: { shown: false, plan: null }, travel: { shown: false, plan: null } },
};
const map = new RouteMap($("map"), {
  move: moveRegion, moveDepot, release: (far) => far && say(`${state.problem.regions[state.selected]} moved.`), choose, press, remove: removeRegion, add: addRegion,
});
const player = new Player((time, part) => setTime(time, part));
const steps = new Steps();
const worth = new Worth(showProgress, takeRow);
const fleets = new FleetTable(showProgress, (row) => takeFleet(fleetOf(row, state.problem.fleet)));
const tradeoff = new Tradeoff(showProgress, takeRate);
const onDemand = [worth, fleets, tradeoff]; // panels that a button calculates
const visitCurve = new VisitCurve(showProgress, (row) => changed("visits", true, row));
let known = { methods: [], plan: { write: [], degrees: [], plane: [] }, problem: { read: [], write: [], degrees: [] } };

// ---- changes

/** Show another problem; `source` is the example or file that it comes from. */
function load({ problem: { travel_rate: rate = 1, ...problem }, places, places_made_up: madeUp, ways = null, source }) {
  const size = problem.travel.length;
  const made = { ...problem, coordinates: problem.coordinates ?? places.slice(0, size), regions: problem.regions ?? problem.travel.map((_, i) => `R${i + 1}`) };
  if (problem.depot) made.depot = { ...problem.depot, coordinates: problem.depot.coordinates ?? places[size] };
  const geographic = problem.geographic ?? false;
  restore({ problem: made, rate, geographic, madeUp, ways, source, detour: detours(made, geographic), method: state.method, given: null, chosen: null }, true);
  steps.record(snapshot());
  showSteps();
}

/** The part of the state that is stored. */
function snapshot() {
  const { problem, rate, method, given, geographic, madeUp, detour, ways, source, chosen } = state;
  return { problem, rate, method, given, geographic, madeUp, detour, ways, source, chosen };
}

/** Show a stored state: an earlier step, or the one before a reload; or, if `other`, another problem. */
function restore(old, other = false) {
  player.stop();
  if (document.activeElement.type === "number") document.activeElement.blur(); // a focused field keeps what is being typed
  const anew = other || !state.problem || old.problem.travel.length !== state.problem.travel.length || old.geographic !== state.geographic || old.source !== state.source;
  Object.assign(state, old, { selected: null, before: null, part: 1 });
  if (anew) {
    showNothing();
    state.time = Infinity; // the end
    map.fit(state.problem, state.geographic);
  }
  const { features, samples, noise } = shape(old.problem.learner);
  const shown = { projection: old.geographic ? "geographic" : "plain", features, samples, noise, rate: old.rate, method: old.method };
  for (const [id, value] of Object.entries(shown)) $(id).value = value;
  showMethod();
  showSource(state);
  showFormats(known, state);
  changed(null, false);
}

/** Describe the chosen method. */
function showMethod() {
  const method = known.methods.find(({ name }) => name === state.method);
  $("method-summary").textContent = method ? sentence(method.summary) : "";
}

/** Clear the plan and everything that depends on it. */
function forgetPlan() {
  Object.assign(state, { plan: null, histories: null, errorHistory: null });
  for (const rival of Object.values(state.rivals)) rival.plan = null;
}

/** Clear the plan, and everything on the page that shows it. */
function showNothing() {
  forgetPlan();
  visitCurve.forget();
  showNoPlan();
  showStops(state);
  showMembers(state);
  showModels(state);
}

function showSteps() {
  $("undo").disabled = steps.done.length < 2;
  $("redo").disabled = !steps.undone.length;
}

/** Handle a change: update what needs no calculation at once, then calculate. Changes of one kind are one step until they are finished; `given` has the routes to show, or is omitted to plan them. */
function changed(kind = null, step = true, given = null) {
  clearAddress();
  if ($("status").textContent !== refusal) say(""); // the message was about an earlier change
  if (step) {
    state.given = given;
    steps.record(snapshot(), kind);
  }
  showSteps();
  state.scores = scores(state.problem);
  $("title").textContent = `${state.problem.title || "Problem"} · ${state.problem.travel.length} regions`;
  showLegend(state);
  showSelected(state);
  showEnds(state.problem);
  showInitial(state.problem);
  showLearner(state);
  showFleet(state);
  for (const one of onDemand) one.refresh(state);
  visitCurve.show(state);
  map.draw(state);
  newest.refresh();
}

function moveRegion(region, place) {
  const after = moved(state.problem, region, place, state.detour, state.geographic);
  state.problem = depotFollowing(state.problem, after, state.detour, state.geographic);
  state.ways = waysWithout(state.ways, region);
  changed(`move ${region}`);
}

function moveDepot(place) {
  const after = { ...state.problem, depot: { ...state.problem.depot, coordinates: place } };
  state.problem = depotFollowing(state.problem, after, state.detour, state.geographic);
  state.ways = waysWithout(state.ways, state.problem.travel.length);
  changed("move depot");
}

/** Make the selected region the depot, or remove the depot. */
function changeDepot() {
  const name = state.problem.depot?.name ?? state.problem.regions[state.selected];
  const had = Boolean(state.problem.depot);
  const made = had ? withoutDepot(state.problem, state.ways) : madeDepot(state.problem, state.selected, state.detour, state.ways);
  player.stop();
  forgetPlan();
  Object.assign(state, { ...made, selected: null });
  changed();
  say(had ? `${name} removed.` : `${name} is the depot: routes start and end there, and the learner does not train there.`);
}

function addRegion(place) {
  const made = added(state.problem, place, state.detour, state.geographic);
  const ways = waysWithOneMore(state.ways, state.problem.travel.length);
  made.problem = depotWithOneMore(made.problem, state.detour, state.geographic);
  player.stop();
  forgetPlan();
  Object.assign(state, { problem: made.problem, detour: made.detour, selected: made.problem.travel.length - 1, ways });
  changed();
  map.focusRegion(state.selected);
  say(`Region added, halfway between ${made.between.join(" and ")}.`);
}

function removeRegion(region) {
  if (region === null) return;
  if (state.problem.travel.length <= 2) return complain("A problem needs at least two regions.");
  const name = state.problem.regions[region];
  const left = removed(state.problem, region, state.detour);
  left.problem = depotWithOneLess(left.problem, region);
  player.stop();
  forgetPlan();
  Object.assign(state, { ...left, selected: null, ways: waysWithOneLess(state.ways, region) });
  changed();
  map.focusRegion(region);
  say(`${name} removed.`);
}

function choose(region) {
  if (state.selected === region) return;
  state.selected = region;
  showSelected(state);
  map.draw(state);
}

/** Handle a click on a region: if visits are optional, it becomes required, then forbidden, then optional again. */
function press(region) {
  choose(region);
  if (!state.problem.visits) return;
  state.problem = withNextWish(state.problem, region);
  changed();
  say(`${state.problem.regions[region]} is ${wishOf(state.problem, region)}.`);
}

function setTime(time, part = 1) {
  const whole = state.time !== time;
  Object.assign(state, { time, part });
  if (!state.errorHistory) return;
  if (whole) {
    showTime(state);
    drawHeat(state, jump);
    map.draw(state);
  } else map.drawAgent(state);
}

function jump(time) {
  player.stop();
  setTime(Math.min(Math.max(time, 0), state.visits));
}

// ---- calculations

const newest = new Newest(calculate, nothing);
let refusal = null; // message of the last calculation that failed

/** Handle a move of the slider: show its λ at once, and plan when it rests. */
function slide() {
  state.problem = { ...state.problem, learner: slid(state.problem) };
  showLearner(state);
  newest.whenAtRest(PAUSE, () => readControls("slide"));
}

/** Choose λ together with the route: one λ ("auto") or one per stop ("schedule"). */
function chooseLambda(kind) {
  if (!undecided(state.problem.learner)) state.before = state.problem.learner;
  const { features, samples, noise } = state.problem.learner;
  state.problem = { ...state.problem, learner: { features, samples, noise, rule: "proximal", regularization: kind } };
  changed();
}

/** Apply a row of the comparison of learners: its learner, and its route. */
function takeRow(row) {
  player.stop();
  state.problem = { ...state.problem, learner: learnerOf(row, state.problem.learner) };
  changed(null, true, { route: row.order });
}

/** Plan for another fleet; for one vehicle with one model if none is given. */
function takeFleet(fleet) {
  player.stop();
  const { fleet: _, ...problem } = state.problem;
  state.problem = fleet ? { ...problem, fleet } : problem;
  changed();
}

/** Show the error history of a model. */
function showHistory(model = state.model) {
  const { plan, histories } = state;
  if (state.time >= state.visits) state.time = Infinity; // stay at the end if it was there
  const trained = trainedModels(plan);
  state.model = trained.includes(model) ? model : trained[0] ?? 0;
  state.visits = trainings(plan, state.model).length;
  state.time = Math.min(state.time, state.visits);
  const found = histories?.models?.[state.model] ?? histories;
  state.errorHistory = found?.errors.length > state.visits ? found : null; // an old one stays until the new one arrives
  showModels(state);
  showLegend(state);
}

async function calculate(signal) {
  const inputs = ["features", "samples", "noise", "initial", "rate", "steps", "step-size", "budget", "at-most", "repeat", "vehicles", "models", "limit"].map($).filter((input) => !input.disabled);
  accept();
  const wrong = inputs.filter((input) => (input.required && input.value === "") || !input.checkValidity());
  if (!showRegime(state)) throw new Error("There is no plan: the expected error does not exist for this m and n. Change m or n, or increase λ.");
  if (wrong.length) throw new Error(`Check the fields: ${wrong.map((input) => input.parentElement.textContent.trim()).join("; ")}.`);
  checkEnds(state.problem);
  let { learner } = state.problem;
  const size = state.problem.travel.length;
  const dropped = () => state.problem.travel.length !== size || state.problem.learner !== learner;
  const asked = { problem: state.problem, travel_rate: state.rate };
  const found = state.given ? await post("evaluate", { ...asked, ...routesOf(state.given) }, signal)
    : await calculated("plan", { ...asked, method: state.method }, signal, showProgress);
  $("working").hidden = true;
  if (dropped() || (undecided(learner) && newest.superseded)) return;
  if (undecided(learner)) {
    const { regularization, chosen: kind, range } = found.learner;
    learner = { ...learner, regularization };
    asked.problem = state.problem = { ...state.problem, learner };
    state.chosen = { kind, range, regularization, basis: basis(state) };
    showLearner(state);
    steps.amend(snapshot());
  }
  const plan = state.plan = withVisits(found, asked.problem);
  performance.mark("route-drawn");
  showHistory();
  showPlan(plan);
  showStops(state);
  showMembers(state);
  for (const one of onDemand) one.refresh(state);
  visitCurve.show(state);
  map.draw(state);
  if (!newest.superseded) setStale("rest");
  if ($("status").textContent === refusal) say(""); // clear the reason for the missing plan; other messages stay
  const everywhere = { ...asked, problem: { ...asked.problem, visits: undefined, fleet: undefined } }; // for the baseline and the shortest route, one vehicle visits all regions
  const [histories, ...rivals] = await Promise.all([
    size > MOST_HISTORY ? null : post("error_history", { ...asked, routes: plan.orders, models: plan.models }, signal),
    ...Object.keys(state.rivals).map((method) => post("plan", { ...everywhere, method }, signal).catch(unlessAborted)),
  ]);
  if (dropped()) return;
  state.histories = histories;
  showHistory();
  Object.values(state.rivals).forEach((rival, k) => { rival.plan = rivals[k]; });
  map.draw(state);
  showRegime(state);
  showRivals(state);
  if (histories) {
    showTime(state);
    drawHeat(state, jump);
  } else $("error-history-text").textContent = `The error history is shown for up to ${MOST_HISTORY} regions.`;
  tradeoff.refresh(state);
  if (!newest.superseded) setStale(null);
  document.body.dataset.plans = String(Number(document.body.dataset.plans ?? 0) + 1);
  if (!newest.superseded) await visitCurve.ask(state, signal);
}

/** Return null for a refused baseline or shortest route, so that it is not shown. */
function unlessAborted(error) {
  if (error.name === "AbortError") throw error;
  return null;
}

/** Handle a failed calculation: unless a newer one follows, there is no plan to show. */
function nothing(error) {
  failed(error);
  refusal = error.message;
  if (newest.superseded) return;
  if (undecided(state.problem.learner)) { // restore the previous λ
    const { features, samples, noise } = state.problem.learner;
    const before = state.before ?? { features, samples, noise, rule: "proximal", regularization: 1 };
    state.problem = { ...state.problem, learner: before };
    if (state.before) steps.drop();
    changed(null, false);
    return;
  }
  showNothing();
  showLegend(state);
  map.draw(state);
  setStale(null);
  document.body.dataset.plans ??= "0";
}

function showProgress({ stage, progress, state: where }) {
  $("working").hidden = where === "done";
  $("progress").value = progress;
  $("stage").textContent = `${stage || where} ${Math.round(100 * progress)} %`;
  if (undecided(state.problem.learner)) $("lambda-label").textContent = `choosing… ${Math.round(100 * progress)} %`;
}

/** Apply the travel rate of a point of the trade-off. */
function takeRate(rate) {
  $("rate").value = Number(rate.toPrecision(6));
  readControls();
}

function failed(error) {
  $("working").hidden = true;
  if (error.name === "AbortError") return newest.outdated || say("Cancelled.");
  return refuse(error);
}

// ---- controls

function readControls(kind = null) {
  const value = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  state.rate = value("rate");
  state.method = $("method").value;
  const before = state.problem.learner;
  const learner = trained(before, { features: value("features"), samples: value("samples"), noise: value("noise") });
  const shown = { noise: 0, rule: "least-squares", ...before };
  if (Object.entries({ rule: "least-squares", ...learner }).some(([name, entry]) => !Object.is(shown[name], entry))) {
    const { samples, ...rest } = state.problem;  // one number for all regions replaces one per region
    state.problem = { ...rest, ...(samples && before.samples === learner.samples ? { samples } : {}), learner };
  }
  state.problem = writtenInitial(state.problem);
  const wanted = { start: $("start-at").value, end: $("end-at").value, return: $("way-back").checked };
  const { depot } = state.problem;
  if (depot && wanted.return !== (depot.return ?? true)) state.problem = { ...state.problem, depot: { ...depot, return: wanted.return } };
  if (depot) delete wanted.return;
  const constraints = Object.fromEntries(Object.entries(wanted).filter(([, entry]) => entry));
  if (JSON.stringify(constraints) !== JSON.stringify(state.problem.constraints ?? {})) state.problem = { ...state.problem, constraints };
  showMethod();
  changed(kind);
}

/** Apply the fields of visits: all regions, or those that pay within limits. */
function readVisiting(event) {
  if (event.target === $("visit-count")) return visitCurve.slide();
  state.problem = withVisiting(state.problem);
  return changed(event.target.type === "number" ? `write ${event.target.id}` : null);
}

/** Apply the fields of the fleet: number of vehicles or models, how they serve, and which travel counts. */
function readFleet({ target }) {
  state.problem = withFleet(state.problem, target.id);
  changed(target.type === "number" ? `write ${target.id}` : null);
}

/** Show the problem that was read. */
async function open(reading) {
  try {
    const read = await newest.reading(reading);
    load(read);
    say(`Opened ${read.source}.${read.learner_taken ? " The file has no learner: m, n and σ are taken from the fields." : ""}`);
  } catch (error) {
    failed(error);
  }
}

/** Store the problem in the address, and copy the address if the browser permits it. */
async function makeLink() {
  const link = await linkTo({ ...state.problem, travel_rate: state.rate });
  if (link === null) return complain("The problem is too large for a link. Download it as a file.");
  history.replaceState(null, "", link);
  const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
  return say(copied ? "Link copied. It contains the problem." : "The address of this page now contains the problem. Copy it from there.");
}

function step(way) {
  const old = way === "undo" ? steps.undo() : steps.redo();
  if (!old) return;
  restore(old);
  say(way === "undo" ? "Undone." : "Redone.");
}

function listen() {
  $("controls").addEventListener("input", (event) => {
    if (event.target === $("lambda")) slide();
    else readControls(event.target.type === "number" ? `write ${event.target.id}` : null); // one step while a number is typed
  });
  $("best-lambda").addEventListener("click", () => chooseLambda("auto"));
  $("best-schedule").addEventListener("click", () => chooseLambda("schedule"));
  listenToTerms();
  $("visiting").addEventListener("input", readVisiting);
  $("best-visits").addEventListener("click", () => changed());
  $("fleet").addEventListener("input", readFleet);
  for (const id of ["controls", "selected", "visiting", "fleet"]) $(id).addEventListener("submit", (event) => event.preventDefault());
  $("add").addEventListener("click", () => addRegion(map.middlePlace()));
  $("remove").addEventListener("click", () => removeRegion(state.selected));
  $("depot").addEventListener("click", changeDepot);
  $("zoom-in").addEventListener("click", () => map.zoomBy(1.4));
  $("zoom-out").addEventListener("click", () => map.zoomBy(1 / 1.4));
  $("link").addEventListener("click", makeLink);
  $("lambda").addEventListener("change", () => readControls("slide"));
  document.addEventListener("change", () => steps.finish());
  for (const end of ["pointerup", "pointercancel", "keyup"]) $("map").addEventListener(end, () => steps.finish());
  for (const way of ["undo", "redo"]) $(way).addEventListener("click", () => step(way));
  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches?.("input:not([type=range], [type=checkbox], [type=radio]), select");
    const key = event.key.toLowerCase();
    if (writing || !(event.ctrlKey || event.metaKey) || !["z", "y"].includes(key)) return;
    event.preventDefault();
    step(key === "y" || event.shiftKey ? "redo" : "undo");
  });
  window.addEventListener("hashchange", () => newest.reading(readAddress()).then((read) => read && load(read), failed));
  window.addEventListener("pagehide", () => state.problem && keep({ ...snapshot(), detour: null, chosen: null }));
  $("fit").addEventListener("click", () => { map.fit(state.problem, state.geographic); map.draw(state); });
  $("projection").addEventListener("change", () => {
    const geographic = $("projection").value === "geographic";
    if (geographic && state.problem.coordinates.some(([x, y]) => Math.abs(x) > 180 || Math.abs(y) > 90)) {
      $("projection").value = "plain";
      return complain("These coordinates are not longitudes and latitudes: some are beyond 180° or 90°.");
    }
    state.geographic = geographic;
    state.problem = { ...state.problem, geographic };
    state.detour = detours(state.problem, geographic);
    map.fit(state.problem, geographic);
    showFormats(known, state);
    return changed();
  });
  for (const name of Object.keys(state.rivals)) {
    $(`show-${name}`).addEventListener("change", (event) => { state.rivals[name].shown = event.target.checked; showLegend(state); map.draw(state); });
  }
  listenToRegion(state, changed, (place) => {
    if (place.every(Number.isFinite)) moveRegion(state.selected, place);
    map.fit(state.problem, state.geographic);
    map.draw(state);
  });
  $("time").addEventListener("input", (event) => jump(Number(event.target.value)));
  $("back").addEventListener("click", () => jump(state.time - 1));
  $("forward").addEventListener("click", () => jump(state.time + 1));
  $("play").addEventListener("click", () => state.errorHistory && player.toggle(state.time, state.visits));
  $("curve").addEventListener("click", () => tradeoff.ask(state));
  $("history-model").addEventListener("change", (event) => {
    player.stop();
    showHistory(Number(event.target.value));
    if (state.errorHistory) showTime(state);
    if (state.errorHistory) drawHeat(state, jump);
    map.draw(state);
  });
  $("compare-learners").addEventListener("click", () => worth.ask(state));
  $("compare-fleets").addEventListener("click", () => fleets.ask(state));
  $("cancel").addEventListener("click", () => { newest.abort(); for (const one of onDemand) one.cancel(); });
  $("file").addEventListener("change", async (event) => {
    if (event.target.files.length) await open(readFiles(event.target.files, shape(state.problem.learner), known.problem.read));
    event.target.value = "";
  });
  $("save").addEventListener("click", () => saveFile(state).then((name) => say(`Saved ${name}.`), failed));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) open(readFiles(event.dataTransfer.files, shape(state.problem.learner), known.problem.read));
  });
  window.addEventListener("resize", () => {
    if (!state.problem) return;
    if (state.errorHistory) drawHeat(state, jump);
    showLearner(state);
    worth.refresh(state);
    visitCurve.show(state);
    tradeoff.refresh(state);
  });
}

/** Open the problem of the address, the one shown in this tab before a reload, or an example. */
async function openFirst() {
  try {
    const read = await readAddress();
    if (read) return load(read);
  } catch (error) {
    load(await readExample(FIRST));
    return failed(error);
  }
  const old = kept();
  if (!old) return load(await readExample(FIRST));
  restore({ ...old, detour: detours(old.problem, old.geographic) });
  return steps.record(snapshot());
}

async function start() {
  startTheme();
  listen();
  const first = openFirst();
  const [formats, { examples }] = await Promise.all([get("api/formats"), get("api/examples")]);
  known = formats;
  $("method").replaceChildren(...known.methods.map(({ name }) => el("option", { value: name }, name)));
  $("file").accept = known.problem.read.join(",");
  $("example").replaceChildren(...examples.map(({ name, title }) => el("option", { value: name }, title)));
  $("example").addEventListener("change", (event) => newest.reading(readExample(event.target.value)).then(load).catch(failed));
  await first;
  $("method").value = state.method;
  showMethod();
  showSource(state);
  showFormats(known, state);
}

start().catch(failed);
