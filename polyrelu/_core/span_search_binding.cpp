// The part of `polyrelu._core.compiled` for the search in one layer, see compiled.pyi.
#include "span_search_binding.hpp"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "span_search.hpp"

namespace py = pybind11;

namespace polyrelu {
namespace {

template <class T>
using Input = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class T>
std::vector<T> copied(const Input<T>& input) {
    return {input.data(), input.data() + input.size()};
}

template <class T>
std::span<const T> view_of(const Input<T>& input) {
    return {input.data(), static_cast<std::size_t>(input.size())};
}

Quotient root_of(const Input<std::uint32_t>& residues, const std::vector<std::int32_t>& members,
                 const Input<std::uint8_t>& is_outside) {
    return {static_cast<std::size_t>(residues.shape(1)), copied(residues), copied(is_outside), members};
}

/// Members, signs, share and depth of a node that is left.
using Entry = std::tuple<std::vector<std::int32_t>, std::vector<std::int8_t>, double, std::size_t>;

/// A search, with the numbers that rows have in certificates.
class BoundSearch {
public:
    BoundSearch(const Input<double>& rows, const Input<double>& small,
                const Input<std::uint32_t>& residues, const Input<std::uint8_t>& is_outside,
                const std::vector<std::int32_t>& members, const Input<std::int64_t>& rounded,
                std::vector<std::int32_t> names, std::pair<std::size_t, std::size_t> limits,
                SearchQuestions questions)
        : inner_(SignPrograms(view_of(rows), static_cast<std::size_t>(rows.shape(0)), view_of(small)),
                 root_of(residues, members, is_outside), copied(rounded),
                 static_cast<std::size_t>(rows.shape(0)), {limits.first, limits.second},
                 std::move(questions)),
          names_(std::move(names)), num_neurons_(static_cast<std::size_t>(is_outside.size())) {}

    bool visit(std::size_t count) { return inner_.visit(count); }

    /// Members, signs, share and depth of each node that is left.
    py::list open_nodes() const {
        py::list found;
        for (const OpenNode& node : inner_.open_nodes())
            found.append(py::make_tuple(node.members, node.signs, node.share, node.depth));
        return found;
    }

    void set_open_nodes(const std::vector<Entry>& entries) {
        std::vector<OpenNode> nodes;
        for (const auto& [members, signs, share, depth] : entries) {
            const bool is_outside = std::any_of(members.begin(), members.end(), [&](std::int32_t row) {
                return row < 0 || static_cast<std::size_t>(row) >= num_neurons_;
            });
            if (is_outside || signs.size() != num_neurons_)
                throw py::value_error("a node of another search");
            nodes.push_back({members, signs, share, depth});
        }
        inner_.set_open_nodes(nodes);
    }

    std::size_t num_nodes() const { return inner_.records.size(); }
    std::size_t num_leaves() const { return inner_.num_leaves; }
    std::size_t depth() const { return inner_.depth; }
    std::size_t num_programs() const { return inner_.num_programs; }
    double closed() const { return inner_.closed; }

    /// The kind of each node with its rows, or with a list of lists for a packed one.
    py::list take_records() {
        static constexpr std::array<const char*, 4> kNames{"prune", "grow", "split", "pack"};
        const std::array<py::str, 4> kinds{kNames[0], kNames[1], kNames[2], kNames[3]};
        py::list found;
        for (const NodeRecord& record : std::exchange(inner_.records, {})) {
            py::list rows;
            for (const auto& support : record.rows) rows.append(named(support));
            const bool is_pack = record.kind == NodeKind::kPack;
            const py::object listed = is_pack ? py::object(rows) : py::object(rows[0]);
            found.append(py::make_tuple(kinds[static_cast<std::size_t>(record.kind)], listed));
        }
        return found;
    }

private:
    py::list named(const std::vector<std::int32_t>& rows) const {
        py::list found;
        for (const std::int32_t row : rows)
            found.append(names_.at(static_cast<std::size_t>(row)));
        return found;
    }

    SpanSearch inner_;
    std::vector<std::int32_t> names_;
    std::size_t num_neurons_;
};

/// Make the functions of Python callable with arrays.
SearchQuestions questions_of(const py::function& spend, const py::function& solve,
                             const py::function& is_line) {
    SearchQuestions questions;
    questions.spend = [spend] { spend(); };
    questions.solve = [solve](const std::vector<std::int8_t>& signs,
                              const std::vector<std::uint8_t>& costly, bool is_first) {
        const auto size = static_cast<py::ssize_t>(signs.size());
        const py::object found = solve(py::array_t<std::int8_t>(size, signs.data()),
                                       py::array_t<std::uint8_t>(size, costly.data()), is_first);
        return py::cast<std::optional<std::vector<std::int32_t>>>(found);
    };
    questions.is_line = [is_line](const std::vector<std::int32_t>& members,
                                  const std::vector<std::int32_t>& rows) {
        return py::cast<bool>(is_line(members, rows));
    };
    return questions;
}

}  // namespace

void bind_span_search(py::module_& module) {
    py::class_<BoundSearch>(module, "SpanSearch")
        .def(py::init([](const Input<double>& rows, const Input<double>& small,
                         const Input<std::uint32_t>& residues, const Input<std::uint8_t>& is_outside,
                         const std::vector<std::int32_t>& members,
                         const Input<std::int64_t>& rounded, std::vector<std::int32_t> names,
                         std::pair<std::size_t, std::size_t> limits, const py::function& spend,
                         const py::function& solve, const py::function& is_line) {
                 return BoundSearch(rows, small, residues, is_outside, members, rounded,
                                    std::move(names), limits, questions_of(spend, solve, is_line));
             }),
             py::arg("rows"), py::arg("small"), py::arg("residues"), py::arg("is_outside"),
             py::arg("members"), py::arg("rounded"), py::arg("names"), py::arg("limits"),
             py::arg("spend"), py::arg("solve"), py::arg("is_line"))
        .def("visit", &BoundSearch::visit)
        .def("take_records", &BoundSearch::take_records)
        .def("open_nodes", &BoundSearch::open_nodes)
        .def("set_open_nodes", &BoundSearch::set_open_nodes)
        .def_property_readonly("num_nodes", &BoundSearch::num_nodes)
        .def_property_readonly("num_leaves", &BoundSearch::num_leaves)
        .def_property_readonly("depth", &BoundSearch::depth)
        .def_property_readonly("num_programs", &BoundSearch::num_programs)
        .def_property_readonly("closed", &BoundSearch::closed);
}

}  // namespace polyrelu
