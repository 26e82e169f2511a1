// Calls of the service: short ones directly, long ones as jobs with progress.

const LONG = 15; // number of regions from which a calculation is a job that can be followed and cancelled

const token = takeToken();

function takeToken() {
  const members = new URLSearchParams(location.hash.slice(1));
  const given = members.get("token");
  try {
    if (given) {
      sessionStorage.setItem("learnroute-token", given);
      members.delete("token");
      history.replaceState(null, "", location.pathname + (members.size ? `#${members}` : ""));
    }
    return given || sessionStorage.getItem("learnroute-token");
  } catch {
    return given;
  }
}

/** A refusal of the service, with the field it names. */
export class Refused extends Error {
  constructor(document, status) {
    super(document.detail || `the service answered ${status}`);
    this.field = document.field || null;
    this.status = status;
  }
}

async function call(path, options = {}) {
  const headers = { ...(options.body ? { "Content-Type": "application/json" } : {}) };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ detail: "The service does not answer. Check that it is still running." }, 0);
  }
  if (!answer.ok) throw new Refused(await answer.json().catch(() => ({})), answer.status);
  return answer;
}

export const get = async (path) => (await call(path)).json();

export const post = async (task, body, signal) =>
  (await call(`api/${task}`, { method: "POST", body: JSON.stringify(body), signal })).json();

/** Return a file that the service writes, and its name. */
export async function download(body) {
  const answer = await call("api/export", { method: "POST", body: JSON.stringify(body) });
  const [, name] = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"));
  return { name, content: await answer.blob() };
}

/** Run a task as a job; `onProgress` is called with its progress, and aborting the signal cancels it. */
export async function job(task, body, signal, onProgress) {
  const submitted = await (await call(`api/jobs?task=${task}`, { method: "POST", body: JSON.stringify(body) })).json();
  const place = `api/jobs/${submitted.id}`;
  const cancel = () => call(place, { method: "DELETE" }).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    const stream = (await call(`${place}/events`)).body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await stream.read();
      if (done) break;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "));
        if (data) onProgress(JSON.parse(data.slice(6)));
      }
    }
    if (signal.aborted) throw new DOMException("cancelled", "AbortError");
    return (await call(`${place}/result`)).json();
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Calculate directly, or as a job if it may take long (many regions, or λ to be chosen). */
export const calculated = (task, body, signal, onProgress) =>
  (body.problem.travel.length < LONG && typeof body.problem.learner.regularization !== "string"
    ? post(task, body, signal) : job(task, body, signal, onProgress));
