// Constants of the error bounds of docs/theory/float_signs.md, and signs of floats with bounds.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

static_assert(std::numeric_limits<double>::is_iec559, "the error bounds are those of IEEE float64");
static_assert(FLT_EVAL_METHOD == 0, "the error bounds need float64 without extended precision");
#ifdef __FAST_MATH__
#error "the error bounds do not hold with -ffast-math"
#endif

// With GCC and glibc on x86-64, a marked function is compiled for two kinds of processors, and the
// loader chooses. Sanitizers do not get along with that.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__)
#define POLYRELU_FOR_ALL_PROCESSORS __attribute__((target_clones("default", "arch=x86-64-v3")))
// The same for files that include exact_order.hpp, so that all processors compute the same bits.
#define POLYRELU_IN_EXACT_ORDER \
    __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define POLYRELU_FOR_ALL_PROCESSORS
#define POLYRELU_IN_EXACT_ORDER
#endif

namespace polyrelu {

/// The unit roundoff u.
inline constexpr double kUnit = 0x1p-53;
/// Factor for terms of second order, and for the rounding of the bounds themselves.
inline constexpr double kSlack = 1 + 0x1p-20;
/// Term for numbers that round to 0 or to subnormal numbers (section 1).
inline constexpr double kTiny = 0x1p-1000;
/// The same for the signs of the last layer (section 3).
inline constexpr double kLastLayerTiny = 0x1p-900;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// Whether signs of floats have proved bounds. The other way is for measurements of what the proofs
/// cost (benchmarks/core.py) and for nothing else: signs can be wrong then.
#ifdef POLYRELU_WITHOUT_BOUNDS
inline constexpr bool kHasBounds = false;
#else
inline constexpr bool kHasBounds = true;
#endif

/// A sign that floats leave open.
inline constexpr int kUndecided = 2;

/// The larger of two numbers; not a number if one of them is none, unlike std::max.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

/// The sign of a value with an error bound. Where a product has overflowed, even the sign of an
/// infinite value can be wrong, and comparisons with what is no number are false.
inline int sign_of_value(double value, double bound) {
    if constexpr (!kHasBounds) return (value > 0) - (value < 0);
    if (!(std::fabs(value) > bound) || std::isinf(value)) return kUndecided;
    return value > 0 ? 1 : -1;
}

}  // namespace polyrelu
