// The forms of all neurons of the last layer on one region after the other, by small changes.
#pragma once

#include <cstddef>

#include "arrays.hpp"
#include "forms.hpp"
#include "lattice.hpp"
#include "vertices.hpp"

namespace polyrelu {

/// All forms of the last layer on the region where the walk stands.
///
/// Where a neuron before is active on the next region and not on this one, its form times its weight
/// is added, and the other way round subtracted. The errors of the sums grow with each step, so that
/// the sums are made afresh after some steps (docs/theory/float_signs.md, section 3).
class Walk {
public:
    Walk(const LastLayer& layer, std::size_t row_size);

    void move_to(std::size_t region);

    /// Bounds on the errors of all values: neuron j has the bound
    /// per_weight · Σ|w_ji| + per_bias · |b_j| + least.
    struct Bounds {
        double per_weight, per_bias, least;
    };
    /// Write the value of every neuron at a vertex in the closure of the region.
    Bounds values_at(const Vertices& vertices, std::size_t vertex, double* values) const;

private:
    void start(std::size_t region);
    void add(const Source& source, std::size_t form, std::size_t neuron, double sign);
    const std::uint8_t* active(const Source& source, std::size_t region) const {
        return source.active + static_cast<std::size_t>(source.active_rows[region]) * source.width;
    }

    const LastLayer& layer_;
    std::size_t row_size_;
    bool has_started_ = false;
    std::size_t region_ = 0;
    std::size_t num_changes_ = 0;
    /// The coefficients of all forms, shape (d + 1, n).
    Array<double> table_;
    /// The largest 1-norm and error of a form that the region reads.
    double largest_norm_ = 0, largest_error_ = 0;
};

/// An order of the top cells, which are the regions of the last layer, in which one often shares a
/// facet with the one before it; regions that read the same forms of earlier layers stay together.
Array<std::int32_t> walking_order(const Lattice& lattice, const LastLayer& layer);

}  // namespace polyrelu
