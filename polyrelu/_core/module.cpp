// The Python module `polyrelu._core.compiled`: see compiled.pyi for what it offers.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "box_bounds_binding.hpp"
#include "grid_rule_binding.hpp"
#include "slice_module.hpp"
#include "span_search_binding.hpp"
#include "subdivision.hpp"

namespace py = pybind11;

namespace polyrelu {
namespace {

template <class T>
using Input = py::array_t<T, py::array::c_style | py::array::forcecast>;
/// An array whose memory the core reads later, so that it must have the right type from the start.
template <class T>
using Borrowed = py::array_t<T, py::array::c_style>;

template <class T>
Array<T> copied(const Input<T>& input) {
    return Array<T>(input.data(), input.data() + input.size());
}

/// Hand an array over to Python, in rows of `width` entries, or flat for width 0.
template <class T>
py::array given(Array<T>&& array, std::size_t width = 0) {
    auto* owned = new Array<T>(std::move(array));
    owned->trim();
    const py::capsule owner(owned, [](void* place) { delete static_cast<Array<T>*>(place); });
    const auto size = static_cast<py::ssize_t>(owned->size());
    if (width == 0) return py::array_t<T>({size}, owned->data(), owner);
    const auto columns = static_cast<py::ssize_t>(width);
    return py::array_t<T>({size / columns, columns}, owned->data(), owner);
}

template <class T>
py::array_t<T> copy_of(std::span<const T> entries) {
    return py::array_t<T>(static_cast<py::ssize_t>(entries.size()), entries.data());
}

/// The rows `first`, `first` + 1, … of an array, copied; `width` as in `given`.
template <class T>
py::array rows_from(const Array<T>& array, std::size_t first, std::size_t width) {
    const std::size_t start = first * std::max<std::size_t>(width, 1);
    return given(Array<T>(array.begin() + static_cast<std::ptrdiff_t>(start), array.end()), width);
}

py::list words_of_cells(const Input<Word>& vertex_words, const Input<std::int32_t>& edges,
                        const std::vector<std::tuple<Input<std::int32_t>, Input<std::int32_t>,
                                                     Input<std::int64_t>>>& facets) {
    std::vector<Array<Word>> words;
    {
        const Word* below = vertex_words.data();
        const std::int32_t* ends = edges.data();
        const auto num_edges = static_cast<std::size_t>(edges.size()) / 2;
        const py::gil_scoped_release released;
        Array<Word>& of_edges = words.emplace_back(num_edges);
        for (std::size_t edge = 0; edge < num_edges; ++edge)
            of_edges[edge] = below[ends[2 * edge]] | below[ends[2 * edge + 1]];
        for (const auto& [heap, counts, starts] : facets) {
            Array<Word> of_cells(static_cast<std::size_t>(counts.size()));
            for (std::size_t cell = 0; cell < of_cells.size(); ++cell) {
                const std::int32_t* facet = heap.data() + starts.data()[cell];
                Word word = 0;
                for (std::int32_t i = 0; i < counts.data()[cell]; ++i)
                    word |= words.back()[static_cast<std::size_t>(facet[i])];
                of_cells[cell] = word;
            }
            words.push_back(std::move(of_cells));
        }
    }
    py::list found;
    for (Array<Word>& of_level : words) found.append(given(std::move(of_level)));
    return found;
}

/// Asks a function of Python; it takes the lock that the caller has released.
class PythonCaller : public Caller {
public:
    PythonCaller(const Subdivision& subdivision, const py::function& exact)
        : subdivision_(subdivision), exact_(exact) {}

    void decide(std::span<const std::int64_t> vertices, std::span<const std::int64_t> forms,
                std::span<std::int8_t> signs) override {
        const py::gil_scoped_acquire locked;
        const std::size_t width = subdivision_.vertices.width(), d = width - 1;
        Array<std::int32_t> lies_on;
        Array<std::int8_t> base_signs;
        for (const std::int64_t vertex : vertices) {
            const auto index = static_cast<std::size_t>(vertex);
            const std::int32_t* of_vertex = &subdivision_.lattice.levels[0].forms[index * d];
            const std::int8_t* signs_of_vertex = subdivision_.vertices.base_signs_at(index);
            lies_on.append(of_vertex, of_vertex + d);
            base_signs.append(signs_of_vertex, signs_of_vertex + width);
        }
        const auto answer = py::cast<Input<std::int8_t>>(
            exact_(copy_of(vertices), copy_of(forms), given(std::move(lies_on), d),
                   given(std::move(base_signs), width)));
        if (static_cast<std::size_t>(answer.size()) != signs.size())
            throw std::invalid_argument("a sign for each pair of a vertex and a form is needed");
        std::copy_n(answer.data(), signs.size(), signs.begin());
    }

    /// Let Python handle Ctrl-C.
    void pause() override {
        const py::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }

private:
    const Subdivision& subdivision_;
    const py::function& exact_;
};

/// A subdivision, with the arrays of Python that it reads.
class Core {
public:
    Core(const Input<std::uint8_t>& two_sided, const Input<std::int32_t>& base_forms,
         const Input<double>& base_rows, Borrowed<double> rows, Borrowed<double> errors,
         std::size_t num_threads)
        : inner_(static_cast<int>(two_sided.size())) {
        share_forms(std::move(rows), std::move(errors));
        inner_.start({two_sided.data(), static_cast<std::size_t>(two_sided.size())},
                     copied(base_forms), copied(base_rows));
        if (num_threads > 1) inner_.lattice.team = std::make_shared<Team>(num_threads);
    }

    std::size_t size(int k) const { return inner_.lattice.levels.at(static_cast<std::size_t>(k)).size(); }

    void share_forms(Borrowed<double> rows, Borrowed<double> errors) {
        inner_.forms.share(rows.data(), errors.data(), static_cast<std::int32_t>(errors.size()));
        rows_ = std::move(rows);
        errors_ = std::move(errors);
    }

    void set_last_layer(const py::dict& arrays) {
        auto layer = std::make_shared<LastLayer>();
        const auto borrow = [&](const py::handle& from, const char* name, auto& pointer) {
            using T = std::remove_const_t<std::remove_pointer_t<std::decay_t<decltype(pointer)>>>;
            const auto array = py::cast<Borrowed<T>>(from[name]);
            pointer = array.data();
            kept_.push_back(array);
            return array;
        };
        layer->width = static_cast<std::size_t>(borrow(arrays, "bias", layer->bias).size());
        borrow(arrays, "bias_magnitudes", layer->bias_magnitudes);
        borrow(arrays, "least_errors", layer->least_errors);
        borrow(arrays, "no_bias", layer->no_bias);
        borrow(arrays, "no_form", layer->no_form);
        layer->is_exact = py::cast<bool>(arrays["is_exact"]);
        for (const py::handle& of_source : py::cast<py::list>(arrays["sources"])) {
            Source source;
            borrow(of_source, "rows", source.rows);
            borrow(of_source, "errors", source.errors);
            borrow(of_source, "norms", source.norms);
            borrow(of_source, "uncertainties", source.uncertainties);
            layer->num_regions =
                static_cast<std::size_t>(borrow(of_source, "regions", source.regions).size());
            borrow(of_source, "active_rows", source.active_rows);
            borrow(of_source, "active", source.active);
            source.width =
                static_cast<std::size_t>(borrow(of_source, "weights", source.weights).shape(1));
            borrow(of_source, "magnitudes", source.magnitudes);
            layer->sources.push_back(std::move(source));
        }
        layer->prepare();
        inner_.forms.set_last_layer(std::move(layer));
    }

    /// `chunks` has tuples (number of members, is last, first neuron, first form, stride), `known`
    /// tuples (chunk of the layer, bit, base form).
    void decide(const std::vector<std::tuple<int, bool, std::size_t, std::int32_t, std::int32_t>>& chunks,
                const std::vector<std::tuple<std::size_t, int, std::size_t>>& known,
                const py::function& exact) {
        std::vector<Chunk> layer;
        for (const auto& [members, is_last, neuron, first, stride] : chunks) {
            Chunk& chunk = layer.emplace_back();
            chunk.members = static_cast<std::uint32_t>((std::uint64_t{1} << members) - 1);
            chunk.is_last = is_last;
            chunk.first_neuron = neuron;
            chunk.first = first;
            chunk.stride = stride;
        }
        std::vector<KnownColumn> columns;
        for (const auto& [chunk, bit, base] : known) columns.push_back({chunk, bit, base});
        PythonCaller caller(inner_, exact);
        const py::gil_scoped_release released;
        inner_.decide(std::move(layer), columns, caller);
    }

    void begin(std::size_t chunk, const py::function& exact) {
        PythonCaller caller(inner_, exact);
        const py::gil_scoped_release released;
        inner_.begin(chunk, caller);
    }

    /// Cut with the forms from `first` on and before `end`, at least with one; return with how many.
    int cut(int first, int end, const py::function& exact) {
        PythonCaller caller(inner_, exact);
        const py::gil_scoped_release released;
        return inner_.cut(first, end, caller);
    }

    /// Cut with the constraints from `first` on and before `end`, and drop the cells outside, until
    /// some are dropped; return with how many, and whether some are dropped.
    std::pair<int, bool> cut_off(int first, int end, const py::function& exact) {
        PythonCaller caller(inner_, exact);
        const py::gil_scoped_release released;
        for (int bit = first; bit < end; ++bit) {
            inner_.cut(bit, bit + 1, caller);
            if (inner_.drop_negative(bit)) return {bit + 1 - first, true};
        }
        return {end - first, false};
    }

    void number_regions() {
        const py::gil_scoped_release released;
        inner_.number_regions();
    }

    py::array regions() const {
        const auto& regions = inner_.lattice.levels.back().regions;
        return given(Array<std::int64_t>(regions.begin(), regions.end()));
    }

    /// Whether each neuron of the given chunks is positive on each top cell.
    py::array positive(const std::vector<std::size_t>& chunks) const {
        std::size_t width = 0;
        for (const std::size_t chunk : chunks)
            width += static_cast<std::size_t>(std::popcount(inner_.chunks.at(chunk).members));
        Array<std::uint8_t> marks(inner_.lattice.levels.back().size() * width);
        {
            const py::gil_scoped_release released;
            std::size_t column = 0;
            for (const std::size_t chunk : chunks) {
                inner_.positive(chunk, marks.data() + column, width);
                column += static_cast<std::size_t>(std::popcount(inner_.chunks[chunk].members));
            }
        }
        return given(std::move(marks), width);
    }

    /// Rows, errors and pairs (region, neuron) of the forms of the last layer from `first` on.
    py::tuple last_forms(std::size_t first) const {
        const Forms& forms = inner_.forms;
        return py::make_tuple(rows_from(forms.rows, first, inner_.vertices.width()),
                              rows_from(forms.errors, first, 0), rows_from(forms.pairs, first, 2));
    }

    Core part(const Input<std::int64_t>& top) const {
        return Core(*this, inner_.part({top.data(), static_cast<std::size_t>(top.size())}));
    }

    std::pair<std::uint64_t, std::uint64_t> take_decisions() {
        return {std::exchange(inner_.num_decisions, 0),
                std::exchange(inner_.num_exact_decisions, 0)};
    }

    /// Hand all arrays over; the core is empty afterwards. `num_last_forms` as in `last_forms`.
    py::dict take(std::size_t num_last_forms) {
        py::dict found;
        Lattice& lattice = inner_.lattice;
        const std::size_t width = inner_.vertices.width(), d = width - 1;
        py::list signs, facets;
        for (std::size_t i = 0; i < inner_.chunks.size(); ++i)
            signs.append(given(Array<Word>(std::move(
                i == inner_.current ? lattice.levels[0].words : inner_.chunks[i].words))));
        for (std::size_t k = 1; k <= d; ++k) {
            Level& level = lattice.levels[k];
            facets.append(py::make_tuple(given(std::move(level.heap), k == 1 ? 2 : 0),
                                         given(std::move(level.counts)),
                                         given(std::move(level.starts))));
        }
        Forms& forms = inner_.forms;
        found["last_forms"] =
            num_last_forms == 0
                ? py::make_tuple(given(std::move(forms.rows), width), given(std::move(forms.errors)),
                                 given(std::move(forms.pairs), 2))
                : last_forms(num_last_forms);
        found["signs"] = signs;
        found["facets"] = facets;
        // In dimension 1 the facets are the vertices.
        found["facet_forms"] = d == 1 ? given(Array<std::int32_t>(lattice.levels[0].forms))
                                      : given(std::move(lattice.levels[d - 1].forms));
        found["regions"] = regions();
        found["forms"] = given(std::move(lattice.levels[0].forms), d);
        found["coordinates"] = given(std::move(inner_.vertices.coordinates), width);
        found["radii"] = given(std::move(inner_.vertices.radii));
        found["base_signs"] = given(std::move(inner_.vertices.base_signs), width);
        inner_ = Subdivision(static_cast<int>(d));
        return found;
    }

private:
    /// A part reads the arrays of the whole, and may be given others.
    Core(const Core& whole, Subdivision&& part)
        : inner_(std::move(part)), rows_(whole.rows_), errors_(whole.errors_), kept_(whole.kept_) {}

    Subdivision inner_;
    Borrowed<double> rows_, errors_;
    std::vector<py::array> kept_;
};

}  // namespace

PYBIND11_MODULE(compiled, module) {
    module.doc() = "The compiled core of the engine of complexes.";
    module.def("words_of_cells", &words_of_cells);
    bind_span_search(module);
    bind_box_bounds(module);
    bind_grid_rule(module);
    py::class_<Core>(module, "Core")
        .def(py::init<Input<std::uint8_t>, Input<std::int32_t>, Input<double>, Borrowed<double>,
                      Borrowed<double>, std::size_t>(),
             py::arg("two_sided"), py::arg("base_forms"), py::arg("base_rows"), py::arg("rows"),
             py::arg("errors"), py::arg("num_threads"))
        .def("size", &Core::size)
        .def("share_forms", &Core::share_forms)
        .def("set_last_layer", &Core::set_last_layer)
        .def("decide", &Core::decide)
        .def("begin", &Core::begin)
        .def("cut", &Core::cut)
        .def("cut_off", &Core::cut_off)
        .def("number_regions", &Core::number_regions)
        .def("regions", &Core::regions)
        .def("positive", &Core::positive)
        .def("last_forms", &Core::last_forms)
        .def("part", &Core::part)
        .def("take_decisions", &Core::take_decisions)
        .def("take", &Core::take);
    bind_slice_walks(module);
}

}  // namespace polyrelu
