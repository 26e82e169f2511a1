// The depot: a stop that is not a region. Its index among the stops is after the last region.

import { distance, removed } from "./problem.js";

/** Return the places of all stops. */
export const stopPlaces = ({ coordinates, depot }) => (depot ? [...coordinates, depot.coordinates] : coordinates);

/** Return the stops of a route in order: the depot, the regions, and the place of return; empty if it has no visits. */
export function stopsOf({ order, closed }, problem) {
  const stops = order.length && problem.depot ? [problem.travel.length, ...order] : order;
  return closed && order.length ? [...stops, stops[0]] : stops;
}

/** Return the travel cost from one stop to another. */
export function travelBetween({ travel, depot }, from, to) {
  if (from === travel.length) return depot.travel[to];
  return to === travel.length ? (depot.travel_back ?? depot.travel)[from] : travel[from][to];
}

/** Return the name of a stop. */
export const stopName = ({ regions, depot }, stop) => (stop === regions.length ? depot.name : regions[stop]);

/** Return the depot's costs after a region or the depot was moved: they follow the distance, each with its own detour. */
export function depotFollowing(before, after, detour, geographic) {
  if (!after.depot) return after;
  const gap = ({ coordinates, depot }, i) => distance(coordinates[i], depot.coordinates, geographic);
  const follow = (costs) => costs?.map((cost, i) => {
    const [old, now] = [gap(before, i), gap(after, i)];
    if (old === now) return cost;
    return old > 0 && cost > 0 ? (cost * now) / old : detour.typical * now;
  });
  const { travel, travel_back: back } = before.depot;
  return { ...after, depot: { ...after.depot, travel: follow(travel), ...(back ? { travel_back: follow(back) } : {}) } };
}

/** Return the depot's costs with those of a region added at the end. */
export function depotWithOneMore(problem, detour, geographic) {
  if (!problem.depot) return problem;
  const { travel, travel_back: back, coordinates } = problem.depot;
  const cost = detour.typical * distance(problem.coordinates[problem.coordinates.length - 1], coordinates, geographic);
  return { ...problem, depot: { ...problem.depot, travel: [...travel, cost], ...(back ? { travel_back: [...back, cost] } : {}) } };
}

/** Return the depot's costs without those of a removed region. */
export function depotWithOneLess(problem, region) {
  if (!problem.depot) return problem;
  const { travel, travel_back: back } = problem.depot;
  const left = (costs) => costs.filter((_, i) => i !== region);
  return { ...problem, depot: { ...problem.depot, travel: left(travel), ...(back ? { travel_back: left(back) } : {}) } };
}

/** Make a region the depot: routes start and end there, and nothing is learnt there any more. */
export function madeDepot(problem, region, detour, ways) {
  const { problem: rest, detour: factors } = removed(problem, region, detour);
  const others = (values) => values.filter((_, i) => i !== region);
  const depot = {
    name: problem.regions[region],
    coordinates: problem.coordinates[region],
    travel: others(problem.travel[region]),
    travel_back: others(problem.travel.map((row) => row[region])),
  };
  const { start, return: back, ...constraints } = rest.constraints ?? {};
  const last = (row) => row && [...others(row), row[region]];
  return { problem: { ...rest, constraints, depot }, detour: factors, ways: ways && last(ways.map(last)) };
}

/** Return the problem without its depot, and the street paths without the depot's. */
export function withoutDepot({ depot, ...problem }, ways) {
  return { problem, ways: ways && ways.slice(0, -1).map((row) => row.slice(0, -1)) };
}
