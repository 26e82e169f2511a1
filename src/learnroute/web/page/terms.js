// A sentence behind each term: a button with the term opens it beside it, Escape or a click elsewhere closes it.

import { $, el } from "./dom.js";

export const TERMS = {
  score: "Score: the sum of a region’s dissimilarities to all regions. A model that fits a region with a low score is not far off anywhere; divided by T, the number of regions, it is a mean.",
  gap: "Gap: how far the loss of this route can be above that of the best possible one, at most. Zero means that no route is better.",
  guarantee: "Guarantee: what is proved about the method before any route is known, as a factor of the least loss. The gap is what is proved about this very route.",
  "lower bound": "Lower bound: no route, by whatever method, has a smaller loss than this.",
  regime: "Regime: with more samples than features (under) each region is learnt from scratch; with fewer (over) part of the old model remains.",
  "λ": "λ, the regularisation: how strongly training holds on to the model so far. At 0 it is the paper’s learner, which forgets most; a large λ hardly learns.",
  retention: "Retention: the share of the old model that training in a region keeps, on average. The rest is learnt anew.",
  pairs: "Pairs: what a regularised learner gains because dissimilar regions average out in its model. It is taken off the loss, so it is negative.",
  schedule: "One λ for each stop: a small one at first, when there is little to keep, larger ones later.",
  importance: "Importance: how much the error in a region counts in the mean over all regions, beside the others. At 0 a region gives data only.",
  baseline: "Baseline: the route that looks at the expected error (forgetting) alone and ignores travel.",
  "travel rate": "Travel rate: the loss that one unit of travel is worth. The larger it is, the shorter the route.",
};

/** A button that explains a term; `text` is what it shows. */
export function term(name, text = name) {
  return el("button", { type: "button", class: "term", "data-term": name, "aria-expanded": "false", "aria-label": `${text}: what it means` }, text);
}

/** Let every button of a term open its sentence. */
export function listenToTerms() {
  for (const place of document.querySelectorAll("[data-explains]")) place.replaceWith(term(place.dataset.explains, place.textContent));
  let opener = null;
  const close = () => {
    opener?.setAttribute("aria-expanded", "false");
    opener = null;
    $("explained").hidden = true;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".term");
    if (!button || button === opener) return close();
    event.preventDefault(); // a term inside a label must not choose its field
    close();
    opener = button;
    button.setAttribute("aria-expanded", "true");
    const note = $("explained");
    note.textContent = TERMS[button.dataset.term];
    note.hidden = false;
    const box = button.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left), document.documentElement.clientWidth - note.offsetWidth - 8);
    note.style.left = `${left + scrollX}px`;
    note.style.top = `${box.bottom + scrollY + 6}px`;
    return undefined;
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
}
