// The HTTP API as a page: the contents of /openapi.json, call by call and schema by schema.

import { $, el } from "./dom.js";

const nameOf = (reference) => reference.split("/").pop();

/** Describe a schema in a few words, with links to the schemas that it names. */
function words(schema) {
  if (schema === true || !schema || !Object.keys(schema).length) return ["anything"];
  if (schema.$ref) return [el("a", { href: `#schema-${nameOf(schema.$ref)}` }, nameOf(schema.$ref))];
  const options = schema.anyOf || schema.oneOf;
  if (options && !schema.properties) return options.flatMap((option, k) => [...(k ? [" or "] : []), ...words(option)]);
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  if (schema.type === "array") return ["list of ", ...words(schema.items)];
  if (schema.type === "object" && typeof schema.additionalProperties === "object") return ["object of ", ...words(schema.additionalProperties)];
  const kinds = [schema.type || "anything"].flat().join(" or ");
  const bounds = [["minimum", "≥"], ["exclusiveMinimum", ">"], ["maximum", "≤"]]
    .filter(([key]) => schema[key] !== undefined).map(([key, sign]) => `${sign} ${schema[key]}`).join(", ");
  return [bounds ? `${kinds} ${bounds}` : kinds];
}

/** Return the members of an object as a table. */
function members(schema) {
  const rows = Object.entries(schema.properties || {}).map(([name, member]) => {
    const needed = (schema.required || []).includes(name);
    const preset = member.default === undefined || member.default === null ? "" : JSON.stringify(member.default);
    const about = member.description || (member.anyOf || []).map((option) => option.description).find(Boolean) || "";
    return el("tr", {}, el("td", {}, el("code", {}, name)), el("td", {}, ...words(member)), el("td", {}, needed ? "needed" : preset), el("td", {}, about));
  });
  if (!rows.length) return el("p", {}, ...words(schema));
  const head = el("tr", {}, ...["member", "what", "default", ""].map((text) => el("th", { scope: "col" }, text)));
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
}

/** Describe the content of a body or an answer by media type; equal schemas are listed once. */
function content(types) {
  const entries = Object.entries(types || {});
  return entries.flatMap(([type, { schema }], k) => [k ? "; " : "", `${type}: `, ...words(schema)]);
}

function call(method, path, operation) {
  const card = el("section", { class: "card", id: operation.operationId });
  card.append(el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`)), el("p", {}, operation.summary || ""));
  const facts = el("dl", {});
  for (const parameter of operation.parameters || []) {
    facts.append(el("dt", {}, `${parameter.name} (${parameter.in})`), el("dd", {}, ...words(parameter.schema)));
  }
  if (operation.requestBody) facts.append(el("dt", {}, "body"), el("dd", {}, ...content(operation.requestBody.content)));
  const answers = Object.entries(operation.responses);
  for (const [status, answer] of answers.filter(([code]) => code < "300")) {
    facts.append(el("dt", {}, status), el("dd", {}, `${answer.description}. `, ...content(answer.content)));
  }
  const refused = el("dl", {});
  for (const [status, answer] of answers.filter(([code]) => code >= "300")) {
    refused.append(el("dt", {}, status), el("dd", {}, answer.description));
  }
  card.append(facts, el("details", {}, el("summary", {}, "Refusals"), refused));
  return card;
}

function schemaOf(name, schema) {
  const part = el("details", { id: `schema-${name}` }, el("summary", {}, el("code", {}, name)));
  if (schema.description) part.append(el("p", {}, schema.description));
  part.append(members(schema));
  if (schema.example) part.append(el("details", {}, el("summary", {}, "Example"), el("pre", {}, JSON.stringify(schema.example))));
  return part;
}

/** Open the schema that a link leads to. */
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
  if (target) target.scrollIntoView();
}

async function show() {
  const answer = await fetch("openapi.json");
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  const api = await answer.json();
  $("title").textContent = `The HTTP API, version ${api.info.version}`;
  $("description").append(...api.info.description.split("`").map((part, k) => (k % 2 ? el("code", {}, part) : part)));
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      $("calls").append(call(method, path, operation));
      $("contents").append(el("a", { href: `#${operation.operationId}` }, `${method.toUpperCase()} ${path}`), " ");
    }
  }
  for (const [name, schema] of Object.entries(api.components.schemas)) $("schemas").append(schemaOf(name, schema));
  $("status").textContent = "";
  window.addEventListener("hashchange", reveal);
  reveal();
}

show().catch((error) => {
  $("status").textContent = `The description of the API cannot be shown: ${error.message}`;
  $("status").className = "wrong";
});
