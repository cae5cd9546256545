#include "sign_programs.hpp"

#include <algorithm>
#include <cmath>

#include "floats.hpp"

namespace polyrelu {
namespace {

/// A reduced cost below this number improves a solution.
constexpr double kImproves = -1e-10;
/// The least reduced cost of the rows that are not basic, where the optimum counts as the only one.
constexpr double kMargin = 1e-8;
/// The least multiplier of a solution that counts.
constexpr double kLeastMultiplier = 1e-6;
/// Multipliers up to this number may be 0.
constexpr double kNothing = 1e-9;
/// The least entry on which a pivot is made.
constexpr double kLeastPivot = 1e-7;
/// The number of pivots after which a program is given up.
constexpr int kMostPivots = 500;

POLYRELU_FOR_ALL_PROCESSORS
void add_multiple(double factor, const double* from, double* to, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) to[j] += factor * from[j];
}

}  // namespace

SignPrograms::SignPrograms(std::span<const double> rows, std::size_t num_rows,
                           std::span<const double> small)
    : num_rows_(num_rows), is_alone_(num_rows, 0), small_(small.begin(), small.end()) {
    const std::size_t d = rows.size() / num_rows;
    std::vector<std::uint8_t> is_dropped(d, 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t c = 0; c < d; ++c) {
            if (is_dropped[c]) continue;
            std::size_t count = 0, last = 0;
            for (std::size_t j = 0; j < num_rows; ++j)
                if (!is_alone_[j] && rows[j * d + c] != 0) ++count, last = j;
            if (count > 1) continue;
            if (count == 1) is_alone_[last] = 1;
            is_dropped[c] = 1;
            changed = true;
        }
    }
    for (std::size_t c = 0; c < d; ++c)
        if (!is_dropped[c])
            for (std::size_t j = 0; j < num_rows; ++j) table_.push_back(rows[j * d + c]);
    table_.insert(table_.end(), num_rows, 1.0);
    size_ = table_.size() / num_rows;
    signs_.resize(num_rows);
    basic_signs_.resize(num_rows);
    costs_.resize(num_rows);
    reduced_.resize(num_rows);
    column_.resize(size_);
    prices_.resize(size_);
    for (auto* matrix : {&matrix_, &residual_, &magnitude_}) matrix->resize(size_ * size_);
}

ProgramBasis SignPrograms::first_basis() const {
    ProgramBasis basis{{}, std::vector<std::int8_t>(size_, 1), std::vector<double>(size_ * size_)};
    for (std::size_t i = 0; i < size_; ++i) {
        basis.rows.push_back(static_cast<std::int32_t>(num_rows_ + i));
        basis.inverse[i * size_ + i] = 1;
    }
    return basis;
}

bool SignPrograms::solve(std::span<const std::int8_t> signs, std::span<const std::uint8_t> costly,
                         ProgramBasis& basis) {
    for (std::size_t j = 0; j < num_rows_; ++j) {
        signs_[j] = is_alone_[j] ? std::int8_t{0} : signs[j];
        costs_[j] = costly[j] + small_[j];
    }
    std::fill(basic_signs_.begin(), basic_signs_.end(), std::int8_t{0});
    for (std::size_t i = 0; i < size_; ++i)
        if (is_allowed(basis, i)) basic_signs_[static_cast<std::size_t>(basis.rows[i])] = basis.signs[i];
    if (!improve(Phase::kFeasible, basis) || !remove_forbidden(basis)) return false;
    if (!improve(Phase::kCheapest, basis)) return false;
    for (std::size_t j = 0; j < num_rows_; ++j)
        if (signs_[j] && !basic_signs_[j] && !(reduced_[j] > kMargin)) return false;
    if (is_proved(basis)) return true;
    return invert_again(basis) && is_proved(basis);
}

/// Whether the program has the row at a place of the basis, with the sign that it has there.
bool SignPrograms::is_allowed(const ProgramBasis& basis, std::size_t place) const {
    const auto row = static_cast<std::size_t>(basis.rows[place]);
    return row < num_rows_ && signs_[row] == basis.signs[place];
}

/// Pivot until no row improves: first the sum of forbidden multipliers, then the costs.
bool SignPrograms::improve(Phase phase, ProgramBasis& basis) {
    for (int step = 0; step < kMostPivots; ++step) {
        if (phase == Phase::kFeasible) {
            double forbidden = 0;
            for (std::size_t i = 0; i < size_; ++i)
                if (!is_allowed(basis, i)) forbidden += basis.inverse[i * size_ + size_ - 1];
            if (forbidden < kNothing) return true;
        }
        std::size_t best = num_rows_;
        double least = price(phase, basis);
        if (!(least < kImproves)) return phase == Phase::kCheapest;
        least = kImproves;
        for (std::size_t j = 0; j < num_rows_; ++j)
            if (signs_[j] && !basic_signs_[j] && reduced_[j] < least) least = reduced_[j], best = j;
        if (best == num_rows_ || !leave_by(best, basis)) return false;
    }
    return false;
}

/// Compute the reduced costs of all rows; return the least one of rows that may enter.
double SignPrograms::price(Phase phase, const ProgramBasis& basis) {
    std::fill(prices_.begin(), prices_.end(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
        const bool allowed = is_allowed(basis, i);
        const double cost = phase == Phase::kFeasible ? (allowed ? 0.0 : 1.0)
                            : allowed ? costs_[static_cast<std::size_t>(basis.rows[i])]
                                      : 0.0;
        if (cost != 0) add_multiple(cost, &basis.inverse[i * size_], prices_.data(), size_);
    }
    std::fill(reduced_.begin(), reduced_.end(), 0.0);
    for (std::size_t c = 0; c + 1 < size_; ++c)
        add_multiple(prices_[c], &table_[c * num_rows_], reduced_.data(), num_rows_);
    const double last = prices_[size_ - 1];
    double least = 0;
    for (std::size_t j = 0; j < num_rows_; ++j) {
        const double cost = phase == Phase::kFeasible ? 0.0 : costs_[j];
        reduced_[j] = cost - signs_[j] * reduced_[j] - last;
        if (signs_[j] && !basic_signs_[j]) least = std::min(least, reduced_[j]);
    }
    return least;
}

/// Let a row enter the basis, and the one leave that becomes 0 first.
bool SignPrograms::leave_by(std::size_t entering, ProgramBasis& basis) {
    transform(entering, basis);
    std::size_t place = size_;
    double least = kInfinity;
    for (std::size_t i = 0; i < size_; ++i) {
        if (!(column_[i] > kLeastPivot)) continue;
        const double step = std::max(basis.inverse[i * size_ + size_ - 1], 0.0) / column_[i];
        const bool is_tie = place < size_ && step <= least + 1e-15;
        if (step < least - 1e-15 || (is_tie && column_[i] > column_[place])) {
            least = std::min(least, step);
            place = i;
        }
    }
    if (place == size_) return false;
    pivot(place, entering, basis);
    return true;
}

/// Write the column of a row in terms of the basis.
void SignPrograms::transform(std::size_t row, const ProgramBasis& basis) {
    for (std::size_t i = 0; i < size_; ++i) {
        const double* of_place = &basis.inverse[i * size_];
        double sum = 0;
        for (std::size_t c = 0; c + 1 < size_; ++c) sum += of_place[c] * table_[c * num_rows_ + row];
        column_[i] = signs_[row] * sum + of_place[size_ - 1];
    }
}

/// Exchange a row of the basis for the one whose column is transformed.
void SignPrograms::pivot(std::size_t place, std::size_t entering, ProgramBasis& basis) {
    if (is_allowed(basis, place)) basic_signs_[static_cast<std::size_t>(basis.rows[place])] = 0;
    double* of_place = &basis.inverse[place * size_];
    const double factor = 1 / column_[place];
    for (std::size_t c = 0; c < size_; ++c) of_place[c] *= factor;
    for (std::size_t i = 0; i < size_; ++i)
        if (i != place && column_[i] != 0)
            add_multiple(-column_[i], of_place, &basis.inverse[i * size_], size_);
    basis.rows[place] = static_cast<std::int32_t>(entering);
    basis.signs[place] = signs_[entering];
    basic_signs_[entering] = signs_[entering];
}

/// Exchange forbidden rows, whose multipliers are 0 now, for others.
bool SignPrograms::remove_forbidden(ProgramBasis& basis) {
    for (std::size_t i = 0; i < size_; ++i) {
        if (is_allowed(basis, i)) continue;
        const double* of_place = &basis.inverse[i * size_];
        std::fill(reduced_.begin(), reduced_.end(), 0.0);
        for (std::size_t c = 0; c + 1 < size_; ++c)
            add_multiple(of_place[c], &table_[c * num_rows_], reduced_.data(), num_rows_);
        std::size_t best = num_rows_;
        double largest = kLeastPivot;
        for (std::size_t j = 0; j < num_rows_; ++j) {
            const double entry = std::fabs(signs_[j] * reduced_[j] + of_place[size_ - 1]);
            if (signs_[j] && !basic_signs_[j] && entry > largest) largest = entry, best = j;
        }
        if (best == num_rows_) return false;
        transform(best, basis);
        pivot(i, best, basis);
    }
    return true;
}

/// Write the column of a row with a sign, or of the identity.
void SignPrograms::column_of(std::size_t row, std::int8_t sign, double* column) const {
    for (std::size_t c = 0; c < size_; ++c) {
        if (row >= num_rows_)
            column[c] = row - num_rows_ == c;
        else
            column[c] = c + 1 < size_ ? sign * table_[c * num_rows_ + row] : 1.0;
    }
}

/// Whether the multipliers of the basis are positive, whatever the rounding.
///
/// Let B be the matrix of the basis and C its approximate inverse. With δ ≥ ‖1 - C B‖ < 1 in the norm
/// of largest sums of rows, B is invertible, and the multipliers B⁻¹ e differ from C e by at most
/// δ/(1 - δ) times the largest entry of C e.
bool SignPrograms::is_proved(const ProgramBasis& basis) {
    std::vector<double> column(size_);
    for (std::size_t j = 0; j < size_; ++j) {
        column_of(static_cast<std::size_t>(basis.rows[j]), basis.signs[j], column.data());
        for (std::size_t c = 0; c < size_; ++c) matrix_[c * size_ + j] = column[c];
    }
    std::fill(residual_.begin(), residual_.end(), 0.0);
    std::fill(magnitude_.begin(), magnitude_.end(), 0.0);
    double delta = 0, least = kInfinity, largest = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        double *left = &residual_[i * size_], *sizes = &magnitude_[i * size_];
        left[i] = -1;
        sizes[i] = 1;
        for (std::size_t c = 0; c < size_; ++c) {
            const double factor = basis.inverse[i * size_ + c];
            const double* of_row = &matrix_[c * size_];
            for (std::size_t j = 0; j < size_; ++j) {
                left[j] += factor * of_row[j];
                sizes[j] += std::fabs(factor * of_row[j]);
            }
        }
        double sum = 0, total = 0;
        for (std::size_t j = 0; j < size_; ++j) sum += std::fabs(left[j]), total += sizes[j];
        // Up to d + 3 roundings of a sum, and errors of 2^-52 of its entries; twice that covers the
        // roundings of the bound itself.
        const double bound = 2 * (sum + static_cast<double>(2 * size_ + 8) * kUnit * total + kTiny);
        delta = larger(delta, bound);
        const double multiplier = basis.inverse[i * size_ + size_ - 1];
        least = std::min(least, multiplier);
        largest = larger(largest, std::fabs(multiplier));
        if (!(multiplier >= kLeastMultiplier) || !is_allowed(basis, i)) return false;
    }
    return delta < 0.25 && least > 4 * delta * largest;
}

/// Compute the inverse afresh; return whether it is good enough to go on.
bool SignPrograms::invert_again(ProgramBasis& basis) {
    std::vector<double> column(size_);
    std::vector<double>& inverse = basis.inverse;
    for (std::size_t j = 0; j < size_; ++j) {
        column_of(static_cast<std::size_t>(basis.rows[j]), basis.signs[j], column.data());
        for (std::size_t c = 0; c < size_; ++c) {
            matrix_[c * size_ + j] = column[c];
            inverse[c * size_ + j] = c == j;
        }
    }
    for (std::size_t k = 0; k < size_; ++k) {
        std::size_t place = k;
        for (std::size_t i = k + 1; i < size_; ++i)
            if (std::fabs(matrix_[i * size_ + k]) > std::fabs(matrix_[place * size_ + k])) place = i;
        const double entry = matrix_[place * size_ + k];
        if (!(std::fabs(entry) > kLeastPivot)) return false;
        for (auto* of : {&matrix_, &inverse}) {
            double *one = &(*of)[k * size_], *two = &(*of)[place * size_];
            if (place != k) std::swap_ranges(one, one + size_, two);
            for (std::size_t c = 0; c < size_; ++c) one[c] /= entry;
        }
        for (std::size_t i = 0; i < size_; ++i) {
            const double factor = matrix_[i * size_ + k];
            if (i == k || factor == 0) continue;
            add_multiple(-factor, &matrix_[k * size_], &matrix_[i * size_], size_);
            add_multiple(-factor, &inverse[k * size_], &inverse[i * size_], size_);
        }
    }
    return true;
}

}  // namespace polyrelu
