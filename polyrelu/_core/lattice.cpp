#include "lattice.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#ifdef __GNUC__
#define POLYRELU_PREFETCH(address) __builtin_prefetch(address)
#else
#define POLYRELU_PREFETCH(address) static_cast<void>(address)
#endif

namespace polyrelu {
namespace {

/// The bits of the forms after `bit`.
std::uint32_t later(int bit) { return bit == kWordBits - 1 ? 0 : ~std::uint32_t{0} << (bit + 1); }

/// Append copies of the marked rows of `width` entries.
template <class T>
void append_marked(const Array<T>& from, std::size_t width, const Array<std::uint8_t>& marked,
                   Array<T>& to) {
    for (std::size_t i = 0; i < marked.size(); ++i)
        if (marked[i])
            for (std::size_t j = 0; j < width; ++j) to.push_back(from[i * width + j]);
}

}  // namespace

// -- words -------------------------------------------------------------------------------------

void Lattice::set_words(std::uint32_t members) {
    members_ = members;
    for (int k = 1; k <= dimension(); ++k) {
        Level& level = levels[static_cast<std::size_t>(k)];
        const Level& lower = levels[static_cast<std::size_t>(k) - 1];
        if (k >= 2) compact(level);
        for (std::size_t cell = 0; cell < level.size(); ++cell) {
            Word word = 0;
            for (const std::int32_t facet : facets(k, cell))
                word |= lower.words[static_cast<std::size_t>(facet)];
            level.words[cell] = word;
        }
    }
    list_waiting(members);
}

void Lattice::list_waiting(std::uint32_t bits) {
    zero_bits_ = 0;
    for (const Word word : levels[0].words) zero_bits_ |= ~nonzero(word) & members_;
    for (std::size_t k = 1; k < levels.size(); ++k) {
        Level& level = levels[k];
        for (auto& waiting : level.waiting) waiting.clear();
        for (std::size_t cell = 0; cell < level.size(); ++cell)
            wait(level, cell, cutting(level.words[cell]) & bits);
    }
}

void Lattice::wait(Level& level, std::size_t cell, std::uint32_t bits) {
    for (; bits; bits &= bits - 1)
        level.waiting[static_cast<std::size_t>(std::countr_zero(bits))].push_back(
            static_cast<std::int32_t>(cell));
}

/// Drop the entries of the heap that belong to no cell, if they are many.
void Lattice::compact(Level& level) {
    std::size_t num_used = 0;
    for (const std::int32_t count : level.counts) num_used += static_cast<std::size_t>(count);
    if (level.heap.size() <= num_used + num_used / 4) return;
    Array<std::int32_t> heap;
    heap.reserve(level.heap.size());
    for (std::size_t cell = 0; cell < level.size(); ++cell) {
        const auto first = level.heap.begin() + level.starts[cell];
        level.starts[cell] = static_cast<std::int64_t>(heap.size());
        heap.append(first, first + level.counts[cell]);
    }
    level.heap.swap(heap);
}

Array<Word> Lattice::words_of_top(const Array<Word>& vertex_words) const {
    Array<Word> words = vertex_words;
    for (int k = 1; k <= dimension(); ++k) {
        Array<Word> above(levels[static_cast<std::size_t>(k)].size());
        for (std::size_t cell = 0; cell < above.size(); ++cell) {
            Word word = 0;
            for (const std::int32_t facet : facets(k, cell))
                word |= words[static_cast<std::size_t>(facet)];
            above[cell] = word;
        }
        words.swap(above);
    }
    return words;
}

void Lattice::number_regions() {
    std::iota(top().regions.begin(), top().regions.end(), 0);
    for (int k = dimension(); k >= 1; --k) {
        const Level& level = levels[static_cast<std::size_t>(k)];
        Level& lower = levels[static_cast<std::size_t>(k) - 1];
        for (std::size_t cell = 0; cell < level.size(); ++cell)
            for (const std::int32_t facet : facets(k, cell))
                lower.regions[static_cast<std::size_t>(facet)] = level.regions[cell];
    }
}

// -- splitting ---------------------------------------------------------------------------------

bool Lattice::split(int bit, VertexMaker& maker) {
    if (!find_cut(bit)) return false;
    const bool touches = zero_bits_ >> bit & 1;
    make_room_for_cut();
    maker.make_vertices();
    const Level& vertices = levels[0];
    for (std::size_t i = vertices.before; i < vertices.size(); ++i)
        zero_bits_ |= ~nonzero(vertices.words[i]) & members_ & ~(std::uint32_t{1} << bit);
    split_edges(bit);
    for (int k = 2; k <= dimension(); ++k) split_cells(k, maker, bit, touches);
    for (Level& level : levels)
        for (const std::int32_t cell : level.cut)
            level.words[static_cast<std::size_t>(cell)] &= ~(Word{1} << (bit + kWordBits));
    return true;
}

bool Lattice::find_cut(int bit) {
    for (Level& level : levels) {
        Array<std::int32_t>& waiting = level.waiting[static_cast<std::size_t>(bit)];
        level.before = level.size();
        level.cut.clear();
        for (const std::int32_t cell : waiting)
            if (cutting(level.words[static_cast<std::size_t>(cell)]) >> bit & 1)
                level.cut.push_back(cell);
        waiting.clear();
        level.slots.resize(level.size());
        for (std::size_t i = 0; i < level.cut.size(); ++i)
            level.slots[static_cast<std::size_t>(level.cut[i])] = static_cast<std::int32_t>(i);
    }
    return !top().cut.empty();
}

void Lattice::make_room_for_cut() {
    for (std::size_t k = 0; k < levels.size(); ++k) {
        Level& level = levels[k];
        const std::size_t count =
            level.cut.size() + (k + 1 < levels.size() ? levels[k + 1].cut.size() : 0);
        level.words.make_room(count);
        level.regions.make_room(count);
        level.forms.make_room(count * (levels.size() - 1 - k));
        if (k == 1) level.heap.make_room(2 * count);
        if (k < 2) continue;
        level.starts.make_room(count);
        level.counts.make_room(count);
    }
}

/// Append the region and the forms of a cell once more, for its negative part.
void Lattice::append_parent(int k, std::size_t cell) {
    Level& level = levels[static_cast<std::size_t>(k)];
    const std::size_t count = levels.size() - 1 - static_cast<std::size_t>(k);
    level.regions.push_back(level.regions[cell]);
    level.forms.repeat(cell * count, count);
}

void Lattice::split_edges(int bit) {
    Level& edges = levels[1];
    const Level& vertices = levels[0];
    const Word positive = Word{1} << bit;
    for (std::size_t i = 0; i < edges.cut.size(); ++i) {
        const auto edge = static_cast<std::size_t>(edges.cut[i]);
        const auto middle = static_cast<std::int32_t>(vertices.before + i);
        std::int32_t above = edges.heap[2 * edge], below = edges.heap[2 * edge + 1];
        if (!(vertices.words[static_cast<std::size_t>(above)] & positive)) std::swap(above, below);
        edges.heap[2 * edge] = above;
        edges.heap[2 * edge + 1] = middle;
        edges.heap.push_back(below);
        edges.heap.push_back(middle);
        const Word at_middle = vertices.words[static_cast<std::size_t>(middle)];
        // Until the end of the cut, the positive part has the bits of both signs as a mark.
        edges.words[edge] =
            vertices.words[static_cast<std::size_t>(above)] | at_middle | positive << kWordBits;
        edges.words.push_back(vertices.words[static_cast<std::size_t>(below)] | at_middle);
        append_parent(1, edge);
        wait(edges, edges.before + i, cutting(edges.words.back()) & later(bit));
    }
}

/// Ask for the memory of the cells that are split some steps later.
void Lattice::prefetch(int k, std::size_t position) const {
    const Level& level = levels[static_cast<std::size_t>(k)];
    const Level& lower = levels[static_cast<std::size_t>(k) - 1];
    if (position + 8 >= level.cut.size()) return;
    const auto far = static_cast<std::size_t>(level.cut[position + 8]);
    const auto near = static_cast<std::size_t>(level.cut[position + 3]);
    POLYRELU_PREFETCH(&level.heap[static_cast<std::size_t>(level.starts[far])]);
    for (const std::int32_t facet : facets(k, near)) {
        POLYRELU_PREFETCH(&lower.slots[static_cast<std::size_t>(facet)]);
        POLYRELU_PREFETCH(&lower.words[static_cast<std::size_t>(facet)]);
    }
}

/// Split the cut cells of dimension k, and append the cells of dimension k - 1 between the parts.
void Lattice::split_cells(int k, VertexMaker& maker, int bit, bool touches) {
    const Level& level = levels[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < level.cut.size(); ++i) {
        if (i % kCellsPerPause == kCellsPerPause - 1) maker.pause();
        prefetch(k, i);
        const auto cell = static_cast<std::size_t>(level.cut[i]);
        sort_facets(k, cell, bit, touches);
        append_between(k, cell, maker, bit);
        write_parts(k, cell, bit);
    }
}

/// Write the facets of the two parts of a cell into `parts_`, and those of the cell between them.
void Lattice::sort_facets(int k, std::size_t cell, int bit, bool touches) {
    const Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const Level& lowest = levels[static_cast<std::size_t>(k) - 2];
    const auto first_half = static_cast<std::int32_t>(lower.before);
    const auto first_zero =
        static_cast<std::int32_t>(lowest.before + (k == 2 ? 0 : lowest.cut.size()));
    parts_.clear();
    for (const std::int32_t facet : facets(k, cell)) {
        const Word word = lower.words[static_cast<std::size_t>(facet)];
        if (cutting(word) >> bit & 1) {  // the facet is cut, and this its positive part
            const std::int32_t slot = lower.slots[static_cast<std::size_t>(facet)];
            parts_.positive.push_back(facet);
            parts_.above |= word;
            parts_.negative.push_back(first_half + slot);
            parts_.below |= lower.words[static_cast<std::size_t>(first_half + slot)];
            parts_.zero.push_back(first_zero + slot);
            parts_.between |= lowest.words[static_cast<std::size_t>(first_zero + slot)];
        } else if (word >> bit & 1) {
            parts_.positive.push_back(facet);
            parts_.above |= word;
            if (touches) find_touched(k, static_cast<std::size_t>(facet), bit);
        } else if (word >> (bit + kWordBits) & 1) {
            parts_.negative.push_back(facet);
            parts_.below |= word;
        }
    }
    parts_.zero.append(parts_.touched.begin(), parts_.touched.end());
}

/// Find the faces of dimension k - 2 of an uncut positive facet on which the form is 0. Such a face
/// lies in two facets of the cell, one on either side, so that it is found once.
void Lattice::find_touched(int k, std::size_t facet, int bit) {
    const Level& lowest = levels[static_cast<std::size_t>(k) - 2];
    for (const std::int32_t face : facets(k - 1, facet)) {
        const Word word = lowest.words[static_cast<std::size_t>(face)];
        if (nonzero(word) >> bit & 1) continue;
        parts_.touched.push_back(face);
        parts_.between |= word;
    }
}

/// Append the cell of dimension k - 1 between the two parts of a cell.
void Lattice::append_between(int k, std::size_t cell, VertexMaker& maker, int bit) {
    const Level& level = levels[static_cast<std::size_t>(k)];
    Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const std::size_t num_forms = levels.size() - 1 - static_cast<std::size_t>(k);
    parts_.separator = static_cast<std::int32_t>(lower.size());
    lower.words.push_back(parts_.between);
    lower.regions.push_back(level.regions[cell]);
    for (std::size_t j = 0; j < num_forms; ++j)
        lower.forms.push_back(level.forms[cell * num_forms + j]);
    lower.forms.push_back(maker.cutting_form(level.regions[cell]));
    if (k > 2) {
        lower.starts.push_back(static_cast<std::int64_t>(lower.heap.size()));
        lower.counts.push_back(static_cast<std::int32_t>(parts_.zero.size()));
    }
    lower.heap.append(parts_.zero.begin(), parts_.zero.end());
    wait(lower, lower.size() - 1, cutting(parts_.between) & later(bit));
}

/// Write the positive part in the place of the cell, and append the negative part.
void Lattice::write_parts(int k, std::size_t cell, int bit) {
    Level& level = levels[static_cast<std::size_t>(k)];
    const auto [above, below, between] = std::tuple(parts_.above, parts_.below, parts_.between);
    Array<std::int32_t>&positive = parts_.positive, &negative = parts_.negative;
    const std::int32_t separator = parts_.separator;
    positive.push_back(separator);
    if (positive.size() <= static_cast<std::size_t>(level.counts[cell])) {
        std::copy(positive.begin(), positive.end(), level.heap.begin() + level.starts[cell]);
    } else {
        level.starts[cell] = static_cast<std::int64_t>(level.heap.size());
        level.heap.append(positive.begin(), positive.end());
    }
    level.counts[cell] = static_cast<std::int32_t>(positive.size());
    // Until the end of the cut, the bits of both signs are the mark of a cut cell.
    level.words[cell] = above | between | Word{1} << (bit + kWordBits);
    negative.push_back(separator);
    level.starts.push_back(static_cast<std::int64_t>(level.heap.size()));
    level.counts.push_back(static_cast<std::int32_t>(negative.size()));
    level.heap.append(negative.begin(), negative.end());
    level.words.push_back(below | between);
    append_parent(k, cell);
    wait(level, level.size() - 1, cutting(below | between) & later(bit));
}

// -- parts -------------------------------------------------------------------------------------

std::vector<Array<std::uint8_t>> Lattice::closure(std::span<const std::int64_t> top) const {
    std::vector<Array<std::uint8_t>> marked;
    for (const Level& level : levels) marked.emplace_back(level.size(), std::uint8_t{0});
    for (const std::int64_t cell : top) marked.back()[static_cast<std::size_t>(cell)] = 1;
    for (int k = dimension(); k >= 1; --k)
        for (std::size_t cell = 0; cell < levels[static_cast<std::size_t>(k)].size(); ++cell)
            if (marked[static_cast<std::size_t>(k)][cell])
                for (const std::int32_t facet : facets(k, cell))
                    marked[static_cast<std::size_t>(k) - 1][static_cast<std::size_t>(facet)] = 1;
    return marked;
}

Lattice Lattice::restricted(const std::vector<Array<std::uint8_t>>& marked) const {
    Lattice part(dimension());
    part.members_ = members_;
    Array<std::int32_t> numbers;  // of the cells of the dimension below
    for (int k = 0; k <= dimension(); ++k) {
        const auto index = static_cast<std::size_t>(k);
        const Level& from = levels[index];
        Level& to = part.levels[index];
        append_marked(from.words, 1, marked[index], to.words);
        append_marked(from.regions, 1, marked[index], to.regions);
        append_marked(from.forms, levels.size() - 1 - index, marked[index], to.forms);
        for (std::size_t cell = 0; k > 0 && cell < from.size(); ++cell) {
            if (!marked[index][cell]) continue;
            const auto old_facets = facets(k, cell);
            if (k > 1) {
                to.starts.push_back(static_cast<std::int64_t>(to.heap.size()));
                to.counts.push_back(static_cast<std::int32_t>(old_facets.size()));
            }
            for (const std::int32_t facet : old_facets)
                to.heap.push_back(numbers[static_cast<std::size_t>(facet)]);
        }
        numbers.resize(from.size());
        std::int32_t count = 0;
        for (std::size_t cell = 0; cell < from.size(); ++cell) {
            numbers[cell] = count;
            count += marked[index][cell] != 0;
        }
    }
    return part;
}

}  // namespace polyrelu
