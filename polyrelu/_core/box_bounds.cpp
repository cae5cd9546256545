#include "exact_order.hpp"
// first: see there
#include "box_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "floats.hpp"

namespace polyrelu {
namespace {

// Vectors of 64 bytes; compilers make several of shorter ones where processors have no others.
typedef double Doubles __attribute__((vector_size(64)));
typedef float Singles __attribute__((vector_size(64)));

template <class T>
inline constexpr std::size_t kLanes = 64 / sizeof(T);

#define POLYRELU_INLINE inline __attribute__((always_inline))

/// How often all half-spaces are looked at for one maximum.
inline constexpr std::size_t kSweeps = 2;

/// By which part of itself a maximum has to become smaller to count as smaller.
inline constexpr double kGain = 0x1p-16;

/// Columns of a matrix, as many as fit into registers at a time.
inline constexpr std::size_t kColumns = 4;

/// The relaxations of some neurons by themselves, see `Alone`; `losses` is null, or has a row for
/// each neuron of f, and `rows` are theirs, -1 for none.
template <class T>
struct AloneTable {
    std::size_t count;
    const T *lower, *rise, *offset, *gap;
    const std::int32_t* rows;
    T* losses;
};

/// The same for pairs, see `Pairs`; `places` are in the list of f.
template <class T>
struct PairTable {
    std::size_t count;
    const T *p, *q, *r, *more_p, *more_q, *more_r, *above, *below;
    const std::int32_t *places, *rows;
    T* losses;
};

/// A part of a matrix, by lists of rows and columns.
template <class T>
struct PartOfMatrix {
    const T* entries;
    std::size_t width;
    const std::int32_t* rows;
    std::size_t num_rows;
    const std::int32_t* columns;
    std::size_t num_columns;
};

// Vectors are handed over by reference: how they are returned depends on the processor.
template <class Vector, class T>
POLYRELU_INLINE void load(const T* from, Vector& entries) {
    std::memcpy(&entries, from, sizeof(Vector));
}

template <class Vector, class T>
POLYRELU_INLINE void store(const Vector& entries, T* to) {
    std::memcpy(to, &entries, sizeof(Vector));
}

/// Add to the entries at a place.
template <class Vector, class T>
POLYRELU_INLINE void add(const Vector& entries, T* to) {
    Vector sum;
    load(to, sum);
    sum += entries;
    store(sum, to);
}

template <class Vector, std::size_t N, class T>
POLYRELU_INLINE void add_columns(const PartOfMatrix<T>& part, std::size_t first, const T* from,
                                 T* to, std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector sums[N], entries;
        for (std::size_t c = 0; c < N; ++c) load(to + (first + c) * padded + f, sums[c]);
        for (std::size_t a = 0; a < part.num_rows; ++a) {
            load(from + a * padded + f, entries);
            const T* row = part.entries + static_cast<std::size_t>(part.rows[a]) * part.width;
            for (std::size_t c = 0; c < N; ++c) sums[c] += entries * row[part.columns[first + c]];
        }
        for (std::size_t c = 0; c < N; ++c) store(sums[c], to + (first + c) * padded + f);
    }
}

template <class Vector, class T>
POLYRELU_INLINE void add_product_of(const PartOfMatrix<T>& part, const T* from, T* to,
                                    std::size_t padded) {
    std::size_t c = 0;
    for (; c + kColumns <= part.num_columns; c += kColumns)
        add_columns<Vector, kColumns>(part, c, from, to, padded);
    for (; c < part.num_columns; ++c) add_columns<Vector, 1>(part, c, from, to, padded);
}

/// Split entries into the positive parts and themselves; what is no number stays so.
template <class Vector, class T>
POLYRELU_INLINE void load_parts(const T* from, Vector& entries, Vector& positive) {
    load(from, entries);
    positive = entries < 0 ? Vector{} : entries;
}

template <class Vector, class T>
POLYRELU_INLINE void relax_alone_of(const AloneTable<T>& table, T* on_a, T* constant,
                                    std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector sum{}, before, positive;
        for (std::size_t a = 0; a < table.count; ++a) {
            T* place = on_a + a * padded + f;
            load_parts(place, before, positive);
            sum += positive * table.offset[a];
            if (table.losses != nullptr && table.rows[a] >= 0)
                add<Vector>(positive * table.offset[a] + (positive - before) * table.gap[a],
                            table.losses + static_cast<std::size_t>(table.rows[a]) * padded + f);
            store<Vector>(before * table.lower[a] + positive * table.rise[a], place);
        }
        add(sum, constant + f);
    }
}

/// Relax d, and add to the functionals of preactivations.
template <class Vector, class T>
POLYRELU_INLINE void relax_pairs_of(const PairTable<T>& table, T* on_d, T* on_z, T* constant,
                                    std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector sum{}, before, positive;
        for (std::size_t j = 0; j < table.count; ++j) {
            T* place = on_d + j * padded + f;
            load_parts(place, before, positive);
            sum += positive * table.more_r[j] + before * table.r[j];
            if (table.losses != nullptr && table.rows[j] >= 0)
                add<Vector>(positive * table.above[j] + (positive - before) * table.below[j],
                            table.losses + static_cast<std::size_t>(table.rows[j]) * padded + f);
            if (table.places[j] >= 0)
                add<Vector>(before * table.p[j] + positive * table.more_p[j],
                            on_z + static_cast<std::size_t>(table.places[j]) * padded + f);
            store<Vector>(before * table.q[j] + positive * table.more_q[j], place);
        }
        add(sum, constant + f);
    }
}

/// Add a multiple of each row to a row.
template <class Vector, class T>
POLYRELU_INLINE void add_rows_of(const std::vector<T>& factors, const T* from, T* to,
                                 std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector sum{}, entries;
        for (std::size_t a = 0; a < factors.size(); ++a) {
            load(from + a * padded + f, entries);
            sum += entries * factors[a];
        }
        add(sum, to + f);
    }
}

/// The largest values over the box around `middle`.
template <class Vector, class T>
POLYRELU_INLINE void maximize_of(std::size_t count, const T* middle, const T* radius, const T* on_x,
                                 const T* constant, T* maxima, std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector sum, slope;
        load(constant + f, sum);
        for (std::size_t k = 0; k < count; ++k) {
            load(on_x + k * padded + f, slope);
            sum += slope * middle[k];
            sum += (slope < 0 ? -slope : slope) * radius[k];
        }
        store(sum, maxima + f);
    }
}

/// Add the multiple of u ≥ 0 to functionals with which their maxima over the box around 0 become
/// smallest: `on_x` is written in terms of distances from the middle, and so is u.
template <class Vector, class T>
POLYRELU_INLINE void add_multiples_of(std::size_t count, const T* radius, const T* u, T u_at_0,
                                      T* on_x, T* constant, std::size_t padded) {
    for (std::size_t f = 0; f < padded; f += kLanes<T>) {
        Vector at_0, slope, best{}, least{}, multiple{}, total;
        load(constant + f, at_0);
        for (std::size_t k = 0; k < count; ++k) {
            load(on_x + k * padded + f, slope);
            least += (slope < 0 ? -slope : slope) * radius[k];
        }
        for (std::size_t j = 0; j < count; ++j) {
            if (u[j] == 0) continue;
            load(on_x + j * padded + f, slope);
            multiple = slope / -u[j];
            multiple = multiple > 0 ? multiple : Vector{};
            total = multiple * u_at_0;
            for (std::size_t k = 0; k < count; ++k) {
                load(on_x + k * padded + f, slope);
                slope += multiple * u[k];
                total += (slope < 0 ? -slope : slope) * radius[k];
            }
            // Roundings do not decide between multiples that are equally good.
            const Vector enough = least - (least < 0 ? -least : least) * static_cast<T>(kGain);
            best = total < enough ? multiple : best;
            least = total < enough ? total : least;
        }
        for (std::size_t k = 0; k < count; ++k) add<Vector>(best * u[k], on_x + k * padded + f);
        store<Vector>(at_0 + best * u_at_0, constant + f);
    }
}

// The functions for all processors, which cannot be templates.
POLYRELU_IN_EXACT_ORDER void add_multiples(std::size_t count, const double* radius, const double* u,
                                           double u_at_0, double* on_x, double* constant,
                                           std::size_t padded) {
    add_multiples_of<Doubles>(count, radius, u, u_at_0, on_x, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void add_multiples(std::size_t count, const float* radius, const float* u,
                                           float u_at_0, float* on_x, float* constant,
                                           std::size_t padded) {
    add_multiples_of<Singles>(count, radius, u, u_at_0, on_x, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void add_product(const PartOfMatrix<double>& part, const double* from,
                                         double* to, std::size_t padded) {
    add_product_of<Doubles>(part, from, to, padded);
}
POLYRELU_IN_EXACT_ORDER void add_product(const PartOfMatrix<float>& part, const float* from,
                                         float* to, std::size_t padded) {
    add_product_of<Singles>(part, from, to, padded);
}
POLYRELU_IN_EXACT_ORDER void relax_alone(const AloneTable<double>& table, double* on_a,
                                         double* constant, std::size_t padded) {
    relax_alone_of<Doubles>(table, on_a, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void relax_alone(const AloneTable<float>& table, float* on_a,
                                         float* constant, std::size_t padded) {
    relax_alone_of<Singles>(table, on_a, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void relax_together(const PairTable<double>& table, double* on_d,
                                            double* on_z, double* constant, std::size_t padded) {
    relax_pairs_of<Doubles>(table, on_d, on_z, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void relax_together(const PairTable<float>& table, float* on_d, float* on_z,
                                            float* constant, std::size_t padded) {
    relax_pairs_of<Singles>(table, on_d, on_z, constant, padded);
}
POLYRELU_IN_EXACT_ORDER void add_rows(const std::vector<double>& factors, const double* from,
                                      double* to, std::size_t padded) {
    add_rows_of<Doubles>(factors, from, to, padded);
}
POLYRELU_IN_EXACT_ORDER void add_rows(const std::vector<float>& factors, const float* from,
                                      float* to, std::size_t padded) {
    add_rows_of<Singles>(factors, from, to, padded);
}
POLYRELU_IN_EXACT_ORDER void maximize_in(std::size_t count, const double* middle,
                                         const double* radius, const double* on_x,
                                         const double* constant, double* maxima,
                                         std::size_t padded) {
    maximize_of<Doubles>(count, middle, radius, on_x, constant, maxima, padded);
}
POLYRELU_IN_EXACT_ORDER void maximize_in(std::size_t count, const float* middle,
                                         const float* radius, const float* on_x,
                                         const float* constant, float* maxima,
                                         std::size_t padded) {
    maximize_of<Singles>(count, middle, radius, on_x, constant, maxima, padded);
}

// What is no number stays so, as in numpy.
template <class T>
T lesser(T a, T b) {
    return a < b || std::isnan(a) ? a : b;
}
template <class T>
T greater(T a, T b) {
    return a > b || std::isnan(a) ? a : b;
}
template <class T>
T clipped(T x, T low, T high) {
    return lesser(greater(x, low), high);
}

template <class T>
bool is_stable(T low, T high) {
    return low >= 0 || high <= 0;
}

/// A linear function p z + q D + r on one side of d, and how far it is from d at most.
template <class T>
struct Plane {
    T p, q, r, gap;
};

/// The slopes of the usual relaxation of a neuron.
template <class T>
struct Slopes {
    T lower, upper;

    Slopes(T low, T high) {
        if (is_stable(low, high)) {
            lower = upper = static_cast<T>(low >= 0);
        } else {
            upper = high / (high - low);
            lower = static_cast<T>(high > -low);
        }
    }
};

/// See `Corners` in relaxations.py.
template <class T>
class Corners {
public:
    Corners(T low, T high, T least, T most, bool is_on, bool is_off) {
        const T zero = clipped(T{0}, low, high);
        const T z[5] = {low, high, zero, clipped(-least, low, high), clipped(-most, low, high)};
        const T ends[3] = {low, high, zero};
        for (std::size_t i = 0; i < 5; ++i) {
            z_[i] = z_[5 + i] = z[i];
            change_[i] = least;
            change_[5 + i] = most;
        }
        for (std::size_t i = 0; i < 3; ++i) {
            z_[10 + i] = ends[i];
            change_[10 + i] = clipped(-ends[i], least, most);
        }
        for (std::size_t i = 0; i < kCount; ++i) d_[i] = value(z_[i], change_[i], is_on, is_off);
        middle_z_ = (low + high) / 2;
        middle_change_ = (least + most) / 2;
        chord_ = clipped(most / (most > least ? most - least : 1), T{0}, T{1});
        if (least >= 0) chord_ = 1;
        if (most <= 0) chord_ = 0;
    }

    /// The better one in the middle: by the Lipschitz constant, or with the slopes given.
    Plane<T> above(T p, T q) const {
        const Plane<T> one = side(T{0}, chord_, true), two = side(p, q, true);
        return in_middle(two) < in_middle(one) ? two : one;
    }
    Plane<T> below(T p, T q) const {
        const Plane<T> one = side(T{0}, 1 - chord_, false), two = side(p, q, false);
        return in_middle(two) > in_middle(one) ? two : one;
    }

private:
    static constexpr std::size_t kCount = 13;

    static T value(T z, T change, bool is_on, bool is_off) {
        if (is_off) return -greater(z, T{0});
        if (z >= 0) return is_on ? change : greater(change, -z);
        return is_on ? z + change : greater(z + change, T{0});
    }
    T in_middle(const Plane<T>& side) const {
        return side.p * middle_z_ + side.q * middle_change_ + side.r;
    }
    Plane<T> side(T p, T q, bool is_above) const {
        T low = std::numeric_limits<T>::infinity(), high = -low;
        for (std::size_t i = 0; i < kCount; ++i) {
            const T rest = d_[i] - p * z_[i] - q * change_[i];
            low = lesser(low, rest);
            high = greater(high, rest);
        }
        return {p, q, is_above ? high : low, high - low};
    }

    T z_[kCount], change_[kCount], d_[kCount], middle_z_, middle_change_, chord_;
};

}  // namespace

template <class T>
void BoxBounder<T>::Alone::clear() {
    neurons.clear();
    for (auto* entries : {&lower, &rise, &offset, &gap, &bias}) entries->clear();
}

template <class T>
void BoxBounder<T>::Alone::add(std::int32_t neuron, T low, T high, T its_bias) {
    const Slopes<T> slopes(low, high);
    const bool is_known = is_stable(low, high);
    neurons.push_back(neuron);
    lower.push_back(slopes.lower);
    rise.push_back(slopes.upper - slopes.lower);
    offset.push_back(is_known ? T{0} : -slopes.upper * low);
    gap.push_back(is_known ? T{0} : lesser(high, -low));
    bias.push_back(its_bias);
}

template <class T>
void BoxBounder<T>::Pairs::clear() {
    neurons.clear();
    places.clear();
    for (auto* entries : {&p, &q, &r, &more_p, &more_q, &more_r, &above, &below, &bias})
        entries->clear();
}

template <class T>
void BoxBounder<T>::Pairs::add(std::int32_t neuron, std::int32_t place, Bounds z, Bounds y,
                               Bounds change, T its_bias) {
    const T low = *z.low, high = *z.high, other_low = *y.low, other_high = *y.high;
    const bool is_on = low >= 0, other_on = other_low >= 0 && other_high > 0;
    const bool is_known = is_stable(low, high) && is_stable(other_low, other_high);
    if (is_known && !is_on && !other_on) return;
    const T on = static_cast<T>(other_on), slope = on - static_cast<T>(is_on);
    Plane<T> up{slope, on, T{0}, T{0}}, down = up;
    if (!is_known) {
        const Corners<T> corners(low, high, *change.low, *change.high, other_on, other_high <= 0);
        const Slopes<T> ours(low, high), theirs(other_low, other_high);
        up = corners.above(theirs.upper - ours.lower, theirs.upper);
        down = corners.below(theirs.lower - ours.upper, theirs.lower);
    }
    neurons.push_back(neuron);
    places.push_back(place);
    p.push_back(down.p);
    q.push_back(down.q);
    r.push_back(down.r);
    more_p.push_back(up.p - down.p);
    more_q.push_back(up.q - down.q);
    more_r.push_back(up.r - down.r);
    above.push_back(up.gap);
    below.push_back(down.gap);
    bias.push_back(its_bias);
}

template <class T>
BoxBounder<T>::BoxBounder(std::size_t num_inputs, bool is_single,
                          std::vector<PairLayer<T>> layers, PairRows<T> rows)
    : num_inputs_(num_inputs),
      is_single_(is_single),
      layers_(std::move(layers)),
      rows_(std::move(rows)),
      relaxed_(layers_.size()),
      losses_(layers_.size()),
      joint_losses_(layers_.size()) {
    for (const PairLayer<T>& layer : layers_) {
        starts_.push_back(first_row_);
        sign_starts_.push_back(num_signs_);
        first_row_ += 2 * (layer.width + 2 * layer.other_width);
        num_signs_ += layer.width + layer.other_width;
    }
    for (std::size_t k = 0; k < num_inputs; ++k) inputs_.push_back(static_cast<std::int32_t>(k));
}

template <class T>
void BoxBounder<T>::bound(const BoxBatch<T>& batch, const BatchBounds<T>& found) {
    is_joint_ = batch.is_joint && !is_single_;
    T *slope = found.slope, *scores = found.scores;
    std::int32_t* worst = found.worst;
    for (std::size_t box = 0; box < batch.count; ++box) {
        T* known = batch.table + box * num_columns();
        const T *low = batch.low + box * num_inputs_, *high = batch.high + box * num_inputs_;
        middle_.resize(num_inputs_);
        radius_.resize(num_inputs_);
        width_.resize(num_inputs_);
        for (std::size_t k = 0; k < num_inputs_; ++k) {
            middle_[k] = (low[k] + high[k]) / 2;
            radius_[k] = (high[k] - low[k]) / 2;
            width_[k] = high[k] - low[k];
        }
        signs_ = batch.signs == nullptr ? nullptr : batch.signs + box * num_signs_;
        sides_.clear();
        is_empty_ = false;
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
            if (layer == 0) {
                bound_first(known);
                find_open(known, layer);
                note_first();
            } else {
                find_open(known, layer);
                bound_open(known, layer);
            }
            if (signs_ != nullptr) {
                set_signs(known, layer);
                shrink();
            }
            tighten(known, layer);
            relax(known, layer);
        }
        bound_rows(known, batch.wanted + box * rows_.count, found.joint + box * rows_.count,
                   found.alone + box * rows_.count, slope, scores, worst);
        worst += wanted_.size();
        slope += wanted_.size() * num_inputs_;
        scores += wanted_.size() * num_inputs_;
        found.is_open[box] = static_cast<std::uint8_t>(has_open(known));
    }
}

/// The bounds of z (0), y (1) or of the change (2) of a layer.
template <class T>
typename BoxBounder<T>::Bounds BoxBounder<T>::range(T* known, std::size_t layer, int kind) const {
    const std::size_t width = layers_[layer].width, other = layers_[layer].other_width;
    T* low = known + starts_[layer];
    if (kind == 0) return {low, low + width};
    low += 2 * width + (kind == 2 ? 2 * other : 0);
    return {low, low + other};
}

template <class T>
void BoxBounder<T>::bound_first(T* known) {
    const PairLayer<T>& layer = layers_[0];
    cut_affine(range(known, 0, 0), layer.weights, layer.biases);
    if (is_single_) return;
    cut_affine(range(known, 0, 1), layer.other_weights, layer.other_biases);
    cut_affine(range(known, 0, 2), layer.weight_changes, layer.bias_changes);
}

/// Intersect bounds with the ranges of affine functions of the inputs.
template <class T>
void BoxBounder<T>::cut_affine(Bounds bounds, const std::vector<T>& weights,
                               const std::vector<T>& biases) const {
    for (std::size_t i = 0; i < biases.size(); ++i) {
        const T* row = weights.data() + i * num_inputs_;
        T centre = 0, reach = 0;
        for (std::size_t k = 0; k < num_inputs_; ++k) {
            centre += row[k] * middle_[k];
            reach += std::fabs(row[k]) * radius_[k];
        }
        centre += biases[i];
        bounds.low[i] = greater(bounds.low[i], centre - reach);
        bounds.high[i] = lesser(bounds.high[i], centre + reach);
    }
}

/// List the neurons of f and of g that are open, or whose partners are.
template <class T>
void BoxBounder<T>::find_open(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const Bounds z = range(known, layer, 0), y = range(known, layer, 1);
    marks_.assign(its.width, 0);
    open_.clear();
    their_open_.clear();
    for (std::size_t i = 0; i < its.width; ++i) marks_[i] = !is_stable(z.low[i], z.high[i]);
    const std::vector<std::uint8_t> is_open = marks_;
    for (std::size_t j = 0; j < its.other_width; ++j) {
        const std::int32_t partner = its.partners[j];
        const bool is_theirs = !is_stable(y.low[j], y.high[j]);
        const auto place = static_cast<std::size_t>(std::max(partner, 0));
        if (is_theirs && partner >= 0) marks_[place] = 1;
        if (is_theirs || (partner >= 0 && is_open[place] != 0) || has_sign(layer, its.width + j))
            their_open_.push_back(static_cast<std::int32_t>(j));
    }
    for (std::size_t i = 0; i < its.width; ++i)
        if (marks_[i] != 0 || has_sign(layer, i)) open_.push_back(static_cast<std::int32_t>(i));
}

/// Whether the sign of a neuron is given: first of f, then of g.
template <class T>
bool BoxBounder<T>::has_sign(std::size_t layer, std::size_t place) const {
    return signs_ != nullptr && signs_[sign_starts_[layer] + place] != 0;
}

/// Note the half-spaces of given signs of one network, by bounds of preactivations with both signs.
template <class T>
void BoxBounder<T>::note_sides(std::size_t layer, bool is_other, const Neurons& chosen) {
    if (signs_ == nullptr) return;
    const Functionals& rows = functionals_;
    const std::int8_t* signs = signs_ + sign_starts_[layer] + (is_other ? layers_[layer].width : 0);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const std::int8_t sign = signs[chosen[i]];
        if (sign == 0) continue;
        const std::size_t f = sign > 0 ? i : chosen.size() + i;
        Side side{rows.constant[f], {}};
        for (std::size_t k = 0; k < num_inputs_; ++k)
            side.slope.push_back(rows.on_a[k * rows.padded + f]);
        sides_.push_back(std::move(side));
    }
}

/// Make the box smaller where half-spaces cut off all of a part.
template <class T>
void BoxBounder<T>::shrink() {
    for (const Side& side : sides_) {
        T largest = side.constant;
        for (std::size_t k = 0; k < num_inputs_; ++k)
            largest += side.slope[k] * middle_[k] + std::fabs(side.slope[k]) * radius_[k];
        if (largest < 0) {
            is_empty_ = true;
            return;
        }
        for (std::size_t k = 0; k < num_inputs_; ++k) {
            const T slope = std::fabs(side.slope[k]), excess = 2 * slope * radius_[k] - largest;
            if (!(excess > 0)) continue;
            // Of the width 2 r, the part excess / slope at one end is outside.
            const T half = excess / slope / 2;
            radius_[k] = greater(radius_[k] - half, T{0});
            middle_[k] += side.slope[k] > 0 ? half : -half;
        }
    }
}

/// The same for the first layer, which is affine.
template <class T>
void BoxBounder<T>::note_first_sides() {
    if (signs_ == nullptr) return;
    const PairLayer<T>& layer = layers_[0];
    for (std::size_t i = 0; i < layer.width + layer.other_width; ++i) {
        const T sign = signs_[i];
        if (sign == 0) continue;
        const bool is_other = i >= layer.width;
        const std::size_t neuron = is_other ? i - layer.width : i;
        const std::vector<T>& weights = is_other ? layer.other_weights : layer.weights;
        Side side{sign * (is_other ? layer.other_biases : layer.biases)[neuron], {}};
        for (std::size_t k = 0; k < num_inputs_; ++k)
            side.slope.push_back(sign * weights[neuron * num_inputs_ + k]);
        sides_.push_back(std::move(side));
    }
}

/// Let the bounds of neurons follow from the given signs.
template <class T>
void BoxBounder<T>::set_signs(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const std::int8_t* signs = signs_ + sign_starts_[layer];
    for (const int kind : {0, 1}) {
        const Bounds bounds = range(known, layer, kind);
        const std::size_t width = kind == 0 ? its.width : its.other_width;
        for (std::size_t i = 0; i < width; ++i) {
            const std::int8_t sign = signs[kind == 0 ? i : its.width + i];
            if (sign == 0) continue;
            if (sign > 0) bounds.low[i] = greater(bounds.low[i], T{0});
            if (sign < 0) bounds.high[i] = lesser(bounds.high[i], T{0});
            is_empty_ = is_empty_ || bounds.low[i] > bounds.high[i];
        }
    }
}

/// Note the open neurons of the first layer with their slopes.
template <class T>
void BoxBounder<T>::note_first() {
    note_first_sides();
    Relaxed& first = relaxed_[0];
    first.open = open_;
    first.slopes.clear();
    for (const std::int32_t neuron : open_) {
        const T* row = layers_[0].weights.data() + static_cast<std::size_t>(neuron) * num_inputs_;
        for (std::size_t k = 0; k < num_inputs_; ++k) first.slopes.push_back(std::fabs(row[k]));
    }
}

template <class T>
void BoxBounder<T>::bound_open(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const Relaxed& before = relaxed_[layer - 1];
    Relaxed& here = relaxed_[layer];
    Functionals& rows = functionals_;
    has_both_signs_ = true;
    here.open = open_;
    here.slopes.clear();
    if (!open_.empty()) {
        start(open_.size());
        fill(rows.on_a, its.weights, its.before, open_, before.ours.neurons);
        set_constants(its.biases, open_);
        go_back_alone(false, layer, nullptr);
        cut(range(known, layer, 0), open_);
        note_sides(layer, false, open_);
        for (std::size_t i = 0; i < open_.size(); ++i)
            for (std::size_t k = 0; k < num_inputs_; ++k)
                here.slopes.push_back(std::fabs(rows.on_a[k * rows.padded + i]));
    }
    if (their_open_.empty()) return;
    start(their_open_.size());
    fill(rows.on_a, its.other_weights, its.other_before, their_open_, before.theirs.neurons);
    set_constants(its.other_biases, their_open_);
    go_back_alone(true, layer, nullptr);
    cut(range(known, layer, 1), their_open_);
    note_sides(layer, true, their_open_);
    if (!is_joint_) return;
    start(their_open_.size());
    fill(rows.on_a, its.weight_changes, its.before, their_open_, before.ours.neurons);
    fill(rows.on_d, its.other_weights, its.other_before, their_open_, before.pairs.neurons);
    set_constants(its.bias_changes, their_open_);
    go_back_jointly(layer, nullptr);
    cut(range(known, layer, 2), their_open_);
}

/// Intersect the bounds of chosen neurons with the maxima of both signs.
template <class T>
void BoxBounder<T>::cut(Bounds bounds, const Neurons& chosen) {
    maximize();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto neuron = static_cast<std::size_t>(chosen[i]);
        bounds.high[neuron] = lesser(maxima_[i], bounds.high[neuron]);
        bounds.low[neuron] = greater(-maxima_[chosen.size() + i], bounds.low[neuron]);
    }
}

/// Let each of the three bounds follow from the others.
template <class T>
void BoxBounder<T>::tighten(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const Bounds z = range(known, layer, 0), y = range(known, layer, 1);
    const Bounds change = range(known, layer, 2);
    partner_low_.assign(its.other_width, T{0});
    partner_high_.assign(its.other_width, T{0});
    for (std::size_t j = 0; j < its.other_width; ++j) {
        T &low = partner_low_[j], &high = partner_high_[j];
        if (its.partners[j] >= 0) {
            low = z.low[its.partners[j]];
            high = z.high[its.partners[j]];
        }
        change.low[j] = greater(change.low[j], y.low[j] - high);
        change.high[j] = lesser(change.high[j], y.high[j] - low);
        low = greater(low, y.low[j] - change.high[j]);
        high = lesser(high, y.high[j] - change.low[j]);
        y.low[j] = greater(y.low[j], low + change.low[j]);
        y.high[j] = lesser(y.high[j], high + change.high[j]);
        if (its.is_aligned) {
            z.low[j] = low;
            z.high[j] = high;
        }
    }
}

template <class T>
void BoxBounder<T>::relax(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const Bounds z = range(known, layer, 0), y = range(known, layer, 1);
    Relaxed& here = relaxed_[layer];
    marks_.assign(its.width, 0);
    for (std::size_t i = 0; i < its.width; ++i) marks_[i] = z.high[i] > 0 || z.low[i] >= 0;
    here.theirs.clear();
    for (std::size_t j = 0; j < its.other_width; ++j)
        if (y.high[j] > 0 || y.low[j] >= 0) {
            here.theirs.add(static_cast<std::int32_t>(j), y.low[j], y.high[j], its.other_biases[j]);
            if (its.partners[j] >= 0) marks_[static_cast<std::size_t>(its.partners[j])] = 1;
        }
    here.ours.clear();
    places_.assign(its.width, -1);
    for (std::size_t i = 0; i < its.width; ++i) {
        if (marks_[i] == 0) continue;
        places_[i] = static_cast<std::int32_t>(here.ours.neurons.size());
        here.ours.add(static_cast<std::int32_t>(i), z.low[i], z.high[i], its.biases[i]);
    }
    here.pairs.clear();
    if (is_joint_) relax_pairs(known, layer);
}

template <class T>
void BoxBounder<T>::relax_pairs(T* known, std::size_t layer) {
    const PairLayer<T>& its = layers_[layer];
    const Bounds y = range(known, layer, 1), change = range(known, layer, 2);
    for (std::size_t j = 0; j < its.other_width; ++j) {
        const std::int32_t partner = its.partners[j];
        const std::int32_t place = partner < 0 ? -1 : places_[static_cast<std::size_t>(partner)];
        relaxed_[layer].pairs.add(static_cast<std::int32_t>(j), place,
                                  {&partner_low_[j], &partner_high_[j]}, {y.low + j, y.high + j},
                                  {change.low + j, change.high + j}, its.bias_changes[j]);
    }
}

/// Make room for functionals, with both signs if that is wanted.
template <class T>
void BoxBounder<T>::start(std::size_t number) {
    functionals_.count = has_both_signs_ ? 2 * number : number;
    functionals_.padded = (functionals_.count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    functionals_.constant.assign(functionals_.padded, T{0});
}

/// Fill functionals with chosen rows of a matrix, at chosen columns.
template <class T>
void BoxBounder<T>::fill(std::vector<T>& to, const std::vector<T>& rows, std::size_t width,
                         const Neurons& chosen, const Neurons& columns) const {
    const std::size_t padded = functionals_.padded, number = chosen.size();
    to.assign(columns.size() * padded, T{0});
    for (std::size_t i = 0; i < number; ++i) {
        const T* row = rows.data() + static_cast<std::size_t>(chosen[i]) * width;
        for (std::size_t a = 0; a < columns.size(); ++a) {
            const T entry = row[columns[a]];
            to[a * padded + i] = entry;
            if (has_both_signs_) to[a * padded + number + i] = -entry;
        }
    }
}

template <class T>
void BoxBounder<T>::set_constants(const std::vector<T>& constants, const Neurons& chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const T entry = constants[static_cast<std::size_t>(chosen[i])];
        functionals_.constant[i] = entry;
        if (has_both_signs_) functionals_.constant[chosen.size() + i] = -entry;
    }
}

/// List the rows of losses of some neurons of f (`layer` is null), or of their partners.
template <class T>
void BoxBounder<T>::list_partners(const Neurons& neurons, const PairLayer<T>* layer) {
    loss_rows_ = neurons;
    if (layer == nullptr) return;
    for (std::int32_t& neuron : loss_rows_) neuron = layer->partners[static_cast<std::size_t>(neuron)];
}

/// Write functionals of activations of f or of g after `depth` layers as functionals of the inputs.
template <class T>
void BoxBounder<T>::go_back_alone(bool is_other, std::size_t depth, Losses* losses) {
    Functionals& rows = functionals_;
    for (std::size_t m = depth; m-- > 0;) {
        const PairLayer<T>& layer = layers_[m];
        const Alone& here = is_other ? relaxed_[m].theirs : relaxed_[m].ours;
        list_partners(here.neurons, is_other ? &layer : nullptr);
        relax_alone({here.neurons.size(), here.lower.data(), here.rise.data(), here.offset.data(),
                     here.gap.data(), loss_rows_.data(),
                     losses == nullptr ? nullptr : (*losses)[m].data()},
                    rows.on_a.data(), rows.constant.data(), rows.padded);
        add_rows(here.bias, rows.on_a.data(), rows.constant.data(), rows.padded);
        const Neurons& to = neurons_before(m, is_other);
        rows.next_a.assign(to.size() * rows.padded, T{0});
        const std::vector<T>& weights = is_other ? layer.other_weights : layer.weights;
        add_product({weights.data(), is_other ? layer.other_before : layer.before,
                     here.neurons.data(), here.neurons.size(), to.data(), to.size()},
                    rows.on_a.data(), rows.next_a.data(), rows.padded);
        rows.on_a.swap(rows.next_a);
    }
}

/// The same for functionals of activations of f and of differences.
template <class T>
void BoxBounder<T>::go_back_jointly(std::size_t depth, Losses* losses) {
    Functionals& rows = functionals_;
    for (std::size_t m = depth; m-- > 0;) {
        const PairLayer<T>& layer = layers_[m];
        const Alone& ours = relaxed_[m].ours;
        const Pairs& pairs = relaxed_[m].pairs;
        T* its_losses = losses == nullptr ? nullptr : (*losses)[m].data();
        relax_alone({ours.neurons.size(), ours.lower.data(), ours.rise.data(), ours.offset.data(),
                     ours.gap.data(), ours.neurons.data(), its_losses},
                    rows.on_a.data(), rows.constant.data(), rows.padded);
        list_partners(pairs.neurons, &layer);
        relax_together({pairs.neurons.size(), pairs.p.data(), pairs.q.data(), pairs.r.data(),
                        pairs.more_p.data(), pairs.more_q.data(), pairs.more_r.data(),
                        pairs.above.data(), pairs.below.data(), pairs.places.data(),
                        loss_rows_.data(), its_losses},
                       rows.on_d.data(), rows.on_a.data(), rows.constant.data(), rows.padded);
        add_rows(ours.bias, rows.on_a.data(), rows.constant.data(), rows.padded);
        add_rows(pairs.bias, rows.on_d.data(), rows.constant.data(), rows.padded);
        const Neurons& to = neurons_before(m, false);
        rows.next_a.assign(to.size() * rows.padded, T{0});
        const PartOfMatrix<T> weights{layer.weights.data(), layer.before, ours.neurons.data(),
                                      ours.neurons.size(), to.data(), to.size()};
        add_product(weights, rows.on_a.data(), rows.next_a.data(), rows.padded);
        PartOfMatrix<T> changes{layer.weight_changes.data(), layer.before, pairs.neurons.data(),
                                pairs.neurons.size(), to.data(), to.size()};
        add_product(changes, rows.on_d.data(), rows.next_a.data(), rows.padded);
        rows.on_a.swap(rows.next_a);
        if (m == 0) return;
        const Neurons& their = relaxed_[m - 1].pairs.neurons;
        rows.next_d.assign(their.size() * rows.padded, T{0});
        changes.entries = layer.other_weights.data();
        changes.width = layer.other_before;
        changes.columns = their.data();
        changes.num_columns = their.size();
        add_product(changes, rows.on_d.data(), rows.next_d.data(), rows.padded);
        rows.on_d.swap(rows.next_d);
    }
}

/// The neurons of the layer before layer `m`, or the inputs.
template <class T>
const typename BoxBounder<T>::Neurons& BoxBounder<T>::neurons_before(std::size_t m,
                                                                     bool is_other) const {
    if (m == 0) return inputs_;
    return is_other ? relaxed_[m - 1].theirs.neurons : relaxed_[m - 1].ours.neurons;
}

/// Write the maxima of the functionals over the box, with multiples of the half-spaces.
template <class T>
void BoxBounder<T>::maximize() {
    Functionals& rows = functionals_;
    maxima_.resize(rows.padded);
    if (sides_.empty()) {
        maximize_in(num_inputs_, middle_.data(), radius_.data(), rows.on_a.data(),
                    rows.constant.data(), maxima_.data(), rows.padded);
        return;
    }
    rows.next_a = rows.on_a;
    rows.next_d = rows.constant;
    for (std::size_t k = 0; k < num_inputs_; ++k)
        for (std::size_t f = 0; f < rows.padded; ++f)
            rows.next_d[f] += rows.on_a[k * rows.padded + f] * middle_[k];
    for (std::size_t sweep = 0; sweep < kSweeps; ++sweep)
        for (const Side& side : sides_) {
            T at_middle = side.constant;
            for (std::size_t k = 0; k < num_inputs_; ++k) at_middle += side.slope[k] * middle_[k];
            add_multiples(num_inputs_, radius_.data(), side.slope.data(), at_middle,
                          rows.next_a.data(), rows.next_d.data(), rows.padded);
        }
    const std::vector<T> origin(num_inputs_, T{0});
    maximize_in(num_inputs_, origin.data(), radius_.data(), rows.next_a.data(), rows.next_d.data(),
                maxima_.data(), rows.padded);
}

/// Bound the wanted rows, with a row of slopes and of scores for each.
template <class T>
void BoxBounder<T>::bound_rows(T* known, const std::uint8_t* wanted, T* joint, T* alone, T* slope,
                               T* scores, std::int32_t* worst) {
    T* rows = known + first_row_;
    std::copy_n(rows, rows_.count, joint);
    std::copy_n(rows, rows_.count, alone);
    wanted_.clear();
    for (std::size_t row = 0; row < rows_.count; ++row)
        if (wanted[row] != 0) wanted_.push_back(static_cast<std::int32_t>(row));
    has_both_signs_ = false;
    rows_alone();
    const std::size_t padded = functionals_.padded;
    better_.assign(maxima_.begin(), maxima_.end());
    is_jointly_.assign(wanted_.size(), 0);
    if (is_joint_) {
        rows_jointly();
        for (std::size_t f = 0; f < wanted_.size(); ++f) is_jointly_[f] = maxima_[f] < better_[f];
    }
    for (std::size_t f = 0; f < wanted_.size(); ++f) {
        const auto row = static_cast<std::size_t>(wanted_[f]);
        alone[row] = better_[f];
        joint[row] = is_joint_ ? maxima_[f] : std::numeric_limits<T>::infinity();
        if (is_joint_) better_[f] = lesser(maxima_[f], better_[f]);
        if (is_empty_) better_[f] = -std::numeric_limits<T>::infinity();
        rows[row] = lesser(better_[f], rows[row]);
        const std::vector<T>& slopes = is_jointly_[f] != 0 ? functionals_.on_a : alone_slopes_;
        for (std::size_t k = 0; k < num_inputs_; ++k)
            slope[f * num_inputs_ + k] = slopes[k * padded + f];
        const Losses& losses = is_jointly_[f] != 0 ? joint_losses_ : losses_;
        score(known, losses, f, padded, scores + f * num_inputs_);
        worst[f] = worst_sign(known, losses, f, padded);
    }
}

template <class T>
void BoxBounder<T>::clear_losses(Losses& losses) const {
    for (std::size_t m = 0; m < layers_.size(); ++m)
        losses[m].assign(layers_[m].width * functionals_.padded, T{0});
}

/// Add the parts of the rows that are linear in the inputs.
template <class T>
void BoxBounder<T>::add_inputs(std::vector<T>& slopes) const {
    for (std::size_t f = 0; f < wanted_.size(); ++f)
        for (std::size_t k = 0; k < num_inputs_; ++k)
            slopes[k * functionals_.padded + f] +=
                rows_.on_x[static_cast<std::size_t>(wanted_[f]) * num_inputs_ + k];
}

/// Bound the wanted rows with each neuron relaxed alone.
template <class T>
void BoxBounder<T>::rows_alone() {
    const std::size_t depth = layers_.size();
    const std::size_t width = depth == 0 ? num_inputs_ : layers_.back().width;
    Functionals& rows = functionals_;
    start(wanted_.size());
    clear_losses(losses_);
    fill(rows.on_a, rows_.on_f, width, wanted_, neurons_before(depth, false));
    set_constants(rows_.constant, wanted_);
    go_back_alone(false, depth, &losses_);
    alone_slopes_ = rows.on_a;
    if (!is_single_) {
        const std::size_t other = depth == 0 ? num_inputs_ : layers_.back().other_width;
        fill(rows.on_a, rows_.on_g, other, wanted_, neurons_before(depth, true));
        go_back_alone(true, depth, &losses_);
        for (std::size_t i = 0; i < alone_slopes_.size(); ++i) rows.on_a[i] += alone_slopes_[i];
    }
    add_inputs(rows.on_a);
    alone_slopes_ = rows.on_a;
    maximize();
}

/// Bound the wanted rows with the joint relaxation.
template <class T>
void BoxBounder<T>::rows_jointly() {
    const std::size_t depth = layers_.size();
    const std::size_t width = depth == 0 ? num_inputs_ : layers_.back().width;
    Functionals& rows = functionals_;
    start(wanted_.size());
    clear_losses(joint_losses_);
    fill(rows.on_a, rows_.joint, width, wanted_, neurons_before(depth, false));
    if (depth != 0)
        fill(rows.on_d, rows_.on_g, layers_.back().other_width, wanted_,
             relaxed_.back().pairs.neurons);
    set_constants(rows_.constant, wanted_);
    go_back_jointly(depth, &joint_losses_);
    add_inputs(rows.on_a);
    maximize();
}

/// See `BoxBounds.scores`.
template <class T>
void BoxBounder<T>::score(T* known, const Losses& losses, std::size_t place, std::size_t padded,
                          T* scores) {
    for (std::size_t k = 0; k < num_inputs_; ++k) scores[k] = static_cast<T>(1e-12) * width_[k];
    for (std::size_t m = 0; m < layers_.size(); ++m) {
        const Relaxed& layer = relaxed_[m];
        const Bounds z = range(known, m, 0);
        for (std::size_t i = 0; i < layer.open.size(); ++i) {
            const auto neuron = static_cast<std::size_t>(layer.open[i]);
            const T loss = losses[m][neuron * padded + place];
            if (loss == 0) continue;
            const T* slopes = layer.slopes.data() + i * num_inputs_;
            T total = 0;
            for (std::size_t k = 0; k < num_inputs_; ++k) total += slopes[k] * width_[k];
            total = greater(total, z.high[neuron] - z.low[neuron]);
            const T weight = loss / (total > 0 ? total : T{1});
            for (std::size_t k = 0; k < num_inputs_; ++k)
                scores[k] += weight * (slopes[k] * width_[k]);
        }
    }
}

/// The place, in a list of signs, of the open neuron with the largest loss; -1 without one.
template <class T>
std::int32_t BoxBounder<T>::worst_sign(T* known, const Losses& losses, std::size_t place,
                                       std::size_t padded) const {
    std::int32_t found = -1;
    float largest = 0;  // short, so that roundings decide nothing
    for (std::size_t m = 0; m < layers_.size(); ++m) {
        const PairLayer<T>& layer = layers_[m];
        const Bounds z = range(known, m, 0), y = range(known, m, 1);
        const auto offer = [&](std::size_t row, std::size_t at) {
            const auto loss = static_cast<float>(losses[m][row * padded + place]);
            if (!(loss > largest)) return;
            largest = loss;
            found = static_cast<std::int32_t>(sign_starts_[m] + at);
        };
        for (std::size_t i = 0; i < layer.width; ++i)
            if (!is_stable(z.low[i], z.high[i])) offer(i, i);
        for (std::size_t j = 0; j < layer.other_width; ++j) {
            if (layer.partners[j] < 0 || is_stable(y.low[j], y.high[j])) continue;
            const auto partner = static_cast<std::size_t>(layer.partners[j]);
            if (is_stable(z.low[partner], z.high[partner])) offer(partner, layer.width + j);
        }
    }
    return found;
}

/// Whether a neuron of either network has no known sign.
template <class T>
bool BoxBounder<T>::has_open(T* known) const {
    for (std::size_t m = 0; m < layers_.size(); ++m) {
        const Bounds z = range(known, m, 0), y = range(known, m, 1);
        for (std::size_t i = 0; i < layers_[m].width; ++i)
            if (!is_stable(z.low[i], z.high[i])) return true;
        for (std::size_t j = 0; j < layers_[m].other_width; ++j)
            if (!is_stable(y.low[j], y.high[j])) return true;
    }
    return false;
}

template class BoxBounder<float>;
template class BoxBounder<double>;

}  // namespace polyrelu
