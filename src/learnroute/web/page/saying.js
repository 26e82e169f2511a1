// The status line, which reports events and errors.

import { $ } from "./dom.js";

const FIELDS = {
  "learner.features": "features", "learner.samples": "samples", "learner.noise": "noise", "learner.steps": "steps", "learner.rate": "step-size",
  travel_rate: "rate", "problem.initial": "initial", "visits.budget": "budget", "visits.at_most": "at-most", "visits.repeat": "repeat", "fleet.vehicles": "vehicles", "fleet.models": "models", "fleet.serve": "serve", "fleet.limit": "limit",
};

export function say(text) {
  $("status").className = "";
  $("status").textContent = text;
}

export function complain(text) {
  $("status").className = "wrong";
  $("status").textContent = text;
}

/** Remove the marks of invalid fields. */
export function accept() {
  for (const id of Object.values(FIELDS)) $(id).setAttribute("aria-invalid", "false");
}

/** Report an error, and mark the invalid field. */
export function refuse(error) {
  for (const [field, id] of Object.entries(FIELDS)) if (error.field?.endsWith(field)) $(id).setAttribute("aria-invalid", "true");
  complain(error.message);
}
