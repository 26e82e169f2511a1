// Travel against expected error: the routes that no other one beats in both.

import { $, number, svg, ticks } from "./dom.js";

const EDGE = { left: 62, right: 14, top: 12, bottom: 34 };

/** Draw the curve with the current plan and the one-sided routes; a click on a point takes its rate. */
export function drawTradeoff({ curve, plan, rivals }, onRate) {
  const node = $("tradeoff");
  node.removeAttribute("hidden");
  const [width, height] = [node.clientWidth || 320, node.clientHeight || 240];
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const sides = (found) => ({
    travel_cost: found.travel_cost, error: found.loss.total - found.loss.travel,
  });
  const here = plan ? sides(plan) : null;
  const marks = Object.entries(rivals).filter(([, rival]) => rival.plan).map(([name, rival]) => [name, sides(rival.plan)]);
  const all = [...curve.points, ...marks.map(([, at]) => at), ...(here ? [here] : [])];
  const span = (key) => {
    const [low, high] = [Math.min(...all.map((p) => p[key])), Math.max(...all.map((p) => p[key]))];
    const edge = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - edge, high + edge];
  };
  const [[x0, x1], [y0, y1]] = [span("travel_cost"), span("error")];
  const x = (value) => EDGE.left + ((value - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
  const y = (value) => height - EDGE.bottom - ((value - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
  const parts = [
    svg("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: height - EDGE.bottom, y2: height - EDGE.bottom }),
    svg("line", { class: "axis", x1: EDGE.left, x2: EDGE.left, y1: EDGE.top, y2: height - EDGE.bottom }),
    svg("text", { x: (width + EDGE.left) / 2, y: height - 4, "text-anchor": "middle" }, "travel of the whole route"),
    svg("text", { transform: `translate(12 ${height / 2}) rotate(-90)`, "text-anchor": "middle" }, "expected error"),
  ];
  for (const value of ticks(x0, x1, 4)) parts.push(svg("text", { x: x(value), y: height - EDGE.bottom + 14, "text-anchor": "middle" }, number(value, 4)));
  for (const value of ticks(y0, y1, 4)) parts.push(svg("text", { x: EDGE.left - 5, y: y(value) + 4, "text-anchor": "end" }, number(value, 4)));
  parts.push(svg("polyline", { class: "curve", points: curve.points.map((p) => `${x(p.travel_cost)},${y(p.error)}`).join(" ") }));
  for (const [name, at] of marks) parts.push(svg("rect", { class: `mark ${name}`, x: x(at.travel_cost) - 5, y: y(at.error) - 5, width: 10, height: 10 }, svg("title", {}, name)));
  for (const point of curve.points) {
    const same = here && Math.abs(point.travel_cost - here.travel_cost) < 1e-9 * (1 + Math.abs(here.travel_cost)) && Math.abs(point.error - here.error) < 1e-9 * (1 + Math.abs(here.error));
    const text = `travel ${number(point.travel_cost, 4)}, error ${number(point.error, 4)}; ends at ${point.route[point.route.length - 1]}`;
    if (!point.rates) {  // between two corners: no rate makes it the best
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
  const kind = curve.complete ? "All routes that no other one beats in both travel and error" : "The best routes found; there may be others";
  $("tradeoff-text").textContent = `${kind}: ${curve.points.length}. Large and orange: the current one; squares: the one-sided routes; small: best for no rate. Choose a point to take its rate.`;
}
