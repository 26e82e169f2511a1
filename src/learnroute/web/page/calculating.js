// One calculation at a time; the newest state wins, and what is shown is dim until its own plan is there.

const PATIENCE = 300; // ms after which an outdated calculation is called off

/** Dim what is shown: "plan" all of it, "rest" what follows from the plan; none if it is up to date. */
export function setStale(what) {
  if (what) document.body.dataset.stale = what;
  else delete document.body.dataset.stale;
}

export class Newest {
  /** `calculate(signal)` is asked for by `refresh`; `nothing(error)` hears where it came to nothing. */
  constructor(calculate, nothing) {
    Object.assign(this, { calculate, nothing, running: false, outdated: false, since: 0, resting: null, ending: null, reads: 0 });
    this.calling = new AbortController();
  }

  /** The state has changed. */
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

  /** Wait for something that is being read: the state will change. */
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

  /** Say so where nothing is going on. */
  rest() {
    if (!this.running && !this.reads && this.resting === null) document.body.dataset.busy = "false";
  }

  /** The state is changing: do something, such as refresh, when it has rested for a while. */
  whenAtRest(pause, then) {
    setStale("plan");
    document.body.dataset.busy = "true";
    clearTimeout(this.resting);
    this.resting = setTimeout(then, pause);
  }

  /** Whether a newer calculation follows. */
  get superseded() {
    return this.outdated || this.resting !== null;
  }

  abort() {
    this.calling.abort();
  }
}
