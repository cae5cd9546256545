#include "ridge_types.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "floats.hpp"

namespace polyrelu {
namespace {

POLYRELU_FOR_ALL_PROCESSORS
void add_multiple(double factor, const double* from, double* to, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) to[j] += factor * from[j];
}

/// Reduce integers below 2^53 modulo a prime.
POLYRELU_FOR_ALL_PROCESSORS
void reduce(double prime, double* entries, std::size_t count) {
    const double inverse = 1 / prime;
    for (std::size_t j = 0; j < count; ++j) {
        double rest = entries[j] - std::floor(entries[j] * inverse) * prime;
        rest += rest < 0 ? prime : 0;
        rest -= rest >= prime ? prime : 0;
        entries[j] = rest;
    }
}

}  // namespace

RidgeTypes::RidgeTypes(std::vector<ModularLayer> layers, double prime)
    : layers_(std::move(layers)),
      prime_(prime),
      num_neurons_(layers_.back().first + layers_.back().num_sources) {}

double RidgeTypes::derivatives(std::size_t w, std::size_t v, const std::uint8_t* active,
                               double* by_outputs) {
    std::size_t number = 0;
    while (w >= layers_[number].first + layers_[number].num_sources) ++number;
    const ModularLayer* layer = &layers_[number];
    const double* row = layer->weights + (w - layer->first) * layer->width;
    column_.assign(row, row + layer->width);
    double bend = 0;
    while (++number < layers_.size()) {
        layer = &layers_[number];
        if (v >= layer->first && v - layer->first < layer->num_sources)
            bend = column_[v - layer->first];
        next_.assign(layer->width, 0.0);
        for (std::size_t i = 0; i < layer->num_sources; ++i) {
            const std::size_t place = layer->first + i;
            if ((active[place / 8] >> (place % 8) & 1) != 0)
                add_multiple(column_[i], layer->weights + i * layer->width, next_.data(),
                             layer->width);
        }
        reduce(prime_, next_.data(), layer->width);
        column_.swap(next_);
    }
    std::copy(column_.begin(), column_.end(), by_outputs);
    return bend;
}

}  // namespace polyrelu
