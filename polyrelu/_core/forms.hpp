// The affine forms: rows [a | b] over (y, t) with errors, and the last layer's forms on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "vertices.hpp"

namespace polyrelu {

/// What the last hidden layer reads from one earlier layer (or from the input) of width s.
/// Pointers lead into arrays of Python, which the binding keeps alive.
struct Source {
    std::size_t width = 0;
    /// Float rows of the forms on the regions of that layer, shape (regions, s, d + 1).
    const double* rows = nullptr;
    /// The errors E and the 1-norms of these forms, shape (regions, s).
    const double* errors = nullptr;
    const double* norms = nullptr;
    /// What each of these forms adds to the error of a form, per unit of the weight.
    const double* uncertainties = nullptr;
    /// For each region of the last layer the region of that layer, and the row of `active`.
    const std::int64_t* regions = nullptr;
    const std::int64_t* active_rows = nullptr;
    /// Whether each neuron is active, shape (rows, s).
    const std::uint8_t* active = nullptr;
    /// The weights, shape (n, s), their absolute values as bounds count them, and their transpose.
    const double* weights = nullptr;
    const double* magnitudes = nullptr;
    Array<double> transposed;
};

/// The last hidden layer with n neurons.
struct LastLayer {
    std::size_t width = 0;
    std::size_t num_regions = 0;
    std::vector<Source> sources;
    /// The biases, and their absolute values as bounds count them.
    const double* bias = nullptr;
    const double* bias_magnitudes = nullptr;
    /// The error of a form in which no neuron is active.
    const double* least_errors = nullptr;
    /// Whether the exact bias of each neuron is 0, and whether all its exact weights are 0 too.
    const std::uint8_t* no_bias = nullptr;
    const std::uint8_t* no_form = nullptr;
    /// Whether nothing was rounded, in this layer and before.
    bool is_exact = false;
    /// The number N of products in a sum.
    std::size_t num_products = 0;
    /// Σ|w_ji| for every neuron j.
    Array<double> weight_norms;

    /// Fill what is computed from the arrays of Python.
    void prepare();
};

/// All forms by their numbers. Forms up to `num_shared` have rows in arrays of Python; later ones
/// belong to the last layer, and were made here.
class Forms {
public:
    explicit Forms(int dimension) : width_(static_cast<std::size_t>(dimension) + 1) {}

    /// Take the arrays of Python; the rows have the shape (num_shared, d + 1).
    void share(const double* rows, const double* errors, std::int32_t num_shared);
    void set_last_layer(std::shared_ptr<const LastLayer> layer);
    const LastLayer* last_layer() const { return last_.get(); }

    const double* row(std::int32_t number) const {
        return number < num_shared_ ? shared_rows_ + static_cast<std::size_t>(number) * width_
                                    : &rows[static_cast<std::size_t>(number - num_shared_) * width_];
    }
    double error(std::int32_t number) const {
        return number < num_shared_ ? shared_errors_[number]
                                    : errors[static_cast<std::size_t>(number - num_shared_)];
    }
    /// The number of the form of a neuron of the last layer on a region, which is made if needed.
    std::int32_t of_last_layer(std::size_t region, std::size_t neuron);
    /// The numbers of the forms of a neuron, -1 where there is none yet; one for each
    /// region. One form of the neuron must be known.
    const std::int32_t* numbers_of_last_layer(std::size_t neuron) const {
        return numbers_[neuron].data();
    }
    /// Forget the numbers of neurons before a given one, which nobody will ask for.
    void forget_numbers_before(std::size_t neuron);

    /// The rows, the errors and the pairs (region, neuron) of the forms that were made here.
    Array<double> rows;
    Array<double> errors;
    Array<std::int64_t> pairs;

private:
    void append_form(std::size_t region, std::size_t neuron);

    std::size_t width_;
    const double* shared_rows_ = nullptr;
    const double* shared_errors_ = nullptr;
    std::int32_t num_shared_ = 0;
    std::shared_ptr<const LastLayer> last_;
    /// For each neuron the numbers of its forms on all regions, or nothing.
    std::vector<Array<std::int32_t>> numbers_;
};

}  // namespace polyrelu
