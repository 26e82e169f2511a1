#pragma once

#include "edge_status.h"

namespace learnroute {
/// Propagation: fix what fixed edges imply, because a tour has two edges at each vertex and no subtours.
///
/// A vertex with two edges fixed to 1 takes no other; one with two edges left takes both; the edge between the ends of
/// a path is fixed to 0, unless it closes the tour. Returns false where no tour is left.
bool propagate(MutableStatus status);
} // namespace learnroute
