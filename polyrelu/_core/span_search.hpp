// The search for a point where the active rows of a layer do not span, or for a proof of none.
//
// It does what `polyrelu.proofs.injectivity.node_search` does, node by node, with the same records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sign_programs.hpp"

namespace polyrelu {

/// The prime modulo which rows are independent; products of two residues have less than 62 bits.
inline constexpr std::uint64_t kPrime = (std::uint64_t{1} << 31) - 1;

/// All neurons modulo a subspace U, as vectors modulo the prime.
struct Quotient {
    std::size_t dimension;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint8_t> is_outside;
    std::vector<std::int32_t> members;

    Quotient grown(std::size_t row) const;
    bool is_line(std::span<const std::int32_t> chosen) const;
    bool are_independent(std::span<const std::vector<std::int32_t>> sets) const;
    std::size_t rank() const { return members.size(); }
};

/// Limits of the search, see `NodeSearchSettings`.
struct SearchLimits {
    std::size_t max_packed;
    std::size_t max_choices;
};

enum class NodeKind : std::uint8_t { kPrune, kGrow, kSplit, kPack };

/// A node of the tree: its rows, or those of several dependences.
struct NodeRecord {
    NodeKind kind;
    std::vector<std::vector<std::int32_t>> rows;
};

/// A node that is not visited yet: the rows by which U grew, in order, the signs of all neurons, its
/// share of the tree and its depth.
struct OpenNode {
    std::vector<std::int32_t> members;
    std::vector<std::int8_t> signs;
    double share;
    std::size_t depth;
};

/// What Python does during a search; exceptions pass through.
struct SearchQuestions {
    /// Pay for a program.
    std::function<void()> spend;
    /// Solve a program exactly: the rows of a dependence, or nothing. The first program of a node
    /// has a dependence, or an exception ends the search.
    std::function<std::optional<std::vector<std::int32_t>>(
        const std::vector<std::int8_t>& signs, const std::vector<std::uint8_t>& costly, bool is_first)>
        solve;
    /// Whether members of U and new rows have one dimension more than U, exactly.
    std::function<bool(const std::vector<std::int32_t>& members, const std::vector<std::int32_t>& new_rows)>
        is_line;
};

class SpanSearch {
public:
    /// `rounded` has the rows of the neurons with rounded entries, shape (neurons, d).
    SpanSearch(SignPrograms programs, Quotient root, std::vector<std::int64_t> rounded,
               std::size_t num_rows, SearchLimits limits, SearchQuestions questions);

    /// Visit some nodes; return whether any is left.
    bool visit(std::size_t count);

    /// The nodes that are left, the next one last.
    std::vector<OpenNode> open_nodes() const;

    /// Let other nodes be left.
    void set_open_nodes(const std::vector<OpenNode>& nodes);

    std::vector<NodeRecord> records;
    std::size_t num_leaves = 0, depth = 0, num_programs = 0;
    double closed = 0;

private:
    struct Node {
        std::shared_ptr<const Quotient> quotient;
        std::vector<std::int8_t> signs;
        std::shared_ptr<const ProgramBasis> basis;
        double share;
        std::size_t depth;
    };

    void visit(const Node& node);
    std::optional<std::vector<std::int32_t>> dependence(const Node& node, ProgramBasis& basis,
                                                        bool is_first);
    std::vector<std::int32_t> new_rows(const Node& node, std::span<const std::int32_t> rows) const;
    bool is_packed(const Node& node, std::span<const std::vector<std::int32_t>> sets) const;
    void grow_or_split(const Node& node, const std::vector<std::int32_t>& rows,
                       const std::vector<std::int32_t>& fresh, std::shared_ptr<const ProgramBasis> basis);
    bool is_line(const Quotient& quotient, const std::vector<std::int32_t>& fresh) const;
    std::vector<std::int32_t> in_order(const Quotient& quotient,
                                       const std::vector<std::int32_t>& fresh) const;
    void close(double share);

    SignPrograms programs_;
    std::shared_ptr<const Quotient> root_;
    std::vector<std::int64_t> rounded_;
    std::size_t num_neurons_, num_rows_;
    SearchLimits limits_;
    SearchQuestions questions_;
    std::vector<Node> waiting_;
    std::vector<std::uint8_t> skipped_, costly_;
    std::vector<std::int8_t> program_signs_;
};

}  // namespace polyrelu
