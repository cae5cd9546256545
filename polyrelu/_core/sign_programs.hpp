// Linear programs about signs of rows, and dependences that are proved in floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polyrelu {

/// A basis of a program: rows with the signs that they had, and the inverse of the matrix of them.
struct ProgramBasis {
    /// Numbers of rows; from the number of all rows on, columns of the identity.
    std::vector<std::int32_t> rows;
    std::vector<std::int8_t> signs;
    /// The inverse, row by row.
    std::vector<double> inverse;
};

/// The programs min Σ c_j λ_j with Σ λ_j s_j r_j = 0, Σ λ_j = 1, λ ≥ 0 for rows r_j and signs s_j.
///
/// One program after the other starts at a basis of an earlier one. What is found counts only if it
/// is the one optimum by a margin, so that any other solver finds the same rows, and if a bound on
/// all rounding errors proves that its multipliers are positive.
class SignPrograms {
public:
    /// `rows` has the shape (k, d). Each row is a positive multiple of the one that is meant, with
    /// relative errors of at most 2^-52 in its entries; they are 0, or between 1e-11 and 1 in size.
    SignPrograms(std::span<const double> rows, std::size_t num_rows, std::span<const double> small);

    /// A basis of columns of the identity, from which every program can start.
    ProgramBasis first_basis() const;

    /// Solve a program from a basis on. True: the rows of the basis have a dependence with positive
    /// multipliers, and no other one up to a factor. False: it is not known.
    bool solve(std::span<const std::int8_t> signs, std::span<const std::uint8_t> costly,
               ProgramBasis& basis);

private:
    enum class Phase { kFeasible, kCheapest };

    bool is_allowed(const ProgramBasis& basis, std::size_t place) const;
    bool improve(Phase phase, ProgramBasis& basis);
    double price(Phase phase, const ProgramBasis& basis);
    bool leave_by(std::size_t entering, ProgramBasis& basis);
    void pivot(std::size_t place, std::size_t entering, ProgramBasis& basis);
    void column_of(std::size_t row, std::int8_t sign, double* column) const;
    void transform(std::size_t row, const ProgramBasis& basis);
    bool remove_forbidden(ProgramBasis& basis);
    bool is_proved(const ProgramBasis& basis);
    bool invert_again(ProgramBasis& basis);

    std::size_t num_rows_, size_ = 0;
    /// The entries of all rows, coordinate by coordinate, shape (d, k), then a row of ones.
    std::vector<double> table_;
    /// Rows that are in no dependence, since a coordinate is 0 in all other rows.
    std::vector<std::uint8_t> is_alone_;
    std::vector<double> small_;
    /// The program that is being solved.
    std::vector<std::int8_t> signs_;
    std::vector<double> costs_;
    /// Reduced costs of all rows, the transformed entering column, and room for matrices.
    std::vector<double> reduced_, column_, prices_, matrix_, residual_, magnitude_;
    std::vector<std::int8_t> basic_signs_;
};

}  // namespace polyrelu
