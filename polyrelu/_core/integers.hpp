// Integers of fixed width, for signs that floats leave open.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace polyrelu {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// An integer of 256 bits in two's complement. Nothing overflows below 255 bits, which callers see to.
class Int256 {
public:
    Int256() = default;
    explicit Int256(std::int64_t value) {
        words_.fill(value < 0 ? ~std::uint64_t{0} : 0);
        words_[0] = static_cast<std::uint64_t>(value);
    }

    Int256& operator+=(const Int256& other) {
        UInt128 carry = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            carry += static_cast<UInt128>(words_[i]) + other.words_[i];
            words_[i] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        return *this;
    }
    friend Int256 operator*(const Int256& number, std::int64_t factor) {
        const bool is_negative = factor < 0;
        const std::uint64_t size =
            is_negative ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
        Int256 product;
        UInt128 carry = 0;
        for (std::size_t i = 0; i < product.words_.size(); ++i) {
            carry += static_cast<UInt128>(number.words_[i]) * size;
            product.words_[i] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        return is_negative ? -product : product;
    }
    Int256 operator-() const {
        Int256 negative;
        for (std::size_t i = 0; i < words_.size(); ++i) negative.words_[i] = ~words_[i];
        return negative += Int256(1);
    }
    int sign() const {
        if (words_[3] >> 63) return -1;
        return (words_[0] | words_[1] | words_[2] | words_[3]) != 0;
    }

private:
    std::array<std::uint64_t, 4> words_;
};

inline int sign_of(const Int256& number) { return number.sign(); }
inline int sign_of(Int128 number) { return (number > 0) - (number < 0); }

}  // namespace polyrelu
