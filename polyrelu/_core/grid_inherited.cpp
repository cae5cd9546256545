// Leaves `inherited` of the rule in `grid_rule.hpp`: the intervals of a box around the present one
// hold there too, and only open neurons are bounded again. There are forms of the first layer only.
// The steps are the ones of FORMAT.md, section 5.8, "Inherited intervals".
#include <algorithm>
#include <utility>

#include "grid_numbers.hpp"
#include "grid_rule.hpp"

namespace polyrelu {

std::size_t GridRule::num_ends() const {
    std::size_t found = 0;
    for (const RuleLayer& layer : layers_)
        if (layer.is_hidden) found += 2 * layer.own.height + 4 * layer.partners.size();
    return found;
}

RuleState GridRule::bound_inherited(const std::int64_t* centers, const std::int64_t* radii,
                                    const std::int8_t* signs, const std::int64_t* known,
                                    const std::uint8_t* wanted, std::int64_t* ends,
                                    RuleBounds& found) {
    signs_ = signs;
    chosen_.clear();
    for (std::size_t k = 0; k < rows_.count; ++k)
        if (wanted[k]) chosen_.push_back(k);
    is_backward_ = true;
    is_joint_ = !is_single_;
    try {
        start_inherited(centers, radii);
        for (std::size_t number = 0; number < layers_.size(); ++number) {
            const RuleLayer& layer = layers_[number];
            if (!layer.is_hidden) break;
            if (!inherit(number, known, ends)) return RuleState::empty;
            const std::size_t own = 2 * layer.own.height, others = 4 * layer.partners.size();
            if (known != nullptr) known += own + others;
            ends += own + others;
        }
        bound_rows_backward(found);
        if (is_joint_) bound_rows_jointly(found);
    } catch (const TooLong&) {
        return RuleState::too_long;
    }
    return RuleState::bounded;
}

/// Find the forms of the first layer.
void GridRule::start_inherited(const std::int64_t* centers, const std::int64_t* radii) {
    start(centers, radii);
    const RuleLayer& layer = layers_[0];
    Forms z, d;
    preactivations({{&layer.own, &inputs_}}, layer.bias, layer.is_bias_exact, z);
    if (!is_single_)
        preactivations({{&layer.by_values, &inputs_}}, layer.shift, layer.is_shift_exact, d);
    note_first(z, d);
}

namespace {

/// Intervals that say nothing: all numbers of the rule lie inside of them.
template <class Interval>
std::vector<Interval> unknown(std::size_t count) {
    const auto most = static_cast<std::int64_t>(kLargest);
    return std::vector<Interval>(count, Interval{-most, most});
}

/// Cut intervals by known ones, of which all lower ends stand before the upper ends.
template <class Interval>
void intersect(std::vector<Interval>& ends, const std::int64_t* known) {
    const std::size_t count = ends.size();
    for (std::size_t i = 0; i < count; ++i) {
        ends[i].low = std::max(ends[i].low, known[i]);
        ends[i].high = std::min(ends[i].high, known[count + i]);
    }
}

template <class Interval>
bool is_possible(const std::vector<Interval>& ends) {
    return std::all_of(ends.begin(), ends.end(),
                       [](const Interval& x) { return x.low <= x.high; });
}

}  // namespace

/// Find the intervals of a layer of both networks, given those that are known there, null for none;
/// return false if no point of the box has the signs.
bool GridRule::inherit(std::size_t number, const std::int64_t* known, std::int64_t* ends) {
    const std::size_t width = layers_[number].own.height;
    std::vector<Interval> ours = number == 0 ? ranges_of(first_) : unknown<Interval>(width);
    if (known != nullptr) intersect(ours, known);
    const bool is_known = number == 0 || known != nullptr;
    if (is_known && !cut_by_signs(number, false, ours)) return false;
    if (!is_possible(ours) || !narrow(number, false, ours)) return false;
    if (!cut_by_signs(number, false, ours)) return false;
    std::int64_t* next = write(ours, ends);
    ends_[0].push_back(std::move(ours));
    if (is_single_) return true;
    return inherit_pairs(number, known == nullptr ? nullptr : known + 2 * width, next);
}

/// Find the intervals of the neurons of g and of the differences in a layer, as `inherit` does.
bool GridRule::inherit_pairs(std::size_t number, const std::int64_t* known, std::int64_t* ends) {
    const RuleLayer& layer = layers_[number];
    const std::size_t height = layer.partners.size();
    const bool is_known = number == 0 || known != nullptr;
    std::vector<Interval> others = number == 0 ? ranges_of(other_first_) : unknown<Interval>(height);
    std::vector<Interval> changes =
        number == 0 ? ranges_of(first_change_) : unknown<Interval>(height);
    if (known != nullptr) {
        intersect(others, known);
        intersect(changes, known + 2 * height);
    }
    std::vector<PairEnds> pairs(height);
    for (std::size_t m = 0; m < height; ++m)
        if (layer.partners[m] >= 0)
            pairs[m].z = ends_[0].back()[static_cast<std::size_t>(layer.partners[m])];
    if (is_known) {
        if (!cut_by_signs(number, true, others)) return false;
        for (std::size_t m = 0; m < height; ++m) {
            const Interval& z = pairs[m].z;
            others[m].low = std::max(others[m].low, checked(Int128{z.low} + changes[m].low));
            others[m].high = std::min(others[m].high, checked(Int128{z.high} + changes[m].high));
        }
        if (!is_possible(others)) return false;
    }
    if (!narrow(number, true, others) || !cut_by_signs(number, true, others)) return false;
    for (std::size_t m = 0; m < height; ++m) {
        pairs[m].y = others[m];
        pairs[m].d = changes[m];
    }
    if (!narrow_changes(number, pairs, is_known)) return false;
    for (std::size_t m = 0; m < height; ++m) {
        others[m] = pairs[m].y;
        changes[m] = pairs[m].d;
    }
    write(changes, write(others, ends));
    ends_[1].push_back(std::move(others));
    add_lines(pairs);
    return true;
}

/// Write lower ends, then upper ends; return the place after them.
std::int64_t* GridRule::write(const std::vector<Interval>& from, std::int64_t* to) {
    for (const Interval& x : from) *to++ = x.low;
    for (const Interval& x : from) *to++ = x.high;
    return to;
}

}  // namespace polyrelu
