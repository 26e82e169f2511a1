// Placement of names on the map, clear of the route, the regions, other names and the edge.

const DIRECTIONS = [[0, -1], [1, 0], [0, 1], [-1, 0], [0.75, -0.75], [0.75, 0.75], [-0.75, 0.75], [-0.75, -0.75]];
const GAPS = [3, 10, 19]; // px between a region and its name
const HARD = 1000; // cost of covering a region, another name or the edge
const ROUNDS = 3;
const [HIGH, CLEAR] = [13, 1]; // px: height of a name, and free space around it

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** Return the length of a line (from x, from y, to x, to y) inside a box (Liang and Barsky). */
function lengthInside([x1, y1, x2, y2], box) {
  let [enter, leave] = [0, 1];
  for (const [from, way, low, high] of [[x1, x2 - x1, box[0], box[2]], [y1, y2 - y1, box[1], box[3]]]) {
    if (way === 0) {
      if (from <= low || from >= high) return 0;
    } else {
      const [a, b] = [(low - from) / way, (high - from) / way];
      enter = Math.max(enter, Math.min(a, b));
      leave = Math.min(leave, Math.max(a, b));
    }
  }
  return Math.max(0, leave - enter) * Math.hypot(x2 - x1, y2 - y1);
}

/**
 * Place names, each with x, y and radius of its region and its own width. Returns the box of each, whether it is far from its
 * region, and whether it is clear of regions, other names and the edge. Starts with the cheapest places, then moves each name given all others.
 */
export function placeNames(names, dots, lines, [width, height]) {
  const candidates = names.map(({ x, y, radius, width: wide }) => {
    const reach = [x - radius - wide - 26, y - radius - HIGH - 26, x + radius + wide + 26, y + radius + HIGH + 26];
    const near = lines.filter((line) => lengthInside(line, reach) > 0);
    return GAPS.flatMap((gap) => DIRECTIONS.map(([dx, dy], turn) => {
      const [cx, cy] = [x + dx * (radius + gap) + Math.sign(dx) * (wide / 2), y + dy * (radius + gap) + Math.sign(dy) * (HIGH / 2)];
      const box = [cx - wide / 2 - CLEAR, cy - HIGH / 2 - CLEAR, cx + wide / 2 + CLEAR, cy + HIGH / 2 + CLEAR];
      const outside = box[0] < 1 || box[1] < 1 || box[2] > width - 1 || box[3] > height - 1;
      const hits = dots.filter((dot) => overlap(box, [dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius])).length;
      const covered = near.reduce((sum, line) => sum + (lengthInside(line, box) > 0 ? 8 + lengthInside(line, box) : 0), 0);
      return { box, far: gap > GAPS[0], hard: outside + hits, cost: HARD * (outside + hits) + covered + gap / 2 + turn / 8 };
    })).sort((a, b) => a.cost - b.cost);
  });
  const chosen = candidates.map(([first]) => first);
  const clashes = (one, i) => chosen.filter((other, j) => j !== i && overlap(one.box, other.box)).length;
  for (let round = 0; round < ROUNDS; round++) {
    candidates.forEach((some, i) => {
      chosen[i] = some.map((one) => [one.cost + HARD * clashes(one, i), one]).reduce((a, b) => (b[0] < a[0] ? b : a))[1];
    });
  }
  const free = chosen.map(({ hard }) => hard === 0);
  chosen.forEach((one, i) => { // of two overlapping names, the later one is omitted
    if (free[i] && chosen.some((other, j) => j < i && free[j] && overlap(one.box, other.box))) free[i] = false;
  });
  return chosen.map(({ box, far }, i) => ({ box, far, free: free[i] }));
}
