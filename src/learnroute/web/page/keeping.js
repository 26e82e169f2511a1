// Stored state: steps to undo, the state across a reload, and a problem inside a link.

const KEPT = "learnroute-kept";
const MOST_STEPS = 100;
const MOST_LINK = 100000; // characters; longer addresses are cut by some programs
const TOGETHER = 1000; // ms within which changes of one kind, such as those of a drag, are one step

/** Steps to undo and to redo. A step is a snapshot; those of the same `kind` that follow quickly are one. */
export class Steps {
  constructor() {
    this.done = [];
    this.undone = [];
    this.last = { kind: null, time: 0 };
  }

  record(snapshot, kind = null) {
    const now = performance.now();
    const together = kind !== null && kind === this.last.kind && now - this.last.time < TOGETHER;
    this.last = { kind, time: now };
    const top = this.done[this.done.length - 1];
    if (top && ["problem", "rate", "method", "given"].every((part) => top[part] === snapshot[part])) return;
    if (together && this.done.length > 1) this.done.pop();
    this.done.push(snapshot);
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone = [];
  }

  /** What a step came to in the end. */
  amend(snapshot) {
    if (this.done.length) this.done[this.done.length - 1] = snapshot;
  }

  /** Forget a step that came to nothing. */
  drop() {
    if (this.done.length > 1) this.done.pop();
  }

  undo() {
    if (this.done.length < 2) return null;
    this.undone.push(this.done.pop());
    this.last.kind = null;
    return this.done[this.done.length - 1];
  }

  redo() {
    const step = this.undone.pop();
    if (step) this.done.push(step);
    this.last.kind = null;
    return step ?? null;
  }
}

/** Keep the state in this tab, over a reload. */
export function keep(snapshot) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(snapshot));
  } catch {
    try {
      sessionStorage.removeItem(KEPT); // too large: rather none than an old one
    } catch { /* a browser without storage keeps nothing */ }
  }
}

/** What this tab showed before it was reloaded, or null. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** The address of this page with the problem in it, packed; null if it would be too long. What follows # is not sent to any server. */
export async function linkTo(problem) {
  const packed = await through(JSON.stringify(problem), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  const link = `${location.origin}${location.pathname}#problem=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length > MOST_LINK ? null : link;
}

/** The text of the problem that the address holds, or null. */
export async function problemInAddress() {
  const packed = new URLSearchParams(location.hash.slice(1)).get("problem");
  if (packed === null) return null;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  } catch {
    throw new Error("The link in the address is incomplete: part of the problem is missing or was changed.");
  }
}

/** Take the problem out of the address, which no longer is what is shown. */
export function clearAddress() {
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}
