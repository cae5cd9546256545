#include "walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "floats.hpp"

namespace polyrelu {
namespace {

/// The number of changes after which the sums are made afresh.
constexpr std::size_t kMostChanges = 64;

/// Add a multiple of one array to another.
POLYRELU_FOR_ALL_PROCESSORS
void add_multiple(double factor, const double* from, double* to, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) to[j] += factor * from[j];
}

/// Whether two regions read the same forms of earlier layers.
bool reads_alike(const LastLayer& layer, std::size_t one, std::size_t other) {
    return std::all_of(layer.sources.begin(), layer.sources.end(), [&](const Source& source) {
        return source.regions[one] == source.regions[other];
    });
}

}  // namespace

Walk::Walk(const LastLayer& layer, std::size_t row_size)
    : layer_(layer), row_size_(row_size), table_(row_size * layer.width) {}

void Walk::move_to(std::size_t region) {
    if (!has_started_ || num_changes_ > kMostChanges || !reads_alike(layer_, region_, region)) {
        start(region);
        return;
    }
    for (const Source& source : layer_.sources) {
        const std::uint8_t *before = active(source, region_), *after = active(source, region);
        const std::size_t first = static_cast<std::size_t>(source.regions[region]) * source.width;
        for (std::size_t i = 0; i < source.width; ++i) {
            if (before[i] == after[i]) continue;
            add(source, first + i, i, after[i] ? 1 : -1);
            ++num_changes_;
        }
    }
    region_ = region;
}

void Walk::start(std::size_t region) {
    has_started_ = true;
    region_ = region;
    num_changes_ = 0;
    largest_norm_ = largest_error_ = 0;
    std::fill(table_.begin(), table_.end(), 0.0);
    std::copy_n(layer_.bias, layer_.width, &table_[(row_size_ - 1) * layer_.width]);
    for (const Source& source : layer_.sources) {
        const std::size_t first = static_cast<std::size_t>(source.regions[region]) * source.width;
        const std::uint8_t* is_active = active(source, region);
        for (std::size_t i = 0; i < source.width; ++i) {
            // Neurons that are not active here may become so before the next start.
            largest_norm_ = larger(largest_norm_, source.norms[first + i]);
            largest_error_ = larger(largest_error_, source.errors[first + i]);
            if (is_active[i]) add(source, first + i, i, 1);
        }
    }
}

void Walk::add(const Source& source, std::size_t form, std::size_t neuron, double sign) {
    const double* weights = &source.transposed[neuron * layer_.width];
    for (std::size_t c = 0; c < row_size_; ++c)
        add_multiple(sign * source.rows[form * row_size_ + c], weights, &table_[c * layer_.width],
                     layer_.width);
}

Walk::Bounds Walk::values_at(const Vertices& vertices, std::size_t vertex, double* values) const {
    const double* point = vertices.at(vertex);
    std::fill_n(values, layer_.width, 0.0);
    for (std::size_t c = 0; c < row_size_; ++c)
        add_multiple(point[c], &table_[c * layer_.width], values, layer_.width);
    const Uncertainty factors = vertices.uncertainty(vertex);
    if (layer_.is_exact)
        return {largest_norm_ * factors.spread, factors.spread, kLastLayerTiny};
    // E_j of section 3, where M counts the products and changes since the start.
    const auto operations = static_cast<double>(layer_.num_products + num_changes_);
    const double rounding = 2 * (2 * operations + 4) * kUnit;
    const double error = rounding * largest_norm_ + kSlack * largest_error_;
    return {largest_norm_ * factors.spread + error * factors.sums,
            factors.spread + rounding * factors.sums, kTiny * factors.sums + kLastLayerTiny};
}

Array<std::int32_t> walking_order(const Lattice& lattice, const LastLayer& layer) {
    const int d = lattice.dimension();
    const std::size_t count = lattice.levels.back().size();
    const std::size_t num_facets = lattice.levels[static_cast<std::size_t>(d) - 1].size();
    // The two top cells at each facet.
    Array<std::int32_t> sides(2 * num_facets, -1);
    for (std::size_t cell = 0; cell < count; ++cell)
        for (const std::int32_t facet : lattice.facets(d, cell)) {
            const auto index = 2 * static_cast<std::size_t>(facet);
            sides[sides[index] < 0 ? index : index + 1] = static_cast<std::int32_t>(cell);
        }
    Array<std::int32_t> order, open;
    Array<std::uint8_t> is_seen(count, 0);
    order.reserve(count);
    for (std::size_t root = 0; root < count; ++root) {
        if (!is_seen[root]) open.push_back(static_cast<std::int32_t>(root));
        while (!open.empty()) {
            const auto cell = static_cast<std::size_t>(open.back());
            open.pop_back();
            if (is_seen[cell]) continue;
            is_seen[cell] = 1;
            order.push_back(static_cast<std::int32_t>(cell));
            for (const std::int32_t facet : lattice.facets(d, cell)) {
                const auto index = 2 * static_cast<std::size_t>(facet);
                const std::int32_t other =
                    sides[index] == order.back() ? sides[index + 1] : sides[index];
                if (other >= 0 && !is_seen[static_cast<std::size_t>(other)] &&
                    reads_alike(layer, cell, static_cast<std::size_t>(other)))
                    open.push_back(other);
            }
        }
    }
    return order;
}

}  // namespace polyrelu
