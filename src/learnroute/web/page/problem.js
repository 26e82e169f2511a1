// Editing a problem. A problem is the JSON of the files; every function returns a new one.

import { largest } from "./dom.js";

const EARTH = 6371.0088; // km

/** Return the distance on the map: straight, or along the globe. */
export function distance(a, b, geographic) {
  if (!geographic) return Math.hypot(a[0] - b[0], a[1] - b[1]);
  const [x1, y1, x2, y2] = [...a, ...b].map((degrees) => (degrees * Math.PI) / 180);
  const h = Math.sin((y2 - y1) / 2) ** 2 + Math.cos(y1) * Math.cos(y2) * Math.sin((x2 - x1) / 2) ** 2;
  return 2 * EARTH * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Return the travel cost per distance on the map for each pair: the detour factor that a pair keeps when a region is moved. */
export function detours(problem, geographic) {
  const places = problem.coordinates;
  const gaps = places.map((a) => places.map((b) => distance(a, b, geographic)));
  const tiny = 1e-9 * largest(gaps);
  const factors = problem.travel.map((row, i) => row.map((cost, j) => (gaps[i][j] > tiny ? cost / gaps[i][j] : null)));
  const known = factors.flat().filter((factor) => factor !== null && factor > 0).sort((a, b) => a - b);
  const typical = known.length ? known[known.length >> 1] : 1;
  return { typical, factors: factors.map((row) => row.map((factor) => factor ?? typical)) };
}

/** Return the importance of a region. */
export const importanceOf = ({ importance }, region) => importance?.[region] ?? 1;

/** Return the problem with another importance of a region; null if no region would have a positive importance. */
export function withImportance({ importance, ...problem }, region, value) {
  const made = problem.travel.map((_, i) => (i === region ? value : importanceOf({ importance }, i)));
  if (made.every((entry) => entry === 0)) return null;
  return made.every((entry) => entry === 1) ? problem : { ...problem, importance: made };
}

/** Return the initial model's error in a region as plans use it; undefined if it is unknown. */
export const initialOf = ({ initial, initial_estimate: estimate }, region) => (estimate ?? initial)?.[region];

/** Return the problem with another initial error of a region, or of all regions (null); unknown if `value` is undefined. */
export function withInitial(problem, region, value) {
  const { initial: _, initial_estimate: __, ...made } = problem;
  if (value === undefined) return made;
  return { ...made, initial: made.travel.map((__, i) => (region === null || i === region ? value : initialOf(problem, i) ?? 0)) };
}

/** Return the mean of one number per region, weighted by importance. */
export function meanOf({ importance }, values) {
  if (!importance) return values.reduce((a, b) => a + b, 0) / values.length;
  return importance.reduce((sum, weight, i) => sum + weight * values[i], 0) / importance.reduce((a, b) => a + b, 0);
}

/** Return the mean dissimilarity of each region to all regions (score / T), as used by plans. */
export function scores(problem) {
  const apart = problem.dissimilarity_estimate ?? problem.dissimilarity ?? problem.transfer
    ?? problem.vectors.map((v) => problem.vectors.map((w) => squared(v, w)));
  return apart.map((row) => meanOf(problem, row));
}

const squared = (v, w) => v.reduce((sum, x, k) => sum + (x - w[k]) ** 2, 0);

/** Move a region; its travel costs follow. */
export function moved(problem, region, place, detour, geographic) {
  const coordinates = problem.coordinates.map((old, i) => (i === region ? place : old));
  const cost = (i, j) => detour.factors[i][j] * distance(coordinates[i], coordinates[j], geographic);
  const travel = problem.travel.map((row, i) =>
    row.map((old, j) => (i === j ? 0 : i === region || j === region ? cost(i, j) : old)));
  return { ...problem, coordinates, travel };
}

/** Add a region with typical detours and a model halfway between those of the two nearest regions. */
export function added(problem, place, detour, geographic) {
  const old = problem.travel.length;
  const gaps = problem.coordinates.map((other) => distance(place, other, geographic));
  const [a, b] = gaps.map((gap, i) => [gap, i]).sort((p, q) => p[0] - q[0]).map(([, i]) => i);
  const costs = gaps.map((gap) => detour.typical * gap);
  const made = {
    ...problem,
    regions: [...problem.regions, freeName([...problem.regions, problem.depot?.name])],
    coordinates: [...problem.coordinates, place],
    travel: [...problem.travel.map((row, i) => [...row, costs[i]]), [...costs, 0]],
  };
  const halfway = (list) => list[a].map((x, k) => (x + list[b][k]) / 2);
  let apart;
  if (problem.vectors) {
    made.vectors = [...problem.vectors, halfway(problem.vectors)];
    apart = squared(problem.vectors[a], problem.vectors[b]);
  } else if (problem.transfer) { // measured errors: the mean of those of both regions
    const column = problem.transfer.map((row) => (row[a] + row[b]) / 2);
    const row = problem.transfer[a].map((error, j) => (error + problem.transfer[b][j]) / 2);
    apart = 0;
    made.transfer = [...problem.transfer.map((line, i) => [...line, column[i]]), [...row, (problem.transfer[a][a] + problem.transfer[b][b]) / 2]];
  } else {
    const delta = problem.dissimilarity;
    apart = delta[a][b];
    made.dissimilarity = withMiddle(delta, a, b);
  }
  if (problem.dissimilarity_estimate) made.dissimilarity_estimate = withMiddle(problem.dissimilarity_estimate, a, b);
  for (const field of ["initial", "initial_estimate"]) {
    if (problem[field]) made[field] = [...problem[field], Math.max(0, (problem[field][a] + problem[field][b]) / 2 - apart / 4)];
  }
  made.learner = withPositions(problem.learner, old + 1);
  if (problem.truth) made.truth = [...problem.truth, halfway(problem.truth)];
  for (const field of ["samples", "importance"]) if (problem[field]) made[field] = [...problem[field], problem[field][a]];
  if (problem.dissimilarity_low) {
    made.dissimilarity_low = [...problem.dissimilarity_low.map((line) => [...line, 0]), Array(old + 1).fill(0)];
  }
  const factors = [...detour.factors.map((row) => [...row, detour.typical]), Array(old + 1).fill(detour.typical)];
  return { problem: made, detour: { ...detour, factors }, between: [problem.regions[a], problem.regions[b]] };
}

/** Return squared distances with those of the point halfway between a and b added. */
function withMiddle(delta, a, b) {
  const row = delta.map((_, j) => Math.max(0, (delta[a][j] + delta[b][j]) / 2 - delta[a][b] / 4));
  return [...delta.map((line, i) => [...line, row[i]]), [...row, 0]];
}

/** Return the learner for another number of stops: if each stop has its own λ, the last one is repeated or removed. */
function withPositions(learner, size) {
  const own = learner.regularization;
  return Array.isArray(own) ? { ...learner, regularization: Array.from({ length: size }, (_, k) => own[Math.min(k, own.length - 1)]) } : learner;
}

/** Remove a region. */
export function removed(problem, region, detour) {
  const list = (values) => values.filter((_, i) => i !== region);
  const matrix = (rows) => list(rows).map(list);
  const made = { ...problem, learner: withPositions(problem.learner, problem.travel.length - 1) };
  for (const field of ["travel", "dissimilarity", "dissimilarity_low", "dissimilarity_estimate", "transfer"]) {
    if (problem[field]) made[field] = matrix(problem[field]);
  }
  for (const field of ["regions", "coordinates", "vectors", "initial", "initial_estimate", "truth", "samples", "importance"]) {
    if (problem[field]) made[field] = list(problem[field]);
  }
  Object.assign(made, withNames(problem, (name) => (name === problem.regions[region] ? undefined : name)));
  return { problem: made, detour: { ...detour, factors: matrix(detour.factors) } };
}

/** Rename a region. */
export function renamed(problem, region, name) {
  const old = problem.regions[region];
  const regions = problem.regions.map((other, i) => (i === region ? name : other));
  return { ...problem, regions, ...withNames(problem, (other) => (other === old ? name : other)) };
}

/** Return constraints and visits with renamed regions; those of removed regions are dropped. */
function withNames({ constraints, visits }, change) {
  const made = {};
  if (constraints) {
    made.constraints = { ...constraints };
    for (const end of ["start", "end"]) {
      if (!(end in constraints)) continue;
      made.constraints[end] = change(constraints[end]);
      if (made.constraints[end] === undefined) delete made.constraints[end];
    }
  }
  if (visits) {
    made.visits = { ...visits };
    for (const list of ["required", "forbidden"]) {
      if (Array.isArray(visits[list])) made.visits[list] = visits[list].map(change).filter((name) => name !== undefined);
    }
  }
  return made;
}

function freeName(names) {
  let k = names.length;
  while (names.includes(`New ${k}`)) k++;
  return `New ${k}`;
}

/** Return the street paths after an edit: those of moved or new regions are straight, those of removed regions are dropped. */
export const waysWithout = (ways, region) => ways && ways.map((row, i) => row.map((way, j) => (i === region || j === region ? null : way)));
export const waysWithOneMore = (ways, region) => {
  const wider = (list, entry) => [...list.slice(0, region), entry, ...list.slice(region)];
  return ways && wider(ways.map((row) => wider(row, null)), Array(ways.length + 1).fill(null));
};
export const waysWithOneLess = (ways, region) => ways && ways.filter((_, i) => i !== region).map((row) => row.filter((_, j) => j !== region));
