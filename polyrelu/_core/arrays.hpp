// Growing arrays of numbers, whose new entries are not set to zero first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace polyrelu {

/// An array that grows at the end, like std::vector, for numbers only.
///
/// It grows with realloc, which moves large arrays to a new address without copying them, where the
/// system can; and it leaves new entries uninitialised unless a value is given.
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;

    Array() = default;
    explicit Array(std::size_t count) { resize(count); }
    Array(std::size_t count, T value) { resize(count, value); }
    template <class Iterator>
        requires(!std::is_arithmetic_v<Iterator>)
    Array(Iterator first, Iterator last) {
        append(first, last);
    }
    Array(const Array& other) { append(other.begin(), other.end()); }
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() { std::free(data_); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }
    const T& back() const { return data_[size_ - 1]; }

    void push_back(T value) {
        if (size_ == capacity_) make_room(1);
        data_[size_++] = value;
    }
    void pop_back() { --size_; }
    void clear() { size_ = 0; }
    void resize(std::size_t count) {
        if (count > capacity_) make_room(count - size_);
        size_ = count;
    }
    void resize(std::size_t count, T value) {
        const std::size_t before = size_;
        resize(count);
        if (count > before) std::fill(data_ + before, data_ + count, value);
    }
    void assign(std::size_t count, T value) {
        clear();
        resize(count, value);
    }
    template <class Iterator>
    void append(Iterator first, Iterator last) {
        const auto count = static_cast<std::size_t>(last - first);
        make_room(count);
        std::copy(first, last, data_ + size_);
        size_ += count;
    }
    /// Append `count` entries of the array itself, from the entry `first` on.
    void repeat(std::size_t first, std::size_t count) {
        make_room(count);
        for (std::size_t i = 0; i < count; ++i) data_[size_ + i] = data_[first + i];
        size_ += count;
    }
    /// Make room for `count` more entries; the capacity grows geometrically. Large arrays grow by
    /// half, since the system moves them without copying, and smaller ones to twice the size.
    void make_room(std::size_t count) {
        const std::size_t needed = size_ + count;
        if (needed <= capacity_) return;
        reserve(needed + (needed * sizeof(T) < kLargeArray ? needed : needed / 2) + 16);
    }
    /// Make room for `capacity` entries in all.
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        void* larger = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
        if (larger == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(larger);
        capacity_ = capacity;
    }
    /// Give back the memory behind the last entry.
    void trim() {
        if (size_ == capacity_ || size_ == 0) return;
        void* smaller = std::realloc(static_cast<void*>(data_), size_ * sizeof(T));
        if (smaller == nullptr) return;
        data_ = static_cast<T*>(smaller);
        capacity_ = size_;
    }
    void swap(Array& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

private:
    /// The number of bytes of an array that stands in pages of its own.
    static constexpr std::size_t kLargeArray = std::size_t{1} << 25;

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace polyrelu
