#include "span_search.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "floats.hpp"

namespace polyrelu {
namespace {

using Rows = std::vector<std::int32_t>;

std::size_t index_of(std::int32_t row) { return static_cast<std::size_t>(row); }

/// Reduce a number below 2^62 + 2^31 modulo the prime.
inline std::uint32_t reduced(std::uint64_t x) {
    x = (x & kPrime) + (x >> 31);
    x = (x & kPrime) + (x >> 31);
    return static_cast<std::uint32_t>(x == kPrime ? 0 : x);
}

std::uint32_t inverse_of(std::uint64_t x) {
    std::uint64_t power = 1;
    for (std::uint64_t exponent = kPrime - 2; exponent; exponent >>= 1) {
        if (exponent & 1) power = reduced(power * x);
        x = reduced(x * x);
    }
    return static_cast<std::uint32_t>(power);
}

/// Subtract a multiple of a row with 1 in a column from another one, so that it has 0 there.
POLYRELU_FOR_ALL_PROCESSORS
void eliminate(std::uint32_t* row, const std::uint32_t* negative, std::size_t column,
               std::size_t count) {
    const std::uint64_t factor = row[column];
    for (std::size_t c = 0; c < count; ++c) row[c] = reduced(row[c] + factor * negative[c]);
}

/// Write the negative of the multiple of a row that has 1 in its first column that is not 0.
std::size_t scaled_negative(const std::uint32_t* row, std::size_t count, std::uint32_t* negative) {
    const auto column = static_cast<std::size_t>(
        std::find_if(row, row + count, [](std::uint32_t x) { return x != 0; }) - row);
    const std::uint64_t factor = inverse_of(row[column]);
    for (std::size_t c = 0; c < count; ++c)
        negative[c] = reduced(kPrime - reduced(row[c] * factor));
    return column;
}

/// Vectors of one set after the other, flat.
using Sets = std::vector<std::vector<std::uint32_t>>;

/// Whether every choice of one vector from each set, from a set on, is independent.
bool is_free(const Sets& sets, std::size_t from, std::size_t count) {
    const std::vector<std::uint32_t>& first = sets[from];
    std::vector<std::uint32_t> negative(count);
    for (std::size_t start = 0; start < first.size(); start += count) {
        const auto* row = &first[start];
        if (std::all_of(row, row + count, [](std::uint32_t x) { return x == 0; })) return false;
        if (from + 1 == sets.size()) continue;
        const std::size_t column = scaled_negative(row, count, negative.data());
        Sets left = sets;
        for (std::size_t k = from + 1; k < sets.size(); ++k)
            for (std::size_t at = 0; at < left[k].size(); at += count)
                eliminate(&left[k][at], negative.data(), column, count);
        if (!is_free(left, from + 1, count)) return false;
    }
    return true;
}

}  // namespace

Quotient Quotient::grown(std::size_t row) const {
    Quotient found = *this;
    std::vector<std::uint32_t> negative(dimension);
    const std::size_t column = scaled_negative(&rows[row * dimension], dimension, negative.data());
    for (std::size_t i = 0; i < is_outside.size(); ++i) {
        if (!is_outside[i]) continue;
        std::uint32_t* of_row = &found.rows[i * dimension];
        eliminate(of_row, negative.data(), column, dimension);
        found.is_outside[i] =
            std::any_of(of_row, of_row + dimension, [](std::uint32_t x) { return x != 0; });
    }
    found.members.push_back(static_cast<std::int32_t>(row));
    return found;
}

bool Quotient::is_line(std::span<const std::int32_t> chosen) const {
    std::vector<std::uint32_t> negative(dimension);
    const std::size_t column =
        scaled_negative(&rows[index_of(chosen[0]) * dimension], dimension, negative.data());
    return std::all_of(chosen.begin(), chosen.end(), [&](std::int32_t row) {
        std::vector<std::uint32_t> left(&rows[index_of(row) * dimension],
                                        &rows[index_of(row) * dimension] + dimension);
        eliminate(left.data(), negative.data(), column, dimension);
        return std::all_of(left.begin(), left.end(), [](std::uint32_t x) { return x == 0; });
    });
}

bool Quotient::are_independent(std::span<const std::vector<std::int32_t>> sets) const {
    Sets vectors;
    for (const Rows& set : sets) {
        auto& flat = vectors.emplace_back();
        for (const std::int32_t row : set) {
            const auto* start = &rows[index_of(row) * dimension];
            flat.insert(flat.end(), start, start + dimension);
        }
    }
    return is_free(vectors, 0, dimension);
}

SpanSearch::SpanSearch(SignPrograms programs, Quotient root, std::vector<std::int64_t> rounded,
                       std::size_t num_rows, SearchLimits limits, SearchQuestions questions)
    : programs_(std::move(programs)), root_(std::make_shared<const Quotient>(std::move(root))),
      rounded_(std::move(rounded)), num_neurons_(root_->is_outside.size()), num_rows_(num_rows),
      limits_(limits), questions_(std::move(questions)), skipped_(num_neurons_), costly_(num_rows),
      program_signs_(num_rows) {
    set_open_nodes({{root_->members, std::vector<std::int8_t>(num_neurons_), 1.0, 0}});
}

std::vector<OpenNode> SpanSearch::open_nodes() const {
    std::vector<OpenNode> found;
    for (const Node& node : waiting_)
        found.push_back({node.quotient->members, node.signs, node.share, node.depth});
    return found;
}

void SpanSearch::set_open_nodes(const std::vector<OpenNode>& nodes) {
    waiting_.clear();
    const auto basis = std::make_shared<const ProgramBasis>(programs_.first_basis());
    const std::size_t known = root_->members.size();
    for (const OpenNode& node : nodes) {
        auto quotient = root_;
        for (std::size_t k = known; k < node.members.size(); ++k) {
            const std::size_t row = index_of(node.members[k]);
            if (!quotient->is_outside[row]) throw std::invalid_argument("a node of another search");
            quotient = std::make_shared<const Quotient>(quotient->grown(row));
        }
        waiting_.push_back({std::move(quotient), node.signs, basis, node.share, node.depth});
    }
}

bool SpanSearch::visit(std::size_t count) {
    for (; count && !waiting_.empty(); --count) {
        const Node node = std::move(waiting_.back());
        waiting_.pop_back();
        depth = std::max(depth, node.depth);
        if (node.quotient->rank() == node.quotient->dimension)
            close(node.share);
        else
            visit(node);
    }
    return !waiting_.empty();
}

void SpanSearch::close(double share) {
    ++num_leaves;
    closed += share;
}

/// Close a node, or let others wait in its place.
void SpanSearch::visit(const Node& node) {
    std::vector<Rows> supports, fresh;
    ProgramBasis basis = *node.basis;
    std::shared_ptr<const ProgramBasis> first_basis;
    std::fill(skipped_.begin(), skipped_.end(), std::uint8_t{0});
    const std::size_t needed = node.quotient->dimension - node.quotient->rank();
    while (supports.size() < (needed <= limits_.max_packed ? needed : 1)) {
        auto support = dependence(node, basis, supports.empty());
        if (!support && supports.empty())
            throw std::logic_error("neither a dependence nor an exception for a node");
        if (!support) break;
        if (supports.empty()) first_basis = std::make_shared<const ProgramBasis>(basis);
        fresh.push_back(new_rows(node, *support));
        supports.push_back(std::move(*support));
        for (const std::int32_t row : fresh.back()) skipped_[index_of(row)] = 1;
        if (fresh.back().empty()) {
            records.push_back({NodeKind::kPrune, {supports.back()}});
            close(node.share);
            return;
        }
    }
    if (supports.size() == needed && needed > 1 && is_packed(node, fresh)) {
        records.push_back({NodeKind::kPack, std::move(supports)});
        close(node.share);
        return;
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < fresh.size(); ++k)
        if (fresh[k].size() < fresh[best].size()) best = k;
    grow_or_split(node, supports[best], fresh[best], first_basis);
}

/// Return the rows of a dependence that avoids the skipped ones, or nothing if there is none.
std::optional<Rows> SpanSearch::dependence(const Node& node, ProgramBasis& basis, bool is_first) {
    questions_.spend();
    std::fill(costly_.begin(), costly_.end(), std::uint8_t{0});
    std::fill(program_signs_.begin(), program_signs_.end(), std::int8_t{1});
    for (std::size_t j = 0; j < num_neurons_; ++j) {
        costly_[j] = node.quotient->is_outside[j] && !skipped_[j] && !node.signs[j];
        program_signs_[j] = costly_[j] ? std::int8_t{-1} : node.signs[j];
    }
    if (!programs_.solve(program_signs_, costly_, basis))
        return questions_.solve(program_signs_, costly_, is_first);
    ++num_programs;
    Rows found = basis.rows;
    std::sort(found.begin(), found.end());
    return found;
}

Rows SpanSearch::new_rows(const Node& node, std::span<const std::int32_t> rows) const {
    Rows found;
    for (const std::int32_t row : rows)
        if (index_of(row) < num_neurons_ && !node.signs[index_of(row)]) found.push_back(row);
    return found;
}

bool SpanSearch::is_packed(const Node& node, std::span<const Rows> sets) const {
    std::size_t num_choices = 1;
    for (const Rows& rows : sets) num_choices *= rows.size();
    return num_choices <= limits_.max_choices && node.quotient->are_independent(sets);
}

void SpanSearch::grow_or_split(const Node& node, const Rows& rows, const Rows& fresh,
                               std::shared_ptr<const ProgramBasis> basis) {
    const Quotient& quotient = *node.quotient;
    if (is_line(quotient, fresh)) {
        records.push_back({NodeKind::kGrow, {rows}});
        auto grown = std::make_shared<const Quotient>(quotient.grown(index_of(fresh[0])));
        waiting_.push_back({std::move(grown), node.signs, std::move(basis), node.share, node.depth});
        return;
    }
    const Rows ordered = in_order(quotient, fresh);
    NodeRecord& record = records.emplace_back(NodeRecord{NodeKind::kSplit, {ordered}});
    for (const std::int32_t row : rows)
        if (std::find(fresh.begin(), fresh.end(), row) == fresh.end()) record.rows[0].push_back(row);
    const std::size_t first = waiting_.size();
    std::vector<std::int8_t> signs = node.signs;
    for (const std::int32_t row : ordered) {
        auto grown = std::make_shared<const Quotient>(quotient.grown(index_of(row)));
        signs[index_of(row)] = 1;
        const double share = node.share / static_cast<double>(fresh.size());
        waiting_.push_back({std::move(grown), signs, basis, share, node.depth + 1});
        signs[index_of(row)] = -1;
    }
    std::reverse(waiting_.begin() + static_cast<std::ptrdiff_t>(first), waiting_.end());
}

/// Whether U and new rows have one dimension more than U.
bool SpanSearch::is_line(const Quotient& quotient, const Rows& fresh) const {
    if (fresh.size() == 1 || quotient.rank() + 1 == quotient.dimension) return true;
    return quotient.is_line(fresh) && questions_.is_line(quotient.members, fresh);
}

/// Return new rows, the one least aligned with the sum of all rows outside U first.
/// Sums wrap around as those of numpy do; rounded entries are far too small for that.
Rows SpanSearch::in_order(const Quotient& quotient, const Rows& fresh) const {
    const std::size_t width = rounded_.size() / num_neurons_;
    const auto entry = [&](std::size_t place) { return static_cast<std::uint64_t>(rounded_[place]); };
    std::vector<std::uint64_t> sum(width);
    for (std::size_t j = 0; j < num_neurons_; ++j)
        if (quotient.is_outside[j])
            for (std::size_t c = 0; c < width; ++c) sum[c] += entry(j * width + c);
    std::vector<std::pair<std::int64_t, std::int32_t>> keys;
    for (const std::int32_t row : fresh) {
        std::uint64_t alignment = 0;
        for (std::size_t c = 0; c < width; ++c)
            alignment += entry(index_of(row) * width + c) * sum[c];
        keys.emplace_back(static_cast<std::int64_t>(alignment), row);
    }
    std::sort(keys.begin(), keys.end());
    Rows found;
    for (const auto& [alignment, row] : keys) found.push_back(row);
    return found;
}

}  // namespace polyrelu
