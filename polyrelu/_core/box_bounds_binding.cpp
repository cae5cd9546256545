// The part of `polyrelu._core.compiled` for bounds on boxes, see compiled.pyi.
#include "box_bounds_binding.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "box_bounds.hpp"
#include "team.hpp"

namespace py = pybind11;

namespace polyrelu {
namespace {

template <class T>
using Input = py::array_t<T, py::array::c_style | py::array::forcecast>;
/// An array that is written, so that it must have the right type from the start.
template <class T>
using Written = py::array_t<T, py::array::c_style>;

template <class T>
std::vector<T> copied(const Input<T>& input) {
    return {input.data(), input.data() + input.size()};
}

/// W, b, V, c, Δ, δ and the partners of a layer.
template <class T>
using Tables = std::tuple<Input<T>, Input<T>, Input<T>, Input<T>, Input<T>, Input<T>,
                          std::optional<Input<std::int32_t>>>;

template <class T>
PairLayer<T> layer_of(const Tables<T>& tables, bool is_single) {
    const auto& [weights, biases, other_weights, other_biases, changes, bias_changes, partners] =
        tables;
    PairLayer<T> layer;
    layer.width = static_cast<std::size_t>(weights.shape(0));
    layer.before = static_cast<std::size_t>(weights.shape(1));
    layer.weights = copied(weights);
    layer.biases = copied(biases);
    if (is_single) return layer;
    layer.other_width = static_cast<std::size_t>(other_weights.shape(0));
    layer.other_before = static_cast<std::size_t>(other_weights.shape(1));
    layer.other_weights = copied(other_weights);
    layer.other_biases = copied(other_biases);
    layer.weight_changes = copied(changes);
    layer.bias_changes = copied(bias_changes);
    layer.is_aligned = !partners.has_value();
    if (partners.has_value()) {
        layer.partners = copied(*partners);
    } else {
        for (std::size_t j = 0; j < layer.other_width; ++j)
            layer.partners.push_back(static_cast<std::int32_t>(j));
    }
    return layer;
}

/// A pair of networks with rows, for bounds on boxes.
template <class T>
class Bounder {
public:
    Bounder(std::size_t num_inputs, bool is_single, const std::vector<Tables<T>>& layers,
            const std::tuple<Input<T>, Input<T>, Input<T>, Input<T>, Input<T>>& rows,
            std::size_t num_threads)
        : copies_(BoxBounder<T>(num_inputs, is_single, layers_of(layers, is_single), rows_of(rows)),
                  num_threads) {}

    /// Bound the wanted rows on boxes, see `BoxBounder::bound`.
    py::tuple bound(const Input<T>& low, const Input<T>& high, Written<T> table,
                    const Input<std::uint8_t>& wanted, bool is_joint,
                    const std::optional<Input<std::int8_t>>& signs) {
        const py::ssize_t count = low.shape(0);
        const auto rows = static_cast<py::ssize_t>(copies_.first().num_rows());
        const auto inputs = static_cast<py::ssize_t>(copies_.first().num_inputs());
        if (high.size() != count * inputs || low.size() != count * inputs ||
            wanted.size() != count * rows ||
            table.size() != count * static_cast<py::ssize_t>(copies_.first().num_columns()) ||
            (signs.has_value() &&
             signs->size() != count * static_cast<py::ssize_t>(copies_.first().num_signs())))
            throw std::invalid_argument("arrays of other shapes are needed for bounds on boxes");
        py::ssize_t number = 0;
        for (py::ssize_t i = 0; i < wanted.size(); ++i) number += wanted.data()[i] != 0;
        py::array_t<T> joint({count, rows}), alone({count, rows});
        py::array_t<T> slope({number, inputs}), scores({number, inputs});
        py::array_t<std::int32_t> worst(number);
        py::array_t<std::uint8_t> is_open(count);
        const BoxBatch<T> batch{static_cast<std::size_t>(count), low.data(), high.data(),
                                table.mutable_data(), wanted.data(),
                                signs.has_value() ? signs->data() : nullptr, is_joint};
        const BatchBounds<T> found{joint.mutable_data(), alone.mutable_data(),
                                   slope.mutable_data(), scores.mutable_data(),
                                   worst.mutable_data(), is_open.mutable_data()};
        {
            const py::gil_scoped_release released;
            copies_.share(batch.count, [&](BoxBounder<T>& bounder, Range boxes) {
                const auto [some, its] = part_of(batch, found, boxes);
                bounder.bound(some, its);
            });
        }
        return py::make_tuple(joint, alone, slope, scores, worst, is_open);
    }

private:
    /// Some boxes of a batch, and the places of what is found on them.
    std::pair<BoxBatch<T>, BatchBounds<T>> part_of(const BoxBatch<T>& batch,
                                                   const BatchBounds<T>& found,
                                                   Range boxes) const {
        const BoxBounder<T>& first = copies_.first();
        const std::size_t start = boxes.begin, rows = first.num_rows(), size = first.num_inputs();
        const auto number = static_cast<std::size_t>(std::count_if(
            batch.wanted, batch.wanted + start * rows, [](std::uint8_t x) { return x != 0; }));
        BoxBatch<T> some = batch;
        some.count = boxes.end - start;
        some.low += start * size;
        some.high += start * size;
        some.table += start * first.num_columns();
        some.wanted += start * rows;
        if (some.signs != nullptr) some.signs += start * first.num_signs();
        return {some,
                {found.joint + start * rows, found.alone + start * rows,
                 found.slope + number * size, found.scores + number * size, found.worst + number,
                 found.is_open + start}};
    }
    static std::vector<PairLayer<T>> layers_of(const std::vector<Tables<T>>& layers,
                                               bool is_single) {
        std::vector<PairLayer<T>> found;
        for (const Tables<T>& tables : layers) found.push_back(layer_of<T>(tables, is_single));
        return found;
    }
    static PairRows<T> rows_of(
        const std::tuple<Input<T>, Input<T>, Input<T>, Input<T>, Input<T>>& rows) {
        const auto& [joint, on_f, on_g, on_x, constant] = rows;
        return {static_cast<std::size_t>(constant.size()), copied(joint), copied(on_f),
                copied(on_g), copied(on_x), copied(constant)};
    }

    Copies<BoxBounder<T>> copies_;
};

template <class T>
void bind(py::module_& module, const char* name) {
    py::class_<Bounder<T>>(module, name)
        .def(py::init<std::size_t, bool, const std::vector<Tables<T>>&,
                      const std::tuple<Input<T>, Input<T>, Input<T>, Input<T>, Input<T>>&,
                      std::size_t>())
        .def("bound", &Bounder<T>::bound);
}

}  // namespace

void bind_box_bounds(py::module_& module) {
    bind<float>(module, "ShortBoxBounder");
    bind<double>(module, "BoxBounder");
}

}  // namespace polyrelu
