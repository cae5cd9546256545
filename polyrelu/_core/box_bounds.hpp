// Bounds in floats of rows of one or two networks on boxes: `polyrelu.proofs.deviation.box_bounds`
// in C++, one box after the other. Where numpy has all boxes side by side, this has the functionals
// of one box, and leaves neurons out that are off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polyrelu {

/// A hidden layer of f and of g, with the differences of g from the partners of its neurons.
template <class T>
struct PairLayer {
    /// Number of neurons of f and of g (0 for one network), and of the layers before.
    std::size_t width = 0, other_width = 0, before = 0, other_before = 0;
    /// W, b, V, c, Δ and δ, row by row.
    std::vector<T> weights, biases, other_weights, other_biases, weight_changes, bias_changes;
    /// The partner of each neuron of g; -1 without one.
    std::vector<std::int32_t> partners;
    /// Whether each neuron is the partner of its own index.
    bool is_aligned = true;
};

/// Rows of outputs, see `FloatRows`.
template <class T>
struct PairRows {
    std::size_t count = 0;
    std::vector<T> joint, on_f, on_g, on_x, constant;
};

/// Boxes, with what is known on them (a row of `KnownBounds` for each) and which rows are wanted.
template <class T>
struct BoxBatch {
    std::size_t count = 0;
    const T *low = nullptr, *high = nullptr;
    T* table = nullptr;
    const std::uint8_t* wanted = nullptr;
    /// Signs of neurons that are given in each box, layer by layer, first of f and then of g; 0 for
    /// none. Null for none at all.
    const std::int8_t* signs = nullptr;
    bool is_joint = false;
};

/// What is found on boxes, see `BoxBounds`. All rows have entries in `joint` and `alone`, and the
/// wanted ones in `slope` and `scores`, box after box.
template <class T>
struct BatchBounds {
    T *joint = nullptr, *alone = nullptr, *slope = nullptr, *scores = nullptr;
    std::int32_t* worst = nullptr;
    std::uint8_t* is_open = nullptr;
};

template <class T>
class BoxBounder {
public:
    BoxBounder(std::size_t num_inputs, bool is_single, std::vector<PairLayer<T>> layers,
               PairRows<T> rows);

    std::size_t num_inputs() const { return num_inputs_; }
    std::size_t num_rows() const { return rows_.count; }
    /// Number of columns of a table of known bounds.
    std::size_t num_columns() const { return first_row_ + rows_.count; }

    /// Number of columns of a table of signs.
    std::size_t num_signs() const { return num_signs_; }

    /// Bound the wanted rows of all boxes; better bounds replace others in the table.
    void bound(const BoxBatch<T>& batch, const BatchBounds<T>& found);

private:
    using Neurons = std::vector<std::int32_t>;

    struct Bounds {
        T *low, *high;
    };
    /// A half-space: an affine function of the inputs that is not negative where signs are right.
    struct Side {
        T constant;
        std::vector<T> slope;
    };

    /// Neurons that may be on, with κ z ≤ σ(z) ≤ λ z + o: κ, λ - κ, o, the largest σ(z) - κ z, and
    /// the bias.
    struct Alone {
        Neurons neurons;
        std::vector<T> lower, rise, offset, gap, bias;
        void clear();
        void add(std::int32_t neuron, T low, T high, T its_bias);
    };
    /// Neurons of g that are not off together with their partners: p z + q D + r as a lower bound of
    /// d, what the upper one adds, how far both are from d at most, the change of the bias, and the
    /// place of the partner in the list of f, -1 without one.
    struct Pairs {
        Neurons neurons, places;
        std::vector<T> p, q, r, more_p, more_q, more_r, above, below, bias;
        void clear();
        void add(std::int32_t neuron, std::int32_t place, Bounds z, Bounds y, Bounds change,
                 T its_bias);
    };
    /// A layer on the present box; `open` has neurons of f, `slopes` the absolute slopes of their
    /// preactivations in the inputs.
    struct Relaxed {
        Alone ours, theirs;
        Pairs pairs;
        Neurons open;
        std::vector<T> slopes;
    };
    /// Functionals side by side: `padded` entries for each neuron of a list.
    struct Functionals {
        std::size_t count = 0, padded = 0;
        std::vector<T> on_a, on_d, next_a, next_d, constant;
    };
    using Losses = std::vector<std::vector<T>>;

    Bounds range(T* known, std::size_t layer, int kind) const;
    const Neurons& neurons_before(std::size_t m, bool is_other) const;
    void bound_first(T* known);
    void cut_affine(Bounds bounds, const std::vector<T>& weights,
                    const std::vector<T>& biases) const;
    bool has_sign(std::size_t layer, std::size_t place) const;
    void note_first();
    void note_first_sides();
    void note_sides(std::size_t layer, bool is_other, const Neurons& chosen);
    void shrink();
    void set_signs(T* known, std::size_t layer);
    void find_open(T* known, std::size_t layer);
    void bound_open(T* known, std::size_t layer);
    void cut(Bounds bounds, const Neurons& chosen);
    void tighten(T* known, std::size_t layer);
    void relax(T* known, std::size_t layer);
    void relax_pairs(T* known, std::size_t layer);
    void start(std::size_t number);
    void fill(std::vector<T>& to, const std::vector<T>& rows, std::size_t width,
              const Neurons& chosen, const Neurons& columns) const;
    void set_constants(const std::vector<T>& constants, const Neurons& chosen);
    void list_partners(const Neurons& neurons, const PairLayer<T>* layer);
    void go_back_alone(bool is_other, std::size_t depth, Losses* losses);
    void go_back_jointly(std::size_t depth, Losses* losses);
    void maximize();
    void clear_losses(Losses& losses) const;
    void add_inputs(std::vector<T>& slopes) const;
    void bound_rows(T* known, const std::uint8_t* wanted, T* joint, T* alone, T* slope, T* scores,
                    std::int32_t* worst);
    void rows_alone();
    void rows_jointly();
    void score(T* known, const Losses& losses, std::size_t place, std::size_t padded, T* scores);
    std::int32_t worst_sign(T* known, const Losses& losses, std::size_t place,
                            std::size_t padded) const;
    bool has_open(T* known) const;

    std::size_t num_inputs_, first_row_ = 0, num_signs_ = 0;
    const std::int8_t* signs_ = nullptr;
    std::vector<Side> sides_;
    bool is_single_, is_empty_ = false, is_joint_ = false, has_both_signs_ = true;
    std::vector<PairLayer<T>> layers_;
    std::vector<std::size_t> starts_, sign_starts_;
    PairRows<T> rows_;

    Neurons inputs_, open_, their_open_, wanted_, places_, loss_rows_;
    std::vector<std::uint8_t> marks_, is_jointly_;
    std::vector<T> middle_, radius_, width_, maxima_, better_, alone_slopes_;
    std::vector<T> partner_low_, partner_high_;
    std::vector<Relaxed> relaxed_;
    Losses losses_, joint_losses_;
    Functionals functionals_;
};

extern template class BoxBounder<float>;
extern template class BoxBounder<double>;

}  // namespace polyrelu
