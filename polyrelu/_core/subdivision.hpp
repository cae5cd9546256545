// A complex that is being subdivided: lattice, vertices and forms, and the signs of all forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "arrays.hpp"
#include "forms.hpp"
#include "lattice.hpp"
#include "vertices.hpp"

namespace polyrelu {

/// Up to 32 neurons or constraints, and their signs at all vertices.
struct Chunk {
    /// The bits that belong to forms.
    std::uint32_t members = 0;
    /// Whether the forms belong to the last layer and are made on demand, from this neuron on.
    bool is_last = false;
    std::size_t first_neuron = 0;
    /// Otherwise the form of bit b on region r has the number first + b + r · stride.
    std::int32_t first = 0;
    std::int32_t stride = 0;
    /// The words of the vertices; those of the current chunk are in the lattice.
    Array<Word> words;

    /// The chunk with the words of the vertices with marks that are not 0.
    Chunk restricted(const Array<std::uint8_t>& marked) const;
};

/// A form of a chunk that is one of the base forms, whose signs are known from the start.
struct KnownColumn {
    std::size_t chunk;
    int bit;
    std::size_t base;
};

/// Decides exactly the signs of forms at vertices, pair by pair, and may end long work.
class Caller {
public:
    virtual ~Caller() = default;
    virtual void decide(std::span<const std::int64_t> vertices,
                        std::span<const std::int64_t> forms, std::span<std::int8_t> signs) = 0;
    /// Called now and then during long work; may throw in order to end it.
    virtual void pause() = 0;
};

class ExactVertex;
class Walk;

class Subdivision : private VertexMaker {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    explicit Subdivision(int dimension)
        : lattice(dimension), vertices(dimension, {}), forms(dimension) {}

    /// Make the first cells, once the forms are shared. `numbers` are the numbers of the form t and
    /// of the d base forms, `rows` their rows divided by their largest entries; a base form with
    /// both signs is marked in `two_sided`.
    void start(std::span<const std::uint8_t> two_sided, Array<std::int32_t> numbers,
               Array<double> rows);

    /// Append chunks of one layer and decide their signs at the vertices so far.
    void decide(std::vector<Chunk> layer, std::span<const KnownColumn> known,
                Caller& caller);
    /// Take the forms of a chunk as those that the next cuts are made with.
    void begin(std::size_t chunk, Caller& caller);
    /// Cut with the forms of the current chunk from bit `first` on, up to bit `end` - 1, or until so
    /// many cells are new that the caller should have a look; return the number of these forms.
    int cut(int first, int end, Caller& caller);
    /// Drop the cells on which form `bit` is negative; false if there are none.
    bool drop_negative(int bit);
    /// Make the top cells the regions of the next layer.
    void number_regions() { lattice.number_regions(); }
    /// Whether each form of a chunk is positive on each top cell, in rows of `stride` marks.
    void positive(std::size_t chunk, std::uint8_t* marks, std::size_t stride) const;
    /// The words of the vertices for a chunk.
    const Array<Word>& words(std::size_t chunk) const {
        return chunk == current ? lattice.levels[0].words : chunks[chunk].words;
    }
    /// An independent part with the given top cells and their faces.
    Subdivision part(std::span<const std::int64_t> top) const;

    Lattice lattice;
    Vertices vertices;
    Forms forms;
    std::vector<Chunk> chunks;
    /// The chunk whose words are in the lattice.
    std::size_t current = kNone;
    /// The numbers of the form t and of the d base forms.
    Array<std::int32_t> base_forms;
    /// The number of signs that were decided, in floats or exactly, and of those decided here exactly.
    std::uint64_t num_decisions = 0;
    std::uint64_t num_exact_decisions = 0;

private:
    /// Signs that floats leave open.
    struct Open {
        Array<std::int64_t> vertices, forms;
        /// Where the sign belongs: the bit and the word.
        std::vector<std::pair<int, Word*>> places;
        void add(std::size_t vertex, std::int32_t form, int bit, Word* word);
    };

    VertexProblem problem_of(const std::int32_t* numbers) const;
    void make_vertices() override;
    void pause() override { caller_->pause(); }
    CuttingForms cutting_forms();
    std::int32_t form_of(const Chunk& chunk, std::size_t region, int bit);
    void append_vertices(std::size_t count);
    void make_vertex(std::size_t position, std::size_t vertex, double* guess);
    void decide_last_layer(std::size_t first_chunk);
    Array<std::size_t> starts_by_region(std::size_t num_regions) const;
    void decide_in_walk(std::size_t first_chunk, std::size_t vertex, const Walk& walk,
                        double* values, Open& open);
    void decide_dense(std::size_t first_chunk);
    void decide_one(const Chunk& chunk, std::size_t vertex, int bit, Word* word, Open& open);
    void settle(std::size_t first_vertex, Open& open);
    void close(Open& open);
    ExactVertex exact_vertex(std::size_t vertex) const;
    void restrict(const std::vector<Array<std::uint8_t>>& marked);
    Array<Word>& words(std::size_t chunk) {
        return chunk == current ? lattice.levels[0].words : chunks[chunk].words;
    }

    /// The form of the running cut, its numbers, and the caller of the running method.
    int bit_ = 0;
    CuttingForms cutting_forms_{};
    /// The positive and the negative end of each cut edge.
    struct Ends {
        std::int32_t above, below;
    };
    Array<Ends> ends_;
    /// Whether there are regions whose top cells belong to other parts.
    bool is_part_ = false;
    Caller* caller_ = nullptr;
};

}  // namespace polyrelu
