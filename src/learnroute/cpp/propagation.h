#pragma once

#include "edge_status.h"

namespace learnroute {
/// Propagation: fix edges that follow from fixed ones, because a tour has two edges at each vertex and no subtours.
///
/// If a vertex has two edges fixed to 1, its other edges are fixed to 0. If only two of its edges are not fixed to 0,
/// both are fixed to 1. The edge between the ends of a path is fixed to 0, unless it closes the tour. Returns false if
/// no tour remains.
bool propagate(MutableStatus status);
} // namespace learnroute
