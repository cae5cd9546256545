// Derivatives modulo a prime at many ridges: what decides the types of Theorem D.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polyrelu {

/// A plain stack modulo a prime. A layer reads all neurons of the layer before.
struct ModularLayer {
    /// The number of the first neuron of the layer before, and the two widths.
    std::size_t first = 0, num_sources = 0, width = 0;
    /// The weights modulo the prime, transposed, shape (num_sources, width), in an array of Python.
    const double* weights = nullptr;
};

/// The derivatives of z_v and of the outputs by the activation of a neuron.
///
/// All numbers are integers below the prime p, which is so small that sums of products are exact in
/// floats, in any order.
class RidgeTypes {
public:
    /// The layers after the first one; the last one has the outputs.
    RidgeTypes(std::vector<ModularLayer> layers, double prime);

    std::size_t num_neurons() const { return num_neurons_; }
    std::size_t num_outputs() const { return layers_.back().width; }

    /// Compute the derivatives by the activation of w; the derivative of z_v is 0 if w is not before v.
    /// `active` has a bit for each neuron. `by_outputs` receives an entry for each output.
    double derivatives(std::size_t w, std::size_t v, const std::uint8_t* active,
                       double* by_outputs);

private:
    std::vector<ModularLayer> layers_;
    double prime_;
    std::size_t num_neurons_;
    std::vector<double> column_, next_;
};

}  // namespace polyrelu
