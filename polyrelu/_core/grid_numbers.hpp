// Numbers of the rule of certificates in `grid_rule.hpp`, and how they are rounded.
#pragma once

#include <cstdint>

#include "integers.hpp"

namespace polyrelu {

/// Thrown where a number does not fit; Python takes the box then.
struct TooLong {};

constexpr int kSlopeBits = 16;
constexpr std::int64_t kOne = std::int64_t{1} << kSlopeBits;
constexpr Int128 kLargest = Int128{1} << 62;
/// Sums of products stay below this number, of which floats say enough.
constexpr double kLargestSum = 0x1p124;

inline std::int64_t checked(Int128 number) {
    if (number >= kLargest || number <= -kLargest) throw TooLong();
    return static_cast<std::int64_t>(number);
}

inline void check_sum(double size) {
    if (!(size < kLargestSum)) throw TooLong();
}

inline Int128 size_of(Int128 number) { return number < 0 ? -number : number; }
/// A number over a power of 2, rounded up. Shifts of negative numbers round down.
inline Int128 ceiled(Int128 number, int bits) { return -(-number >> bits); }
inline Int128 times(std::int64_t one, std::int64_t other) { return static_cast<Int128>(one) * other; }

inline int sign_of_interval(std::int64_t low, std::int64_t high) {
    return low >= 0 ? 1 : high <= 0 ? -1 : 0;
}

inline std::int64_t chord_slope(std::int64_t low, std::int64_t high) {
    if (low >= 0) return kOne;
    if (high <= 0) return 0;
    if (high < kLargest >> kSlopeBits)  // divisions of 64 bits are much faster
        return (high << kSlopeBits) / (high - low);
    return static_cast<std::int64_t>((static_cast<Int128>(high) << kSlopeBits) /
                                     (static_cast<Int128>(high) - low));
}

}  // namespace polyrelu
