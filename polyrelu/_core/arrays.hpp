// Growing arrays whose new entries are not set to zero first.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace polyrelu {

/// An allocator that leaves numbers uninitialised where the vector would set them to zero.
template <class T>
struct Uninitialised : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Uninitialised<U>;
    };
    template <class U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using Array = std::vector<T, Uninitialised<T>>;

/// Append `count` entries that stand at `first`; they may belong to the array itself.
template <class T>
void append(Array<T>& array, std::size_t first, std::size_t count) {
    const std::size_t size = array.size();
    array.resize(size + count);
    for (std::size_t i = 0; i < count; ++i) array[size + i] = array[first + i];
}

/// Make room for `count` more entries; the capacity grows geometrically.
template <class T>
void make_room(Array<T>& array, std::size_t count) {
    const std::size_t size = array.size() + count;
    if (size > array.capacity()) array.reserve(size + size / 2 + 16);
}

}  // namespace polyrelu
