// Float forms of all hidden neurons on one cell of a line or plane, with an error bound for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace polyrelu {

/// The weights of a layer on one earlier hidden layer. They lie in an array of Python, transposed,
/// shape (n_source, n); infinite where a weight was cut to the largest float.
struct SliceBlock {
    std::size_t source = 0;
    const double* weights = nullptr;
    /// The largest |w|' of each neuron of the source, shape (n_source,).
    const double* largest = nullptr;
};

/// A hidden layer; its neurons have the places `first`, `first` + 1, … among all.
struct SliceLayer {
    std::size_t first = 0;
    std::size_t width = 0;
    std::vector<SliceBlock> blocks;
    /// The number 2 (N + 4) u, where N is the number of weights that a neuron reads.
    double rounding = 0;
};

/// All hidden layers of a network, for walks in any number of planes.
struct SliceWeights {
    std::vector<SliceLayer> layers;
    std::size_t num_neurons = 0;
    std::size_t layer_of(std::size_t place) const;
};

/// The arrays of Python that a walk computes with: forms and bounds transposed, shape (k + 1, n).
struct SliceArrays {
    std::size_t dimension = 0;
    const double* constants = nullptr;
    const double* constant_errors = nullptr;
    double* columns = nullptr;
    double* errors = nullptr;
    std::int8_t* signs = nullptr;
};

/// The forms F and the bounds E of docs/theory/walks.md on the cell with the signs in `arrays`.
///
/// The numbers are those of `LocalForms` in polyrelu/walks/float_forms.py, bit for bit: who changes
/// the order of the operations in one changes it in the other.
class SliceForms {
public:
    SliceForms(std::shared_ptr<const SliceWeights> weights, const SliceArrays& arrays);

    /// Compute the forms of layer `from`, counted from 0, and of all later layers afresh.
    void refresh(std::size_t from);
    /// Give a neuron the opposite sign, and change the forms of later layers by what that changes.
    void flip(std::size_t place);

    std::size_t num_neurons() const { return weights_->num_neurons; }
    std::size_t dimension() const { return arrays_.dimension; }
    const double* column(std::size_t c) const { return arrays_.columns + c * num_neurons(); }
    const double* column_errors(std::size_t c) const { return arrays_.errors + c * num_neurons(); }
    const std::int8_t* signs() const { return arrays_.signs; }
    /// The number of calls of `flip` since the forms of all layers were computed afresh.
    std::size_t num_flips() const { return num_flips_; }

private:
    bool sum_gains(std::size_t number, std::size_t of_flip, std::size_t place);
    void add_gains(std::size_t number, std::size_t place);
    void find_active(const SliceLayer& source, const SliceBlock& block, std::size_t width);
    bool is_active(std::size_t place) const { return arrays_.signs[place] > 0; }

    std::shared_ptr<const SliceWeights> weights_;
    SliceArrays arrays_;
    std::size_t num_flips_ = 0;
    /// The derivatives of all forms by the activation of the neuron that is flipped; and for each
    /// layer a bound on their errors, and whether they are not known to be 0.
    std::vector<double> gains_, gain_errors_;
    std::vector<char> has_gains_;
    /// The active neurons of a layer: places in the layer, rows of weights, and what multiplies them.
    std::vector<std::size_t> active_;
    std::vector<const double*> rows_;
    std::vector<double> factors_, uncertainties_;
};

}  // namespace polyrelu
