// The cells that d independent affine forms cut out of R^d, points at infinity included.
#pragma once

#include <cstdint>
#include <span>

#include "arrays.hpp"
#include "lattice.hpp"

namespace polyrelu {

/// Make the first cells, as `arrangement.orthants` does, in the same order.
///
/// `numbers` are the numbers of the form t and of the d base forms. A base form with both signs is
/// marked in `two_sided`; of the others only the positive side is wanted. The signs of t and of the
/// base forms at the vertices are appended to `base_signs`.
Lattice first_cells(std::span<const std::uint8_t> two_sided, std::span<const std::int32_t> numbers,
                    Array<std::int8_t>& base_signs);

}  // namespace polyrelu
