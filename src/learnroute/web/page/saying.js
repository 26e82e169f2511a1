// The status line, which reports events and errors.

import { $ } from "./dom.js";

const FIELDS = {
  "learner.features": "features", "learner.samples": "samples", "learner.noise": "noise", "learner.steps": "steps", "learner.rate": "step-size",
  travel_rate: "rate", "problem.initial": "initial", "visits.budget": "budget", "fleet.vehicles": "vehicles", "fleet.models": "models", "fleet.serve": "serve", "fleet.limit": "limit",
};

export function say(text) {
  $("status").className = "";
  $("status").textContent = text;
}

export function complain(text) {
  $("status").className = "wrong";
  $("status").textContent = text;
}

/** Report an error, and mark the invalid field. */
export function refuse(error) {
  for (const [field, id] of Object.entries(FIELDS)) if (error.field?.endsWith(field)) $(id).setAttribute("aria-invalid", "true");
  complain(error.message);
}
