#include "exact_order.hpp"

#include "slice_walk.hpp"

#include <algorithm>
#include <cmath>

#include "floats.hpp"

namespace polyrelu {
namespace {

/// The number of neurons that are switched before all forms are computed afresh.
constexpr std::size_t kMostFlips = 64;
/// Factor of the distance from the line of the carrier, for rounding.
constexpr double kDistanceSlack = 1 + 0x1p-10;

/// The forms of one coordinate after the other, and what evaluates them at a point.
struct Columns {
    const double *first, *second, *last;
    const double *first_errors, *second_errors, *last_errors;
};

/// The parameters of the zeros ahead of all forms on start + τ heading; infinite if there is none.
POLYRELU_IN_EXACT_ORDER
void zeros_in_plane(const Columns& forms, const std::int8_t* signs, const PlaneVector& start,
                    const PlaneVector& heading, double* zeros, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
        const double slope = heading[0] * forms.first[j] + heading[1] * forms.second[j];
        const double value = (start[0] * forms.first[j] + start[1] * forms.second[j]) + forms.last[j];
        const double zero = -value / slope;
        const bool is_ahead = slope * static_cast<double>(signs[j]) < 0;
        zeros[j] = is_ahead && std::fabs(zero) < kInfinity ? zero : kInfinity;
    }
}

POLYRELU_IN_EXACT_ORDER
void zeros_on_line(const Columns& forms, const std::int8_t* signs, double start, double* zeros,
                   std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
        const double slope = forms.first[j];
        const double value = start * slope + forms.last[j];
        const double zero = -value / slope;
        const bool is_ahead = slope * static_cast<double>(signs[j]) < 0;
        zeros[j] = is_ahead && std::fabs(zero) < kInfinity ? zero : kInfinity;
    }
}

/// The least entry of an array; infinite if it is empty.
POLYRELU_IN_EXACT_ORDER
double least_of(const double* entries, std::size_t count) {
    constexpr std::size_t kLanes = 16;
    double lanes[kLanes];
    std::fill_n(lanes, kLanes, kInfinity);
    std::size_t j = 0;
    for (; j + kLanes <= count; j += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] = entries[j + lane] < lanes[lane] ? entries[j + lane] : lanes[lane];
    for (; j < count; ++j) lanes[0] = entries[j] < lanes[0] ? entries[j] : lanes[0];
    return *std::min_element(lanes, lanes + kLanes);
}

/// A value at a point with the bound on its error, and the largest bound that leaves it a sign.
inline bool is_certain(double signed_value, double bound) {
    return signed_value > bound * kSlack + kTiny && signed_value < kInfinity;
}

/// The number of forms, not 0 on the cell, that are not certain to have their sign at a point of a
/// plane. `distance` is how far the point may be off the line, along the coordinate `moved`.
POLYRELU_IN_EXACT_ORDER
std::size_t num_open_in_plane(const Columns& forms, const double* moved, const double* moved_errors,
                              const std::int8_t* signs, const PlaneVector& q, double distance,
                              std::size_t count) {
    constexpr double at_point = 2 * (2 + 4) * kUnit;
    const double x = std::fabs(q[0]), y = std::fabs(q[1]);
    std::size_t open = 0;
    for (std::size_t j = 0; j < count; ++j) {
        const double value = (q[0] * forms.first[j] + q[1] * forms.second[j]) + forms.last[j];
        double bound = (x * (forms.first_errors[j] + at_point * std::fabs(forms.first[j])) +
                        y * (forms.second_errors[j] + at_point * std::fabs(forms.second[j]))) +
                       (forms.last_errors[j] + at_point * std::fabs(forms.last[j]));
        bound += (std::fabs(moved[j]) + moved_errors[j]) * distance;
        const bool certain = is_certain(value * static_cast<double>(signs[j]), bound);
        open += static_cast<std::size_t>(signs[j] != 0 && !certain);
    }
    return open;
}

POLYRELU_IN_EXACT_ORDER
std::size_t num_open_on_line(const Columns& forms, const std::int8_t* signs, double q,
                             std::size_t count) {
    constexpr double at_point = 2 * (1 + 4) * kUnit;
    const double x = std::fabs(q);
    std::size_t open = 0;
    for (std::size_t j = 0; j < count; ++j) {
        const double value = q * forms.first[j] + forms.last[j];
        const double bound = x * (forms.first_errors[j] + at_point * std::fabs(forms.first[j])) +
                             (forms.last_errors[j] + at_point * std::fabs(forms.last[j]));
        const bool certain = is_certain(value * static_cast<double>(signs[j]), bound);
        open += static_cast<std::size_t>(signs[j] != 0 && !certain);
    }
    return open;
}

Columns columns_of(const SliceForms& forms) {
    const std::size_t k = forms.dimension(), second = k - 1;
    return {forms.column(0),        forms.column(second),        forms.column(k),
            forms.column_errors(0), forms.column_errors(second), forms.column_errors(k)};
}

}  // namespace

SliceWalk::SliceWalk(SliceForms& forms) : forms_(forms), zeros_(forms.num_neurons()) {}

std::optional<SliceStep> SliceWalk::next(const SliceLine& line) {
    Guess guess;
    if (!aim(line, guess) || !find_zeros(line, guess)) return std::nullopt;
    const PlaneVector q = point_on_line(line, guess);
    if (!is_only_zero(line, guess, q)) return std::nullopt;
    SliceStep step{guess.first, q, {}};
    for (std::size_t c = 0; c < forms_.dimension(); ++c)
        step.near[c] = guess.start[c] + guess.zero * guess.heading[c];
    return step;
}

/// Find a point of the line and its direction ahead.
bool SliceWalk::aim(const SliceLine& line, Guess& guess) const {
    guess.start = line.position;
    if (line.carrier < 0) {
        guess.heading = {1, 0};
        return true;
    }
    const auto v = static_cast<std::size_t>(line.carrier);
    const double a = forms_.column(0)[v], b = forms_.column(1)[v], c = forms_.column(2)[v];
    const double size = std::max(std::fabs(a), std::fabs(b));
    if (!(size > 0 && size < kInfinity && std::fabs(c) < kInfinity) || std::isnan(a) ||
        std::isnan(b))
        return false;
    guess.moved = std::fabs(b) / line.scales[1] > std::fabs(a) / line.scales[0] ? 1 : 0;
    if (guess.moved == 0)
        guess.start[0] = -(b * guess.start[1] + c) / a;
    else
        guess.start[1] = -(a * guess.start[0] + c) / b;
    guess.heading = {-b / size, a / size};
    double ahead;
    if (line.back < 0) {
        ahead = guess.heading[0] * line.ray[0] + guess.heading[1] * line.ray[1];
    } else {
        const auto back = static_cast<std::size_t>(line.back);
        ahead = (guess.heading[0] * forms_.column(0)[back] +
                 guess.heading[1] * forms_.column(1)[back]) *
                static_cast<double>(forms_.signs()[back]);
    }
    if (!(ahead > 0)) guess.heading = {-guess.heading[0], -guess.heading[1]};
    return true;
}

/// Find the first zero ahead, and a parameter between it and the second one.
bool SliceWalk::find_zeros(const SliceLine& line, Guess& guess) {
    const std::size_t n = forms_.num_neurons();
    const Columns columns = columns_of(forms_);
    if (line.carrier < 0)
        zeros_on_line(columns, forms_.signs(), guess.start[0], zeros_.data(), n);
    else
        zeros_in_plane(columns, forms_.signs(), guess.start, guess.heading, zeros_.data(), n);
    if (line.back >= 0) zeros_[static_cast<std::size_t>(line.back)] = kInfinity;
    const double least = least_of(zeros_.data(), n);
    if (!(least < kInfinity)) return false;
    guess.zero = least;
    guess.first = static_cast<std::size_t>(std::find(zeros_.begin(), zeros_.end(), least) -
                                           zeros_.begin());
    zeros_[guess.first] = kInfinity;
    const double second = least_of(zeros_.data(), n);
    // Halves first: the sum of the two zeros may overflow. A second zero far away may be an error.
    guess.beyond = std::min(least / 2 + second / 2, least + std::max(std::fabs(least), 1.0));
    return true;
}

/// The point between the first two zeros, moved onto the line as far as floats allow.
PlaneVector SliceWalk::point_on_line(const SliceLine& line, const Guess& guess) const {
    PlaneVector q{};
    for (std::size_t c = 0; c < forms_.dimension(); ++c)
        q[c] = guess.start[c] + guess.beyond * guess.heading[c];
    if (line.carrier >= 0) {
        const auto v = static_cast<std::size_t>(line.carrier);
        const std::size_t kept = 1 - guess.moved;
        q[guess.moved] = -(forms_.column(kept)[v] * q[kept] + forms_.column(2)[v]) /
                         forms_.column(guess.moved)[v];
    }
    return q;
}

/// Whether the bounds prove that one neuron alone has another sign at q than on the cell.
bool SliceWalk::is_only_zero(const SliceLine& line, const Guess& guess, const PlaneVector& q) const {
    const std::size_t n = forms_.num_neurons(), j = guess.first;
    const std::int8_t* signs = forms_.signs();
    const Columns columns = columns_of(forms_);
    const double sign = -static_cast<double>(signs[j]);
    if (line.carrier < 0) {
        constexpr double at_point = 2 * (1 + 4) * kUnit;
        const double value = q[0] * columns.first[j] + columns.last[j];
        const double bound =
            std::fabs(q[0]) * (columns.first_errors[j] + at_point * std::fabs(columns.first[j])) +
            (columns.last_errors[j] + at_point * std::fabs(columns.last[j]));
        return is_certain(value * sign, bound) && num_open_on_line(columns, signs, q[0], n) == 1;
    }
    constexpr double at_point = 2 * (2 + 4) * kUnit;
    const double *moved = forms_.column(guess.moved), *errors = forms_.column_errors(guess.moved);
    const auto value_of = [&](std::size_t i) {
        return (q[0] * columns.first[i] + q[1] * columns.second[i]) + columns.last[i];
    };
    const auto bound_of = [&](std::size_t i) {
        return (std::fabs(q[0]) *
                    (columns.first_errors[i] + at_point * std::fabs(columns.first[i])) +
                std::fabs(q[1]) *
                    (columns.second_errors[i] + at_point * std::fabs(columns.second[i]))) +
               (columns.last_errors[i] + at_point * std::fabs(columns.last[i]));
    };
    const auto v = static_cast<std::size_t>(line.carrier);
    const double least_slope = std::fabs(moved[v]) - errors[v];
    if (!(least_slope > 0)) return false;
    const double distance = ((std::fabs(value_of(v)) + kSlack * bound_of(v)) + kTiny) /
                            least_slope * kDistanceSlack;
    const double bound = bound_of(j) + (std::fabs(moved[j]) + errors[j]) * distance;
    return is_certain(value_of(j) * sign, bound) &&
           num_open_in_plane(columns, moved, errors, signs, q, distance, n) == 1;
}

Leg SliceWalk::run(SliceLine& line, const LegLimits& limits) {
    const std::size_t n = forms_.num_neurons();
    Leg leg;
    std::int64_t num_different = 0;
    if (limits.first != nullptr)
        for (std::size_t j = 0; j < n; ++j) num_different += limits.first[j] != forms_.signs()[j];
    while (leg.switched.size() < limits.most) {
        if (forms_.num_flips() >= kMostFlips) forms_.refresh(0);
        std::optional<SliceStep> step = next(line);
        if (!step && forms_.num_flips() > 0) {
            forms_.refresh(0);
            step = next(line);
        }
        if (!step || (limits.watched != nullptr && limits.watched[step->place])) break;
        const std::size_t place = step->place;
        record(*step, leg);
        if (limits.first != nullptr)
            num_different += limits.first[place] * forms_.signs()[place];  // 1 if they are equal
        forms_.flip(place);
        line.back = static_cast<std::int64_t>(place);
        line.position = step->near;
        leg.is_closed = limits.first != nullptr && num_different == 0;
        if (leg.is_closed || line.back == limits.target) break;
    }
    return leg;
}

void SliceWalk::record(const SliceStep& step, Leg& leg) const {
    const auto k = static_cast<std::ptrdiff_t>(forms_.dimension());
    leg.switched.push_back(static_cast<std::int64_t>(step.place));
    leg.near.insert(leg.near.end(), step.near.begin(), step.near.begin() + k);
    leg.beyond.insert(leg.beyond.end(), step.beyond.begin(), step.beyond.begin() + k);
}

}  // namespace polyrelu
