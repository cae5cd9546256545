// The vertices in floats, with radii that bound their errors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arrays.hpp"

namespace polyrelu {

/// Largest number of coordinates d; the first cells of more dimensions are refused anyway.
inline constexpr int kLargestDimension = 24;

/// A vertex that is to be computed from the d forms on which it lies.
struct VertexProblem {
    /// The float rows of the forms, d + 1 entries each.
    const double* rows[kLargestDimension];
    /// The errors E of the rows.
    double errors[kLargestDimension];
    /// The signs of t and of the base forms at the vertex.
    const std::int8_t* base_signs;
};

/// Factors of |F|₁ and of E in the error bound of the value of a form at a vertex (section 5).
struct Uncertainty {
    double spread;
    double sums;
};

/// All vertices of a lattice: rows (y, t) with t = 1 at points and t = 0 at directions.
class Vertices {
public:
    explicit Vertices(int dimension, Array<double> base_rows)
        : dimension_(dimension), base_rows_(std::move(base_rows)) {}

    int dimension() const { return dimension_; }
    std::size_t width() const { return static_cast<std::size_t>(dimension_) + 1; }
    std::size_t size() const { return radii.size(); }
    const double* at(std::size_t vertex) const { return &coordinates[vertex * width()]; }
    const std::int8_t* base_signs_at(std::size_t vertex) const {
        return &base_signs[vertex * width()];
    }

    /// Replace a guess by a better approximation of the vertex, and return its radius (section 4).
    double solve(const VertexProblem& problem, double* point) const;

    /// Write a guess of a vertex of the first cells, with the given signs of t and of the base
    /// forms: the apex, where all base forms are 0, or a direction where all but one are 0.
    void guess_first(const VertexProblem& base, const std::int8_t* signs, double* point) const;

    Uncertainty uncertainty(std::size_t vertex) const;

    /// The sign of a form with error E at a vertex, 0 only where the form is 0 everywhere.
    int certain_sign(const double* row, double error, std::size_t vertex) const;

    /// The vertices with marks that are not 0, in their order.
    Vertices restricted(const Array<std::uint8_t>& marked) const;

    /// Float coordinates, shape (f_0, d + 1).
    Array<double> coordinates;
    /// Radii, infinite where no error bound is known.
    Array<double> radii;
    /// The signs of t and of the base forms, shape (f_0, d + 1).
    Array<std::int8_t> base_signs;

private:
    template <int Dimension>
    double solve_in(const VertexProblem& problem, double* point) const;
    bool is_certainly_oriented(const double* point, double radius,
                               const std::int8_t* signs) const;

    int dimension_;
    /// The base rows divided by their largest entries, shape (d + 1, d + 1).
    Array<double> base_rows_;
};

}  // namespace polyrelu
