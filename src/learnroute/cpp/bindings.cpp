// The Python module: one function per part of the core, each in its own bindings_*.cpp.

#include "bindings.h"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core: local search, construction, matching, proofs. No validation; callers check.";
    learnroute::bind_candidates(m);
    learnroute::bind_construction(m);
    learnroute::bind_local_search(m);
    learnroute::bind_crossover(m);
    learnroute::bind_matching(m);
    learnroute::bind_metric(m);
    learnroute::bind_proofs(m);
    learnroute::bind_routes(m);
    learnroute::bind_rehearsal(m);
}
