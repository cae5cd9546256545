// The face lattice of a complex of polyhedra, and how a form splits all its cells at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "team.hpp"

namespace polyrelu {

/// The signs of up to 32 forms on a cell: bit j if form j is positive somewhere, 32 + j if negative.
using Word = std::uint64_t;
inline constexpr int kWordBits = 32;

/// The bits of the forms that have both signs.
inline std::uint32_t cutting(Word word) {
    return static_cast<std::uint32_t>(word & (word >> kWordBits));
}
/// The bits of the forms that have one of the signs.
inline std::uint32_t nonzero(Word word) {
    return static_cast<std::uint32_t>(word | (word >> kWordBits));
}

/// During a cut, the words of the two parts of a cut cell and of the cell between them.
struct CutWords {
    Word above, below, between;
};

/// The cells that each form may cut, ascending.
using Waiting = std::array<Array<std::int32_t>, kWordBits>;

/// The cells of one dimension k.
struct Level {
    Array<Word> words;
    /// A region of the newest layer that contains each cell.
    Array<std::int32_t> regions;
    /// The numbers of the d - k forms that vanish on each cell.
    Array<std::int32_t> forms;
    /// The facets of the cells, in one heap; an edge has two, and no entry in starts and counts.
    Array<std::int64_t> starts;
    Array<std::int32_t> counts;
    Array<std::int32_t> heap;

    // During a cut:
    Waiting waiting;
    /// The cells that the form cuts, and their new words in the same order. Meanwhile `words` has
    /// the position of each of them here (`with_slot`).
    Array<std::int32_t> cut;
    Array<CutWords> cut_words;
    /// The number of cells before the cut.
    std::size_t before = 0;

    std::size_t size() const { return words.size(); }
    /// Find the cells on which a form has both signs.
    void find_cut(int bit);
};

/// The number of cells, or of vertices, after which long work pauses.
inline constexpr std::size_t kCellsPerPause = 1 << 16;

/// The least number of cells that several threads split together.
inline constexpr std::size_t kCellsPerTeam = 1 << 10;

/// What a form does to the vertices; `Lattice::split` calls it once the cut edges are known.
class VertexMaker {
public:
    virtual ~VertexMaker() = default;
    /// Append a vertex on every cut edge, with its word; the positive end comes first.
    virtual void make_vertices() = 0;
    /// Called now and then during long work; may throw in order to end it.
    virtual void pause() = 0;
};

/// The numbers of the forms that cut: `first` + region · `stride`, or an entry for each region.
struct CuttingForms {
    const std::int32_t* by_region;
    std::int32_t first, stride;
    std::int32_t operator[](std::int32_t region) const {
        return by_region ? by_region[region] : first + region * stride;
    }
};

class Lattice {
public:
    explicit Lattice(int dimension) : levels(static_cast<std::size_t>(dimension) + 1) {}

    int dimension() const { return static_cast<int>(levels.size()) - 1; }
    Level& top() { return levels.back(); }
    /// The number of cells of all dimensions.
    std::size_t num_cells() const {
        std::size_t count = 0;
        for (const Level& level : levels) count += level.size();
        return count;
    }

    std::span<const std::int32_t> facets(int k, std::size_t cell) const {
        const Level& level = levels[static_cast<std::size_t>(k)];
        if (k == 1) return {&level.heap[2 * cell], 2};
        return {level.heap.data() + level.starts[cell],
                static_cast<std::size_t>(level.counts[cell])};
    }

    /// Set the words of all cells from those of the vertices, and list the cells that bits cut.
    /// `members` has the bits of the forms; the heaps are rewritten without gaps.
    void set_words(std::uint32_t members);

    /// Find the cells on which form `bit` has both signs; false if there are none.
    bool find_cut(int bit);
    /// Split the cells that were found. The forms that cut are those of `forms`.
    void split(int bit, VertexMaker& maker, const CuttingForms& forms);

    /// Give the top cells new numbers as regions, and every face the last of those around it.
    void number_regions();

    /// The bitwise or of the words of the vertices of each top cell.
    Array<Word> words_of_top(const Array<Word>& vertex_words) const;

    /// The marked cells, renumbered; their faces must be marked. `members` as in `set_words`.
    Lattice restricted(const std::vector<Array<std::uint8_t>>& marked) const;
    /// Mark the faces of given top cells, in every dimension.
    std::vector<Array<std::uint8_t>> closure(std::span<const std::int64_t> top) const;
    /// List the cells that the forms of the given bits cut.
    void list_waiting(std::uint32_t bits);

    std::vector<Level> levels;
    /// Threads that split cells together, if there is more than one.
    std::shared_ptr<Team> team;

    /// Call a function with all positions in a list of so many cells, on all threads if they are
    /// many. The function also gets the number of the thread.
    void for_each_part(std::size_t count, const std::function<void(std::size_t, Range)>& task) const;
    /// Whether so many cells are worth more than one thread.
    bool needs_team(std::size_t count) const { return team && count >= kCellsPerTeam; }

private:
    /// What the cut of one form needs to know everywhere.
    struct Cut {
        int bit;
        const CuttingForms& forms;
        /// Whether the form is 0 at vertices that it does not make.
        bool touches;
    };

    void compact(Level& level);
    void make_room_for_cut();
    /// Where a thread appends while it splits cells: lists of facets of this and of the lower
    /// dimension, and cells that wait.
    struct Output {
        Array<std::int32_t>&heap, &lower_heap;
        Waiting &waiting, &lower_waiting;
        /// The cells whose list of facets has moved to the end of `heap`.
        Array<std::int32_t>& moved;
        /// The faces of one cut cell on which the form is 0 and that no cut made.
        Array<std::int32_t>& touched;
    };
    /// What one of several threads appends, until the threads have ended.
    struct Draft {
        Array<std::int32_t> heap, lower_heap, moved, touched;
        Waiting waiting, lower_waiting;
        /// Where the lists go in the heaps.
        std::size_t start = 0, lower_start = 0;
    };

    void append_new_cells(int k);
    void split_edges(const Cut& cut);
    void split_edge(std::size_t position, const Cut& cut, Waiting& waiting);
    void split_cells(int k, VertexMaker& maker, const Cut& cut);
    void split_range(int k, Range range, VertexMaker* maker, const Cut& cut, const Output& output);
    void split_cell(int k, std::size_t position, const Cut& cut, const Output& output);
    /// The new words of a cut cell, and how many facets the parts and the cell between them get from
    /// the facets of the cell.
    struct Sides {
        CutWords words;
        std::size_t num_positive, num_negative, num_zero;
    };
    Sides sort_facets(int k, std::span<std::int32_t> facets, const Cut& cut,
                      const Output& output) const;
    void write_facets(int k, std::size_t position, std::span<std::int32_t> facets,
                      const Sides& sides, const Output& output);
    void split_in_team(int k, VertexMaker& maker, const Cut& cut);
    void join_drafts(int k);
    void prefetch(int k, std::size_t position, std::size_t end, int bit) const;
    Word find_touched(int k, std::size_t facet, int bit, Array<std::int32_t>& touched) const;
    void write_between(int k, std::size_t cell, std::size_t between, Word word, const Cut& cut);
    void write_negative(int k, std::size_t cell, std::size_t negative, Word word);

    /// The bits of forms that vanish at some vertex without being cut there.
    std::uint32_t zero_bits_ = 0;
    std::uint32_t members_ = 0;
    std::vector<Draft> drafts_;
};

}  // namespace polyrelu
