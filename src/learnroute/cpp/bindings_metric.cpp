#include "arrays.h"
#include "bindings.h"
#include "detours.h"

namespace learnroute {
using namespace nb::literals;

void bind_metric(nb::module_ &m) {
    using Shortest = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    m.def(
        "find_detours",
        [](FloatMatrix const &travel, FloatMatrix const &travel_back, IntMatrix const &near, double slack,
           Shortest const &shortest, std::size_t first, std::size_t last) {
            auto const out = std::span{shortest.data(), shortest.size()};
            nb::gil_scoped_release release;
            return find_detours(matrix_of(travel), matrix_of(travel_back), matrix_of(near), slack, out, first, last);
        },
        "travel"_a.noconvert(), "travel_back"_a.noconvert(), "near"_a.noconvert(), "slack"_a, "shortest"_a.noconvert(),
        "first"_a, "last"_a,
        "Lower `shortest` by detours with a short first leg; return the number that save more than `slack`.");
}
} // namespace learnroute
