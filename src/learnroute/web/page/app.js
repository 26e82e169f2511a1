// The page: one state, one way to change it, one way to show it.

import { download, get, job, plan as planned, post } from "./api.js";
import { $, el, number } from "./dom.js";
import { Player, drawHeat, showTime } from "./error_history.js";
import { basis, showLearner, slid, trained, undecided } from "./learner.js";
import { RouteMap } from "./map.js";
import { showLegend, showNoPlan, showPlan, showRegime, showRivals } from "./panels.js";
import { added, detours, moved, removed, renamed, scores } from "./problem.js";
import { listenToTerms } from "./terms.js";
import { drawTradeoff } from "./tradeoff.js";

const FIRST = "city-survey";
const PAUSE = 80; // ms that the slider rests before a plan is made for its λ
const PATIENCE = 300; // ms after which an outdated calculation is called off
const MOST_CURVE = 20; // regions up to which the curve is drawn
const MOST_HISTORY = 300; // regions up to which errors over time are asked for

const state = {
  problem: null, detour: null, geographic: false, madeUp: false, scores: [], selected: null,
  method: "auto", rate: 1, plan: null, errorHistory: null, time: 0, part: 1, curve: null, chosen: null, before: null,
  rivals: { baseline: { shown: false, plan: null }, travel: { shown: false, plan: null } },
};
const map = new RouteMap($("map"), {
  move: moveRegion, release: (far) => far && say(`${state.problem.regions[state.selected]} moved.`), choose, remove: removeRegion, add: addRegion,
});
const player = new Player((time, part) => setTime(time, part));
let methods = [];

// ---- changing

function load({ problem: { travel_rate: rate = 1, ...problem }, places, places_made_up: madeUp }) {
  const geographic = problem.geographic ?? false;
  player.stop();
  Object.assign(state, {
    rate,
    problem: { ...problem, coordinates: problem.coordinates ?? places, regions: problem.regions ?? problem.travel.map((_, i) => `R${i + 1}`) },
    geographic, madeUp, selected: null, plan: null, errorHistory: null, curve: null, chosen: null, before: null, time: problem.travel.length, part: 1,
  });
  for (const rival of Object.values(state.rivals)) rival.plan = null;
  state.detour = detours(state.problem, geographic);
  $("projection").value = geographic ? "geographic" : "plain";
  const { features, samples, noise } = problem.learner;
  $("features").value = features;
  $("samples").value = samples;
  $("noise").value = noise ?? 0;
  $("rate").value = rate;
  map.fit(state.problem, geographic);
  $("tradeoff").setAttribute("hidden", "");
  changed();
}

/** Take note of a change: show at once what needs no calculation, then calculate. */
function changed() {
  state.scores = scores(state.problem);
  $("title").textContent = `${state.problem.title || "Problem"} · ${state.problem.travel.length} regions`;
  showLegend(state);
  showSelected();
  showEnds();
  showLearner(state);
  map.draw(state);
  refresh();
}

/** Offer the regions as ends, and show which ones are fixed. */
function showEnds() {
  const { regions, constraints = {} } = state.problem;
  for (const [id, name] of [["start-at", constraints.start], ["end-at", constraints.end]]) {
    if ([...$(id).options].slice(1).map((option) => option.value).join("\n") !== regions.join("\n")) {
      $(id).replaceChildren(el("option", { value: "" }, "anywhere"), ...regions.map((region) => el("option", { value: region }, region)));
    }
    $(id).value = name ?? "";
  }
  $("way-back").checked = constraints.return ?? false;
}

function moveRegion(region, place) {
  state.problem = moved(state.problem, region, place, state.detour, state.geographic);
  changed();
}

function addRegion(place) {
  const made = added(state.problem, place, state.detour, state.geographic);
  Object.assign(state, { problem: made.problem, detour: made.detour, selected: made.problem.travel.length - 1, time: made.problem.travel.length, curve: null });
  player.stop();
  changed();
  map.focusRegion(state.selected);
  say(`Region added, halfway between ${made.between.join(" and ")}.`);
}

function removeRegion(region) {
  if (region === null) return;
  if (state.problem.travel.length <= 2) return complain("Two regions are the fewest that have an order.");
  const name = state.problem.regions[region];
  const left = removed(state.problem, region, state.detour);
  player.stop();
  Object.assign(state, { ...left, selected: null, plan: null, errorHistory: null, time: left.problem.travel.length, curve: null });
  changed();
  map.focusRegion(region);
  say(`${name} removed.`);
}

function choose(region) {
  if (state.selected === region) return;
  state.selected = region;
  showSelected();
  map.draw(state);
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
  setTime(Math.min(Math.max(time, 0), state.problem.travel.length));
}

// ---- calculating: one calculation at a time, the newest state wins

let running = false;
let outdated = false;
let since = 0;
let resting = null; // waits for the slider to rest
let ending = null; // waits to call an outdated calculation off
let calling = new AbortController();

/** Dim what is shown: "plan" all of it, "rest" what follows from the plan; none if it is up to date. */
function setStale(what) {
  if (what) document.body.dataset.stale = what;
  else delete document.body.dataset.stale;
}

async function refresh() {
  outdated = true;
  clearTimeout(resting);
  clearTimeout(ending);
  resting = null;
  setStale("plan");
  if (running) {
    const old = calling;
    ending = setTimeout(() => old.abort(), Math.max(0, PATIENCE - (performance.now() - since)));
    return;
  }
  running = true;
  document.body.dataset.busy = "true";
  while (outdated) {
    outdated = false;
    since = performance.now();
    calling = new AbortController();
    await calculate(calling.signal).catch(nothing);
  }
  running = false;
  $("working").hidden = true;
  if (resting === null) document.body.dataset.busy = "false";
}

/** The slider moves: show its λ at once, and plan when it rests. */
function slide() {
  state.problem = { ...state.problem, learner: slid(state.problem) };
  showLearner(state);
  setStale("plan");
  document.body.dataset.busy = "true";
  clearTimeout(resting);
  resting = setTimeout(readControls, PAUSE);
}

/** Have λ chosen together with the route: one ("auto") or one for each stop ("schedule"). */
function chooseLambda(kind) {
  if (!undecided(state.problem.learner)) state.before = state.problem.learner;
  const { features, samples, noise } = state.problem.learner;
  state.problem = { ...state.problem, learner: { features, samples, noise, rule: "proximal", regularization: kind } };
  changed();
}

async function calculate(signal) {
  const inputs = ["features", "samples", "noise", "rate", "steps", "step-size"].map($).filter((input) => !input.disabled);
  const wrong = inputs.filter((input) => input.value === "" || !input.checkValidity());
  if (!showRegime(state)) throw new Error("Nothing is planned in the forbidden middle: change m or n, or move λ to the right.");
  if (wrong.length) throw new Error(`Check the fields: ${wrong.map((input) => input.parentElement.textContent.trim()).join("; ")}.`);
  let { learner } = state.problem;
  const size = state.problem.travel.length;
  const dropped = () => state.problem.travel.length !== size || state.problem.learner !== learner;
  const asked = { problem: state.problem, travel_rate: state.rate };
  const found = await planned({ ...asked, method: state.method }, signal, showProgress);
  $("working").hidden = true;
  if (dropped()) return;
  if (undecided(learner)) {
    const { regularization, chosen: kind, range } = found.learner;
    learner = { ...learner, regularization };
    asked.problem = state.problem = { ...state.problem, learner };
    state.chosen = { kind, range, regularization, basis: basis(state) };
    showLearner(state);
  }
  state.plan = found;
  performance.mark("route-drawn");
  if (state.time > size) state.time = size;
  showPlan(found);
  map.draw(state);
  if (!outdated) setStale("rest");
  if ($("status").classList.contains("wrong")) say("");
  const [errorHistory, ...rivals] = await Promise.all([
    size > MOST_HISTORY ? null : post("error_history", { ...asked, route: found.order }, signal),
    ...Object.keys(state.rivals).map((method) => post("plan", { ...asked, method }, signal)),
  ]);
  if (dropped()) return;
  state.errorHistory = errorHistory;
  Object.values(state.rivals).forEach((rival, k) => { rival.plan = rivals[k]; });
  map.draw(state);
  showRegime(state);
  showRivals(found, state.rivals);
  if (errorHistory) {
    showTime(state);
    drawHeat(state, jump);
  } else $("error-history-text").textContent = `Errors over time are shown for up to ${MOST_HISTORY} regions.`;
  showCurve();
  if (!outdated) setStale(null);
  document.body.dataset.plans = String(Number(document.body.dataset.plans ?? 0) + 1);
}

/** A calculation came to nothing: unless a newer one follows, nothing is claimed any more. */
function nothing(error) {
  failed(error);
  if (outdated || resting !== null) return;
  if (undecided(state.problem.learner)) { // back to where λ was
    const { features, samples, noise } = state.problem.learner;
    const before = state.before ?? { features, samples, noise, rule: "proximal", regularization: 1 };
    state.problem = { ...state.problem, learner: before };
    changed();
    return;
  }
  Object.assign(state, { plan: null, errorHistory: null });
  for (const rival of Object.values(state.rivals)) rival.plan = null;
  showNoPlan();
  map.draw(state);
  setStale(null);
  document.body.dataset.plans ??= "0";
}

function showProgress({ stage, progress, state: where }) {
  $("working").hidden = where === "done";
  $("progress").value = progress;
  $("stage").textContent = `${stage || where} ${Math.round(100 * progress)} %`;
  if (undecided(state.problem.learner)) $("lambda-label").textContent = `being chosen… ${Math.round(100 * progress)} %`;
}

async function computeCurve() {
  const { problem } = state;
  if (problem.travel.length > MOST_CURVE) return complain(`The curve is drawn for up to ${MOST_CURVE} regions.`);
  calling = new AbortController();
  try {
    $("curve").disabled = true;
    const curve = await job("tradeoff", { problem }, calling.signal, showProgress);
    state.curve = { ...curve, problem };
    showCurve();
  } catch (error) {
    failed(error);
  } finally {
    $("curve").disabled = false;
    $("working").hidden = true;
  }
}

/** Draw the curve, unless it is another problem's. */
function showCurve() {
  if (state.curve && state.curve.problem !== state.problem) {
    state.curve = null;
    $("tradeoff").setAttribute("hidden", "");
    $("tradeoff-text").textContent = "The problem has changed: draw the curve again.";
  }
  if (!state.curve) return;
  drawTradeoff(state, (rate) => {
    $("rate").value = Number(rate.toPrecision(6));
    readControls();
  });
}

// ---- saying

function say(text) {
  $("status").className = "";
  $("status").textContent = text;
}

function complain(text) {
  $("status").className = "wrong";
  $("status").textContent = text;
}

function failed(error) {
  $("working").hidden = true;
  if (error.name === "AbortError") return outdated || say("Cancelled.");
  for (const [field, id] of [["learner.features", "features"], ["learner.samples", "samples"], ["learner.noise", "noise"], ["learner.steps", "steps"], ["learner.rate", "step-size"], ["travel_rate", "rate"]]) {
    if (error.field?.endsWith(field)) $(id).setAttribute("aria-invalid", "true");
  }
  return complain(error.field ? `${error.message} (${error.field})` : error.message);
}

function showSelected() {
  const { selected, problem } = state;
  $("selected").hidden = selected === null;
  $("remove").disabled = selected === null;
  if (selected === null) return;
  for (const [id, value] of [["region-name", problem.regions[selected]], ["region-x", problem.coordinates[selected][0]], ["region-y", problem.coordinates[selected][1]]]) {
    if (document.activeElement !== $(id)) $(id).value = value;
  }
  $("region-score").textContent = `score / T ${number(state.scores[selected], 4)}`;
}

// ---- controls

function readControls() {
  const value = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  for (const id of ["features", "samples", "noise", "rate", "steps", "step-size"]) $(id).setAttribute("aria-invalid", "false");
  state.rate = value("rate");
  state.method = $("method").value;
  const before = state.problem.learner;
  const learner = trained(before, { features: value("features"), samples: value("samples"), noise: value("noise") });
  const shown = { noise: 0, rule: "least-squares", ...before };
  if (Object.entries({ rule: "least-squares", ...learner }).some(([name, entry]) => !Object.is(shown[name], entry))) {
    const { samples, ...rest } = state.problem;  // one number for all replaces one a region
    state.problem = { ...rest, ...(samples && before.samples === learner.samples ? { samples } : {}), learner };
  }
  const wanted = { start: $("start-at").value, end: $("end-at").value, return: $("way-back").checked };
  const constraints = Object.fromEntries(Object.entries(wanted).filter(([, entry]) => entry));
  if (JSON.stringify(constraints) !== JSON.stringify(state.problem.constraints ?? {})) state.problem = { ...state.problem, constraints };
  $("method-summary").textContent = methods.find(({ name }) => name === state.method)?.summary ?? "";
  changed();
}

async function openFiles(files) {
  if (!files.length) return;
  try {
    const read = await Promise.all([...files].map(async (file) => ({ name: file.name, text: await file.text() })));
    load(await post("read", { files: read }));
    say(`Opened ${[...files].map((file) => file.name).join(", ")}.`);
  } catch (error) {
    failed(error);
  }
}

async function saveFile() {
  const [what, format] = $("save-what").value.split(" ");
  const asked = { problem: state.problem, what, format, travel_rate: state.rate };
  if (what === "plan") asked.method = state.method;
  try {
    const link = el("a", { href: URL.createObjectURL(await download(asked)), download: `${what}${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(`Saved ${what}${format}.`);
  } catch (error) {
    failed(error);
  }
}

function setTheme(theme) {
  const shown = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" };
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("theme").textContent = shown[theme];
  $("theme").setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system has them" : theme}`);
  $("theme").value = theme;
  try {
    localStorage.setItem("learnroute-theme", theme);
  } catch { /* a browser without storage forgets the choice */ }
}

async function openExample(name) {
  const problem = await get(`api/examples/${name}`);
  load({ problem, places: null, places_made_up: false });
}

function listen() {
  $("controls").addEventListener("input", (event) => (event.target === $("lambda") ? slide() : readControls()));
  $("best-lambda").addEventListener("click", () => chooseLambda("auto"));
  $("best-schedule").addEventListener("click", () => chooseLambda("schedule"));
  listenToTerms();
  for (const id of ["controls", "selected"]) $(id).addEventListener("submit", (event) => event.preventDefault());
  $("add").addEventListener("click", () => addRegion(map.middlePlace()));
  $("remove").addEventListener("click", () => removeRegion(state.selected));
  $("fit").addEventListener("click", () => { map.fit(state.problem, state.geographic); map.draw(state); });
  $("projection").addEventListener("change", () => {
    const geographic = $("projection").value === "geographic";
    if (geographic && state.problem.coordinates.some(([x, y]) => Math.abs(x) > 180 || Math.abs(y) > 90)) {
      $("projection").value = "plain";
      return complain("These coordinates are no longitudes and latitudes: some are beyond 180° or 90°.");
    }
    state.geographic = geographic;
    state.problem = { ...state.problem, geographic };
    state.detour = detours(state.problem, geographic);
    map.fit(state.problem, geographic);
    return map.draw(state);
  });
  for (const name of Object.keys(state.rivals)) {
    $(`show-${name}`).addEventListener("change", (event) => { state.rivals[name].shown = event.target.checked; showLegend(state); map.draw(state); });
  }
  $("region-name").addEventListener("change", (event) => {
    const name = event.target.value.trim();
    if (!name || state.problem.regions.some((other, i) => other === name && i !== state.selected)) {
      event.target.value = state.problem.regions[state.selected];
      return complain("Names must not be empty, and must differ.");
    }
    state.problem = renamed(state.problem, state.selected, name);
    return changed();
  });
  for (const id of ["region-x", "region-y"]) {
    $(id).addEventListener("change", () => {
      const place = [Number($("region-x").value), Number($("region-y").value)];
      if (place.every(Number.isFinite)) moveRegion(state.selected, place);
      map.fit(state.problem, state.geographic);
      map.draw(state);
    });
  }
  $("time").addEventListener("input", (event) => jump(Number(event.target.value)));
  $("back").addEventListener("click", () => jump(state.time - 1));
  $("forward").addEventListener("click", () => jump(state.time + 1));
  $("play").addEventListener("click", () => state.errorHistory && player.toggle(state.time, state.problem.travel.length));
  $("curve").addEventListener("click", computeCurve);
  $("cancel").addEventListener("click", () => calling.abort());
  $("file").addEventListener("change", async (event) => { await openFiles(event.target.files); event.target.value = ""; });
  $("save").addEventListener("click", saveFile);
  $("theme").addEventListener("click", () => setTheme({ auto: "light", light: "dark", dark: "auto" }[$("theme").value]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); openFiles(event.dataTransfer.files); });
  window.addEventListener("resize", () => {
    if (!state.problem) return;
    if (state.errorHistory) drawHeat(state, jump);
    showLearner(state);
    showCurve();
  });
}

async function start() {
  let theme = "auto";
  try {
    theme = localStorage.getItem("learnroute-theme") ?? "auto";
  } catch { /* none remembered */ }
  setTheme(theme);
  listen();
  const first = openExample(FIRST, false);
  const [known, examples] = await Promise.all([get("api/formats"), get("api/examples")]);
  methods = known.methods;
  $("method").replaceChildren(...methods.map(({ name }) => el("option", { value: name }, name)));
  $("method-summary").textContent = methods[0].summary;
  $("file").accept = known.problem.read.join(",");
  $("save-what").replaceChildren(
    ...known.plan.write.map((format) => el("option", { value: `plan ${format}` }, `plan ${format}`)),
    ...known.problem.write.map((format) => el("option", { value: `problem ${format}` }, `problem ${format}`)));
  $("example").replaceChildren(...examples.examples.map(({ name, title }) => el("option", { value: name }, title)));
  $("example").value = FIRST;
  $("example").addEventListener("change", (event) => {
    const chosen = examples.examples.find(({ name }) => name === event.target.value);
    openExample(chosen.name).catch(failed);
  });
  await first;
}

start().catch(failed);
