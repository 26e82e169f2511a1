// Expected error against travel: the routes that no other route beats in both.

import { drawAxes, rangeOf } from "./charts.js";
import { Comparison } from "./comparison.js";
import { $, number, svg } from "./dom.js";
import { RIVALS } from "./panels.js";

export class Tradeoff extends Comparison {
  /** `onTake(rate)` is called to apply the rate of a point. */
  constructor(onProgress, onTake) {
    super({ task: "tradeoff", name: "tradeoff", button: "curve", again: "draw the curve again", parts: ["tradeoff"] }, onProgress, onTake);
  }

  basisOf({ problem }) {
    return [problem];
  }

  show(state) {
    $("tradeoff").removeAttribute("hidden");
    draw(this.found, state, this.onTake);
    const { complete, points } = this.found;
    const many = `${points.length} route${points.length === 1 ? "" : "s"}`;
    const kind = complete ? `${many}; no other route has both less travel and less error.` : `${many} found; there may be better ones.`;
    this.say(`${kind} Large point: the current route. Squares: baseline and shortest route. Small points: not the best for any travel rate. Choose a point to apply its travel rate.`);
  }
}

/** Draw the curve with the current plan, the baseline and the shortest route; a click on a point applies its rate. */
function draw(curve, { plan, rivals }, onRate) {
  const node = $("tradeoff");
  const sides = (found) => ({ travel_cost: found.travel_cost, error: found.loss.total - found.loss.travel });
  const here = plan ? sides(plan) : null;
  const marks = Object.entries(rivals).filter(([, rival]) => rival.plan).map(([name, rival]) => [name, sides(rival.plan)]);
  const all = [...curve.points, ...marks.map(([, at]) => at), ...(here ? [here] : [])];
  const range = (side) => rangeOf(all.map((point) => point[side]));
  const { parts, x, y } = drawAxes(node, { name: "travel of the whole route", range: range("travel_cost") }, { name: "expected error", range: range("error") });
  parts.push(svg("polyline", { class: "curve", points: curve.points.map((p) => `${x(p.travel_cost)},${y(p.error)}`).join(" ") }));
  for (const [name, at] of marks) parts.push(svg("rect", { class: `mark ${name}`, x: x(at.travel_cost) - 5, y: y(at.error) - 5, width: 10, height: 10 }, svg("title", {}, RIVALS[name])));
  const near = (a, b) => Math.abs(a - b) < 1e-9 * (1 + Math.abs(b));
  for (const point of curve.points) {
    const same = here && near(point.travel_cost, here.travel_cost) && near(point.error, here.error);
    const text = `travel ${number(point.travel_cost, 4)}, error ${number(point.error, 4)}; ends at ${point.route[point.route.length - 1]}`;
    if (!point.rates) { // between two corners: optimal at no rate
      parts.push(svg("circle", { class: "point aside", cx: x(point.travel_cost), cy: y(point.error), r: same ? 6 : 3 }, svg("title", {}, text)));
      continue;
    }
    const [low, high] = point.rates;
    const take = () => onRate(high === null ? 2 * low || 1 : low > 0 ? Math.sqrt(low * high) : high / 2);
    parts.push(svg("circle", {
      class: `point${same ? " current" : ""}`, cx: x(point.travel_cost), cy: y(point.error), r: same ? 7 : 5, tabindex: 0, role: "button", "aria-label": text,
      onclick: take, onkeydown: (event) => event.key === "Enter" && take(),
    }, svg("title", {}, text)));
  }
  node.replaceChildren(...parts);
}
