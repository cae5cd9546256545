// The part of `polyrelu._core.compiled` for the rule of certificates of bounds, see compiled.pyi.
#include "grid_rule_binding.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "grid_rule.hpp"
#include "team.hpp"

namespace py = pybind11;

namespace polyrelu {
namespace {

template <class T>
using Input = py::array_t<T, py::array::c_style | py::array::forcecast>;
using Integers = Input<std::int64_t>;

template <class T>
std::vector<T> copied(const Input<T>& input) {
    return {input.data(), input.data() + input.size()};
}

/// A matrix, and whether it was rounded.
using Matrix = std::tuple<Integers, bool>;
/// W and b; Δ, V and δ; c; the partners; whether the layer has ReLUs, and is the last such one.
using Tables = std::tuple<Matrix, Matrix, Matrix, Matrix, Matrix, Matrix, Input<std::int32_t>,
                          bool, bool>;

GridMatrix matrix_of(const Matrix& given) {
    const auto& [entries, is_rounded] = given;
    GridMatrix matrix;
    matrix.height = static_cast<std::size_t>(entries.shape(0));
    matrix.width = static_cast<std::size_t>(entries.shape(1));
    matrix.entries = copied(entries);
    matrix.is_rounded = is_rounded;
    return matrix;
}

RuleLayer layer_of(const Tables& tables) {
    const auto& [own, bias, by_values, by_differences, shift, other_bias, partners, is_hidden,
                 is_last_hidden] = tables;
    RuleLayer layer;
    layer.own = matrix_of(own);
    layer.by_values = matrix_of(by_values);
    layer.by_differences = matrix_of(by_differences);
    layer.bias = copied(std::get<0>(bias));
    layer.is_bias_exact = !std::get<1>(bias);
    layer.shift = copied(std::get<0>(shift));
    layer.is_shift_exact = !std::get<1>(shift);
    layer.other_bias = copied(std::get<0>(other_bias));
    layer.is_other_bias_exact = !std::get<1>(other_bias);
    layer.partners = copied(partners);
    layer.is_hidden = is_hidden;
    layer.is_last_hidden = is_last_hidden;
    return layer;
}

class Rule {
public:
    Rule(int grid, std::size_t num_inputs, bool is_single, const std::vector<Tables>& layers,
         const std::tuple<Integers, Integers, Integers>& rows, std::size_t num_threads)
        : copies_(GridRule(grid, num_inputs, is_single, layers_of(layers), rows_of(rows)),
                 num_threads) {}

    /// Apply the rule to boxes, see compiled.pyi.
    py::tuple bound(const Integers& centers, const Integers& radii,
                    const std::optional<Input<std::int8_t>>& signs, int kind) {
        const auto count = static_cast<std::size_t>(centers.shape(0));
        const GridRule& first = copies_.first();
        const std::size_t inputs = first.num_inputs(), rows = first.num_rows();
        const std::size_t num_signs = first.num_signs();
        check_shapes(centers, radii, signs);
        if (kind < 0 || kind > 2) throw std::invalid_argument("the rule has three kinds of leaves");
        const auto height = static_cast<py::ssize_t>(count), width = static_cast<py::ssize_t>(rows);
        py::array_t<std::uint8_t> states(height);
        py::array_t<std::int64_t> generators(height);
        py::array_t<std::int64_t> high({height, py::ssize_t{3}, width});
        py::array_t<std::uint64_t> low({height, py::ssize_t{3}, width});
        std::uint8_t* state = states.mutable_data();
        std::int64_t* number = generators.mutable_data();
        std::int64_t* above = high.mutable_data();
        std::uint64_t* below = low.mutable_data();
        {
            const py::gil_scoped_release released;
            copies_.share(count, [&](GridRule& rule, Range boxes) {
                for (std::size_t i = boxes.begin; i < boxes.end; ++i) {
                    RuleBounds found;
                    const RuleState reached = rule.bound(
                        centers.data() + i * inputs, radii.data() + i * inputs,
                        signs.has_value() ? signs->data() + i * num_signs : nullptr,
                        static_cast<RuleKind>(kind), found);
                    state[i] = static_cast<std::uint8_t>(reached);
                    number[i] = static_cast<std::int64_t>(found.num_generators);
                    for (std::size_t k = 0; k < 3 * rows; ++k) {
                        const std::vector<Int128>& part = k < rows       ? found.by_forms
                                                          : k < 2 * rows ? found.backward
                                                                         : found.joint;
                        const Int128 bound =
                            reached == RuleState::bounded && !part.empty() ? part[k % rows] : 0;
                        above[i * 3 * rows + k] = static_cast<std::int64_t>(bound >> 64);
                        below[i * 3 * rows + k] = static_cast<std::uint64_t>(bound);
                    }
                }
            });
        }
        return py::make_tuple(states, generators, high, low);
    }

    /// Apply the rule of leaves `inherited` to boxes, see compiled.pyi.
    py::tuple bound_inherited(const Integers& centers, const Integers& radii,
                              const std::optional<Input<std::int8_t>>& signs, const Integers& known,
                              const Input<std::uint8_t>& is_known,
                              const Input<std::uint8_t>& wanted) {
        const auto count = static_cast<std::size_t>(centers.shape(0));
        const GridRule& first = copies_.first();
        const std::size_t inputs = first.num_inputs(), rows = first.num_rows();
        const std::size_t num_signs = first.num_signs();
        const std::size_t size = first.num_ends();
        check_shapes(centers, radii, signs);
        if (static_cast<std::size_t>(known.size()) != count * size ||
            static_cast<std::size_t>(is_known.size()) != count ||
            static_cast<std::size_t>(wanted.size()) != count * rows)
            throw std::invalid_argument("arrays of other shapes are needed for the rule");
        const auto height = static_cast<py::ssize_t>(count), width = static_cast<py::ssize_t>(rows);
        py::array_t<std::uint8_t> states(height);
        py::array_t<std::int64_t> ends({height, static_cast<py::ssize_t>(size)});
        py::array_t<std::int64_t> high({height, width});
        py::array_t<std::uint64_t> low({height, width});
        std::uint8_t* state = states.mutable_data();
        std::int64_t *to = ends.mutable_data(), *above = high.mutable_data();
        std::uint64_t* below = low.mutable_data();
        {
            const py::gil_scoped_release released;
            std::fill(to, to + count * size, 0);
            std::fill(above, above + count * rows, 0);
            std::fill(below, below + count * rows, 0);
            copies_.share(count, [&](GridRule& rule, Range boxes) {
                for (std::size_t i = boxes.begin; i < boxes.end; ++i) {
                    RuleBounds found;
                    const RuleState reached = rule.bound_inherited(
                        centers.data() + i * inputs, radii.data() + i * inputs,
                        signs.has_value() ? signs->data() + i * num_signs : nullptr,
                        is_known.data()[i] ? known.data() + i * size : nullptr,
                        wanted.data() + i * rows, to + i * size, found);
                    state[i] = static_cast<std::uint8_t>(reached);
                    if (reached != RuleState::bounded) continue;
                    for (std::size_t k = 0, place = 0; k < rows; ++k) {
                        if (!wanted.data()[i * rows + k]) continue;
                        Int128 bound = found.backward[place];
                        if (!found.joint.empty()) bound = std::min(bound, found.joint[place]);
                        above[i * rows + k] = static_cast<std::int64_t>(bound >> 64);
                        below[i * rows + k] = static_cast<std::uint64_t>(bound);
                        ++place;
                    }
                }
            });
        }
        return py::make_tuple(states, ends, high, low);
    }

    std::size_t num_ends() const { return copies_.first().num_ends(); }

private:
    void check_shapes(const Integers& centers, const Integers& radii,
                      const std::optional<Input<std::int8_t>>& signs) const {
        const auto count = static_cast<std::size_t>(centers.shape(0));
        if (static_cast<std::size_t>(centers.size()) != count * copies_.first().num_inputs() ||
            radii.size() != centers.size() ||
            (signs.has_value() &&
             static_cast<std::size_t>(signs->size()) != count * copies_.first().num_signs()))
            throw std::invalid_argument("arrays of other shapes are needed for the rule");
    }
    static std::vector<RuleLayer> layers_of(const std::vector<Tables>& layers) {
        std::vector<RuleLayer> found;
        for (const Tables& tables : layers) found.push_back(layer_of(tables));
        return found;
    }
    static RuleRows rows_of(const std::tuple<Integers, Integers, Integers>& rows) {
        const auto& [on_x, on_values, on_differences] = rows;
        return {static_cast<std::size_t>(on_x.shape(0)), copied(on_x), copied(on_values),
                copied(on_differences)};
    }

    Copies<GridRule> copies_;
};

}  // namespace

void bind_grid_rule(py::module_& module) {
    py::class_<Rule>(module, "GridRule")
        .def(py::init<int, std::size_t, bool, const std::vector<Tables>&,
                      const std::tuple<Integers, Integers, Integers>&, std::size_t>())
        .def("bound", &Rule::bound)
        .def("bound_inherited", &Rule::bound_inherited)
        .def_property_readonly("num_ends", &Rule::num_ends);
}

}  // namespace polyrelu
