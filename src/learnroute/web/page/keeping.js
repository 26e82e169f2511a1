// Stored state: steps to undo, the state across a reload, and a problem inside a link.

const KEPT = "learnroute-kept";
const MOST_STEPS = 100;
const MOST_LINK = 100000; // characters; some programs truncate longer addresses

/** Steps to undo and redo. A step is a snapshot; changes of one `kind`, such as those of a drag, are one step until `finish`. */
export class Steps {
  constructor() {
    this.done = [];
    this.undone = [];
    this.kind = null; // of the change under way
  }

  record(snapshot, kind = null) {
    const together = kind !== null && kind === this.kind;
    this.kind = kind;
    const top = this.done[this.done.length - 1];
    if (top && ["problem", "rate", "method", "given"].every((part) => top[part] === snapshot[part])) return;
    if (together && this.done.length > 1) this.done.pop();
    this.done.push(snapshot);
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone = [];
  }

  /** End the change under way: the user left the field, or let go of the slider, the region or the key. */
  finish() {
    this.kind = null;
  }

  /** Update the last step with its final state. */
  amend(snapshot) {
    if (this.done.length) this.done[this.done.length - 1] = snapshot;
  }

  /** Remove the last step, which had no effect. */
  drop() {
    if (this.done.length > 1) this.done.pop();
  }

  undo() {
    if (this.done.length < 2) return null;
    this.undone.push(this.done.pop());
    this.finish();
    return this.done[this.done.length - 1];
  }

  redo() {
    const step = this.undone.pop();
    if (step) this.done.push(step);
    this.finish();
    return step ?? null;
  }
}

/** Store the state of this tab, so that it survives a reload. */
export function keep(snapshot) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(snapshot));
  } catch {
    try {
      sessionStorage.removeItem(KEPT); // too large: better no state than an old one
    } catch { /* a browser without storage stores nothing */ }
  }
}

/** Return the state of this tab before a reload, or null. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** Return the address of this page with the compressed problem; null if it would be too long. The part after # is not sent to any server. */
export async function linkTo(problem) {
  const packed = await through(JSON.stringify(problem), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  const link = `${location.origin}${location.pathname}#problem=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length > MOST_LINK ? null : link;
}

/** Return the text of the problem stored in the address, or null. */
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

/** Remove the problem from the address, because it is no longer the one shown. */
export function clearAddress() {
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}
