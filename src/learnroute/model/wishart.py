"""The expected spectrum of a real Wishart matrix, as a quadrature: nodes and weights, computed once per shape.

Let G be N x M with independent standard normal entries, N <= M, a = M - N. `expected_spectrum` returns x and w with
E tr f(GG') = Σ w·f(x) for functions f that are smooth on the scale of x, without sampling and without a limit N → ∞.

- Up to `LARGEST_EXACT` rows, the mean density of the Laguerre orthogonal ensemble is evaluated exactly. In orthonormal
  Laguerre functions u_j (weight x^a·e^-x) it is the density of the unitary ensemble with one row less, plus a
  correction of rank one (Adler, Forrester, Nagao, van Moerbeke 2000):
  Σ_{j<N-1} u_j² - ½·sqrt((N-1)(M-1)/x)·u_{N-1}·E_{N-2}, with E_j(x) = ½·∫ sgn(x - y)·u_j(y)/sqrt(y) dy,
  and for odd N with u_{N-1}/sqrt(x), divided by its integral, added.
- Beyond, the bulk is the Marchenko–Pastur density with its 1/N correction (half an eigenvalue less, spread by the
  arcsine law, which the edges compensate). At both edges, the exact density is used: two Laguerre functions suffice
  for it, and their differential equation gives them at a cost that does not depend on N. A smooth window blends the
  two densities between the 50th and the 100th eigenvalue from the edge.

All computations are in t = sqrt(x), where the density is smooth at 0 for every a.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from learnroute.model.validation import FloatArray, freeze

LARGEST_EXACT = 300  # rows up to which the exact density is computed as a sum
LARGEST_HARD_EDGE = 400  # M - N up to which functions are integrated from t = 0
WINDOW = (50.0, 100.0)  # eigenvalues, counted from the left, between which the exact density becomes asymptotic
SPREAD = 9.0  # nodes reach this many typical fluctuations of an extreme eigenvalue beyond the edges

NODES = 16  # nodes per panel
_X, _W = np.polynomial.legendre.leggauss(NODES)


@lru_cache(maxsize=256)
def expected_spectrum(rows: int, columns: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes x and weights w with E tr f(GG') = Σ w·f(x), for G of N <= M rows and columns.

    The weights sum to N. Beyond the last node there is less than 1e-9 of an eigenvalue.
    """
    assert 1 <= rows <= columns
    if rows <= LARGEST_EXACT:
        nodes, weights = _exact(rows, columns)
    else:
        parts = [_edge(rows, columns, left=True), _bulk(rows, columns), _edge(rows, columns, left=False)]
        nodes, weights = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    kept = np.abs(weights) > 1e-60 * rows
    return freeze(nodes[kept]), freeze(weights[kept] * (rows / weights.sum()))


def largest_root(rows: int, columns: int) -> float:
    """Return a number that the largest singular value of G exceeds with a probability below 1e-9."""
    return math.sqrt(columns) + math.sqrt(rows) + SPREAD * _fluctuation(rows, columns)


def smallest_root(rows: int, columns: int) -> float:
    """Return a number that the smallest singular value of G hardly ever falls below; 0 for M near N."""
    return max(0.0, math.sqrt(columns) - math.sqrt(rows) - (SPREAD + 3) * _fluctuation(rows, columns))


def _fluctuation(rows: int, columns: int, left: bool = False) -> float:
    """Return the typical fluctuation of the largest singular value, or of the smallest (Tracy–Widom)."""
    sign = -1 if left else 1
    return 0.5 * math.cbrt(1 / math.sqrt(rows) + sign / math.sqrt(columns))


def _exact(rows: int, columns: int) -> tuple[FloatArray, FloatArray]:
    """Evaluate the density by the three-term recurrence, with a separate scale at each node."""
    a = columns - rows
    low, high = smallest_root(rows, columns), largest_root(rows, columns)
    edges = np.linspace(low, high, 1 + max(16, math.ceil(0.3 * math.sqrt(rows) * (high - low))))
    if low == 0:
        edges = _grade(edges)
    centre = math.sqrt(a) if low > 0 else 0.0  # nodes are stored as distances from it, for M far above N
    offset, weights = _panels(edges - centre)
    t = offset + centre
    above = offset * (2 * centre + offset) if low > 0 else t**2 - a  # x - a
    if low > 0:
        shift = a / 2 * (np.log1p(above / a) - above / a) - _log_factorial_remainder(a) / 2
    else:
        shift = (a * np.log(t) if a else 0.0) - t**2 / 2 - math.lgamma(a + 1) / 2
    scale = np.exp(shift)

    u, before, kernel = np.ones_like(t), np.zeros_like(t), np.zeros_like(t)
    half = np.zeros_like(t)  # E_{-1}
    if rows % 2 == 0:
        half, total = _running_integral(2 * scale, edges)
        half -= total / 2  # E_0
    b = _offdiagonal(rows, a)
    for j in range(rows - 1):
        kernel += u**2
        if j % 2 == (rows - 3) % 2 and j <= rows - 3:  # E_{j+1} from E_{j-1}
            half = (b[j] * half + 2 * t * u * scale) / b[j + 1]
        u, before = ((2 * j + 1 - above) * u - b[j] * before) / b[j + 1], u
        if j % 8 == 7:
            large = np.abs(u) > 1e60
            if large.any():
                u[large] *= 1e-60
                before[large] *= 1e-60
                kernel[large] *= 1e-120
                shift[large] += 60 * math.log(10)
                scale = np.exp(shift)
    last = u * scale
    density = 2 * t * (kernel * scale) * scale
    if rows > 1:
        density -= b[rows - 1] * last * half
    if rows % 2 == 1:
        density += last / float(np.sum(last * weights))
    return t**2, density * weights


def _bulk(rows: int, columns: int) -> tuple[FloatArray, FloatArray]:
    """Return the Marchenko–Pastur density with its 1/N correction, outside of the range of `_edge`."""
    windows = [_window(rows, columns, left) for left in (True, False)]
    rise, fall = (np.linspace(*window, 9) for window in windows)
    begin, end = math.log(rise[-1] / (math.pi - rise[-1])), math.log((math.pi - fall[-1]) / fall[-1])
    stretched = np.linspace(begin, end, 60)  # panels are finer at both ends
    edges = np.concatenate([rise[:-1], math.pi / (1 + np.exp(-stretched)), math.pi - fall[-2::-1]])
    angle, weights = _panels(edges)
    x = _place(rows, columns, angle, left=True)
    radius = 2 * math.sqrt(rows) * math.sqrt(columns)
    density = (radius * np.sin(angle)) ** 2 / (2 * math.pi * x) - 1 / (2 * math.pi)
    density *= (1 - _smooth_step(angle, *windows[0])) * (1 - _smooth_step(math.pi - angle, *windows[1]))
    return x, density * weights


def _place(rows: int, columns: int, angle: FloatArray, left: bool) -> FloatArray:
    """Return x at an angle from an edge: the Marchenko–Pastur law is a half circle from left to right."""
    edge = ((columns - rows) / (math.sqrt(columns) + math.sqrt(rows))) ** 2
    x: FloatArray = edge + 4 * math.sqrt(rows) * math.sqrt(columns) * (np.sin if left else np.cos)(angle / 2) ** 2
    return x


def _window(rows: int, columns: int, left: bool) -> tuple[float, float]:
    """Return the angles from an edge up to which the Marchenko–Pastur law has the eigenvalue counts of `WINDOW`."""
    angle = np.concatenate([[0.0], np.geomspace(1e-12, math.pi, 8000)])
    x = np.maximum(_place(rows, columns, angle, left), 1e-300)
    density = 2 * rows / math.pi * columns * np.sin(angle) ** 2 / x
    count = np.concatenate([[0.0], np.cumsum(np.diff(angle) * (density[1:] + density[:-1]) / 2)])
    first, last = np.interp(WINDOW, count, angle)
    return float(first), float(last)


def _smooth_step(angle: FloatArray, first: float, last: float) -> FloatArray:
    """Return 1 up to `first`, 0 from `last` on, and an infinitely smooth curve between."""
    z = np.clip((angle - first) / (last - first), 2e-3, 1 - 2e-3)
    value: FloatArray = 1 / (1 + np.exp(1 / (1 - z) - 1 / z))
    return value


def _edge(rows: int, columns: int, left: bool) -> tuple[FloatArray, FloatArray]:
    """Evaluate the exact density between an edge and its window, at a cost that does not depend on N."""
    a = columns - rows
    window = _window(rows, columns, left)
    first, last = np.sqrt(_place(rows, columns, np.array(window), left)).tolist()
    degrees = (rows - 2, rows - 1)
    if left and a <= LARGEST_HARD_EDGE:
        begin = min(math.sqrt((a + 1) / columns), first / 2)
        inner = _grade(np.array([0.0, begin]))
        outer = _steps(begin, last, rows, a)
        edges = np.concatenate([inner, outer[1:]])
        t, weights = _panels(edges)
        near = t[: NODES * (len(inner) - 1)]
        before, u = (
            np.concatenate([_series(near, degree, a), _chain(outer, _series_end(begin, degree, a), degree, a)[0]])
            for degree in degrees
        )
    else:
        lowest = math.sqrt(columns) - math.sqrt(rows) - (SPREAD + 3) * _fluctuation(rows, columns, left=True)
        edges = _steps(lowest if left else largest_root(rows, columns), last, rows, a)
        t, weights = _panels(edges)
        before, u = (_decaying(edges, degree, a, 1.0 if left or degree % 2 == 0 else -1.0) for degree in degrees)
    b = math.sqrt(rows - 1) * math.sqrt(columns - 1)
    kernel, _ = _running_integral(2 * b * t * u * before, edges)  # x·Σ u_j², whose derivative is b·u_{N-1}·u_{N-2}
    half, _ = _running_integral(2 * before, edges)
    if rows % 2 == 0:
        half += _integral(rows - 2, a) / (-2 if left else 2)
    density = 2 * kernel / t - b * u * half
    if rows % 2 == 1:
        density += 2 * u / _integral(rows - 1, a)
    edge = _place(rows, columns, np.zeros(1), left)
    share = np.abs(t**2 - edge) / (4 * math.sqrt(rows) * math.sqrt(columns))
    angle = np.where((t**2 > edge) == left, 2 * np.arcsin(np.sqrt(np.minimum(share, 1.0))), 0.0)
    return t**2, density * np.abs(weights) * _smooth_step(angle, *window)


def _series(t: FloatArray, degree: int, a: int) -> FloatArray:
    """Return u_j near 0 by its power series."""
    value: FloatArray = np.exp(_log_factor(degree, a) + a * np.log(t) - t**2 / 2) * _hypergeometric(t**2, degree, a, 0)
    return value


def _series_end(t: float, degree: int, a: int) -> tuple[float, float, float]:
    """Return v = sqrt(t)·u_j near 0, as the logarithm of its scale, its value and its slope."""
    x = np.array([t**2])
    value = float(_hypergeometric(x, degree, a, 0)[0])
    rise = -degree / (a + 1) * float(_hypergeometric(x, degree, a, 1)[0])
    log_scale = _log_factor(degree, a) + (a + 0.5) * math.log(t) - t**2 / 2
    return log_scale, value, value * ((a + 0.5) / t - t) + 2 * t * rise


def _log_factor(degree: int, a: int) -> float:
    """Return log(u_j/t^a) at 0, half of log(Γ(j+a+1)/j!), minus log Γ(a+1)."""
    return 0.5 * float(np.sum(np.log(degree + np.arange(1.0, a + 1)))) - math.lgamma(a + 1)


def _hypergeometric(x: FloatArray, degree: int, a: int, shift: int) -> FloatArray:
    """Return 1F1(shift - j; a + 1 + shift; x), for x of at most about (a + 1)/j."""
    term, value = np.ones_like(x), np.ones_like(x)
    for k in range(40):
        term = term * ((k + shift - degree) * x / ((k + 1) * (a + 1 + shift + k)))
        value += term
    return value


def _decaying(edges: FloatArray, degree: int, a: int, sign: float) -> FloatArray:
    """Return u_j from where it is negligible; its scale is set at the far end, where it is a wave.

    There v is A·cos(phase)/Q^(1/4) with A² = 2/π, with an error of the inverse square of the number of waves.
    """
    q = _wave_number(edges[[0, -1]], degree, a)
    slope = math.copysign(math.sqrt(abs(q[0])), edges[1] - edges[0])
    values, value, slope = _chain(edges, (0.0, 1.0, slope), degree, a)
    t = float(edges[-1])
    wave, bend = math.sqrt(q[1]), (-2 * t + 2 * (a**2 - 0.25) / t**3) / (4 * q[1])  # Q'/(4Q)
    size = wave * value**2 + (slope + bend * value) ** 2 / wave
    return values * (sign * math.sqrt(2 / (math.pi * size)))


def _wave_number(t: FloatArray, degree: int, a: int) -> FloatArray:
    """Return Q of v'' + Q·v = 0, which v = sqrt(t)·u_j satisfies."""
    squared: FloatArray = 4.0 * degree + 2 - (t - a / t) ** 2 + 0.25 / t**2
    return squared


def _steps(begin: float, end: float, rows: int, a: int) -> FloatArray:
    """Return edges of panels on which v turns by at most a few radians and grows by at most a few powers of e."""
    edges = [begin]
    left = begin < end
    turning = min(1.5 / max(1e-100, _fluctuation(rows, rows + a, left)), math.sqrt(rows))  # where Q is close to 0
    while edges[-1] != end:
        t = edges[-1]
        rate = math.sqrt(abs(float(_wave_number(np.array([t]), rows, a)[0]))) + turning
        step = min(4 / rate, t / 2)
        edges.append((t + step if left else t - step) if step < abs(end - t) else end)
    return np.array(edges)


def _chain(
    edges: FloatArray, start: tuple[float, float, float], degree: int, a: int
) -> tuple[FloatArray, float, float]:
    """Continue u_j over panels by collocation: solve all panels at once, then join one panel after the other.

    Return u_j at the nodes, and v = sqrt(t)·u_j with its slope at the last edge.
    """
    t = _panels(edges)[0].reshape(-1, NODES)
    width = np.diff(edges) / 2
    squared = _wave_number(t, degree, a)
    twice = _INTEGRATION @ _INTEGRATION
    system = np.eye(NODES) + (squared * width[:, None] ** 2)[:, :, None] * twice
    lines = np.stack([np.ones_like(t), t - edges[:-1, None]], axis=2)
    bent = np.linalg.solve(system, -squared[:, :, None] * lines)  # v'' of the solutions that begin like the lines
    inside = lines + (width**2)[:, None, None] * (twice @ bent)
    ends = np.einsum("k,pkc->pc", _W * (1 - _X), bent) * (width**2)[:, None]
    slopes = np.einsum("k,pkc->pc", _W, bent) * width[:, None]
    log_scale, value, slope = start
    found = np.empty_like(t)
    for p in range(len(t)):
        found[p] = math.exp(max(log_scale, -700.0)) * (value * inside[p, :, 0] + slope * inside[p, :, 1])
        value, slope = (
            value * (1 + ends[p, 0]) + slope * (2 * width[p] + ends[p, 1]),
            value * slopes[p, 0] + slope * (1 + slopes[p, 1]),
        )
        size = abs(value) + abs(slope * width[p])
        value, slope, log_scale = value / size, slope / size, log_scale + math.log(size)
    return (found / np.sqrt(t)).ravel(), math.exp(log_scale) * value, math.exp(log_scale) * slope


def _integral(degree: int, a: int) -> float:
    """Return ∫ u_j(x)/sqrt(x) dx for even j, 2·[Γ(k+b)/Γ(k+b+½)]·[Γ(k+½)/Γ(k+1)] squared; k = j/2, b = (a+1)/2."""
    k = degree // 2
    return math.sqrt(2 * _half_step(k + (a + 1) / 2) * _half_step(k + 0.5))


def _half_step(z: float) -> float:
    """Return Γ(z)/Γ(z + ½) for large z."""
    return (1 + 1 / (8 * z) + 1 / (128 * z**2) - 5 / (1024 * z**3) - 21 / (32768 * z**4)) / math.sqrt(z)


def _log_factorial_remainder(a: int) -> float:
    """Return log(a!) - a·log(a) + a."""
    return 0.5 * math.log(2 * math.pi * a) + 1 / (12 * a) if a > 10**4 else math.lgamma(a + 1) - a * math.log(a) + a


def _offdiagonal(rows: int, a: int) -> FloatArray:
    j = np.arange(rows + 1, dtype=np.float64)
    return np.asarray(np.sqrt(j * (j + a)))


def _grade(edges: FloatArray) -> FloatArray:
    """Split the first panel, which starts at 0, so that functions of x/λ are resolved for λ as small as 1e-50."""
    return np.concatenate([[0.0], edges[1] * 8.0 ** np.arange(-30, 0), edges[1:]])


def _panels(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Legendre nodes and weights on panels."""
    half = np.diff(edges)[:, None] / 2
    return ((edges[:-1, None] + half) + half * _X).ravel(), (half * _W).ravel()


def _running_integral(values: FloatArray, edges: FloatArray) -> tuple[FloatArray, float]:
    """Return the integral from the first edge to each node, and over all panels."""
    half = np.diff(edges)[:, None] / 2
    on_panels = values.reshape(-1, NODES)
    whole = (on_panels * _W).sum(axis=1) * half[:, 0]
    inside = half * (on_panels @ _INTEGRATION.T)
    running = (np.cumsum(whole) - whole)[:, None] + inside
    return running.ravel(), float(whole.sum())


def _integration_matrix() -> FloatArray:
    """Return the matrix that maps values at the nodes of [-1, 1] to integrals from -1 to the nodes."""
    legendre = np.polynomial.legendre.legvander(_X, NODES)
    degrees = np.arange(1, NODES)
    coefficients = (np.arange(NODES)[:, None] + 0.5) * (legendre[:, :NODES] * _W[:, None]).T
    integrals = (legendre[:, 2:] - legendre[:, :-2]) / (2 * degrees + 1)
    matrix: FloatArray = np.column_stack([_X + 1, integrals]) @ coefficients
    return matrix


_INTEGRATION = _integration_matrix()
