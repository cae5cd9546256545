// The binding of walks: see compiled.pyi for what it offers.
#include "slice_module.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "ridge_types.hpp"
#include "slice_walk.hpp"

namespace py = pybind11;

namespace polyrelu {
namespace {

/// An array whose memory the core reads or writes later, so that it must have the right type.
template <class T>
using Borrowed = py::array_t<T, py::array::c_style>;

/// For each layer its width and blocks: source, transposed weights, largest magnitudes.
using Layers = std::vector<std::pair<
    std::size_t, std::vector<std::tuple<std::size_t, Borrowed<double>, Borrowed<double>>>>>;

/// Hand a vector over to Python, in rows of `width` entries, or flat for width 0.
template <class T>
py::array given(std::vector<T>&& entries, std::size_t width = 0) {
    auto* owned = new std::vector<T>(std::move(entries));
    const py::capsule owner(owned, [](void* place) { delete static_cast<std::vector<T>*>(place); });
    const auto size = static_cast<py::ssize_t>(owned->size());
    if (width == 0) return py::array_t<T>({size}, owned->data(), owner);
    const auto columns = static_cast<py::ssize_t>(width);
    return py::array_t<T>({size / columns, columns}, owned->data(), owner);
}

PlaneVector vector_of(const std::vector<double>& entries, std::size_t dimension) {
    if (entries.size() != dimension) throw std::invalid_argument("a vector has the wrong length");
    PlaneVector vector{};
    for (std::size_t c = 0; c < dimension; ++c) vector[c] = entries[c];
    return vector;
}

/// The weights of a network, with the arrays of Python that have them.
class Weights {
public:
    explicit Weights(const Layers& layers, const std::vector<double>& rounding)
        : inner_(std::make_shared<SliceWeights>()) {
        if (rounding.size() != layers.size()) throw std::invalid_argument("a number for each layer");
        for (const auto& [width, blocks] : layers) {
            SliceLayer& layer = inner_->layers.emplace_back();
            layer.first = inner_->num_neurons;
            layer.width = width;
            layer.rounding = rounding[inner_->layers.size() - 1];
            inner_->num_neurons += width;
            for (const auto& [source, weights, largest] : blocks) {
                const bool fits =
                    source + 1 < inner_->layers.size() && weights.ndim() == 2 &&
                    static_cast<std::size_t>(weights.shape(0)) == inner_->layers[source].width &&
                    static_cast<std::size_t>(weights.shape(1)) == width &&
                    largest.size() == weights.shape(0);
                if (!fits) throw std::invalid_argument("weights have the wrong shape");
                layer.blocks.push_back({source, weights.data(), largest.data()});
                kept_.append(weights);
                kept_.append(largest);
            }
        }
    }
    std::shared_ptr<const SliceWeights> inner() const { return inner_; }

private:
    std::shared_ptr<SliceWeights> inner_;
    py::list kept_;
};

/// The forms on a cell and the steps from there, in arrays of Python.
class Walker {
public:
    Walker(const Weights& weights, Borrowed<double> constants, Borrowed<double> constant_errors,
           Borrowed<double> columns, Borrowed<double> errors, Borrowed<std::int8_t> signs)
        : kept_(py::make_tuple(constants, constant_errors, columns, errors, signs)),
          forms_(weights.inner(), arrays(weights, constants, constant_errors, columns, errors, signs)),
          walk_(forms_) {}
    Walker(const Walker&) = delete;
    Walker& operator=(const Walker&) = delete;

    void refresh(std::size_t from) {
        const py::gil_scoped_release released;
        forms_.refresh(from);
    }
    void flip(std::size_t place) {
        expect_place(static_cast<std::int64_t>(place), false);
        forms_.flip(place);
    }
    std::size_t num_flips() const { return forms_.num_flips(); }

    py::object next(std::int64_t carrier, std::int64_t back, const std::vector<double>& ray,
                    const std::vector<double>& position, const std::vector<double>& scales) {
        const std::optional<SliceStep> step = walk_.next(line(carrier, back, ray, position, scales));
        if (!step) return py::none();
        const std::size_t k = forms_.dimension();
        const auto listed = [k](const PlaneVector& vector) {
            return py::cast(std::vector<double>(vector.begin(), vector.begin() + static_cast<std::ptrdiff_t>(k)));
        };
        return py::make_tuple(step->place, listed(step->beyond), listed(step->near));
    }

    py::tuple run(std::int64_t carrier, std::int64_t back, const std::vector<double>& position,
                  const std::vector<double>& scales, std::size_t most, std::int64_t target,
                  const std::optional<Borrowed<std::uint8_t>>& watched,
                  const std::optional<Borrowed<std::int8_t>>& first) {
        expect_place(back, false);
        const std::size_t n = forms_.num_neurons(), k = forms_.dimension();
        SliceLine at = line(carrier, back, std::vector<double>(k), position, scales);
        LegLimits limits{most, target, watched ? watched->data() : nullptr,
                         first ? first->data() : nullptr};
        if ((watched && static_cast<std::size_t>(watched->size()) != n) ||
            (first && static_cast<std::size_t>(first->size()) != n))
            throw std::invalid_argument("an entry for each neuron is needed");
        Leg leg;
        {
            const py::gil_scoped_release released;
            leg = walk_.run(at, limits);
        }
        return py::make_tuple(given(std::move(leg.switched)), given(std::move(leg.near), k),
                              given(std::move(leg.beyond), k), leg.is_closed);
    }

private:
    static SliceArrays arrays(const Weights& weights, const Borrowed<double>& constants,
                              const Borrowed<double>& constant_errors, Borrowed<double>& columns,
                              Borrowed<double>& errors, Borrowed<std::int8_t>& signs) {
        const auto n = static_cast<py::ssize_t>(weights.inner()->num_neurons);
        const py::ssize_t rows = columns.ndim() == 2 ? columns.shape(0) : 0;
        for (const py::array& array : {py::array(constants), py::array(constant_errors),
                                       py::array(columns), py::array(errors)})
            if (array.ndim() != 2 || array.shape(0) != rows || array.shape(1) != n)
                throw std::invalid_argument("forms have the wrong shape");
        if (rows < 2 || rows > 3 || signs.size() != n)
            throw std::invalid_argument("walks lead through lines and planes");
        return {static_cast<std::size_t>(rows) - 1, constants.data(),      constant_errors.data(),
                columns.mutable_data(),             errors.mutable_data(), signs.mutable_data()};
    }
    SliceLine line(std::int64_t carrier, std::int64_t back, const std::vector<double>& ray,
                   const std::vector<double>& position, const std::vector<double>& scales) const {
        const std::size_t k = forms_.dimension();
        expect_place(carrier, true);
        expect_place(back, true);
        if ((carrier >= 0) != (k == 2)) throw std::invalid_argument("planes need a carrier");
        return {carrier, back, vector_of(ray, k), vector_of(position, k), vector_of(scales, k)};
    }
    void expect_place(std::int64_t place, bool may_be_none) const {
        if (place < (may_be_none ? -1 : 0) ||
            place >= static_cast<std::int64_t>(forms_.num_neurons()))
            throw std::invalid_argument("there is no such neuron");
    }

    py::tuple kept_;
    SliceForms forms_;
    SliceWalk walk_;
};

/// Derivatives at many ridges, with the arrays of Python that have the weights.
class Derivatives {
public:
    /// The transposed weights modulo the prime of all layers after the first one.
    Derivatives(const std::vector<Borrowed<double>>& weights, double prime)
        : kept_(py::cast(weights)), inner_(layers(weights), prime) {}

    /// For each ridge (u, v) and its active neurons, a row of bits, the derivatives by u and by v.
    py::tuple jumps(const Borrowed<std::int64_t>& pairs, const Borrowed<std::uint8_t>& active) {
        const std::size_t outputs = inner_.num_outputs(), n = inner_.num_neurons();
        if (pairs.ndim() != 2 || pairs.shape(1) != 2 || active.ndim() != 2 ||
            active.shape(0) != pairs.shape(0) ||
            static_cast<std::size_t>(active.shape(1)) * 8 < n)
            throw std::invalid_argument("a pair and a bit for each neuron are needed");
        const auto count = static_cast<std::size_t>(pairs.shape(0));
        const auto width = static_cast<std::size_t>(active.shape(1));
        for (std::size_t i = 0; i < 2 * count; ++i)
            if (pairs.data()[i] < 0 || static_cast<std::size_t>(pairs.data()[i]) >= n)
                throw std::invalid_argument("there is no such neuron");
        std::vector<double> bends(count), at_u(count * outputs), at_v(count * outputs);
        {
            const py::gil_scoped_release released;
            for (std::size_t i = 0; i < count; ++i) {
                const auto u = static_cast<std::size_t>(pairs.data()[2 * i]);
                const auto v = static_cast<std::size_t>(pairs.data()[2 * i + 1]);
                const std::uint8_t* bits = active.data() + i * width;
                bends[i] = inner_.derivatives(u, v, bits, &at_u[i * outputs]);
                inner_.derivatives(v, v, bits, &at_v[i * outputs]);
            }
        }
        return py::make_tuple(given(std::move(bends)), given(std::move(at_u), outputs),
                              given(std::move(at_v), outputs));
    }

private:
    static std::vector<ModularLayer> layers(const std::vector<Borrowed<double>>& weights) {
        std::vector<ModularLayer> found;
        std::size_t first = 0;
        for (const auto& table : weights) {
            if (table.ndim() != 2 || table.shape(0) < 1 || table.shape(1) < 1 ||
                (!found.empty() && static_cast<std::size_t>(table.shape(0)) != found.back().width))
                throw std::invalid_argument("weights have the wrong shape");
            const auto sources = static_cast<std::size_t>(table.shape(0));
            found.push_back({first, sources, static_cast<std::size_t>(table.shape(1)), table.data()});
            first += sources;
        }
        if (found.empty()) throw std::invalid_argument("there is no layer");
        return found;
    }

    py::object kept_;
    RidgeTypes inner_;
};

}  // namespace

void bind_slice_walks(py::module_& module) {
    py::class_<Derivatives>(module, "Derivatives")
        .def(py::init<const std::vector<Borrowed<double>>&, double>())
        .def("jumps", &Derivatives::jumps);
    py::class_<Weights>(module, "WalkWeights")
        .def(py::init<const Layers&, const std::vector<double>&>());
    py::class_<Walker>(module, "Walker")
        .def(py::init<const Weights&, Borrowed<double>, Borrowed<double>, Borrowed<double>,
                      Borrowed<double>, Borrowed<std::int8_t>>())
        .def("refresh", &Walker::refresh)
        .def("flip", &Walker::flip)
        .def("next", &Walker::next)
        .def("run", &Walker::run)
        .def_property_readonly("num_flips", &Walker::num_flips);
}

}  // namespace polyrelu
