// Explanations of terms: a button with the term opens one, Escape or a click elsewhere closes it.

import { $, el } from "./dom.js";

export const TERMS = {
  score: "Score: the sum of the dissimilarities between a region and all regions. Divided by T, the number of regions, it is the mean dissimilarity. A model trained in a region with a low score has low errors elsewhere.",
  gap: "Gap: an upper bound on how much larger the loss of this route is than that of the best possible route. A gap of 0 means that the route is optimal.",
  guarantee: "Guarantee: the largest possible ratio between the loss of this method and the least possible loss, proved for all problems of this kind. The gap is proved for this route only.",
  "lower bound": "Lower bound: no route has a smaller loss.",
  regime: "Regime: with more samples than features (under), training forgets the previous model; with fewer (over), part of it is retained.",
  "λ": "λ, the regularisation: how strongly training stays near the previous model. λ = 0 is least squares, the paper’s learner, which forgets most. With a large λ, training hardly changes the model.",
  retention: "Retention: the share of the previous model that training in a region keeps, on average.",
  pairs: "Pairs: with a regularised learner, errors of dissimilar regions partly cancel in the model. This part is subtracted from the loss.",
  schedule: "One λ per stop: small at first, when there is little to retain, larger later.",
  importance: "Importance: the weight of a region’s error in the mean over all regions. A region with importance 0 only provides data.",
  "initial error": "Initial error: the squared distance between the initial model and the true model of a region. It matters where the learner retains part of the initial model, or where regions or models may stay untrained.",
  baseline: "Baseline: the route with the least expected error; it ignores travel.",
  "travel rate": "Travel rate: the loss per unit of travel. A larger rate leads to a shorter route.",
};

/** Return a button that explains a term; `text` is its label. */
export function term(name, text = name) {
  return el("button", { type: "button", class: "term", "data-term": name, "aria-expanded": "false", "aria-label": `${text}: what it means` }, text);
}

/** Make every button of a term open its explanation. */
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
    event.preventDefault(); // a term inside a label must not activate the label's field
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
