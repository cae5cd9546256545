#include "subdivision.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "exact_signs.hpp"
#include "first_cells.hpp"
#include "floats.hpp"
#include "walk.hpp"

namespace polyrelu {
namespace {

void set_sign(Word& word, int bit, int sign) {
    const Word mask = Word{1} << bit;
    word &= ~(mask | mask << kWordBits);
    if (sign > 0) word |= mask;
    if (sign < 0) word |= mask << kWordBits;
}

}  // namespace

Chunk Chunk::restricted(const Array<std::uint8_t>& marked) const {
    Chunk part{members, is_last, first_neuron, first, stride, {}};
    if (words.empty()) return part;
    for (std::size_t vertex = 0; vertex < marked.size(); ++vertex)
        if (marked[vertex]) part.words.push_back(words[vertex]);
    return part;
}

// -- first cells -------------------------------------------------------------------------------

void Subdivision::start(std::span<const std::uint8_t> two_sided, Array<std::int32_t> numbers,
                        Array<double> rows) {
    base_forms = std::move(numbers);
    vertices = Vertices(lattice.dimension(), std::move(rows));
    lattice = first_cells(two_sided, {base_forms.data(), base_forms.size()}, vertices.base_signs);
    const VertexProblem base = problem_of(&base_forms[1]);
    const std::size_t width = vertices.width(), d = width - 1;
    double point[kLargestDimension + 1];
    for (std::size_t vertex = 0; vertex < lattice.levels[0].size(); ++vertex) {
        VertexProblem problem = problem_of(&lattice.levels[0].forms[vertex * d]);
        problem.base_signs = vertices.base_signs_at(vertex);
        vertices.guess_first(base, problem.base_signs, point);
        vertices.radii.push_back(vertices.solve(problem, point));
        vertices.coordinates.append(point, point + width);
    }
}

/// The rows and errors of d forms; the signs are left out.
VertexProblem Subdivision::problem_of(const std::int32_t* numbers) const {
    VertexProblem problem{};
    for (int i = 0; i < lattice.dimension(); ++i) {
        problem.rows[i] = forms.row(numbers[i]);
        problem.errors[i] = forms.error(numbers[i]);
    }
    return problem;
}

// -- signs -------------------------------------------------------------------------------------

void Subdivision::Open::add(std::size_t vertex, std::int32_t form, int bit, Word* word) {
    vertices.push_back(static_cast<std::int64_t>(vertex));
    forms.push_back(form);
    places.emplace_back(bit, word);
}

/// Decide all open signs exactly: here where the numbers are short, the others by the caller.
void Subdivision::close(Open& open) {
    Open rest;
    for (std::size_t i = 0; i < open.places.size();) {
        const auto vertex = static_cast<std::size_t>(open.vertices[i]);
        const ExactVertex exact = exact_vertex(vertex);
        for (; i < open.places.size() && static_cast<std::size_t>(open.vertices[i]) == vertex; ++i) {
            const auto form = static_cast<std::int32_t>(open.forms[i]);
            const auto [bit, word] = open.places[i];
            const int sign =
                forms.error(form) == 0 ? exact.sign_of_form(forms.row(form)) : kUndecided;
            if (sign == kUndecided) {
                rest.add(vertex, form, bit, word);
                continue;
            }
            set_sign(*word, bit, sign);
            ++num_exact_decisions;
        }
    }
    if (rest.places.empty()) return;
    Array<std::int8_t> signs(rest.places.size());
    caller_->decide({rest.vertices.data(), rest.vertices.size()},
                    {rest.forms.data(), rest.forms.size()}, {signs.data(), signs.size()});
    for (std::size_t i = 0; i < signs.size(); ++i)
        set_sign(*rest.places[i].second, rest.places[i].first, signs[i]);
}

/// The vertex in integers, oriented by the first of t and the base forms that is not 0 there.
ExactVertex Subdivision::exact_vertex(std::size_t vertex) const {
    const std::size_t d = vertices.width() - 1;
    VertexProblem problem = problem_of(&lattice.levels[0].forms[vertex * d]);
    const std::int8_t* signs = vertices.base_signs_at(vertex);
    std::size_t position = 0;
    while (position < d && signs[position] == 0) ++position;
    const std::int32_t base = base_forms[position];
    if (forms.error(base) != 0) problem.errors[0] = 1;  // then nothing is decided here
    return ExactVertex(problem, lattice.dimension(), forms.row(base), signs[position]);
}

std::int32_t Subdivision::form_of(const Chunk& chunk, std::size_t region, int bit) {
    if (chunk.is_last)
        return forms.of_last_layer(region, chunk.first_neuron + static_cast<std::size_t>(bit));
    return chunk.first + bit + static_cast<std::int32_t>(region) * chunk.stride;
}

/// Decide the sign of one form at a vertex in floats, or leave it open.
void Subdivision::decide_one(const Chunk& chunk, std::size_t vertex, int bit, Word* word,
                             Open& open) {
    const auto region = static_cast<std::size_t>(lattice.levels[0].regions[vertex]);
    const std::int32_t form = form_of(chunk, region, bit);
    const int sign = vertices.certain_sign(forms.row(form), forms.error(form), vertex);
    if (sign == kUndecided)
        open.add(vertex, form, bit, word);
    else
        set_sign(*word, bit, sign);
}

void Subdivision::decide(std::vector<Chunk> layer, std::span<const KnownColumn> known,
                         Caller& caller) {
    caller_ = &caller;
    const std::size_t first = chunks.size(), count = vertices.size();
    for (Chunk& chunk : layer) {
        chunk.words.assign(count, 0);
        num_decisions += count * static_cast<std::size_t>(std::popcount(chunk.members));
        chunks.push_back(std::move(chunk));
    }
    if (first == chunks.size()) return;
    for (const KnownColumn& column : known)
        for (std::size_t vertex = 0; vertex < count; ++vertex)
            set_sign(chunks[first + column.chunk].words[vertex], column.bit,
                     vertices.base_signs_at(vertex)[column.base]);
    std::vector<std::uint32_t> members;
    for (std::size_t i = first; i < chunks.size(); ++i) members.push_back(chunks[i].members);
    for (const KnownColumn& column : known)
        chunks[first + column.chunk].members &= ~(std::uint32_t{1} << column.bit);
    if (chunks[first].is_last)
        decide_last_layer(first);
    else
        decide_dense(first);
    for (std::size_t i = first; i < chunks.size(); ++i) chunks[i].members = members[i - first];
}

void Subdivision::decide_dense(std::size_t first_chunk) {
    Open open;
    for (std::size_t i = first_chunk; i < chunks.size(); ++i)
        for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex) {
            if (vertex % kCellsPerPause == kCellsPerPause - 1) pause();
            for (std::uint32_t bits = chunks[i].members; bits; bits &= bits - 1)
                decide_one(chunks[i], vertex, std::countr_zero(bits), &chunks[i].words[vertex],
                           open);
        }
    close(open);
}

/// Decide the signs of the last layer on a walk through its regions (section 3).
void Subdivision::decide_last_layer(std::size_t first_chunk) {
    const LastLayer& layer = *forms.last_layer();
    const Array<std::int32_t> order = walking_order(lattice, layer);
    const Array<std::size_t> starts = starts_by_region(order.size());
    Array<std::size_t> by_region(vertices.size());
    Array<std::size_t> next = starts;
    for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex)
        by_region[next[static_cast<std::size_t>(lattice.levels[0].regions[vertex])]++] = vertex;
    Array<double> values(layer.width);
    Walk walk(layer, vertices.width());
    Open open;
    for (const std::int32_t cell : order) {
        const auto region = static_cast<std::size_t>(cell);
        if (starts[region] == starts[region + 1]) continue;
        if (region % kCellsPerPause == 0) pause();
        walk.move_to(region);
        for (std::size_t i = starts[region]; i < starts[region + 1]; ++i)
            decide_in_walk(first_chunk, by_region[i], walk, values.data(), open);
    }
    close(open);
}

/// The number of vertices in the regions before each region, and of all vertices at the end.
Array<std::size_t> Subdivision::starts_by_region(std::size_t num_regions) const {
    Array<std::size_t> starts(num_regions + 1, 0);
    for (const std::int32_t region : lattice.levels[0].regions)
        ++starts[static_cast<std::size_t>(region) + 1];
    for (std::size_t region = 0; region < num_regions; ++region)
        starts[region + 1] += starts[region];
    return starts;
}

void Subdivision::decide_in_walk(std::size_t first_chunk, std::size_t vertex, const Walk& walk,
                                 double* values, Open& open) {
    const LastLayer& layer = *forms.last_layer();
    const Walk::Bounds bounds = walk.values_at(vertices, vertex, values);
    for (std::size_t i = first_chunk; i < chunks.size(); ++i) {
        Chunk& chunk = chunks[i];
        const std::size_t first = chunk.first_neuron;
        const std::size_t count = std::min<std::size_t>(kWordBits, layer.width - first);
        Word word = 0;
        for (std::size_t bit = 0; bit < count; ++bit) {
            const std::size_t j = first + bit;
            const double bound = kHasBounds
                                     ? bounds.per_weight * layer.weight_norms[j] +
                                           bounds.per_bias * layer.bias_magnitudes[j] + bounds.least
                                     : 0;
            // Infinite values are left open, and comparisons with what is no number are false.
            word |= Word{values[j] > bound && values[j] < kInfinity} << bit;
            word |= Word{values[j] < -bound && values[j] > -kInfinity} << (bit + kWordBits);
        }
        chunk.words[vertex] = word;
        for (std::uint32_t bits = chunk.members & ~nonzero(word); bits; bits &= bits - 1)
            decide_one(chunk, vertex, std::countr_zero(bits), &chunk.words[vertex], open);
    }
}

/// Decide the forms that have both signs in the current words from a vertex on.
void Subdivision::settle(std::size_t first_vertex, Open& open) {
    Array<Word>& words = lattice.levels[0].words;
    const Chunk& chunk = chunks[current];
    for (std::size_t vertex = first_vertex; vertex < words.size(); ++vertex) {
        const std::uint32_t both = cutting(words[vertex]);
        num_decisions += static_cast<std::size_t>(std::popcount(both));
        for (std::uint32_t bits = both; bits; bits &= bits - 1)
            decide_one(chunk, vertex, std::countr_zero(bits), &words[vertex], open);
    }
    close(open);
}

// -- cuts --------------------------------------------------------------------------------------

void Subdivision::begin(std::size_t chunk, Caller& caller) {
    caller_ = &caller;
    if (current != kNone) chunks[current].words = std::move(lattice.levels[0].words);
    lattice.levels[0].words = std::move(chunks[chunk].words);
    chunks[chunk].words.clear();
    current = chunk;
    if (chunks[chunk].is_last) forms.forget_numbers_before(chunks[chunk].first_neuron);
    Open open;
    settle(0, open);
    lattice.set_words(chunks[current].members);
}

int Subdivision::cut(int first, int end, Caller& caller) {
    caller_ = &caller;
    const std::size_t before = lattice.num_cells();
    for (bit_ = first; bit_ < end;) {
        if (lattice.find_cut(bit_)) {
            cutting_forms_ = cutting_forms();
            lattice.split(bit_, *this, cutting_forms_);
        }
        ++bit_;
        if (lattice.num_cells() - before >= kCellsPerPause) break;
    }
    return bit_ - first;
}

/// The numbers of the forms that cut. Those of the last layer are made here. A cut cell lies in a cut
/// top cell of the same region, unless that one belongs to another part.
CuttingForms Subdivision::cutting_forms() {
    const Chunk& chunk = chunks[current];
    if (!chunk.is_last) return {nullptr, chunk.first + bit_, chunk.stride};
    for (std::size_t k = is_part_ ? 1 : lattice.levels.size() - 1; k < lattice.levels.size(); ++k) {
        const Level& level = lattice.levels[k];
        for (const std::int32_t cell : level.cut)
            form_of(chunk, static_cast<std::size_t>(level.regions[static_cast<std::size_t>(cell)]),
                    bit_);
    }
    return {forms.numbers_of_last_layer(chunk.first_neuron + static_cast<std::size_t>(bit_)), 0, 0};
}

/// Append the points where the form vanishes on the cut edges.
///
/// A form of an earlier cut has the same sign on the whole edge, which the new vertex takes over. A
/// form whose cut is still to come can have both signs there: it is decided at once if it belongs
/// to the current chunk, and otherwise when its chunk begins.
void Subdivision::make_vertices() {
    const std::size_t first = vertices.size(), count = lattice.levels[1].cut.size();
    append_vertices(count);
    ends_.resize(count);
    lattice.for_each_part(count, [&](std::size_t member, Range range) {
        double guess[kLargestDimension + 1];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            if (member == 0 && i % kCellsPerPause == kCellsPerPause - 1) pause();
            make_vertex(i, first + i, guess);
        }
        for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
            Array<Word>& of_chunk = words(chunk);
            for (std::size_t i = range.begin; i < range.end; ++i)
                of_chunk[first + i] = of_chunk[static_cast<std::size_t>(ends_[i].above)] |
                                      of_chunk[static_cast<std::size_t>(ends_[i].below)];
        }
        const Word both = Word{1} << bit_ | Word{1} << (bit_ + kWordBits);
        for (std::size_t i = range.begin; i < range.end; ++i)
            lattice.levels[0].words[first + i] &= ~both;
    });
    Open open;
    settle(first, open);
}

/// Append vertices whose entries are written later.
void Subdivision::append_vertices(std::size_t count) {
    const std::size_t width = vertices.width(), size = vertices.size() + count;
    Level& level = lattice.levels[0];
    vertices.coordinates.make_room(count * width);
    vertices.radii.make_room(count);
    vertices.base_signs.make_room(count * width);
    vertices.coordinates.resize(size * width);
    vertices.radii.resize(size);
    vertices.base_signs.resize(size * width);
    level.regions.resize(size);
    level.forms.resize(size * (width - 1));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        words(i).make_room(count);
        words(i).resize(size);
    }
}

/// Write a new vertex on the cut edge of a position in the list of cut edges, without its words.
void Subdivision::make_vertex(std::size_t position, std::size_t vertex, double* guess) {
    const Level& edges = lattice.levels[1];
    Level& level = lattice.levels[0];
    const auto edge = static_cast<std::size_t>(edges.cut[position]);
    auto above = static_cast<std::size_t>(edges.heap[2 * edge]);
    auto below = static_cast<std::size_t>(edges.heap[2 * edge + 1]);
    if (!(level.words[above] >> bit_ & 1)) std::swap(above, below);
    ends_[position] = {static_cast<std::int32_t>(above), static_cast<std::int32_t>(below)};
    const std::int32_t form = cutting_forms_[edges.regions[edge]];
    const std::size_t width = vertices.width(), d = width - 1;
    const double* row = forms.row(form);
    double value_above = 0, value_below = 0;
    for (std::size_t c = 0; c < width; ++c) {
        value_above += row[c] * vertices.at(above)[c];
        value_below += row[c] * vertices.at(below)[c];
    }
    VertexProblem problem;
    std::int8_t* const base_signs = &vertices.base_signs[vertex * width];
    for (std::size_t c = 0; c < width; ++c) {
        guess[c] = std::fabs(value_below) * vertices.at(above)[c] +
                   std::fabs(value_above) * vertices.at(below)[c];
        // 0 | s = s | s = s; the ends never have opposite signs.
        base_signs[c] = static_cast<std::int8_t>(vertices.base_signs_at(above)[c] |
                                                 vertices.base_signs_at(below)[c]);
    }
    for (std::size_t i = 0; i < d; ++i) {
        const std::int32_t number = i + 1 < d ? edges.forms[edge * (d - 1) + i] : form;
        problem.rows[i] = forms.row(number);
        problem.errors[i] = forms.error(number);
        level.forms[vertex * d + i] = number;
    }
    problem.base_signs = base_signs;
    vertices.radii[vertex] = vertices.solve(problem, guess);
    std::copy_n(guess, width, &vertices.coordinates[vertex * width]);
    level.regions[vertex] = edges.regions[edge];
}

// -- parts -------------------------------------------------------------------------------------

bool Subdivision::drop_negative(int bit) {
    const Word negative = Word{1} << (bit + kWordBits);
    std::vector<Array<std::uint8_t>> marked;
    bool is_all = true;
    for (const Level& level : lattice.levels) {
        Array<std::uint8_t>& marks = marked.emplace_back(level.size());
        for (std::size_t cell = 0; cell < level.size(); ++cell) {
            marks[cell] = !(level.words[cell] & negative);
            is_all &= marks[cell] != 0;
        }
    }
    if (is_all) return false;
    restrict(marked);
    lattice.list_waiting(bit == kWordBits - 1 ? 0 : ~std::uint32_t{0} << (bit + 1));
    return true;
}

void Subdivision::restrict(const std::vector<Array<std::uint8_t>>& marked) {
    for (Chunk& chunk : chunks) chunk = chunk.restricted(marked[0]);
    lattice = lattice.restricted(marked);
    vertices = vertices.restricted(marked[0]);
}

void Subdivision::positive(std::size_t chunk, std::uint8_t* marks, std::size_t stride) const {
    const Array<Word> of_top =
        chunk == current ? lattice.levels.back().words : lattice.words_of_top(words(chunk));
    const int count = std::popcount(chunks[chunk].members);
    for (std::size_t cell = 0; cell < of_top.size(); ++cell)
        for (int bit = 0; bit < count; ++bit)
            marks[cell * stride + static_cast<std::size_t>(bit)] = of_top[cell] >> bit & 1;
}

/// Only what the part keeps is copied: a part is often much smaller than the whole.
Subdivision Subdivision::part(std::span<const std::int64_t> top) const {
    const std::vector<Array<std::uint8_t>> marked = lattice.closure(top);
    Subdivision part(lattice.dimension());
    part.lattice = lattice.restricted(marked);
    part.vertices = vertices.restricted(marked[0]);
    part.forms = forms;
    for (const Chunk& chunk : chunks) part.chunks.push_back(chunk.restricted(marked[0]));
    part.current = current;
    part.base_forms = base_forms;
    part.is_part_ = true;
    return part;
}

}  // namespace polyrelu
