#include "exact_order.hpp"

#include "slice_forms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "floats.hpp"

namespace polyrelu {
namespace {

/// Add rows times factors to an array, one row after the other.
POLYRELU_IN_EXACT_ORDER
void add_rows(const double* const* rows, const double* factors, std::size_t num_rows,
              double* __restrict sums, std::size_t count) {
    std::size_t i = 0;
    for (; i + 4 <= num_rows; i += 4) {
        const double *a = rows[i], *b = rows[i + 1], *c = rows[i + 2], *d = rows[i + 3];
        const double x = factors[i], y = factors[i + 1], z = factors[i + 2], t = factors[i + 3];
        for (std::size_t j = 0; j < count; ++j)
            sums[j] = (((sums[j] + a[j] * x) + b[j] * y) + c[j] * z) + d[j] * t;
    }
    for (; i < num_rows; ++i) {
        const double* a = rows[i];
        const double x = factors[i];
        for (std::size_t j = 0; j < count; ++j) sums[j] += a[j] * x;
    }
}

/// The same for the magnitudes |w| + 2^-1000 of rows.
POLYRELU_IN_EXACT_ORDER
void add_magnitudes(const double* const* rows, const double* factors, std::size_t num_rows,
                    double* __restrict sums, std::size_t count) {
    std::size_t i = 0;
    for (; i + 4 <= num_rows; i += 4) {
        const double *a = rows[i], *b = rows[i + 1], *c = rows[i + 2], *d = rows[i + 3];
        const double x = factors[i], y = factors[i + 1], z = factors[i + 2], t = factors[i + 3];
        for (std::size_t j = 0; j < count; ++j)
            sums[j] = (((sums[j] + (std::fabs(a[j]) + kTiny) * x) + (std::fabs(b[j]) + kTiny) * y) +
                       (std::fabs(c[j]) + kTiny) * z) +
                      (std::fabs(d[j]) + kTiny) * t;
    }
    for (; i < num_rows; ++i) {
        const double* a = rows[i];
        const double x = factors[i];
        for (std::size_t j = 0; j < count; ++j) sums[j] += (std::fabs(a[j]) + kTiny) * x;
    }
}

/// Add a form times the gains of a layer to one coordinate of its forms.
POLYRELU_IN_EXACT_ORDER
void add_form(const double* gains, double value, double of_gain, double least,
              double* __restrict sums, double* __restrict errors, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
        sums[j] += gains[j] * value;
        errors[j] += (std::fabs(gains[j]) * of_gain + 4 * kUnit * std::fabs(sums[j])) + least;
    }
}

}  // namespace

std::size_t SliceWeights::layer_of(std::size_t place) const {
    std::size_t layer = 0;
    while (place >= layers[layer].first + layers[layer].width) ++layer;
    return layer;
}

SliceForms::SliceForms(std::shared_ptr<const SliceWeights> weights, const SliceArrays& arrays)
    : weights_(std::move(weights)),
      arrays_(arrays),
      gains_(weights_->num_neurons),
      gain_errors_(weights_->layers.size()),
      has_gains_(weights_->layers.size()) {}

void SliceForms::refresh(std::size_t from) {
    const std::size_t n = num_neurons();
    for (std::size_t number = from; number < weights_->layers.size(); ++number) {
        const SliceLayer& layer = weights_->layers[number];
        for (std::size_t c = 0; c <= arrays_.dimension; ++c) {
            const std::size_t start = c * n + layer.first;
            std::copy_n(arrays_.constants + start, layer.width, arrays_.columns + start);
            std::copy_n(arrays_.constant_errors + start, layer.width, arrays_.errors + start);
        }
        for (const SliceBlock& block : layer.blocks) {
            const SliceLayer& source = weights_->layers[block.source];
            find_active(source, block, layer.width);
            for (std::size_t c = 0; c <= arrays_.dimension; ++c) {
                for (std::size_t i = 0; i < active_.size(); ++i) {
                    const std::size_t place = c * n + source.first + active_[i];
                    factors_[i] = arrays_.columns[place];
                    uncertainties_[i] = layer.rounding * std::fabs(arrays_.columns[place]) +
                                        kSlack * arrays_.errors[place];
                }
                const std::size_t start = c * n + layer.first;
                add_rows(rows_.data(), factors_.data(), active_.size(), arrays_.columns + start,
                         layer.width);
                add_magnitudes(rows_.data(), uncertainties_.data(), active_.size(),
                               arrays_.errors + start, layer.width);
            }
        }
    }
    if (from == 0) num_flips_ = 0;
}

/// List the active neurons of a layer, and their weights on a layer of the given width.
void SliceForms::find_active(const SliceLayer& source, const SliceBlock& block, std::size_t width) {
    active_.clear();
    rows_.clear();
    for (std::size_t i = 0; i < source.width; ++i) {
        if (!is_active(source.first + i)) continue;
        active_.push_back(i);
        rows_.push_back(block.weights + i * width);
    }
    factors_.resize(active_.size());
    uncertainties_.resize(active_.size());
}

void SliceForms::flip(std::size_t place) {
    arrays_.signs[place] = static_cast<std::int8_t>(-arrays_.signs[place]);
    ++num_flips_;
    std::fill(has_gains_.begin(), has_gains_.end(), char{0});
    const std::size_t of_flip = weights_->layer_of(place);
    for (std::size_t number = of_flip + 1; number < weights_->layers.size(); ++number)
        if (sum_gains(number, of_flip, place)) add_gains(number, place);
}

/// Compute the gains of a layer; return whether it reads, through active neurons, what was flipped.
bool SliceForms::sum_gains(std::size_t number, std::size_t of_flip, std::size_t place) {
    const SliceLayer& layer = weights_->layers[number];
    double* gains = &gains_[layer.first];
    double error = kTiny;
    for (const SliceBlock& block : layer.blocks) {
        const SliceLayer& source = weights_->layers[block.source];
        if (block.source == of_flip) {
            const std::size_t i = place - source.first;
            active_.assign(1, i);
            rows_.assign(1, block.weights + i * layer.width);
            factors_.assign(1, is_active(place) ? 1.0 : -1.0);
            uncertainties_.assign(1, layer.rounding);
        } else if (has_gains_[block.source]) {
            find_active(source, block, layer.width);
            for (std::size_t i = 0; i < active_.size(); ++i) {
                factors_[i] = gains_[source.first + active_[i]];
                uncertainties_[i] = layer.rounding * std::fabs(factors_[i]) +
                                    kSlack * gain_errors_[block.source];
            }
        } else {
            continue;
        }
        if (active_.empty()) continue;
        if (!has_gains_[number]) std::fill_n(gains, layer.width, 0.0);
        has_gains_[number] = 1;
        add_rows(rows_.data(), factors_.data(), active_.size(), gains, layer.width);
        for (std::size_t i = 0; i < active_.size(); ++i)
            error += block.largest[active_[i]] * uncertainties_[i];
    }
    gain_errors_[number] = error;
    return has_gains_[number] != 0;
}

void SliceForms::add_gains(std::size_t number, std::size_t place) {
    const std::size_t n = num_neurons();
    const SliceLayer& layer = weights_->layers[number];
    for (std::size_t c = 0; c <= arrays_.dimension; ++c) {
        const double value = arrays_.columns[c * n + place];
        const double error = arrays_.errors[c * n + place];
        add_form(&gains_[layer.first], value, kSlack * error + 4 * kUnit * std::fabs(value),
                 gain_errors_[number] * (kSlack * (std::fabs(value) + error)) + kTiny,
                 arrays_.columns + c * n + layer.first, arrays_.errors + c * n + layer.first,
                 layer.width);
    }
}

}  // namespace polyrelu
