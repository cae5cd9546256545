#include "lattice.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#ifdef __GNUC__
#define POLYRELU_PREFETCH(address) __builtin_prefetch(address)
#else
#define POLYRELU_PREFETCH(address) static_cast<void>(address)
#endif

namespace polyrelu {
namespace {

/// The bits of the forms after `bit`.
std::uint32_t later(int bit) { return bit == kWordBits - 1 ? 0 : ~std::uint32_t{0} << (bit + 1); }

/// The number of cells whose words the fast caches of a processor hold at least.
constexpr std::size_t kCellsInCache = 1 << 14;

/// The word of a cut cell during a cut: both bits of the form, and the position of the cell in the
/// list of cut cells. In the word rotated by `bit` these are the bits 0, 32, and 1 to 31.
Word with_slot(std::size_t slot, int bit) {
    return std::rotl(Word{1} << kWordBits | Word{slot} << 1 | 1, bit);
}
std::size_t slot_in(Word word, int bit) {
    return static_cast<std::uint32_t>(std::rotr(word, bit)) >> 1;
}

/// Let a cell wait for the cuts with the forms of the given bits.
void wait(Waiting& waiting, std::size_t cell, std::uint32_t bits) {
    for (; bits; bits &= bits - 1)
        waiting[static_cast<std::size_t>(std::countr_zero(bits))].push_back(
            static_cast<std::int32_t>(cell));
}

/// Append all lists to others, and clear them.
void append_waiting(Waiting& from, Waiting& to) {
    for (std::size_t bit = 0; bit < from.size(); ++bit) {
        to[bit].append(from[bit].begin(), from[bit].end());
        from[bit].clear();
    }
}

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
            wait(level.waiting, cell, cutting(level.words[cell]) & bits);
    }
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

bool Lattice::find_cut(int bit) {
    std::size_t num_waiting = 0;
    for (const Level& level : levels)
        num_waiting += level.waiting[static_cast<std::size_t>(bit)].size();
    const auto find_in = [&](std::size_t first, std::size_t step) {
        for (std::size_t k = first; k < levels.size(); k += step) levels[k].find_cut(bit);
    };
    if (needs_team(num_waiting))
        team->share(levels.size(),
                    [&](std::size_t member, Range) { find_in(member, team->size()); });
    else
        find_in(0, 1);
    return !top().cut.empty();
}

void Level::find_cut(int bit) {
    Array<std::int32_t>& of_form = waiting[static_cast<std::size_t>(bit)];
    before = size();
    cut.clear();
    cut.make_room(of_form.size());
    for (const std::int32_t cell : of_form) {
        Word& word = words[static_cast<std::size_t>(cell)];
        if (!(cutting(word) >> bit & 1)) continue;
        word = with_slot(cut.size(), bit);
        cut.push_back(cell);
    }
    of_form.clear();
    cut_words.resize(cut.size());
}

void Lattice::split(int bit, VertexMaker& maker, const CuttingForms& forms) {
    const Cut cut{bit, forms, (zero_bits_ >> bit & 1) != 0};
    make_room_for_cut();
    maker.make_vertices();
    const Level& vertices = levels[0];
    for (std::size_t i = vertices.before; i < vertices.size(); ++i)
        zero_bits_ |= ~nonzero(vertices.words[i]) & members_ & ~(std::uint32_t{1} << bit);
    split_edges(cut);
    for (int k = 2; k <= dimension(); ++k) split_cells(k, maker, cut);
    for (Level& level : levels)
        for_each_part(level.cut.size(), [&](std::size_t, Range range) {
            for (std::size_t i = range.begin; i < range.end; ++i)
                level.words[static_cast<std::size_t>(level.cut[i])] = level.cut_words[i].above;
        });
}

void Lattice::for_each_part(std::size_t count,
                            const std::function<void(std::size_t, Range)>& task) const {
    if (needs_team(count))
        team->share(count, task);
    else
        task(0, {0, count});
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

/// Append cells whose entries are written later: the negative parts of the cut cells of dimension k
/// to this dimension, and the cells between the parts to the dimension below.
void Lattice::append_new_cells(int k) {
    const auto index = static_cast<std::size_t>(k);
    const std::size_t count = levels[index].cut.size();
    for (std::size_t j = index == 1 ? 1 : index - 1; j <= index; ++j) {
        Level& level = levels[j];
        const std::size_t size = level.size() + count;
        level.words.resize(size);
        level.regions.resize(size);
        level.forms.resize(size * (levels.size() - 1 - j));
        if (j < 2) continue;
        level.starts.resize(size);
        level.counts.resize(size);
    }
}

/// Write the word of the negative part of a cell, and the region and the forms of the whole cell.
void Lattice::write_negative(int k, std::size_t cell, std::size_t negative, Word word) {
    Level& level = levels[static_cast<std::size_t>(k)];
    const std::size_t num_forms = levels.size() - 1 - static_cast<std::size_t>(k);
    level.words[negative] = word;
    level.regions[negative] = level.regions[cell];
    for (std::size_t j = 0; j < num_forms; ++j)
        level.forms[negative * num_forms + j] = level.forms[cell * num_forms + j];
}

/// Write word, region and forms of the cell of dimension k - 1 between the two parts of a cell.
void Lattice::write_between(int k, std::size_t cell, std::size_t between, Word word,
                            const Cut& cut) {
    const Level& level = levels[static_cast<std::size_t>(k)];
    Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const std::size_t num_forms = levels.size() - 1 - static_cast<std::size_t>(k);
    const std::int32_t region = level.regions[cell];
    lower.words[between] = word;
    lower.regions[between] = region;
    std::int32_t* const forms = &lower.forms[between * (num_forms + 1)];
    for (std::size_t j = 0; j < num_forms; ++j) forms[j] = level.forms[cell * num_forms + j];
    forms[num_forms] = cut.forms[region];
}

void Lattice::split_edges(const Cut& cut) {
    Level& edges = levels[1];
    const std::size_t count = edges.cut.size();
    append_new_cells(1);
    edges.heap.resize(2 * edges.size());
    drafts_.resize(team ? team->size() : 1);
    for_each_part(count, [&](std::size_t member, Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i)
            split_edge(i, cut, drafts_[member].waiting);
    });
    for (Draft& draft : drafts_) append_waiting(draft.waiting, edges.waiting);
}

void Lattice::split_edge(std::size_t position, const Cut& cut, Waiting& waiting) {
    Level& edges = levels[1];
    const Level& vertices = levels[0];
    const auto edge = static_cast<std::size_t>(edges.cut[position]);
    const std::size_t negative = edges.before + position;
    const auto middle = static_cast<std::int32_t>(vertices.before + position);
    std::int32_t above = edges.heap[2 * edge], below = edges.heap[2 * edge + 1];
    if (!(vertices.words[static_cast<std::size_t>(above)] >> cut.bit & 1)) std::swap(above, below);
    edges.heap[2 * edge] = above;
    edges.heap[2 * edge + 1] = middle;
    edges.heap[2 * negative] = below;
    edges.heap[2 * negative + 1] = middle;
    CutWords& words = edges.cut_words[position];
    words.between = vertices.words[static_cast<std::size_t>(middle)];
    words.above = vertices.words[static_cast<std::size_t>(above)] | words.between;
    words.below = vertices.words[static_cast<std::size_t>(below)] | words.between;
    write_negative(1, edge, negative, words.below);
    wait(waiting, negative, cutting(words.below) & later(cut.bit));
}

/// Ask for the memory of the cells that are split some steps later, in the part of the list that ends
/// before `end`: the others can belong to another thread.
void Lattice::prefetch(int k, std::size_t position, std::size_t end, int bit) const {
    constexpr std::size_t farthest = 16, far = 10, near = 6, nearest = 3;
    const Level& level = levels[static_cast<std::size_t>(k)];
    const Level& lower = levels[static_cast<std::size_t>(k) - 1];
    if (position + farthest >= end) return;
    const auto cell_at = [&](std::size_t steps) {
        return static_cast<std::size_t>(level.cut[position + steps]);
    };
    std::size_t cell = cell_at(farthest);
    POLYRELU_PREFETCH(&level.starts[cell]);
    POLYRELU_PREFETCH(&level.counts[cell]);
    POLYRELU_PREFETCH(&level.regions[cell]);
    POLYRELU_PREFETCH(level.forms.data() + cell * (levels.size() - 1 - static_cast<std::size_t>(k)));
    cell = cell_at(far);
    const auto start = static_cast<std::size_t>(level.starts[cell]);
    POLYRELU_PREFETCH(level.heap.data() + start);
    POLYRELU_PREFETCH(level.heap.data() + start + static_cast<std::size_t>(level.counts[cell]));
    for (const std::int32_t facet : facets(k, cell_at(near)))
        POLYRELU_PREFETCH(&lower.words[static_cast<std::size_t>(facet)]);
    for (const std::int32_t facet : facets(k, cell_at(nearest))) {
        const Word word = lower.words[static_cast<std::size_t>(facet)];
        if (cutting(word) >> bit & 1) POLYRELU_PREFETCH(&lower.cut_words[slot_in(word, bit)]);
    }
}

/// Split the cut cells of dimension k, and append the cells of dimension k - 1 between the parts.
void Lattice::split_cells(int k, VertexMaker& maker, const Cut& cut) {
    Level& level = levels[static_cast<std::size_t>(k)];
    Level& lower = levels[static_cast<std::size_t>(k) - 1];
    append_new_cells(k);
    if (needs_team(level.cut.size())) {
        split_in_team(k, maker, cut);
        return;
    }
    Draft& draft = drafts_[0];
    split_range(k, {0, level.cut.size()}, &maker, cut,
                {level.heap, lower.heap, level.waiting, lower.waiting, draft.moved, draft.touched});
    draft.moved.clear();
}

void Lattice::split_in_team(int k, VertexMaker& maker, const Cut& cut) {
    team->share(levels[static_cast<std::size_t>(k)].cut.size(), [&](std::size_t member, Range range) {
        Draft& draft = drafts_[member];
        split_range(k, range, member == 0 ? &maker : nullptr, cut,
                    {draft.heap, draft.lower_heap, draft.waiting, draft.lower_waiting, draft.moved,
                     draft.touched});
    });
    join_drafts(k);
}

void Lattice::split_range(int k, Range range, VertexMaker* maker, const Cut& cut,
                          const Output& output) {
    const bool is_large = levels[static_cast<std::size_t>(k) - 1].size() > kCellsInCache;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        if (maker && i % kCellsPerPause == kCellsPerPause - 1) maker->pause();
        if (is_large) prefetch(k, i, range.end, cut.bit);
        split_cell(k, i, cut, output);
    }
}

/// Write the positive part of a cell in its place, and append the negative part and the cell between
/// them.
void Lattice::split_cell(int k, std::size_t position, const Cut& cut, const Output& output) {
    Level& level = levels[static_cast<std::size_t>(k)];
    const Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const auto cell = static_cast<std::size_t>(level.cut[position]);
    const std::size_t between = lower.before + lower.cut.size() + position;
    const std::size_t below = level.before + position;
    const auto count = static_cast<std::size_t>(level.counts[cell]);
    output.heap.make_room(2 * (count + 1));
    output.lower_heap.make_room(count);
    const std::span facets(&level.heap[static_cast<std::size_t>(level.starts[cell])], count);
    const Sides sides = sort_facets(k, facets, cut, output);
    level.cut_words[position] = sides.words;
    write_facets(k, position, facets, sides, output);
    write_negative(k, cell, below, sides.words.below);
    write_between(k, cell, between, sides.words.between, cut);
    wait(output.waiting, below, cutting(sides.words.below) & later(cut.bit));
    wait(output.lower_waiting, between, cutting(sides.words.between) & later(cut.bit));
}

/// Move positive facets to the front of the list in which they are read, and write the negative ones,
/// and the faces between, behind the ends of the heaps, where there is room.
Lattice::Sides Lattice::sort_facets(int k, std::span<std::int32_t> facets, const Cut& cut,
                                    const Output& output) const {
    const Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const Level& lowest = levels[static_cast<std::size_t>(k) - 2];
    const auto first_half = static_cast<std::int32_t>(lower.before);
    const auto first_zero =
        static_cast<std::int32_t>(lowest.before + (k == 2 ? 0 : lowest.cut.size()));
    std::int32_t* positive = facets.data();
    std::int32_t* negative = output.heap.end();
    std::int32_t* zero = output.lower_heap.end();
    CutWords words{0, 0, 0};
    for (const std::int32_t facet : facets) {
        const Word word = lower.words[static_cast<std::size_t>(facet)];
        if (cutting(word) >> cut.bit & 1) {
            const std::size_t slot = slot_in(word, cut.bit);
            const CutWords& of_facet = lower.cut_words[slot];
            *positive++ = facet;
            *negative++ = first_half + static_cast<std::int32_t>(slot);
            *zero++ = first_zero + static_cast<std::int32_t>(slot);
            words.above |= of_facet.above;
            words.below |= of_facet.below;
            words.between |= of_facet.between;
        } else if (word >> cut.bit & 1) {
            *positive++ = facet;
            words.above |= word;
            if (cut.touches)
                words.between |= find_touched(k, static_cast<std::size_t>(facet), cut.bit,
                                              output.touched);
        } else if (word >> (cut.bit + kWordBits) & 1) {
            *negative++ = facet;
            words.below |= word;
        }
    }
    words.above |= words.between;
    words.below |= words.between;
    return {words, static_cast<std::size_t>(positive - facets.data()),
            static_cast<std::size_t>(negative - output.heap.end()),
            static_cast<std::size_t>(zero - output.lower_heap.end())};
}

/// Write the lists of facets of both parts of a cell and of the cell between them. The list of the
/// positive part goes to the end of the heap if it is longer than that of the cell was.
void Lattice::write_facets(int k, std::size_t position, std::span<std::int32_t> facets,
                           const Sides& sides, const Output& output) {
    Level& level = levels[static_cast<std::size_t>(k)];
    Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const auto cell = static_cast<std::size_t>(level.cut[position]);
    const std::size_t below = level.before + position;
    const std::size_t between = lower.before + lower.cut.size() + position;
    const auto separator = static_cast<std::int32_t>(between);
    level.starts[below] = static_cast<std::int64_t>(output.heap.size());
    level.counts[below] = static_cast<std::int32_t>(sides.num_negative + 1);
    output.heap.resize(output.heap.size() + sides.num_negative);
    output.heap.push_back(separator);
    if (sides.num_positive < facets.size()) {
        facets[sides.num_positive] = separator;
    } else {
        output.moved.push_back(static_cast<std::int32_t>(cell));
        level.starts[cell] = static_cast<std::int64_t>(output.heap.size());
        output.heap.append(facets.begin(), facets.end());
        output.heap.push_back(separator);
    }
    level.counts[cell] = static_cast<std::int32_t>(sides.num_positive + 1);
    const std::size_t start = output.lower_heap.size();
    output.lower_heap.resize(start + sides.num_zero);
    output.lower_heap.append(output.touched.begin(), output.touched.end());
    output.touched.clear();
    if (k == 2) return;  // an edge has two vertices
    lower.starts[between] = static_cast<std::int64_t>(start);
    lower.counts[between] = static_cast<std::int32_t>(output.lower_heap.size() - start);
}

/// Append what the threads have written to the heaps, and to the lists of cells that wait.
void Lattice::join_drafts(int k) {
    Level& level = levels[static_cast<std::size_t>(k)];
    Level& lower = levels[static_cast<std::size_t>(k) - 1];
    const auto append_room = [](Array<std::int32_t>& heap, std::size_t count) {
        const std::size_t start = heap.size();
        heap.make_room(count);
        heap.resize(start + count);
        return start;
    };
    for (Draft& draft : drafts_) {
        draft.start = append_room(level.heap, draft.heap.size());
        draft.lower_start = append_room(lower.heap, draft.lower_heap.size());
        append_waiting(draft.waiting, level.waiting);
        append_waiting(draft.lower_waiting, lower.waiting);
    }
    team->share(level.cut.size(), [&](std::size_t member, Range range) {
        Draft& draft = drafts_[member];
        std::copy(draft.heap.begin(), draft.heap.end(), level.heap.data() + draft.start);
        std::copy(draft.lower_heap.begin(), draft.lower_heap.end(),
                  lower.heap.data() + draft.lower_start);
        const auto start = static_cast<std::int64_t>(draft.start);
        for (const std::int32_t cell : draft.moved)
            level.starts[static_cast<std::size_t>(cell)] += start;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            level.starts[level.before + i] += start;
            if (k > 2)
                lower.starts[lower.before + lower.cut.size() + i] +=
                    static_cast<std::int64_t>(draft.lower_start);
        }
        draft.heap.clear();
        draft.lower_heap.clear();
        draft.moved.clear();
    });
}

/// Find the faces of dimension k - 2 of an uncut positive facet on which the form is 0, and return
/// their words. Such a face lies in two facets of the cell, one on either side, so that it is found
/// once.
Word Lattice::find_touched(int k, std::size_t facet, int bit,
                           Array<std::int32_t>& touched) const {
    const Level& lowest = levels[static_cast<std::size_t>(k) - 2];
    Word words = 0;
    for (const std::int32_t face : facets(k - 1, facet)) {
        const Word word = lowest.words[static_cast<std::size_t>(face)];
        if (nonzero(word) >> bit & 1) continue;
        touched.push_back(face);
        words |= word;
    }
    return words;
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
    part.team = team;
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
