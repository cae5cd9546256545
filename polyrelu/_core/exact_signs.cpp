#include "exact_signs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "floats.hpp"
#include "integers.hpp"

namespace polyrelu {
namespace {

/// The largest dimension whose 2^(d + 1) minors are computed here.
constexpr int kLargestExactDimension = 8;
/// Bits of (d + 1)!, the number of products in a determinant, for d up to 8.
constexpr int kBitsOfProducts[] = {0, 1, 3, 5, 7, 10, 13, 16, 19};
/// The largest number of bits of an entry: the sign has a bit of its own.
constexpr int kLargestEntry = 62;

}  // namespace

/// Read a row; false if it is not finite or its entries are too far apart.
bool ExactVertex::Row::read(const double* row, int width) {
    int lowest = 0, highest = 0;
    bool is_zero = true;
    std::int64_t mantissas[kLargestDimension + 1];
    int exponents[kLargestDimension + 1];
    for (int j = 0; j < width; ++j) {
        if (!std::isfinite(row[j])) return false;
        int exponent;
        mantissas[j] = static_cast<std::int64_t>(std::ldexp(std::frexp(row[j], &exponent), 53));
        if (mantissas[j] == 0) continue;
        const auto size = static_cast<std::uint64_t>(std::llabs(mantissas[j]));
        const int zeros = std::countr_zero(size);
        mantissas[j] /= std::int64_t{1} << zeros;
        exponents[j] = exponent - 53 + zeros;
        const int end = exponents[j] + static_cast<int>(std::bit_width(size >> zeros));
        lowest = is_zero ? exponents[j] : std::min(lowest, exponents[j]);
        highest = is_zero ? end : std::max(highest, end);
        is_zero = false;
    }
    bits = highest - lowest;
    if (bits > kLargestEntry) return false;
    for (int j = 0; j < width; ++j)
        entries[j] =
            mantissas[j] == 0 ? 0 : mantissas[j] * (std::int64_t{1} << (exponents[j] - lowest));
    return true;
}

ExactVertex::ExactVertex(const VertexProblem& problem, int dimension, const double* orientation,
                         int sign)
    : dimension_(dimension) {
    if (dimension > kLargestExactDimension) return;
    num_bits_ = kBitsOfProducts[dimension];
    for (int i = 0; i < dimension; ++i) {
        if (problem.errors[i] != 0 || !rows_[i].read(problem.rows[i], dimension + 1)) return;
        num_bits_ += rows_[i].bits;
    }
    is_known_ = true;
    orientation_ = 1;
    const int found = sign_of_form(orientation);
    is_known_ = found != kUndecided && found != 0;
    orientation_ = found * sign;
}

int ExactVertex::sign_of_form(const double* row) const {
    Row last;
    if (!is_known_ || !last.read(row, dimension_ + 1)) return kUndecided;
    const int bits = num_bits_ + last.bits;
    if (bits <= 126) return orientation_ * sign_of_determinant<Int128>(last);
    if (bits <= 254) return orientation_ * sign_of_determinant<Int256>(last);
    return kUndecided;
}

/// The determinant of the d rows and a last one, by expansion row after row: entry `columns` of the
/// table is the minor of the first rows on that set of columns.
template <class Integer>
int ExactVertex::sign_of_determinant(const Row& last) const {
    const int width = dimension_ + 1;
    Integer minors[std::size_t{2} << kLargestExactDimension];
    minors[0] = Integer(1);
    const auto end = std::uint32_t{1} << width;
    for (std::uint32_t columns = 1; columns < end; ++columns) {
        const int size = std::popcount(columns);
        const std::int64_t* entries = (size == width ? last : rows_[size - 1]).entries;
        Integer sum(0);
        int position = 0;
        for (std::uint32_t rest = columns; rest; rest &= rest - 1, ++position) {
            const int column = std::countr_zero(rest);
            if (entries[column] == 0) continue;
            const bool is_negative = (size - 1 + position) % 2 != 0;
            sum += minors[columns ^ (std::uint32_t{1} << column)] *
                   (is_negative ? -entries[column] : entries[column]);
        }
        minors[columns] = sum;
    }
    return sign_of(minors[end - 1]);
}

}  // namespace polyrelu
