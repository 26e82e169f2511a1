// Reading and writing problems: files, examples, the address. What is read has the form that `load` of the page expects.

import { download, get, post } from "./api.js";
import { $, el } from "./dom.js";
import { routesOf } from "./fleet.js";
import { problemInAddress } from "./keeping.js";

/** Have the service read texts of files; if they have no learner, the given one is used. */
async function readTexts(files, source, learner) {
  return { ...(await post("read", { files, learner })), source };
}

/** Read files that the user chose; files without one of the `endings` are rejected before they are read. */
export async function readFiles(files, learner, endings) {
  for (const { name } of files) {
    if (!endings.some((ending) => name.toLowerCase().endsWith(ending))) throw new Error(`${name} is not a problem file. Open a file of these kinds: ${endings.join(", ")}.`);
  }
  const texts = await Promise.all([...files].map(async (file) => ({ name: file.name, text: await file.text() })));
  return readTexts(texts, texts.map(({ name }) => name).join(", "), learner);
}

export async function readExample(name) {
  return { problem: await get(`api/examples/${name}`), places: null, places_made_up: false, source: name };
}

/** Read the problem stored in the address; null if there is none. */
export async function readAddress() {
  const text = await problemInAddress();
  return text === null ? null : readTexts([{ name: "link.json", text }], "link");
}

/** Save a file in the format selected in the menu; return its name. */
export async function saveFile({ problem, rate, method, given, ways }) {
  const [what, format] = $("save-what").value.split(" ");
  const asked = { problem, what, format, travel_rate: rate, ...(what === "plan" ? { method, ways, ...(given ? routesOf(given) : {}) } : {}) };
  const { name, content } = await download(asked);
  const link = el("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return name;
}

/** Show in the menu of examples where the problem comes from. */
export function showSource({ source }) {
  $("example").querySelector(".own")?.remove();
  if (![...$("example").options].some((option) => option.value === source)) $("example").prepend(el("option", { class: "own", value: source }, source));
  $("example").value = source;
}

/** List the formats that can be written: some need longitudes and latitudes, some any coordinates. */
export function showFormats(known, { madeUp, geographic }) {
  const before = $("save-what").value;
  const fits = (kind) => (format) => !(kind.degrees.includes(format) && (madeUp || !geographic)) && !(kind.plane?.includes(format) && madeUp);
  const offered = ["plan", "problem"].flatMap((what) => known[what].write.filter(fits(known[what])).map((format) => `${what} ${format}`));
  $("save-what").replaceChildren(...offered.map((choice) => el("option", { value: choice }, choice)));
  if (offered.includes(before)) $("save-what").value = before;
}
