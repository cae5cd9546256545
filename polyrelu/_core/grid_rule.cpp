#include "grid_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "grid_numbers.hpp"

namespace polyrelu {
namespace {

/// The slope of the better line through 0 below a ReLU.
std::int64_t lower_slope(std::int64_t low, std::int64_t high) {
    return low >= 0 || (high > 0 && high > -low) ? kOne : 0;
}

/// The slope of a ReLU, and half of the width of its band.
std::pair<std::int64_t, std::int64_t> neuron_band(std::int64_t low, std::int64_t high) {
    const std::int64_t slope = chord_slope(low, high);
    if (sign_of_interval(low, high) != 0) return {slope, 0};
    const Int128 gap = std::max(-times(slope, low), times(kOne - slope, high));
    return {slope, checked(ceiled(gap, kSlopeBits + 1))};
}

std::int64_t clipped(std::int64_t x, std::int64_t low, std::int64_t high) {
    return std::min(std::max(x, low), high);
}

/// Sums of products of a row of a matrix with N columns of forms.
template <std::size_t N>
void add_products(const std::int64_t* weights, const std::vector<std::size_t>& used,
                  const std::int64_t* table, std::size_t columns, Int128* sums) {
    Int128 local[N];
    for (std::size_t k = 0; k < N; ++k) local[k] = sums[k];
    for (const std::size_t j : used) {
        const std::int64_t weight = weights[j];
        if (weight == 0) continue;
        const std::int64_t* row = table + j * columns;
        for (std::size_t k = 0; k < N; ++k) local[k] += times(weight, row[k]);
    }
    for (std::size_t k = 0; k < N; ++k) sums[k] = local[k];
}

}  // namespace

void GridMatrix::measure() {
    Int128 largest = 0;
    std::vector<double> columns(width);
    for (std::size_t i = 0; i < height; ++i) {
        Int128 sum = 0;
        for (std::size_t j = 0; j < width; ++j) {
            sum += size_of(row(i)[j]);
            columns[j] += std::abs(static_cast<double>(row(i)[j]));
        }
        largest = std::max(largest, sum);
    }
    if (largest >= kLargest) throw std::invalid_argument("weights are too large for the core");
    norm = static_cast<std::int64_t>(largest);
    for (const double sum : columns) column_norm = std::max(column_norm, sum);
    transposed.resize(entries.size());
    for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) transposed[j * height + i] = row(i)[j];
}

/// The neurons that have a weight in any functional.
std::vector<std::size_t> GridRule::Functionals::used() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i * count < weights.size(); ++i)
        if (std::any_of(weights.data() + i * count, weights.data() + (i + 1) * count,
                        [](std::int64_t w) { return w != 0; }))
            found.push_back(i);
    return found;
}

double GridRule::Functionals::largest() const {
    std::int64_t found = 0;
    for (const std::int64_t weight : weights) found = std::max(found, weight < 0 ? -weight : weight);
    return static_cast<double>(found);
}

void GridRule::Forms::note_used() {
    used.clear();
    for (std::size_t i = 0; i < height(); ++i)
        if (std::any_of(row(i), row(i) + columns, [](std::int64_t x) { return x != 0; }))
            used.push_back(i);
}

double GridRule::Forms::largest() const {
    std::int64_t found = 0;
    for (const std::int64_t entry : table) found = std::max(found, entry < 0 ? -entry : entry);
    return static_cast<double>(found);
}

GridRule::GridRule(int grid, std::size_t num_inputs, bool is_single,
                   std::vector<RuleLayer> layers, RuleRows rows)
    : num_inputs_(num_inputs),
      grid_(grid),
      is_single_(is_single),
      layers_(std::move(layers)),
      rows_(std::move(rows)) {
    if (grid < 1 || grid > 60) throw std::invalid_argument("the grid is too fine for the core");
    for (RuleLayer& layer : layers_) {
        layer.own.measure();
        layer.by_values.measure();
        layer.by_differences.measure();
        if (!layer.is_hidden) continue;
        sign_starts_.push_back(num_signs_);
        num_signs_ += layer.own.height + layer.by_values.height;
    }
    for (const auto* weights : {&rows_.on_x, &rows_.on_values, &rows_.on_differences})
        for (const std::int64_t weight : *weights)
            if (weight >= (1 << 20) || weight <= -(1 << 20))
                throw std::invalid_argument("weights of rows are too long for the core");
}

RuleState GridRule::bound(const std::int64_t* centers, const std::int64_t* radii,
                          const std::int8_t* signs, RuleKind kind, RuleBounds& found) {
    signs_ = signs;
    is_backward_ = kind != RuleKind::leaf;
    is_joint_ = kind == RuleKind::joint && !is_single_;
    chosen_.resize(rows_.count);
    std::iota(chosen_.begin(), chosen_.end(), std::size_t{0});
    try {
        start(centers, radii);
        for (std::size_t layer = 0; layer < layers_.size(); ++layer)
            if (!add(layer)) return RuleState::empty;
        found.num_generators = values_.columns - 1 - num_inputs_;
        bound_rows(found);
        if (is_backward_) bound_rows_backward(found);
        if (is_joint_) bound_rows_jointly(found);
    } catch (const TooLong&) {
        return RuleState::too_long;
    }
    return RuleState::bounded;
}

void GridRule::start(const std::int64_t* centers, const std::int64_t* radii) {
    inputs_.columns = 1 + num_inputs_;
    inputs_.table.assign(num_inputs_ * inputs_.columns, 0);
    inputs_.error = 0;
    inputs_.sizes = 0;
    for (std::size_t j = 0; j < num_inputs_; ++j) {
        inputs_.row(j)[0] = checked(centers[j]);
        inputs_.row(j)[1 + j] = checked(radii[j]);
        inputs_.sizes += size_of(centers[j]) + radii[j];
    }
    inputs_.note_used();
    ends_[0].clear();
    ends_[1].clear();
    pairs_.clear();
    change_sizes_.clear();
}

/// Go through a layer; return false if no point of the box has the signs.
bool GridRule::add(std::size_t number) {
    const RuleLayer& layer = layers_[number];
    Forms z, d;
    const Forms& before = number ? values_ : inputs_;
    preactivations({{&layer.own, &before}}, layer.bias, layer.is_bias_exact, z);
    if (!is_single_) {
        std::vector<Term> terms{{&layer.by_values, &before}};
        if (number) terms.push_back({&layer.by_differences, &differences_});
        preactivations(terms, layer.shift, layer.is_shift_exact, d);
    }
    if (number == 0 && is_backward_) note_first(z, d);
    if (layer.is_hidden) return activate(number, z, d);
    values_ = std::move(z);
    differences_ = std::move(d);
    return true;
}

/// Keep the forms of the first layer.
void GridRule::note_first(const Forms& z, const Forms& d) {
    first_ = z;
    if (is_single_) return;
    const std::vector<std::int32_t>& partners = layers_[0].partners;
    first_change_ = other_first_ = d;
    other_first_.error = checked(static_cast<Int128>(z.error) + d.error);
    for (std::size_t m = 0; m < partners.size(); ++m)
        if (partners[m] >= 0)
            for (std::size_t c = 0; c < d.columns; ++c)
                other_first_.row(m)[c] =
                    checked(static_cast<Int128>(d.row(m)[c]) +
                            z.row(static_cast<std::size_t>(partners[m]))[c]);
}

void GridRule::preactivations(const std::vector<Term>& terms,
                              const std::vector<std::int64_t>& bias, bool is_bias_exact,
                              Forms& found) const {
    constexpr std::size_t kColumns = 4;
    double size = 0;
    for (const Term& term : terms)
        size += static_cast<double>(term.matrix->norm) * (1 + term.forms->largest());
    check_sum(size);
    const std::size_t columns = terms[0].forms->columns, height = bias.size();
    found.columns = columns;
    found.table.assign(height * columns, 0);
    const std::uint64_t mask = (std::uint64_t{1} << grid_) - 1;
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < height; ++i) {
        std::int64_t* to = found.row(i);
        for (std::size_t c = 0; c < columns; c += kColumns) {
            Int128 sums[kColumns] = {};
            const std::size_t count = std::min(kColumns, columns - c);
            for (const Term& term : terms) {
                const std::int64_t* weights = term.matrix->row(i);
                const std::int64_t* table = term.forms->table.data() + c;
                if (count == kColumns)
                    add_products<kColumns>(weights, term.forms->used, table, columns, sums);
                else
                    for (std::size_t k = 0; k < count; ++k)
                        add_products<1>(weights, term.forms->used, table + k, columns, sums + k);
            }
            for (std::size_t k = 0; k < count; ++k) {
                lost |= static_cast<std::uint64_t>(sums[k]) & mask;
                to[c + k] = checked(sums[k] >> grid_);
            }
        }
        to[0] = checked(static_cast<Int128>(to[0]) + bias[i]);
    }
    Int128 error = 0;
    for (const Term& term : terms) {
        error += ceiled(times(term.matrix->norm, term.forms->error), grid_);
        if (term.matrix->is_rounded) error += ceiled(term.forms->sizes, grid_);
    }
    if (lost != 0 || !is_bias_exact) error += static_cast<Int128>(columns) + 1;
    found.error = checked(error);
    found.sizes = 0;
}

/// The intervals of forms.
std::vector<GridRule::Interval> GridRule::ranges_of(const Forms& forms) {
    std::vector<Interval> found(forms.height());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::int64_t* row = forms.row(i);
        Int128 radius = forms.error;
        for (std::size_t c = 1; c < forms.columns; ++c) radius += size_of(row[c]);
        found[i] = {checked(row[0] - radius), checked(row[0] + radius)};
    }
    return found;
}

/// Let intervals follow from signs; return false if one is empty.
bool GridRule::cut_by_signs(std::size_t layer, bool is_other, std::vector<Interval>& ends) const {
    if (signs_ == nullptr) return true;
    const std::int8_t* signs =
        signs_ + sign_starts_[layer] + (is_other ? layers_[layer].own.height : 0);
    bool is_possible = true;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (signs[i] > 0) ends[i].low = std::max<std::int64_t>(ends[i].low, 0);
        if (signs[i] < 0) ends[i].high = std::min<std::int64_t>(ends[i].high, 0);
        is_possible = is_possible && ends[i].low <= ends[i].high;
    }
    return is_possible;
}

bool GridRule::activate(std::size_t number, Forms& z, Forms& d) {
    const RuleLayer& layer = layers_[number];
    const std::size_t count = z.columns;
    std::vector<Interval> ends = ranges_of(z);
    if (!cut_by_signs(number, false, ends) || !narrow(number, false, ends)) return false;
    ends_[0].push_back(ends);
    bands_.clear();
    if (!is_single_ && !find_pairs(number, z, d)) return false;

    std::vector<std::pair<std::int64_t, std::int64_t>> relaxed;
    std::size_t own_new = 0, new_ones = 0;
    for (const Interval& x : ends) {
        relaxed.push_back(neuron_band(x.low, x.high));
        own_new += relaxed.back().second != 0;
    }
    for (const Band& band : bands_) new_ones += band.radius != 0;
    const std::size_t total = count + own_new + new_ones;
    constexpr std::int64_t kMask = kOne - 1;

    Forms values;
    values.columns = total;
    values.table.assign(ends.size() * total, 0);
    std::int64_t lost = 0;
    std::size_t place = count;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto [slope, half] = relaxed[i];
        values.sizes += std::max<std::int64_t>(ends[i].high, 0);
        if (slope != 0)
            for (std::size_t c = 0; c < count; ++c) {
                const Int128 product = times(slope, z.row(i)[c]);
                lost |= static_cast<std::int64_t>(product) & kMask;
                values.row(i)[c] = static_cast<std::int64_t>(product >> kSlopeBits);
            }
        values.row(i)[0] = checked(static_cast<Int128>(values.row(i)[0]) + half);
        if (half != 0) values.row(i)[place++] = half;
    }
    values.error = checked(static_cast<Int128>(z.error) +
                           (lost ? static_cast<std::int64_t>(count) : 0));
    values.note_used();

    Forms differences;
    if (!is_single_) {
        differences.columns = total;
        differences.table.assign(bands_.size() * total, 0);
        lost = 0;
        place = count + own_new;
        for (std::size_t m = 0; m < bands_.size(); ++m) {
            const Band& band = bands_[m];
            const std::int32_t partner = layer.partners[m];
            const std::int64_t* own =
                partner >= 0 ? z.row(static_cast<std::size_t>(partner)) : nullptr;
            differences.sizes += band.size;
            for (std::size_t c = 0; c < count; ++c) {
                const Int128 sum =
                    times(band.q, d.row(m)[c]) + (own ? times(band.p, own[c]) : Int128{0});
                lost |= static_cast<std::int64_t>(sum) & kMask;
                differences.row(m)[c] = checked(sum >> kSlopeBits);
            }
            differences.row(m)[0] =
                checked(static_cast<Int128>(differences.row(m)[0]) + band.center);
            if (band.radius != 0) differences.row(m)[place++] = band.radius;
        }
        differences.error = checked(static_cast<Int128>(z.error) + d.error +
                                    (lost ? static_cast<std::int64_t>(count) : 0));
        differences.note_used();
    }
    values_ = std::move(values);
    differences_ = std::move(differences);
    return true;
}

/// Find intervals and bands of the differences; return false if no point of the box has the signs.
bool GridRule::find_pairs(std::size_t number, const Forms& z, const Forms& d) {
    const RuleLayer& layer = layers_[number];
    const std::size_t height = layer.partners.size();
    const std::vector<Interval>& ours = ends_[0].back();
    std::vector<Interval> partners(height), changes = ranges_of(d), others(height);
    for (std::size_t m = 0; m < height; ++m) {
        const std::int32_t partner = layer.partners[m];
        const auto place = static_cast<std::size_t>(partner);
        Int128 radius = static_cast<Int128>(z.error) + d.error, center = d.row(m)[0];
        for (std::size_t c = 1; c < d.columns; ++c) {
            const Int128 entry = d.row(m)[c];
            radius += size_of(partner >= 0 ? entry + z.row(place)[c] : entry);
        }
        if (partner >= 0) {
            center += z.row(place)[0];
            partners[m] = ours[place];
        }
        others[m] = {checked(center - radius), checked(center + radius)};
    }
    if (!cut_by_signs(number, true, others)) return false;
    if (is_backward_) {
        for (std::size_t m = 0; m < height; ++m) {
            others[m].low = std::max(
                others[m].low, checked(static_cast<Int128>(partners[m].low) + changes[m].low));
            others[m].high = std::min(
                others[m].high, checked(static_cast<Int128>(partners[m].high) + changes[m].high));
            if (others[m].low > others[m].high) return false;
        }
        if (!narrow(number, true, others)) return false;
    }
    std::vector<PairEnds> pairs(height);
    for (std::size_t m = 0; m < height; ++m) pairs[m] = {partners[m], changes[m], others[m]};
    if (is_joint_ && !narrow_changes(number, pairs, true)) return false;
    others.clear();
    for (PairEnds& x : pairs) {
        x.d.low = std::max(x.d.low, checked(static_cast<Int128>(x.y.low) - x.z.high));
        x.d.high = std::min(x.d.high, checked(static_cast<Int128>(x.y.high) - x.z.low));
        if (x.d.low > x.d.high) return false;
        others.push_back(x.y);
        bands_.push_back(band(x, layer.is_last_hidden));
    }
    ends_[1].push_back(std::move(others));
    if (is_joint_) add_lines(pairs);
    return true;
}

/// Add the lines of a layer of pairs, and the sum of the sizes of the differences.
void GridRule::add_lines(const std::vector<PairEnds>& pairs) {
    Int128 sizes = 0;
    pairs_.emplace_back();
    for (const PairEnds& x : pairs) {
        pairs_.back().push_back(lines(x));
        sizes += std::max(-x.d.low, x.d.high);
    }
    change_sizes_.push_back(sizes);
}

std::vector<GridRule::Corner> GridRule::corners(const PairEnds& ends) {
    const Interval z = ends.z, d = ends.d;
    const int other = sign_of_interval(ends.y.low, ends.y.high);
    const std::int64_t middle = clipped(0, z.low, z.high);
    const std::int64_t values[5] = {z.low, z.high, middle, clipped(-d.low, z.low, z.high),
                                    clipped(-d.high, z.low, z.high)};
    std::vector<Corner> found;
    const auto add = [&](std::int64_t x, std::int64_t t) {
        const Int128 sum = static_cast<Int128>(x) + t;
        const Int128 relu = other > 0 ? sum : other < 0 ? Int128{0} : std::max(sum, Int128{0});
        found.push_back({(relu - std::max<std::int64_t>(x, 0)) * kOne, x, t});
    };
    for (const std::int64_t t : {d.low, d.high})
        for (const std::int64_t x : values) add(x, t);
    for (std::size_t k = 0; k < 3; ++k) add(values[k], clipped(-values[k], d.low, d.high));
    return found;
}

/// The relaxation of a difference by a band around a line.
GridRule::Band GridRule::band(const PairEnds& ends, bool is_last) {
    const Interval z = ends.z, d = ends.d, y = ends.y;
    const int own = sign_of_interval(z.low, z.high), other = sign_of_interval(y.low, y.high);
    const std::int64_t size = std::max(-d.low, d.high);
    if (own * other < 0 && !is_last &&
        static_cast<Int128>(d.high) - d.low < static_cast<Int128>(z.high) - z.low)
        return {0, kOne / 2, 0, checked(ceiled(size, 1)), size};
    if (own != 0 && other != 0) {
        const std::int64_t q = other > 0 ? kOne : 0;
        return {q - (own > 0 ? kOne : 0), q, 0, 0, size};
    }
    const std::int64_t chord = chord_slope(z.low, z.high), upper = chord_slope(y.low, y.high);
    std::vector<std::pair<std::int64_t, std::int64_t>> slopes{{0, kOne / 2}};
    if (d.low < 0 && 0 < d.high) slopes.push_back({0, chord_slope(d.low, d.high)});
    slopes.push_back({upper - chord, upper});
    slopes.push_back({0, upper});
    const std::vector<Corner> points = corners(ends);
    bool is_first = true;
    Int128 least = 0, best_low = 0, best_high = 0;
    Band best{0, 0, 0, 0, size};
    for (const auto& [p, q] : slopes) {
        Int128 bottom = 0, top = 0;
        for (std::size_t k = 0; k < points.size(); ++k) {
            const Int128 rest = points[k].value - times(p, points[k].z) - times(q, points[k].d);
            bottom = k ? std::min(bottom, rest) : rest;
            top = k ? std::max(top, rest) : rest;
        }
        if (is_first || top - bottom < least) {
            least = top - bottom;
            best.p = p;
            best.q = q;
            best_low = bottom;
            best_high = top;
            is_first = false;
        }
    }
    best.center = checked((best_low + best_high) >> (kSlopeBits + 1));
    best.radius = checked(std::max(ceiled(best_high, kSlopeBits) - best.center,
                                   best.center - (best_low >> kSlopeBits)));
    return best;
}

/// The lines above and below a difference.
GridRule::Pair GridRule::lines(const PairEnds& ends) {
    const Interval z = ends.z, d = ends.d, y = ends.y;
    const int own = sign_of_interval(z.low, z.high), other = sign_of_interval(y.low, y.high);
    if (own != 0 && other != 0) {
        const std::int64_t q = other > 0 ? kOne : 0;
        const Line line{q - (own > 0 ? kOne : 0), q, 0};
        return {line, line, 0};
    }
    const std::int64_t upper[2] = {chord_slope(z.low, z.high), chord_slope(y.low, y.high)};
    const std::int64_t lower[2] = {lower_slope(z.low, z.high), lower_slope(y.low, y.high)};
    const std::int64_t chord = chord_slope(d.low, d.high);
    const std::pair<std::int64_t, std::int64_t> above[2] = {{0, chord},
                                                            {upper[1] - lower[0], upper[1]}};
    const std::pair<std::int64_t, std::int64_t> below[2] = {{0, kOne - chord},
                                                            {lower[1] - upper[0], lower[1]}};
    const std::vector<Corner> points = corners(ends);
    const std::int64_t spare = checked(static_cast<Int128>(std::max<std::int64_t>(z.high, 0)) +
                                       std::max<std::int64_t>(d.high, 0));
    return {nearest_line(1, above, points, ends), nearest_line(-1, below, points, ends), spare};
}

/// The one of two lines above (1) or below (-1) all corners that is less far in the middle.
GridRule::Line GridRule::nearest_line(int side,
                                      const std::pair<std::int64_t, std::int64_t>* slopes,
                                      const std::vector<Corner>& points, const PairEnds& ends) {
    Line best;
    Int128 least = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto [p, q] = slopes[i];
        Int128 r = 0;
        for (std::size_t k = 0; k < points.size(); ++k) {
            const Int128 rest = points[k].value - times(p, points[k].z) - times(q, points[k].d);
            r = k == 0 ? rest : side > 0 ? std::max(r, rest) : std::min(r, rest);
        }
        const Int128 height = side * (p * (static_cast<Int128>(ends.z.low) + ends.z.high) +
                                      q * (static_cast<Int128>(ends.d.low) + ends.d.high) + 2 * r);
        if (i == 0 || height < least) {
            best = {p, q, r};
            least = height;
        }
    }
    return best;
}

// -- backward bounds -------------------------------------------------------------------------------

/// Bound open neurons of a later layer backwards; return false if an interval is empty.
bool GridRule::narrow(std::size_t number, bool is_other, std::vector<Interval>& ends) {
    if (!is_backward_ || number == 0) return true;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (sign_of_interval(ends[i].low, ends[i].high) == 0) open.push_back(i);
    if (open.empty()) return true;
    Functionals functionals;
    functionals.count = 2 * open.size();
    functionals.weights.assign(ends.size() * functionals.count, 0);
    functionals.constants.assign(functionals.count, 0);
    for (std::size_t k = 0; k < open.size(); ++k) {
        functionals.weights[open[k] * functionals.count + k] = std::int64_t{1} << grid_;
        functionals.weights[open[k] * functionals.count + open.size() + k] =
            -(std::int64_t{1} << grid_);
    }
    descend(number, is_other, functionals);
    std::vector<Int128> totals, errors(functionals.count);
    add_first(is_other ? other_first_ : first_, functionals, totals, errors);
    const std::vector<Int128> found = maxima(functionals.constants, totals, errors);
    bool is_possible = true;
    for (std::size_t k = 0; k < functionals.count; ++k) {
        const std::int64_t limit = checked(ceiled(found[k], grid_));
        Interval& x = ends[open[k % open.size()]];
        if (k < open.size())
            x.high = std::min(x.high, limit);
        else
            x.low = std::max(x.low, -limit);
    }
    for (const std::size_t i : open) is_possible = is_possible && ends[i].low <= ends[i].high;
    return is_possible;
}

/// Replace weights of preactivations of a layer by weights of the first layer, and constants.
void GridRule::descend(std::size_t number, bool is_other, Functionals& functionals) const {
    for (std::size_t above = number; above > 0; --above) {
        const std::vector<Interval>& ends = ends_[is_other][above - 1];
        go_below(layers_[above], is_other, ends, functionals);
        relax(ends, functionals);
    }
}

/// Replace weights of preactivations by weights of the activations that may be positive.
void GridRule::go_below(const RuleLayer& layer, bool is_other, const std::vector<Interval>& ends,
                        Functionals& functionals) const {
    const GridMatrix& matrix = is_other ? layer.by_differences : layer.own;
    const std::vector<std::int64_t>& bias = is_other ? layer.other_bias : layer.bias;
    const bool is_rounded =
        matrix.is_rounded || !(is_other ? layer.is_other_bias_exact : layer.is_bias_exact);
    const std::size_t count = functionals.count;
    const std::vector<std::size_t> used = functionals.used();
    double size = matrix.column_norm;
    for (const std::int64_t entry : bias) size += std::abs(static_cast<double>(entry));
    check_sum(size * (1 + functionals.largest()));
    std::vector<Int128> sums(count), slack(count);
    for (const std::size_t i : used)
        for (std::size_t f = 0; f < count; ++f) {
            const std::int64_t weight = functionals.weights[i * count + f];
            sums[f] += times(weight, bias[i]);
            slack[f] += std::max<std::int64_t>(weight, 0);
        }
    for (std::size_t f = 0; f < count; ++f) {
        slack[f] = is_rounded ? ceiled(slack[f], grid_) : 0;
        functionals.constants[f] += ceiled(sums[f], grid_) + slack[f];
    }
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < matrix.width; ++j)
        if (sign_of_interval(ends[j].low, ends[j].high) >= 0) columns.push_back(j);
    std::vector<Int128> totals(matrix.width * count);
    add_transposed(matrix, functionals, used, columns, totals);
    functionals.weights.assign(matrix.width * count, 0);
    for (const std::size_t j : columns)
        for (std::size_t f = 0; f < count; ++f)
            functionals.weights[j * count + f] =
                checked(ceiled(totals[j * count + f], grid_) + slack[f]);
}

/// Replace weights of activations by weights of preactivations, and constants.
void GridRule::relax(const std::vector<Interval>& ends, Functionals& functionals) const {
    const std::size_t count = functionals.count;
    std::vector<Int128> totals(count);
    std::vector<double> sizes(count);
    for (std::size_t j = 0; j < ends.size(); ++j) {
        const std::int64_t low = ends[j].low, high = ends[j].high;
        const int sign = sign_of_interval(low, high);
        std::int64_t* weights = functionals.weights.data() + j * count;
        if (sign < 0) std::fill(weights, weights + count, 0);
        if (sign != 0) continue;
        const std::int64_t slope = chord_slope(low, high);
        const double reach = static_cast<double>(std::max(-low, high));
        for (std::size_t f = 0; f < count; ++f) {
            const std::int64_t own = weights[f];
            if (own <= 0) {
                weights[f] = high > -low ? own : 0;
                continue;
            }
            const auto scaled = static_cast<std::int64_t>(times(own, slope) >> kSlopeBits);
            sizes[f] += static_cast<double>(own) * reach;
            check_sum(sizes[f]);
            totals[f] += std::max(-times(scaled, low), times(own - scaled, high));
            weights[f] = scaled;
        }
    }
    for (std::size_t f = 0; f < count; ++f) {
        functionals.constants[f] += ceiled(totals[f], grid_);
        checked(functionals.constants[f]);
    }
}

/// Add the forms of the first layer with these weights to totals, and their errors.
void GridRule::add_first(const Forms& forms, const Functionals& functionals,
                         std::vector<Int128>& totals, std::vector<Int128>& errors) const {
    const std::size_t count = functionals.count, columns = forms.columns;
    const double largest = forms.largest() + static_cast<double>(forms.error);
    totals.resize(count * columns);
    std::vector<double> sizes(count);
    for (std::size_t i = 0; i < forms.height(); ++i)
        for (std::size_t f = 0; f < count; ++f) {
            const std::int64_t weight = functionals.weights[i * count + f];
            if (weight == 0) continue;
            sizes[f] += std::abs(static_cast<double>(weight)) * largest;
            check_sum(sizes[f] * static_cast<double>(columns));
            Int128* total = totals.data() + f * columns;
            for (std::size_t c = 0; c < columns; ++c) total[c] += times(weight, forms.row(i)[c]);
            errors[f] += size_of(weight) * forms.error;
        }
}

// -- rows ------------------------------------------------------------------------------------------

void GridRule::bound_rows(RuleBounds& found) const {
    const std::size_t columns = values_.columns;
    found.by_forms.assign(rows_.count, 0);
    const auto add = [](const std::vector<std::int64_t>& weights, std::size_t row,
                        const Forms& forms, std::vector<Int128>& total, Int128& error) {
        for (std::size_t i = 0; i < forms.height(); ++i) {
            const std::int64_t weight = weights[row * forms.height() + i];
            if (weight == 0) continue;
            for (std::size_t c = 0; c < forms.columns; ++c)
                total[c] += times(weight, forms.row(i)[c]);
            error += size_of(weight) * forms.error;
        }
    };
    for (std::size_t k = 0; k < rows_.count; ++k) {
        std::vector<Int128> total(columns);
        Int128 bound = 0;
        add(rows_.on_x, k, inputs_, total, bound);
        add(rows_.on_values, k, values_, total, bound);
        if (!is_single_) add(rows_.on_differences, k, differences_, total, bound);
        for (std::size_t c = 1; c < columns; ++c) bound += size_of(total[c]);
        found.by_forms[k] = bound + total[0];
    }
}

/// Bounds over 2^(2S) from constants over 2^S, forms, and errors.
std::vector<Int128> GridRule::maxima(const std::vector<Int128>& constants,
                                     const std::vector<Int128>& totals,
                                     const std::vector<Int128>& errors) const {
    const std::size_t columns = 1 + num_inputs_;
    std::vector<Int128> found(constants.size());
    for (std::size_t k = 0; k < constants.size(); ++k) {
        const Int128* total = totals.data() + k * columns;
        found[k] = (static_cast<Int128>(checked(constants[k])) << grid_) + total[0] + errors[k];
        for (std::size_t c = 1; c < columns; ++c) found[k] += size_of(total[c]);
    }
    return found;
}

/// What the inputs add to the forms of rows, over 2^(2S).
void GridRule::add_inputs(std::vector<Int128>& totals) const {
    const std::size_t columns = 1 + num_inputs_;
    for (std::size_t k = 0; k < chosen_.size(); ++k)
        for (std::size_t j = 0; j < num_inputs_; ++j) {
            const std::int64_t weight = rows_.on_x[chosen_[k] * num_inputs_ + j];
            if (weight == 0) continue;
            check_sum(std::abs(static_cast<double>(weight)) * inputs_.largest() *
                      std::ldexp(static_cast<double>(num_inputs_), grid_));
            totals[k * columns] += times(weight, inputs_.row(j)[0]) * (Int128{1} << grid_);
            totals[k * columns + 1 + j] += times(weight, inputs_.row(j)[1 + j]) * (Int128{1} << grid_);
        }
}

/// The weights of outputs in all rows over 2^S.
GridRule::Functionals GridRule::outputs(bool is_other,
                                        const std::vector<std::int64_t>& weights) const {
    const RuleLayer& last = layers_.back();
    const std::size_t height = is_other ? last.by_differences.height : last.own.height;
    Functionals found;
    found.count = chosen_.size();
    found.constants.assign(found.count, 0);
    found.weights.assign(height * found.count, 0);
    for (std::size_t i = 0; i < height; ++i)
        for (std::size_t k = 0; k < found.count; ++k)
            found.weights[i * found.count + k] =
                checked(static_cast<Int128>(weights[chosen_[k] * height + i]) * (Int128{1} << grid_));
    return found;
}

void GridRule::bound_rows_backward(RuleBounds& found) const {
    const std::size_t count = chosen_.size();
    std::vector<Int128> totals(count * (1 + num_inputs_)), errors(count), constants(count);
    add_inputs(totals);
    for (int which = 0; which < (is_single_ ? 1 : 2); ++which) {
        std::vector<std::int64_t> weights = which ? rows_.on_differences : rows_.on_values;
        if (!which && !is_single_)  // g is f and the difference
            for (std::size_t k = 0; k < weights.size(); ++k) weights[k] -= rows_.on_differences[k];
        Functionals functionals = outputs(which == 1, weights);
        if (layers_.back().is_hidden) relax(ends_[which].back(), functionals);
        descend(layers_.size() - 1, which == 1, functionals);
        add_first(which ? other_first_ : first_, functionals, totals, errors);
        for (std::size_t k = 0; k < count; ++k) constants[k] += functionals.constants[k];
    }
    found.backward = maxima(constants, totals, errors);
}

// -- joint bounds ----------------------------------------------------------------------------------

void GridRule::bound_rows_jointly(RuleBounds& found) const {
    const std::size_t count = chosen_.size();
    std::vector<Int128> totals(count * (1 + num_inputs_)), errors(count);
    add_inputs(totals);
    Functionals on_z = outputs(false, rows_.on_values), on_d = outputs(true, rows_.on_differences);
    if (layers_.back().is_hidden) {
        relax(ends_[0].back(), on_z);
        relax_pairs(layers_.size() - 1, on_z, on_d);
    }
    descend_jointly(layers_.size() - 1, on_z, on_d);
    add_first(first_, on_z, totals, errors);
    add_first(first_change_, on_d, totals, errors);
    found.joint = maxima(on_z.constants, totals, errors);
}

/// Bound the differences of open pairs backwards, or of all pairs if none is known; return false if
/// an interval is empty.
bool GridRule::narrow_changes(std::size_t number, std::vector<PairEnds>& pairs, bool is_known) {
    std::vector<std::size_t> open;
    for (std::size_t m = 0; m < pairs.size(); ++m)
        if (!is_known || sign_of_interval(pairs[m].z.low, pairs[m].z.high) == 0 ||
            sign_of_interval(pairs[m].y.low, pairs[m].y.high) == 0)
            open.push_back(m);
    if (number > 0 && !open.empty()) {
        Functionals on_z, on_d;
        on_z.count = on_d.count = 2 * open.size();
        on_z.constants.assign(on_z.count, 0);
        on_z.weights.assign(layers_[number].own.height * on_z.count, 0);
        on_d.weights.assign(pairs.size() * on_z.count, 0);
        for (std::size_t k = 0; k < open.size(); ++k) {
            on_d.weights[open[k] * on_d.count + k] = std::int64_t{1} << grid_;
            on_d.weights[open[k] * on_d.count + open.size() + k] = -(std::int64_t{1} << grid_);
        }
        descend_jointly(number, on_z, on_d);
        std::vector<Int128> totals, errors(on_z.count);
        add_first(first_, on_z, totals, errors);
        add_first(first_change_, on_d, totals, errors);
        const std::vector<Int128> found = maxima(on_z.constants, totals, errors);
        for (std::size_t k = 0; k < open.size(); ++k) {
            Interval& d = pairs[open[k]].d;
            d.high = std::min(d.high, checked(ceiled(found[k], grid_)));
            d.low = std::max(d.low, -checked(ceiled(found[open.size() + k], grid_)));
        }
    }
    for (PairEnds& x : pairs) {
        x.d.low = std::max(x.d.low, checked(static_cast<Int128>(x.y.low) - x.z.high));
        x.d.high = std::min(x.d.high, checked(static_cast<Int128>(x.y.high) - x.z.low));
        x.y.low = std::max(x.y.low, checked(static_cast<Int128>(x.z.low) + x.d.low));
        x.y.high = std::min(x.y.high, checked(static_cast<Int128>(x.z.high) + x.d.high));
        if (x.d.low > x.d.high || x.y.low > x.y.high) return false;
    }
    return true;
}

/// Add columns of a matrix, times weights of its rows, to sums.
void GridRule::add_transposed(const GridMatrix& matrix, const Functionals& from,
                              const std::vector<std::size_t>& used,
                              const std::vector<std::size_t>& columns,
                              std::vector<Int128>& sums) {
    constexpr std::size_t kBlock = 4;
    const std::size_t count = from.count;
    for (const std::size_t j : columns) {
        const std::int64_t* entries = matrix.column(j);
        Int128* to = sums.data() + j * count;
        std::size_t f = 0;
        for (; f + kBlock <= count; f += kBlock)
            add_products<kBlock>(entries, used, from.weights.data() + f, count, to + f);
        for (; f < count; ++f)
            add_products<1>(entries, used, from.weights.data() + f, count, to + f);
    }
}

/// The neurons below a layer whose weights matter: of f those that may be on, and of the differences
/// those of pairs that are not off together.
std::vector<std::size_t> GridRule::used_below(std::size_t number, bool is_other) const {
    const auto is_off = [](const Interval& x) { return sign_of_interval(x.low, x.high) < 0; };
    const std::vector<Interval>&ours = ends_[0][number - 1], &others = ends_[is_other][number - 1];
    const std::vector<std::int32_t>& partners = layers_[number - 1].partners;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < others.size(); ++i) {
        // A missing partner is 0, and a neuron of g that is off has no difference from it.
        const bool is_partner_off =
            !is_other || partners[i] < 0 || is_off(ours[static_cast<std::size_t>(partners[i])]);
        if (!is_off(others[i]) || !is_partner_off) found.push_back(i);
    }
    return found;
}

/// Replace weights of preactivations of f and of differences by those of the first layer.
///
/// The constants of `on_z` are those of both.
void GridRule::descend_jointly(std::size_t number, Functionals& on_z, Functionals& on_d) const {
    const std::size_t count = on_z.count;
    for (std::size_t above = number; above > 0; --above) {
        const RuleLayer& layer = layers_[above];
        const std::size_t width = layer.own.width, others = layer.by_differences.width;
        double biases = 0;
        for (const auto* listed : {&layer.bias, &layer.shift})
            for (const std::int64_t entry : *listed) biases += std::abs(static_cast<double>(entry));
        const double size = layer.own.column_norm + layer.by_values.column_norm +
                            layer.by_differences.column_norm + biases;
        check_sum(size * (1 + std::max(on_z.largest(), on_d.largest())));
        std::vector<Int128> sums(width * count), changes(others * count), bias(count);
        std::vector<Int128> positive(count), total(count);
        const std::vector<std::size_t> ours = on_z.used(), others_used = on_d.used();
        const std::vector<std::size_t> columns = used_below(above, false);
        const std::vector<std::size_t> pairs = used_below(above, true);
        add_transposed(layer.own, on_z, ours, columns, sums);
        add_transposed(layer.by_values, on_d, others_used, columns, sums);
        add_transposed(layer.by_differences, on_d, others_used, pairs, changes);
        for (const std::size_t i : ours)
            for (std::size_t f = 0; f < count; ++f) {
                const std::int64_t weight = on_z.weights[i * count + f];
                bias[f] += times(weight, layer.bias[i]);
                positive[f] += std::max<std::int64_t>(weight, 0);
            }
        for (const std::size_t m : others_used)
            for (std::size_t f = 0; f < count; ++f) {
                const std::int64_t weight = on_d.weights[m * count + f];
                bias[f] += times(weight, layer.shift[m]);
                positive[f] += std::max<std::int64_t>(weight, 0);
                total[f] += size_of(weight);
            }
        for (std::size_t f = 0; f < count; ++f) {
            positive[f] = ceiled(positive[f], grid_);
            const Int128 rest = 1 + ceiled(total[f], grid_);
            check_sum(static_cast<double>(rest) * static_cast<double>(change_sizes_[above - 1]));
            on_z.constants[f] += ceiled(bias[f], grid_) + positive[f] +
                                 ceiled(rest * change_sizes_[above - 1], grid_);
        }
        on_z.weights.assign(width * count, 0);
        on_d.weights.assign(others * count, 0);
        for (const std::size_t j : columns)
            for (std::size_t f = 0; f < count; ++f)
                on_z.weights[j * count + f] =
                    checked(ceiled(sums[j * count + f], grid_) + positive[f]);
        for (const std::size_t m : pairs)
            for (std::size_t f = 0; f < count; ++f)
                on_d.weights[m * count + f] = checked(ceiled(changes[m * count + f], grid_));
        relax(ends_[0][above - 1], on_z);
        relax_pairs(above - 1, on_z, on_d);
    }
}

/// Replace weights of differences of activations by weights of preactivations and of differences.
void GridRule::relax_pairs(std::size_t number, Functionals& on_z, Functionals& on_d) const {
    const std::size_t count = on_d.count;
    const std::vector<Pair>& pairs = pairs_[number];
    std::vector<Int128> totals(count);
    std::vector<double> sizes(count);
    for (std::size_t m = 0; m < pairs.size(); ++m) {
        const std::int32_t partner = layers_[number].partners[m];
        std::int64_t* weights = on_d.weights.data() + m * count;
        for (std::size_t f = 0; f < count; ++f) {
            const std::int64_t own = weights[f];
            if (own == 0) continue;
            const Line& line = own > 0 ? pairs[m].above : pairs[m].below;
            sizes[f] += std::abs(static_cast<double>(own)) * std::abs(static_cast<double>(line.r));
            check_sum(sizes[f]);
            totals[f] += ceiled(own * line.r, kSlopeBits) + pairs[m].spare;
            weights[f] = checked(times(own, line.q) >> kSlopeBits);
            if (partner < 0) continue;
            std::int64_t& on_partner =
                on_z.weights[static_cast<std::size_t>(partner) * count + f];
            on_partner = checked(static_cast<Int128>(on_partner) +
                                 (times(own, line.p) >> kSlopeBits));
        }
    }
    for (std::size_t f = 0; f < count; ++f) on_z.constants[f] += ceiled(totals[f], grid_);
}

}  // namespace polyrelu
