#pragma once

#include "matrix_view.h"

#include <vector>

namespace learnroute {
/// Min-cut separation (Stoer and Wagner 1997): sets S with x(δ(S)) < `limit`, found while computing the minimum cut.
///
/// `x` is the symmetric matrix of a solution of the LP relaxation. Edges with x_e > `one` are contracted first: if S
/// contains only a part of a path of such edges, including or excluding the whole path does not increase x(δ(S)).
std::vector<std::vector<Index>> minimum_cuts(MatrixView<double> x, double limit, double one);
} // namespace learnroute
