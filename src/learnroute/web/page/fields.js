// Fields that show the problem: the selected region, the ends of routes, the initial error.

import { $, el, number } from "./dom.js";
import { importanceOf, initialOf, renamed, withImportance, withInitial } from "./problem.js";
import { complain } from "./saying.js";

/** Label the depot button with its current action. */
function showDepot({ problem, selected }) {
  $("depot").textContent = problem.depot ? "Remove depot" : "Make depot";
  $("depot").disabled = !problem.depot && (selected === null || problem.travel.length <= 2);
}

/** List the regions as possible ends, and show which ones are fixed. */
export function showEnds({ regions, constraints = {}, depot }) {
  for (const [id, name] of [["start-at", constraints.start], ["end-at", constraints.end]]) {
    if ([...$(id).options].slice(1).map((option) => option.value).join("\n") !== regions.join("\n")) {
      $(id).replaceChildren(el("option", { value: "" }), ...regions.map((region) => el("option", { value: region }, region)));
    }
    $(id).value = name ?? "";
    $(id).options[0].textContent = depot && id === "start-at" ? `${depot.name} (depot)` : "anywhere";
  }
  $("start-at").disabled = Boolean(depot);
  $("way-back").checked = depot ? depot.return ?? true : constraints.return ?? false;
}

/** Reject a route that starts and ends at the same region, naming the fields. */
export function checkEnds({ constraints = {} }) {
  const same = constraints.start !== undefined && constraints.start === constraints.end;
  $("end-at").setAttribute("aria-invalid", String(same));
  if (same) throw new Error(`The route cannot start and end at ${constraints.end}: each region is visited once. Choose another end, or tick “return to start”.`);
}

/** Return the initial error of all regions as text for its field; empty if it is unknown or differs by region. */
function commonInitial(problem) {
  const known = problem.travel.map((_, i) => initialOf(problem, i));
  return known.every((value) => value === known[0]) ? known[0] ?? "" : "";
}

export function showInitial(problem) {
  const known = problem.travel.map((_, i) => initialOf(problem, i));
  const differs = known[0] !== undefined && commonInitial(problem) === "";
  $("initial").placeholder = differs ? `${number(Math.min(...known), 3)} … ${number(Math.max(...known), 3)}` : "unknown";
  if (document.activeElement !== $("initial")) $("initial").value = commonInitial(problem);
}

/** Return the problem with the initial error given in its field. */
export function writtenInitial(problem) {
  const text = $("initial").value;
  if (text === String(commonInitial(problem)) || !$("initial").checkValidity()) return problem;
  return withInitial(problem, null, text === "" ? undefined : Number(text));
}

/** Show the selected region, if any. */
export function showSelected({ selected, problem, geographic, scores }) {
  showDepot({ problem, selected });
  $("selected").hidden = selected === null;
  $("remove").disabled = selected === null;
  if (selected === null) return;
  for (const [id, value] of [["region-name", problem.regions[selected]], ["region-x", problem.coordinates[selected][0]], ["region-y", problem.coordinates[selected][1]], ["region-importance", importanceOf(problem, selected)], ["region-initial", initialOf(problem, selected) ?? ""]]) {
    if (document.activeElement !== $(id)) $(id).value = value;
  }
  for (const [id, text] of [["region-x-label", geographic ? "longitude" : "x"], ["region-y-label", geographic ? "latitude" : "y"]]) $(id).textContent = text;
  $("region-score").textContent = `score / T ${number(scores[selected], 4)}`;
}

/** Listen to the fields of the selected region; `onPlace` is called with its new place. */
export function listenToRegion(state, changed, onPlace) {
  $("region-name").addEventListener("change", (event) => {
    const name = event.target.value.trim();
    if (!name || name === state.problem.depot?.name || state.problem.regions.some((other, i) => other === name && i !== state.selected)) {
      event.target.value = state.problem.regions[state.selected];
      return complain("Each region needs a name of its own.");
    }
    state.problem = renamed(state.problem, state.selected, name);
    return changed();
  });
  for (const id of ["region-x", "region-y"]) {
    $(id).addEventListener("change", () => onPlace([Number($("region-x").value), Number($("region-y").value)]));
  }
  $("region-importance").addEventListener("change", ({ target }) => {
    const given = target.value !== "" && target.checkValidity() ? withImportance(state.problem, state.selected, Number(target.value)) : null;
    if (given) {
      state.problem = given;
      return changed();
    }
    target.value = importanceOf(state.problem, state.selected);
    return complain("Importance must be at least 0, and above 0 in at least one region.");
  });
  $("region-initial").addEventListener("change", ({ target }) => {
    if (target.value !== "" && target.checkValidity()) {
      state.problem = withInitial(state.problem, state.selected, Number(target.value));
      return changed();
    }
    target.value = initialOf(state.problem, state.selected) ?? "";
    return complain("The initial error must be at least 0.");
  });
}
