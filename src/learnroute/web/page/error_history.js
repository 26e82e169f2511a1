// The error history: expected errors after each visit, and which regions the model has forgotten.

import { $, inkOn, number, shade, svg, widthOf } from "./dom.js";
import { meanOf } from "./problem.js";

const NAMES = [84, 120]; // px: maximum width of a name beside the heat map, narrow and wide
const MOST_CELLS = 60; // maximum number of regions for which the heat map is drawn

/** Describe the model after `time` visits. */
export function showTime({ problem, errorHistory, time }) {
  const { order } = errorHistory;
  $("time").max = order.length;
  $("time").value = time;
  $("time-label").textContent = `${time} of ${order.length}`;
  const now = errorHistory.errors[time];
  const mean = number(meanOf(problem, now), 4);
  if (time === 0) {
    $("error-history-text").textContent = `Before the first visit: mean expected error ${mean} (initial model).`;
    return;
  }
  const forgotten = order.slice(0, time - 1)
    .map((region, k) => ({ region, again: order.lastIndexOf(region, time - 1) > k, more: now[region] - errorHistory.errors[k + 1][region] }))
    .filter(({ region, again, more }) => !again && more > 1e-9 * (1 + now[region]))
    .sort((a, b) => b.more - a.more);
  const shown = forgotten.slice(0, 4).map(({ region, more }) => `${problem.regions[region]} (+${number(more, 3)})`).join(", ");
  const rest = forgotten.length > 4 ? ` and ${forgotten.length - 4} more` : "";
  const lost = forgotten.length ? `Forgotten since their visit (error increase): ${shown}${rest}.` : "Nothing forgotten so far.";
  $("error-history-text").textContent = `After visit ${time}, ${problem.regions[order[time - 1]]}: mean expected error ${mean}. ${lost}`;
}

/** Draw the expected error of each region (rows, in order of first visit, skipped ones last) after each visit (columns). */
export function drawHeat({ problem, errorHistory, time }, onTime) {
  const { order, errors: history } = errorHistory;
  const visits = order.length;
  const rows = [...new Set([...order, ...problem.regions.keys()])];
  const size = rows.length;
  const node = $("heat");
  node.toggleAttribute("hidden", size > MOST_CELLS);
  if (size > MOST_CELLS) {
    $("heat-legend").textContent = `The error table is shown for up to ${MOST_CELLS} regions.`;
    return;
  }
  const whole = node.parentElement.clientWidth || 600;
  const room = NAMES[Number(whole >= 480)];
  const names = Math.min(room, Math.max(...problem.regions.map(widthOf))) + 8;
  const wide = Math.min(46, (whole - names - 4) / (visits + 1));
  const gap = wide > 8 ? 1 : 0;
  const high = size > 25 ? 14 : 20;
  const values = history.flat();
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const parts = [];
  rows.forEach((region, row) => {
    const name = problem.regions[region];
    parts.push(svg("text", { x: names - 6, y: row * high + high * 0.72, "text-anchor": "end" }, shortened(name, room)));
    history.forEach((errors, t) => {
      const share = most > least ? (errors[region] - least) / (most - least) : 0;
      const cell = { x: names + t * wide, y: row * high, width: wide - gap, height: high - 1, class: "cell", fill: shade(share), "data-time": t };
      parts.push(svg("rect", cell, svg("title", {}, `${name} after visit ${t}: ${number(errors[region], 4)}`)));
      if (t && order[t - 1] === region) parts.push(svg("circle", { cx: names + (t + 0.5) * wide - 0.5, cy: row * high + high / 2, r: Math.min(3.2, 0.45 * wide), fill: inkOn(share), "pointer-events": "none" }));
    });
  });
  for (let t = 0; t <= visits; t++) {
    if (t % Math.ceil(18 / wide) === 0) parts.push(svg("text", { x: names + (t + 0.5) * wide, y: size * high + 14, "text-anchor": "middle" }, t));
  }
  parts.push(svg("rect", { class: "now", x: names + time * wide - 1, y: -1, width: wide + 1, height: size * high + 1 }));
  node.setAttribute("viewBox", `0 -2 ${names + (visits + 1) * wide + 4} ${size * high + 22}`);
  node.style.width = `${names + (visits + 1) * wide + 4}px`;
  node.style.height = `${size * high + 22}px`;
  node.replaceChildren(...parts);
  node.onclick = (event) => event.target.dataset?.time !== undefined && onTime(Number(event.target.dataset.time));
  $("heat-legend").textContent = `Expected error of each region (rows) after each visit (columns), from ${number(least, 3)} (yellow) to ${number(most, 3)} (dark); a dot marks the visit to the region.`;
}

/** Return a name, cut in the middle if it is wider than `room` px: names often differ at their ends only. */
function shortened(name, room) {
  let text = name;
  for (let length = name.length - 1; widthOf(text) > room; length--) text = `${name.slice(0, Math.ceil(length / 2))}…${name.slice(name.length - Math.floor(length / 2))}`;
  return text;
}

/** Plays the route visit by visit: calls step(time, share of the leg) until the end. */
export class Player {
  constructor(step) {
    this.step = step;
    this.playing = false;
  }

  toggle(time, size) {
    if (this.playing) return this.stop();
    this.playing = true;
    this.show();
    let visit = time >= size ? 1 : time + 1;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const pace = Math.max(180, Math.min(900, 14000 / size));
    let began = performance.now();
    const frame = (clock) => {
      if (!this.playing) return;
      const part = Math.min(1, Math.max(0, (clock - began) / pace));
      this.step(visit, still || visit === 1 ? 1 : Math.min(1, part * 1.35));
      if (part >= 1) {
        visit += 1;
        began = clock;
      }
      if (visit > size) return this.stop();
      this.frame = requestAnimationFrame(frame);
    };
    this.frame = requestAnimationFrame(frame);
  }

  stop() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.show();
  }

  show() {
    $("play").textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    $("play").setAttribute("aria-label", this.playing ? "Pause the error history" : "Play the error history");
  }
}
