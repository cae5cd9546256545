// Exact signs of forms at vertices, where all rows are exact floats and short enough.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vertices.hpp"

namespace polyrelu {

/// The exact sign of forms at one vertex after the other, in integers of up to 256 bits.
///
/// The vertex is the vector v of the signed minors of its d rows, up to its sign: F·v is the
/// determinant of these rows and F. Nothing is decided where a row was rounded, or where the
/// determinant could be too long; then `kUndecided` is the answer.
class ExactVertex {
public:
    /// The vertex on d forms. `orientation` is a form that does not vanish there, with its sign.
    ExactVertex(const VertexProblem& problem, int dimension, const double* orientation, int sign);

    int sign_of_form(const double* row) const;

private:
    /// Entries over a power of two that is not kept, and the number of their bits.
    struct Row {
        std::int64_t entries[kLargestDimension + 1];
        int bits;
        bool read(const double* row, int width);
    };
    template <class Integer>
    int sign_of_determinant(const Row& last) const;

    int dimension_;
    bool is_known_ = false;
    int orientation_ = 0;
    Row rows_[kLargestDimension];
    int num_bits_ = 0;
};

}  // namespace polyrelu
