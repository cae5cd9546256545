#include "forms.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "floats.hpp"

namespace polyrelu {
namespace {

constexpr std::int32_t kMostForms = std::numeric_limits<std::int32_t>::max();

/// Add the forms of active neurons times their weights; return whether there are any.
/// `Width` is the length of the rows, or 0 for a length that is not known to the compiler. Two sums
/// run side by side, so that an addition need not wait for the one before.
template <int Width>
bool add_rows(const std::uint8_t* active, const double* weights, const double* forms,
              std::size_t size, double* row, int width) {
    constexpr int most = Width ? Width : kLargestDimension + 1;
    if (Width) width = Width;
    double even[most] = {}, odd[most] = {};
    std::uint8_t is_on = 0;
    const auto add = [&](std::size_t i, double* sums) {
        is_on |= active[i];
        const double factor = active[i] ? weights[i] : 0;
        const double* form = forms + i * static_cast<std::size_t>(width);
        for (int c = 0; c < width; ++c) sums[c] += factor * form[c];
    };
    for (std::size_t i = 0; i + 1 < size; i += 2) {
        add(i, even);
        add(i + 1, odd);
    }
    if (size % 2) add(size - 1, even);
    for (int c = 0; c < width; ++c) row[c] += even[c] + odd[c];
    return is_on;
}

bool add_active(int width, const std::uint8_t* active, const double* weights, const double* forms,
                std::size_t size, double* row) {
    switch (width) {
        case 2: return add_rows<2>(active, weights, forms, size, row, width);
        case 3: return add_rows<3>(active, weights, forms, size, row, width);
        case 4: return add_rows<4>(active, weights, forms, size, row, width);
        case 5: return add_rows<5>(active, weights, forms, size, row, width);
        case 6: return add_rows<6>(active, weights, forms, size, row, width);
        default: return add_rows<0>(active, weights, forms, size, row, width);
    }
}

}  // namespace

void LastLayer::prepare() {
    weight_norms.assign(width, 0.0);
    for (Source& source : sources) {
        num_products += source.width;
        source.transposed.resize(source.width * width);
        for (std::size_t j = 0; j < width; ++j)
            for (std::size_t i = 0; i < source.width; ++i) {
                source.transposed[i * width + j] = source.weights[j * source.width + i];
                weight_norms[j] += source.magnitudes[j * source.width + i];
            }
    }
}

void Forms::share(const double* rows_of_python, const double* errors_of_python,
                  std::int32_t num_shared) {
    if (!pairs.empty()) throw std::logic_error("no layer follows the last layer");
    shared_rows_ = rows_of_python;
    shared_errors_ = errors_of_python;
    num_shared_ = num_shared;
}

void Forms::set_last_layer(std::shared_ptr<const LastLayer> layer) {
    last_ = std::move(layer);
    numbers_.resize(last_->width);
}

std::int32_t Forms::of_last_layer(std::size_t region, std::size_t neuron) {
    Array<std::int32_t>& numbers = numbers_[neuron];
    if (numbers.empty()) numbers.assign(last_->num_regions, -1);
    std::int32_t& number = numbers[region];
    if (number < 0) {
        if (errors.size() >= static_cast<std::size_t>(kMostForms - num_shared_))
            throw std::length_error("more than 2^31 affine forms");
        number = num_shared_ + static_cast<std::int32_t>(errors.size());
        append_form(region, neuron);
    }
    return number;
}

void Forms::forget_numbers_before(std::size_t neuron) {
    for (std::size_t i = 0; i < neuron; ++i) numbers_[i] = {};
}

/// Append z_j = Σ w_ji a_i + b_j t with the error of section 1 of docs/theory/float_signs.md.
void Forms::append_form(std::size_t region, std::size_t neuron) {
    const LastLayer& layer = *last_;
    double row[kLargestDimension + 1] = {};
    double error = layer.least_errors[neuron];
    bool is_on = false;
    for (const Source& source : layer.sources) {
        const std::size_t size = source.width;
        const std::size_t of_source = static_cast<std::size_t>(source.regions[region]) * size;
        const std::uint8_t* active =
            source.active + static_cast<std::size_t>(source.active_rows[region]) * size;
        const double* forms = source.rows + of_source * width_;
        const double* weights = source.weights + neuron * size;
        const double* magnitudes = source.magnitudes + neuron * size;
        const double* uncertainties = source.uncertainties + of_source;
        is_on |= add_active(static_cast<int>(width_), active, weights, forms, size, row);
        if (layer.is_exact || !kHasBounds) continue;
        for (std::size_t i = 0; i < size; ++i)
            if (active[i]) error += uncertainties[i] * magnitudes[i];
    }
    row[width_ - 1] += layer.bias[neuron];
    if (layer.is_exact || layer.no_form[neuron] || (layer.no_bias[neuron] && !is_on)) error = 0;
    rows.append(row, row + width_);
    errors.push_back(error);
    pairs.push_back(static_cast<std::int64_t>(region));
    pairs.push_back(static_cast<std::int64_t>(neuron));
}

}  // namespace polyrelu
