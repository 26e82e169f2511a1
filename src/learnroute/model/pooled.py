"""Recursive least squares: the expected error of one fit to the samples of all regions together.

It stores the second moments of all features seen so far (m x m numbers) but no samples, and never forgets. So its final
model is the fit to all samples pooled, in any order: min Σ_k |X_k'w - y_k|²/N + λ·|w - w_0|², with X_k the m x n_k
samples of region k, N = Σ n_k, and λ the strength of the ridge prior around the initial model w_0.

With C = Σ X_k·X_k'/N and P = λ·(C + λI)⁻¹, the model is Σ W_k·w*_k + noise: W_0 = P (and w*_0 = w_0),
W_k = (C + λI)⁻¹·X_k·X_k'/N. These matrices sum to I and are rotation-invariant, so E W_k'W_l = c_kl·I, and with
s_k = Σ_l c_kl = E tr W_k/m the expected error in region j is

    e_j = Σ_k s_k·Δ[k, j] - ½·Σ_kl c_kl·Δ[k, l] + ν.

Samples are exchangeable, so s_k = (1 - p₁)·n_k/N, s_0 = p₁, c_0k = q·n_k/N, and c_kl = n_k·n_l·κ/m for k ≠ l, where
κ = E x_a'G²x_b·x_b'x_a for two different samples, G = (N·C + N·λ·I)⁻¹. All samples together give
E tr (I - P)² = N·(N - 1)·κ/m + N·η/m, with η the same for one sample and itself. The right singular vectors of a
Gaussian matrix are uniformly distributed, whatever its singular values √d: fourth moments of a unit vector in N
dimensions and E[Σd·f] = m·N·E f + 2·E[d/ds f(s·d) at s = 1] (Stein's identity) give

    N·(N + 2)·η = m·N·E Σ g + 2·E Σ d·g' + 2·E Σ d²/(d + α)²,   g = d/(d + α)²,   α = N·λ.

These are sums over one expected spectrum (`wishart`), exact for Gaussian features up to the error of its quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from learnroute.model.problem import Problem
from learnroute.model.spectrum import proximal_moments
from learnroute.model.validation import FloatArray
from learnroute.model.wishart import expected_spectrum


def pooled_curve(problem: Problem) -> Callable[[FloatArray], FloatArray]:
    """Return the expected final error (per region) of one fit to all samples, as a function of many λ > 0.

    Everything that does not depend on λ is computed once.
    """
    m, size, counts = problem.learner.features, problem.size, problem.counts.astype(np.float64)
    total = int(problem.counts.sum())
    shares = counts / total
    fitted = float(shares @ problem.scores) / size  # Σ_k n_k/N·Δ[k, j], the weighted mean over regions j
    between = _spread(problem, shares)
    initial = problem.initial_sum / size
    first = float(shares @ problem.initial_errors)

    def errors(table: FloatArray) -> FloatArray:
        moments = proximal_moments(m, total, table)
        return np.asarray(
            moments.plasticity * fitted
            + moments.retention * initial
            - 0.5 * _shared_weight(m, total, table) * between
            - moments.coupling * first
            + problem.learner.noise**2 * moments.noise
        )

    return errors


def floor_of(problem: Problem) -> float:
    """Return the error of the mean model, the weighted mean of all models: Σ_ij w_i·w_j·Δ[i, j]/(2T²).

    If Δ are squared distances, no model has a smaller error.
    """
    return math.fsum(problem.region_weights * problem.scores) / (2 * problem.size**2)


def _spread(problem: Problem, shares: FloatArray) -> float:
    """Return Σ_kl n_k·n_l/N²·Δ[k, l], regardless of the importance of the regions."""
    if problem.samples is None:
        alike = problem.importance is None
        sums = problem.scores if alike else problem.summed_dissimilarities(np.ones(problem.size))
        return math.fsum(sums) / problem.size**2
    return math.fsum(share * float(shares @ problem.dissimilarities_to(k)) for k, share in enumerate(shares.tolist()))


def _shared_weight(m: int, total: int, table: FloatArray) -> FloatArray:
    """Return κ·N²/m by λ: the part of the fit's second moments that comes from pairs of different samples."""
    d, weights = expected_spectrum(min(m, total), max(m, total))
    alpha = total * table[:, None]
    gain = d / (d + alpha) ** 2
    learnt = (d / (d + alpha)) ** 2 @ weights  # E tr (I - P)²
    slope = gain * (alpha - d) / (d + alpha)
    own = (m * total * (gain @ weights) + 2 * (slope @ weights) + 2 * learnt) / (total + 2)  # N·η
    return np.asarray((learnt - own) / m * (total / (total - 1)))
