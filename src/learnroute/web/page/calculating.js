// One calculation at a time; the newest state wins, and outdated results are dimmed until the new plan arrives.

const PATIENCE = 300; // ms after which an outdated calculation is cancelled

/** Dim outdated results: "plan" for all of them, "rest" for those that follow from the plan; nothing if up to date. */
export function setStale(what) {
  if (what) document.body.dataset.stale = what;
  else delete document.body.dataset.stale;
}

export class Newest {
  /** `refresh` calls `calculate(signal)`; `nothing(error)` is called if it fails. */
  constructor(calculate, nothing) {
    Object.assign(this, { calculate, nothing, running: false, outdated: false, since: 0, resting: null, ending: null, reads: 0 });
    this.calling = new AbortController();
  }

  /** Recalculate after a change of the state. */
  async refresh() {
    this.outdated = true;
    clearTimeout(this.resting);
    clearTimeout(this.ending);
    this.resting = null;
    setStale("plan");
    if (this.running) {
      const old = this.calling;
      this.ending = setTimeout(() => old.abort(), Math.max(0, PATIENCE - (performance.now() - this.since)));
      return;
    }
    this.running = true;
    document.body.dataset.busy = "true";
    while (this.outdated) {
      this.outdated = false;
      this.since = performance.now();
      this.calling = new AbortController();
      await this.calculate(this.calling.signal).catch(this.nothing);
    }
    this.running = false;
    this.rest();
  }

  /** Wait for something that is being read and will change the state. */
  async reading(what) {
    this.reads += 1;
    document.body.dataset.busy = "true";
    try {
      return await what;
    } finally {
      this.reads -= 1;
      this.rest();
    }
  }

  /** Mark the page as idle if nothing is running. */
  rest() {
    if (!this.running && !this.reads && this.resting === null) document.body.dataset.busy = "false";
  }

  /** Call a function, such as refresh, when the state has not changed for a while. */
  whenAtRest(pause, then) {
    setStale("plan");
    document.body.dataset.busy = "true";
    clearTimeout(this.resting);
    this.resting = setTimeout(then, pause);
  }

  /** Return whether a newer calculation follows. */
  get superseded() {
    return this.outdated || this.resting !== null;
  }

  abort() {
    this.calling.abort();
  }
}
