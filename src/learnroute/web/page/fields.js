// Fields that follow the problem: the selected region, and the ends of routes.

import { $, el, number } from "./dom.js";
import { importanceOf } from "./problem.js";

/** Say what the button about the depot does now. */
function showDepot({ problem, selected }) {
  $("depot").textContent = problem.depot ? "Remove depot" : "Make depot";
  $("depot").disabled = !problem.depot && (selected === null || problem.travel.length <= 2);
}

/** Offer the regions as ends, and show which ones are fixed. */
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

/** Show the selected region, if any. */
export function showSelected({ selected, problem, geographic, scores }) {
  showDepot({ problem, selected });
  $("selected").hidden = selected === null;
  $("remove").disabled = selected === null;
  if (selected === null) return;
  for (const [id, value] of [["region-name", problem.regions[selected]], ["region-x", problem.coordinates[selected][0]], ["region-y", problem.coordinates[selected][1]], ["region-importance", importanceOf(problem, selected)]]) {
    if (document.activeElement !== $(id)) $(id).value = value;
  }
  for (const [id, text] of [["region-x-label", geographic ? "longitude" : "x"], ["region-y-label", geographic ? "latitude" : "y"]]) $(id).textContent = text;
  $("region-score").textContent = `score / T ${number(scores[selected], 4)}`;
}
