#pragma once

#include <nanobind/nanobind.h>

namespace learnroute {
void bind_candidates(nanobind::module_ &m);
void bind_construction(nanobind::module_ &m);
void bind_crossover(nanobind::module_ &m);
void bind_local_search(nanobind::module_ &m);
void bind_matching(nanobind::module_ &m);
void bind_metric(nanobind::module_ &m);
void bind_proofs(nanobind::module_ &m);
void bind_rehearsal(nanobind::module_ &m);
void bind_routes(nanobind::module_ &m);
} // namespace learnroute
