// A result that is calculated when a button is pressed. It stays until the problem changes.

import { job } from "./api.js";
import { $ } from "./dom.js";

export class Comparison {
  /**
   * `task` is a task of the service; ids of texts begin with `name`; `parts` are ids of elements hidden without a result;
   * `again` tells the user what to do after the problem has changed. `onProgress` is called with the progress, `onTake` to
   * apply a row or point.
   */
  constructor({ task, name, button, again, parts }, onProgress, onTake) {
    Object.assign(this, { task, name, again, parts, onProgress, onTake, found: null, basis: null, calling: null });
    this.button = $(button);
    this.about = $(`${name}-text`).textContent; // the description, before anything is calculated
  }

  /** Calculate for the current problem. */
  async ask(state) {
    this.clear("Calculating…");
    this.basis = this.basisOf(state);
    const calling = this.calling = new AbortController();
    this.button.disabled = true;
    try {
      const found = await job(this.task, { problem: state.problem, travel_rate: state.rate }, calling.signal, (news) => calling === this.calling && this.onProgress(news));
      if (calling !== this.calling) return;
      this.found = found;
      this.show(state);
    } catch (error) {
      if (calling !== this.calling) return; // the result is about another problem
      if (error.name === "AbortError") this.clear("Cancelled.");
      else this.say(error.message, "wrong");
    } finally {
      if (calling === this.calling) this.end();
    }
  }

  end() {
    this.calling = null;
    this.button.disabled = false;
    $("working").hidden = true;
  }

  cancel() {
    this.calling?.abort();
  }

  /** Clear the result of another problem after a change of the state. */
  refresh(state) {
    if (this.basis && !this.basisOf(state).every((part, k) => part === this.basis[k])) {
      const old = this.calling;
      if (old) this.end();
      old?.abort();
      this.clear(this.found || old ? `The problem has changed: ${this.again}.` : this.about);
    }
    if (this.found) this.show(state);
  }

  clear(text) {
    Object.assign(this, { found: null, basis: null });
    for (const id of this.parts) $(id).setAttribute("hidden", "");
    $(`${this.name}-notes`)?.replaceChildren();
    this.say(text);
  }

  say(text, kind = "") {
    $(`${this.name}-text`).className = `hint ${kind}`;
    $(`${this.name}-text`).textContent = text;
  }

  /** Show the lines of the table; the focused line keeps the focus. */
  showLines(lines) {
    for (const id of this.parts) $(id).removeAttribute("hidden");
    const body = $(`${this.name}-rows`);
    const focused = [...body.rows].findIndex((line) => line.contains(document.activeElement));
    body.replaceChildren(...lines);
    body.rows[focused]?.querySelector(".take")?.focus({ preventScroll: true });
  }
}
