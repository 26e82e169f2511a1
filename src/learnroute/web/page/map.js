// The map: a grid, the route with its arrows, and regions that can be dragged or moved by keys.

import { stopPlaces, stopsOf } from "./depot.js";
import { inkOn, largest, number, shade, svg, ticks, widthOf } from "./dom.js";
import { ownClass, shapeOf, toursOf, trainings } from "./fleet.js";
import { placeNames } from "./names.js";
import { wishOf } from "./visits.js";

const MOST_NAMES = 40;
const MOST_NUMBERS = 120;
const NARROW = 520; // px: on a narrower map, only the selected region is named
const NUMBERED = 7; // px: minimum radius of a region with its number inside
const [HALO, WIDEST_HALO] = [9, 34]; // px: radius of a halo without error, and of the largest halo
const FAR = 4; // px of movement from which a press is a drag
const STAR = Array.from({ length: 10 }, (_, k) => {
  const [r, a] = [k % 2 ? 0.5 : 1.25, (k * Math.PI) / 5 - Math.PI / 2];
  return `${(r * Math.cos(a)).toFixed(3)},${(r * Math.sin(a)).toFixed(3)}`;
}).join(" ");

/** Return the largest expected error after any visit. */
export const largestError = ({ errors }) => largest(errors.slice(1));

/** Return the halo's radius for a share of the largest error; the area beyond that of a region without error grows with the error. */
export const haloRadius = (share) => Math.sqrt(HALO ** 2 + clamp(share, 0, 1) * (WIDEST_HALO ** 2 - HALO ** 2));

export class RouteMap {
  /** `on` has move(region, place), moveDepot(place), release(), choose(region), press(region), remove(region), add(place). */
  constructor(node, on) {
    this.node = node;
    this.on = on;
    this.groups = [];
    this.layers = {};
    for (const name of ["grid", "halos", "names", "rivals", "route", "regions", "agent"]) {
      this.layers[name] = node.appendChild(svg("g", { class: `layer-${name}` }));
    }
    this.depot = this.newDepot();
    this.agent = this.layers.agent.appendChild(svg("circle", { class: "agent", r: 7 }));
    this.zoom = 1;
    this.listenToPan();
    node.addEventListener("dblclick", (event) => {
      if (!event.target.closest(".region, .depot")) this.on.add(this.placeAt(event));
    });
    new ResizeObserver(() => this.state && this.draw(this.state)).observe(node);
  }

  /** Let dragging move the map, and Ctrl with the wheel or a pinch on a touchpad zoom it. */
  listenToPan() {
    let from = null;
    this.node.addEventListener("pointerdown", (event) => {
      const scrolls = event.pointerType === "touch" && this.zoom <= 1; // a finger then scrolls the page
      if (event.button || scrolls || event.target.closest(".region, .depot")) return;
      from = [event.clientX, event.clientY];
      this.node.setPointerCapture(event.pointerId);
    });
    this.node.addEventListener("pointermove", (event) => {
      if (!from) return;
      const scale = this.scale;
      this.middle = [this.middle[0] - (event.clientX - from[0]) / scale, this.middle[1] + (event.clientY - from[1]) / scale];
      from = [event.clientX, event.clientY];
      this.draw(this.state);
    });
    for (const end of ["pointerup", "pointercancel"]) this.node.addEventListener(end, () => { from = null; });
    this.node.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = this.node.getBoundingClientRect();
      this.zoomBy(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
    }, { passive: false });
  }

  /** Zoom around a place on the screen; around the middle if none is given. */
  zoomBy(factor, at = null) {
    const [width, height] = this.size;
    const [dx, dy] = at ? [at[0] - width / 2, at[1] - height / 2] : [0, 0];
    const before = this.scale;
    this.zoom = clamp(this.zoom * factor, 0.25, 64);
    this.middle = [this.middle[0] + dx / before - dx / this.scale, this.middle[1] - dy / before + dy / this.scale];
    this.node.classList.toggle("zoomed", this.zoom > 1);
    this.draw(this.state);
  }

  /** Show all regions, with room for their names. */
  fit(problem, geographic) {
    this.zoom = 1;
    this.node.classList.remove("zoomed");
    this.geographic = geographic;
    const places = stopPlaces(problem);
    const ys = places.map(([, y]) => y);
    this.squeeze = geographic ? Math.max(0.05, Math.cos((((Math.min(...ys) + Math.max(...ys)) / 2) * Math.PI) / 180)) : 1;
    const xs = places.map(([x]) => x * this.squeeze);
    this.middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
    this.reach = [(Math.max(...xs) - Math.min(...xs)) / 2, (Math.max(...ys) - Math.min(...ys)) / 2];
    if (!(Math.max(...this.reach) > 0)) this.reach = [1, 1];
  }

  get size() {
    return [this.node.clientWidth || 600, this.node.clientHeight || 400];
  }

  get scale() {
    const [width, height] = this.size;
    const [across, along] = width < NARROW ? [30, 34] : [62, 44]; // room for names
    return this.zoom * Math.min((width / 2 - across) / (this.reach[0] || 1e-9), (height / 2 - along) / (this.reach[1] || 1e-9));
  }

  toScreen([x, y]) {
    const [width, height] = this.size;
    return [width / 2 + (x * this.squeeze - this.middle[0]) * this.scale, height / 2 - (y - this.middle[1]) * this.scale];
  }

  fromScreen([px, py]) {
    const [width, height] = this.size;
    const x = ((px - width / 2) / this.scale + this.middle[0]) / this.squeeze;
    const y = this.middle[1] - (py - height / 2) / this.scale;
    const rounded = [x, y].map((value) => Number(value.toPrecision(this.zoom > 4 ? 9 : 6)));
    return this.geographic ? [clamp(rounded[0], -180, 180), clamp(rounded[1], -90, 90)] : rounded;
  }

  placeAt(event) {
    const box = this.node.getBoundingClientRect();
    const [width, height] = this.size;
    return this.fromScreen([clamp(event.clientX - box.left, 8, width - 8), clamp(event.clientY - box.top, 8, height - 8)]);
  }

  middlePlace() {
    const [width, height] = this.size;
    return this.fromScreen([width / 2, height / 2]);
  }

  draw(state) {
    this.state = state;
    const [width, height] = this.size;
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.spots = stopPlaces(state.problem).map((place) => this.toScreen(place));
    this.drawGrid(width, height);
    this.drawHalos(state);
    this.drawRivals(state);
    this.drawRoute(state);
    this.drawRegions(state);
    this.drawNames(state);
    this.drawAgent(state);
  }

  drawGrid(width, height) {
    const [[left, bottom], [right, top]] = [this.fromScreen([0, height]), this.fromScreen([width, 0])];
    const parts = [];
    for (const { value, text } of ticks(left, right, Math.max(3, width / 130))) {
      const [px] = this.toScreen([value, 0]);
      parts.push(svg("line", { class: "gridline", x1: px, x2: px, y1: 0, y2: height }));
      const label = this.degrees(value, text, "E", "W");
      if (px + 5 + 7 * label.length < width) parts.push(svg("text", { class: "gridlabel", x: px + 3, y: height - 4 }, label));
    }
    for (const { value, text } of ticks(bottom, top, Math.max(3, height / 110))) {
      const [, py] = this.toScreen([0, value]);
      parts.push(svg("line", { class: "gridline", x1: 0, x2: width, y1: py, y2: py }));
      if (py < height - 20 && py > 16) parts.push(svg("text", { class: "gridlabel", x: 3, y: py - 3 }, this.degrees(value, text, "N", "S")));
    }
    this.layers.grid.replaceChildren(...parts);
  }

  degrees(value, text, positive, negative) {
    if (this.state.madeUp) return "";
    if (!this.geographic) return text.replace("-", "−");
    return `${text.replace("-", "")}°${value === 0 ? "" : value > 0 ? positive : negative}`;
  }

  /** Draw the expected error of the current model as an area around each region. */
  drawHalos({ errorHistory, time, problem }) {
    if (!errorHistory) return this.layers.halos.replaceChildren();
    const most = largestError(errorHistory);
    const now = errorHistory.errors[Math.min(time, errorHistory.errors.length - 1)];
    this.layers.halos.replaceChildren(...this.spots.slice(0, problem.travel.length).map(([cx, cy], i) =>
      svg("circle", { class: "halo", cx, cy, r: haloRadius(most > 0 ? now[i] / most : 0) })));
  }

  /** Return the path from one region to another on the screen, along the streets if they are known. */
  way(from, to) {
    const along = this.state.ways?.[from]?.[to];
    return along ? [this.spots[from], ...along.slice(1, -1).map((place) => this.toScreen(place)), this.spots[to]] : [this.spots[from], this.spots[to]];
  }

  drawRivals({ rivals, problem }) {
    this.segments = []; // straight parts of all lines that names avoid: from x, from y, to x, to y
    const lines = Object.entries(rivals).filter(([, rival]) => rival.shown && rival.plan).map(([name, rival]) => {
      const way = stopsOf(rival.plan, problem).flatMap((i, k, order) => (k ? this.way(order[k - 1], i) : [this.spots[i]]));
      this.keepOff(way);
      return svg("polyline", { class: `rival ${name}`, points: way.map((spot) => spot.join(",")).join(" ") });
    });
    this.layers.rivals.replaceChildren(...lines);
  }

  /** Make names avoid a line through these places. */
  keepOff(way) {
    this.segments.push(...way.slice(1).map((spot, k) => [...way[k], ...spot]));
  }

  drawRoute(state) {
    const parts = [];
    for (const { stops, colour, made } of state.plan ? toursOf(state) : []) {
      for (let k = 1; k < stops.length; k++) {
        const way = this.way(stops[k - 1], stops[k]);
        this.keepOff(way);
        const kind = `${colour}${k - (state.problem.depot ? 1 : 0) >= made ? " ahead" : ""}`;
        parts.push(svg("polyline", { class: `leg ${kind}`, points: way.map((spot) => spot.join(",")).join(" ") }));
        const { length, x, y, angle } = alongWay(way, 0.55);
        if (length > 34) parts.push(svg("path", { class: `arrow ${kind}`, d: "M6 0 -5 -5 -5 5z", transform: `translate(${x} ${y}) rotate(${angle})` }));
      }
    }
    this.layers.route.replaceChildren(...parts);
  }

  drawRegions(state) {
    const { problem, plan, scores, selected, errorHistory, time } = state;
    const size = problem.travel.length;
    while (this.groups.length > size) this.groups.pop().remove();
    while (this.groups.length < size) this.groups.push(this.newRegion(this.groups.length));
    const order = plan && !plan.isFleet ? plan.order : [];
    const visits = Array.from({ length: size }, () => []);
    for (const visit of plan?.visits ?? []) visits[visit.region].push(visit);
    const [least, most] = [Math.min(...scores), Math.max(...scores)];
    this.radii = this.radiiOf(size);
    this.groups.forEach((group, i) => {
      const share = most > least ? (scores[i] - least) / (most - least) : 0;
      const radius = this.radii[i];
      const last = order[order.length - 1] === i;
      const [first] = visits[i];
      const numbers = visits[i].map(({ place }) => place + 1);
      const shape = last ? STAR : first && plan.isFleet ? shapeOf(first.model) : null;
      const server = plan?.served_by?.[problem.regions[i]];
      const wish = wishOf(problem, i);
      const skipped = plan && !first ? " skipped" : "";
      const served = server === undefined || server === null ? "" : ` served ${ownClass(server)}`;
      group.setAttribute("transform", `translate(${this.spots[i].join(" ")})`);
      group.setAttribute("class", `region${last ? " last" : ""}${skipped}${served} ${wish}${i === selected ? " chosen" : ""}${i === this.dragged ? " dragged" : ""}`);
      Object.assign(group.dataset, { name: problem.regions[i], visits: numbers.join() });
      const [ring, dot, star, label] = group.children;
      ring.setAttribute("r", radius + 5);
      dot.setAttribute("r", radius);
      dot.setAttribute("fill", shade(share));
      dot.setAttribute("visibility", shape ? "hidden" : "visible");
      star.setAttribute("visibility", shape ? "visible" : "hidden");
      star.setAttribute("points", shape ?? "");
      star.setAttribute("fill", shade(share));
      star.setAttribute("transform", `scale(${last ? radius * 1.35 : radius})`);
      label.textContent = wish === "forbidden" ? "×" : this.hasRoom(i) ? numbers.join() : "";
      label.style.fill = skipped ? "" : inkOn(share);
      label.style.fontSize = wish === "forbidden" ? "17px" : radius >= 9 ? "12px" : "9px";
      const error = errorHistory ? `, expected error now ${number(errorHistory.errors[Math.min(time, errorHistory.errors.length - 1)][i], 3)}` : "";
      const role = first && plan.isFleet ? fleetRole(plan, visits[i]) : first ? `, visit ${numbers.join(" and ")} of ${order.length}${last ? ", last" : ""}` : skipped && ", skipped";
      const service = server === undefined ? "" : `, served by ${server === null ? "the initial model" : `model ${server + 1}`}`;
      group.setAttribute("aria-label", `${problem.regions[i]}${role}${service}${wish ? `, ${wish}` : ""}${problem.importance ? `, importance ${number(problem.importance[i], 4)}` : ""}, score ${number(scores[i], 3)}${error}`);
    });
    this.drawDepot(problem, this.radii[size] ?? 0);
  }

  /** Return the radius of each stop, as large as its nearest neighbour allows, so that no stop covers another. */
  radiiOf(size) {
    const most = size > MOST_NUMBERS ? 4 : size > MOST_NAMES ? 7 : this.size[0] < NARROW ? 9 : 11;
    return this.spots.map(([x, y], i) => {
      const nearest = this.spots.reduce((least, [ox, oy], j) => (j === i ? least : Math.min(least, Math.hypot(x - ox, y - oy))), Infinity);
      return clamp(0.49 * nearest, Math.min(4, most), most);
    });
  }

  /** Return whether a region has its number inside. */
  hasRoom(i) {
    return this.groups.length <= MOST_NUMBERS && this.radii[i] >= NUMBERED;
  }

  /** Write names, and numbers that do not fit into their regions, below the route, so that they cannot hide it. */
  drawNames({ problem, selected, plan }) {
    const size = problem.travel.length;
    const all = size <= MOST_NAMES && this.size[0] >= NARROW;
    const texts = this.spots.map((_, i) => {
      if (i === size) return problem.depot.name;
      const numbers = size <= MOST_NUMBERS && !this.hasRoom(i) ? this.groups[i].dataset.visits : "";
      return [numbers, all || i === selected ? problem.regions[i] : ""].filter(Boolean).join(" ");
    });
    const dots = this.spots.map(([x, y], i) => ({ x, y, radius: this.radii[i] * (i === plan?.order.at(-1) && !plan.isFleet ? 1.5 : 1) }));
    const written = [...texts.keys()].filter((i) => texts[i]);
    const placed = placeNames(written.map((i) => ({ ...dots[i], width: widthOf(texts[i]) })), dots, this.segments, this.size);
    this.layers.names.replaceChildren(...written.flatMap((i, k) => {
      const { box: [left, top, right, bottom], far, free } = placed[k];
      if (!free && i !== selected) return [];
      const { x, y } = dots[i];
      const line = far ? [svg("line", { class: "leader", x1: x, y1: y, x2: clamp(x, left, right), y2: clamp(y, top, bottom) })] : [];
      return [...line, svg("text", { class: "name", "data-stop": i, x: (left + right) / 2, y: (top + bottom) / 2 + 4, "text-anchor": "middle" }, texts[i])];
    }));
  }

  /** Draw the depot as a square, because nothing is learnt there. */
  drawDepot({ depot }, radius) {
    this.depot.setAttribute("visibility", depot ? "visible" : "hidden");
    const [ring, square] = this.depot.children;
    if (!depot) return;
    const side = 0.9 * radius;
    this.depot.setAttribute("transform", `translate(${this.spots[this.spots.length - 1].join(" ")})`);
    this.depot.setAttribute("aria-label", `${depot.name}, the depot: start${depot.return ?? true ? " and end" : ""} of the route`);
    ring.setAttribute("r", radius + 5);
    for (const [part, value] of Object.entries({ x: -side, y: -side, width: 2 * side, height: 2 * side })) square.setAttribute(part, value);
  }

  newDepot() {
    const group = svg("g", { class: "depot", tabindex: 0, role: "button", visibility: "hidden" },
      svg("circle", { class: "ring" }), svg("rect", {}));
    let dragged = false;
    group.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      dragged = true;
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => { if (dragged) this.on.moveDepot(this.placeAt(event)); });
    for (const end of ["pointerup", "pointercancel"]) group.addEventListener(end, () => { dragged = false; });
    group.addEventListener("keydown", (event) => {
      const place = this.stepped(event, this.spots.length - 1);
      if (!place) return;
      this.on.moveDepot(place);
      event.preventDefault();
    });
    return this.layers.regions.appendChild(group);
  }

  /** Return the place that an arrow key moves a stop to; null for other keys. */
  stepped(event, i) {
    const step = event.shiftKey ? 40 : 8;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return null;
    const [width, height] = this.size;
    const [x, y] = this.spots[i];
    return this.fromScreen([clamp(x + step * way[0], 8, width - 8), clamp(y + step * way[1], 8, height - 8)]);
  }

  newRegion(i) {
    const group = svg("g", { class: "region", tabindex: 0, role: "button" },
      svg("circle", { class: "ring" }), svg("circle", { class: "dot" }), svg("polygon", { class: "dot", "vector-effect": "non-scaling-stroke" }),
      svg("text", { class: "number" }));
    group.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.dragged = i;
      this.from = [event.clientX, event.clientY];
      this.far = false;
      group.setPointerCapture(event.pointerId);
      this.on.choose(i);
    });
    group.addEventListener("pointermove", (event) => {
      if (this.dragged !== i) return;
      this.far ||= Math.hypot(event.clientX - this.from[0], event.clientY - this.from[1]) >= FAR;
      if (this.far) this.on.move(i, this.placeAt(event));
    });
    const release = () => {
      if (this.dragged !== i) return;
      this.dragged = undefined;
      this.on.release(this.far);
    };
    group.addEventListener("pointerup", () => {
      const pressed = this.dragged === i && !this.far;
      release();
      if (pressed) this.on.press(i);
    });
    group.addEventListener("pointercancel", release);
    group.addEventListener("focus", () => this.on.choose(i));
    group.addEventListener("keydown", (event) => this.key(event, i));
    return this.layers.regions.appendChild(group);
  }

  key(event, i) {
    const place = this.stepped(event, i);
    if (place) {
      this.on.move(i, place);
      this.on.release(true);
    } else if (event.key === "Delete" || event.key === "Backspace") this.on.remove(i);
    else if (event.key === "+" || event.key === "-") this.zoomBy(event.key === "+" ? 1.4 : 1 / 1.4, this.spots[i]);
    else if (event.key === "Enter" || event.key === " ") this.on.press(i);
    else return;
    event.preventDefault();
  }

  focusRegion(i) {
    this.groups[Math.min(i, this.groups.length - 1)]?.focus();
  }

  /** Show the learner at the last visited region, or at the share `part` of the path to it. */
  drawAgent(state) {
    const { plan, problem, model, time, part = 1 } = state;
    const own = plan ? trainings(plan, model) : [];
    const shown = time > 0 && (time < own.length || (part < 1 && time === own.length));
    this.agent.setAttribute("visibility", shown ? "visible" : "hidden");
    if (!shown) return;
    const { vehicle, place } = own[time - 1];
    const { stops } = toursOf(state)[vehicle];
    const at = place + (problem.depot ? 1 : 0);
    const { x, y } = alongWay(this.way(stops[Math.max(0, at - 1)], stops[at]), part);
    const aside = part === 1 ? 12 : 0; // beside the region, so that its number stays legible
    this.agent.setAttribute("cx", x + aside);
    this.agent.setAttribute("cy", y - aside);
  }
}

/** Describe the visits to a region in words. */
const fleetRole = ({ orders }, visits) => visits.map(({ vehicle, place, model }) =>
  `, visit ${place + 1} of ${orders[vehicle].length}${orders.length > 1 ? ` of vehicle ${vehicle + 1}` : `, trains model ${model + 1}`}`).join("");

/** Return the point at a share of a path, its direction there, and the length of the path. */
function alongWay(way, share) {
  const lengths = way.slice(1).map(([x, y], k) => Math.hypot(x - way[k][0], y - way[k][1]));
  const length = lengths.reduce((a, b) => a + b, 0);
  let left = share * length;
  let k = 0;
  while (k < lengths.length - 1 && left > lengths[k]) left -= lengths[k++];
  const [[x1, y1], [x2, y2]] = [way[k], way[k + 1]];
  const part = lengths[k] ? left / lengths[k] : 1;
  return { length, x: x1 + part * (x2 - x1), y: y1 + part * (y2 - y1), angle: (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI };
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
