#include "first_cells.hpp"

#include <cstddef>

namespace polyrelu {
namespace {

/// A list of one digit for each base form: 0 for the sign 0, 1 for +, 2 for -. The code of the
/// digits, the number that they write, says which place the list has among all lists.
class Orthants {
public:
    explicit Orthants(std::span<const std::uint8_t> two_sided)
        : digits(two_sided.size(), std::uint8_t{0}), strides(two_sided.size()) {
        for (std::size_t i = two_sided.size(); i-- > 0;) {
            strides[i] = count;
            count *= two_sided[i] ? 3 : 2;
        }
    }
    /// Go to the next list; the last digit moves fastest.
    void next(std::span<const std::uint8_t> two_sided) {
        for (std::size_t i = digits.size(); i-- > 0;) {
            if (++digits[i] < (two_sided[i] ? 3 : 2)) return;
            digits[i] = 0;
        }
    }
    std::size_t num_rays() const {
        std::size_t rays = 0;
        for (const std::uint8_t digit : digits) rays += digit != 0;
        return rays;
    }

    Array<std::uint8_t> digits;
    Array<std::size_t> strides;
    std::size_t count = 1;
};

/// Append a cell with no facet yet, and the forms that vanish on it; return its number.
std::int32_t append_cell(Level& level, bool has_apex, const Orthants& orthants,
                         std::span<const std::int32_t> numbers) {
    const auto number = static_cast<std::int32_t>(level.size());
    level.words.push_back(0);
    level.regions.push_back(0);
    if (!has_apex) level.forms.push_back(numbers[0]);
    for (std::size_t i = 0; i < orthants.digits.size(); ++i)
        if (orthants.digits[i] == 0) level.forms.push_back(numbers[i + 1]);
    return number;
}

}  // namespace

Lattice first_cells(std::span<const std::uint8_t> two_sided, std::span<const std::int32_t> numbers,
                    Array<std::int8_t>& base_signs) {
    Lattice lattice(static_cast<int>(two_sided.size()));
    Orthants orthants(two_sided);
    // The numbers of the hull of the apex and of a direction for each digit that is not 0, and of
    // the face of this cell at infinity.
    Array<std::int32_t> with_apex(orthants.count), at_infinity(orthants.count);
    const auto append_facets = [&](std::size_t k, std::size_t code, bool has_apex) {
        Level& level = lattice.levels[k];
        const std::size_t start = level.heap.size();
        if (has_apex) level.heap.push_back(at_infinity[code]);
        for (std::size_t i = 0; i < two_sided.size(); ++i) {
            if (orthants.digits[i] == 0) continue;
            const std::size_t smaller = code - orthants.digits[i] * orthants.strides[i];
            level.heap.push_back(has_apex ? with_apex[smaller] : at_infinity[smaller]);
        }
        if (k < 2) return;
        level.starts.push_back(static_cast<std::int64_t>(start));
        level.counts.push_back(static_cast<std::int32_t>(level.heap.size() - start));
    };
    const auto append_signs = [&](bool has_apex) {
        base_signs.push_back(has_apex);
        for (const std::uint8_t digit : orthants.digits)
            base_signs.push_back(static_cast<std::int8_t>(digit == 2 ? -1 : digit));
    };
    for (std::size_t code = 0; code < orthants.count; ++code, orthants.next(two_sided)) {
        const std::size_t rays = orthants.num_rays();
        with_apex[code] = append_cell(lattice.levels[rays], true, orthants, numbers);
        if (rays == 0) append_signs(true);
        if (rays == 0) continue;
        at_infinity[code] = append_cell(lattice.levels[rays - 1], false, orthants, numbers);
        if (rays == 1) append_signs(false);
        append_facets(rays, code, true);
        if (rays > 1) append_facets(rays - 1, code, false);
    }
    return lattice;
}

}  // namespace polyrelu
