// The rule of certificates of bounds in integers: `polyrelu.proofs.deviation.grid_layers` and
// `backward_rule` in C++, with the same integers. Numbers on the grid have 64 bits and sums of
// products 128; a box that needs more is left to Python. Leaves `inherited` are not in Python: there
// the checker is what the integers are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "integers.hpp"

namespace polyrelu {

/// A matrix times 2^S, rounded down, row by row, and its transpose.
struct GridMatrix {
    std::size_t height = 0, width = 0;
    std::vector<std::int64_t> entries, transposed;
    /// The largest sum of absolute values in a row and in a column.
    std::int64_t norm = 0;
    double column_norm = 0;
    bool is_rounded = false;

    void measure();
    const std::int64_t* row(std::size_t i) const { return entries.data() + i * width; }
    const std::int64_t* column(std::size_t j) const { return transposed.data() + j * height; }
};

/// A layer of f, of the differences, and of g over its scales, see `GridLayer` and `BackwardLayer`.
struct RuleLayer {
    GridMatrix own, by_values, by_differences;
    std::vector<std::int64_t> bias, shift, other_bias;
    std::vector<std::int32_t> partners;
    bool is_bias_exact = true, is_shift_exact = true, is_other_bias_exact = true;
    bool is_hidden = false, is_last_hidden = false;
};

/// Integer weights of inputs, of outputs of f, and of their differences, row by row.
struct RuleRows {
    std::size_t count = 0;
    std::vector<std::int64_t> on_x, on_values, on_differences;
};

enum class RuleState : std::uint8_t { bounded, empty, too_long };

/// Leaves `leaf`, `backward` and `joint`: each has the bounds of those before it as well.
enum class RuleKind : int { leaf, backward, joint };

/// What the rule finds on a box: bounds of the rows by forms, over 2^S and without constants; and
/// backward bounds, of each network and of both at once, over 2^(2S).
struct RuleBounds {
    std::size_t num_generators = 0;
    std::vector<Int128> by_forms, backward, joint;
};

class GridRule {
public:
    /// Throws `std::invalid_argument` for a grid or rows that are too fine for 128 bits.
    GridRule(int grid, std::size_t num_inputs, bool is_single, std::vector<RuleLayer> layers,
             RuleRows rows);

    std::size_t num_inputs() const { return num_inputs_; }
    std::size_t num_rows() const { return rows_.count; }
    std::size_t num_signs() const { return num_signs_; }
    /// The number of integers of all intervals, see `bound_inherited`.
    std::size_t num_ends() const;

    /// Apply the rule to a box, given by center and radius of each coordinate on the grid, with
    /// signs of neurons, layer by layer, of f and then of g; null for none.
    RuleState bound(const std::int64_t* centers, const std::int64_t* radii,
                    const std::int8_t* signs, RuleKind kind, RuleBounds& found);

    /// Apply the rule of leaves `inherited`, whose intervals begin with those of a box around it.
    ///
    /// `known` has these, null for none, and `ends` gets the intervals of the box: layer by layer
    /// the lower ends of all neurons of f, then their upper ends, then the same of the neurons of
    /// g and of the differences. There are no bounds by forms, and only the rows that are `wanted`
    /// have bounds, in their order.
    RuleState bound_inherited(const std::int64_t* centers, const std::int64_t* radii,
                              const std::int8_t* signs, const std::int64_t* known,
                              const std::uint8_t* wanted, std::int64_t* ends, RuleBounds& found);

private:
    struct Interval {
        std::int64_t low = 0, high = 0;
    };
    /// Forms as rows, the center first; `used` lists the rows that are not 0.
    struct Forms {
        std::size_t columns = 0;
        std::vector<std::int64_t> table;
        std::vector<std::size_t> used;
        std::int64_t error = 0;
        Int128 sizes = 0;

        const std::int64_t* row(std::size_t i) const { return table.data() + i * columns; }
        std::int64_t* row(std::size_t i) { return table.data() + i * columns; }
        std::size_t height() const { return columns ? table.size() / columns : 0; }
        void note_used();
        double largest() const;
    };
    struct Term {
        const GridMatrix* matrix;
        const Forms* forms;
    };
    struct Band {
        std::int64_t p, q, center, radius, size;
    };
    /// p z + q D + r over 2^16, above or below the difference of a pair.
    struct Line {
        std::int64_t p = 0, q = 0;
        Int128 r = 0;
    };
    struct Pair {
        Line above, below;
        std::int64_t spare = 0;
    };
    /// The intervals of a pair: of the partner, the difference, and the neuron of g.
    struct PairEnds {
        Interval z, d, y;
    };
    /// The differences at the corners of a pair, times 2^16, with z and D.
    struct Corner {
        Int128 value;
        std::int64_t z, d;
    };
    /// Weights of neurons for several functionals side by side, and their constants.
    struct Functionals {
        std::size_t count = 0;
        std::vector<std::int64_t> weights;
        std::vector<Int128> constants;

        std::vector<std::size_t> used() const;
        double largest() const;
    };

    void start(const std::int64_t* centers, const std::int64_t* radii);
    bool add(std::size_t layer);
    bool activate(std::size_t layer, Forms& z, Forms& d);
    void preactivations(const std::vector<Term>& terms, const std::vector<std::int64_t>& bias,
                        bool is_bias_exact, Forms& found) const;
    bool cut_by_signs(std::size_t layer, bool is_other, std::vector<Interval>& ends) const;
    bool narrow(std::size_t layer, bool is_other, std::vector<Interval>& ends);
    bool find_pairs(std::size_t layer, const Forms& z, const Forms& d);
    static std::vector<Corner> corners(const PairEnds& ends);
    static Band band(const PairEnds& ends, bool is_last);
    static Pair lines(const PairEnds& ends);
    static Line nearest_line(int side, const std::pair<std::int64_t, std::int64_t>* slopes,
                             const std::vector<Corner>& points, const PairEnds& ends);
    bool narrow_changes(std::size_t layer, std::vector<PairEnds>& pairs, bool is_known);
    void note_first(const Forms& z, const Forms& d);
    void add_lines(const std::vector<PairEnds>& pairs);
    void start_inherited(const std::int64_t* centers, const std::int64_t* radii);
    bool inherit(std::size_t layer, const std::int64_t* known, std::int64_t* ends);
    bool inherit_pairs(std::size_t layer, const std::int64_t* known, std::int64_t* ends);
    static std::vector<Interval> ranges_of(const Forms& forms);
    static std::int64_t* write(const std::vector<Interval>& from, std::int64_t* to);
    void descend_jointly(std::size_t layer, Functionals& on_z, Functionals& on_d) const;
    void relax_pairs(std::size_t layer, Functionals& on_z, Functionals& on_d) const;
    static void add_transposed(const GridMatrix& matrix, const Functionals& from,
                               const std::vector<std::size_t>& used,
                               const std::vector<std::size_t>& columns, std::vector<Int128>& sums);
    std::vector<std::size_t> used_below(std::size_t layer, bool is_other) const;
    void descend(std::size_t layer, bool is_other, Functionals& functionals) const;
    void go_below(const RuleLayer& layer, bool is_other, const std::vector<Interval>& ends,
                  Functionals& functionals) const;
    void relax(const std::vector<Interval>& ends, Functionals& functionals) const;
    void add_first(const Forms& forms, const Functionals& functionals,
                   std::vector<Int128>& totals, std::vector<Int128>& errors) const;
    void bound_rows(RuleBounds& found) const;
    void bound_rows_backward(RuleBounds& found) const;
    void bound_rows_jointly(RuleBounds& found) const;
    Functionals outputs(bool is_other, const std::vector<std::int64_t>& weights) const;
    void add_inputs(std::vector<Int128>& totals) const;
    std::vector<Int128> maxima(const std::vector<Int128>& constants,
                               const std::vector<Int128>& totals,
                               const std::vector<Int128>& errors) const;

    std::size_t num_inputs_, num_signs_ = 0;
    int grid_;
    bool is_single_, is_backward_ = false, is_joint_ = false;
    std::vector<RuleLayer> layers_;
    std::vector<std::size_t> sign_starts_;
    RuleRows rows_;
    /// The rows that get bounds.
    std::vector<std::size_t> chosen_;

    const std::int8_t* signs_ = nullptr;
    Forms inputs_, values_, differences_, first_, other_first_, first_change_;
    /// Intervals of the neurons of f and of g in the layers so far.
    std::vector<std::vector<Interval>> ends_[2];
    std::vector<Band> bands_;
    /// Lines of the pairs of each layer so far, and the sums of the sizes of the differences.
    std::vector<std::vector<Pair>> pairs_;
    std::vector<Int128> change_sizes_;
};

}  // namespace polyrelu
