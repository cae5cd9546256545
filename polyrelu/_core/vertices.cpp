#include "vertices.hpp"

#include <algorithm>
#include <cmath>

#include "floats.hpp"

namespace polyrelu {
namespace {

/// Radii with a number δ beyond this limit are infinite (section 4).
constexpr double kLargestDefect = 0.5;
/// The largest finite radius is max|ŷ| divided by this number and by d + 1.
constexpr double kRadiusShare = 4;

/// A matrix of (d + 1) × (d + 1) floats with rows of a fixed length.
template <int Size>
using Matrix = double[Size][Size];

/// The linear system of section 4: the matrix M = [J; e_p], and Q, nearly its inverse.
template <int Size>
struct System {
    Matrix<Size> matrix;
    Matrix<Size> inverse;
    double error = 0;
};

/// Write Q by elimination with pivots of largest size; it is no number where M is singular.
template <int Size>
void invert(System<Size>& system, int width) {
    Matrix<Size> work;
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) {
            work[i][j] = system.matrix[i][j];
            system.inverse[i][j] = i == j;
        }
    for (int step = 0; step < width; ++step) {
        int pivot = step;
        for (int i = step + 1; i < width; ++i)
            if (std::fabs(work[i][step]) > std::fabs(work[pivot][step])) pivot = i;
        const double scale = work[pivot][step] == 0 ? kNotANumber : 1 / work[pivot][step];
        for (int j = 0; j < width; ++j) {
            std::swap(work[pivot][j], work[step][j]);
            std::swap(system.inverse[pivot][j], system.inverse[step][j]);
            work[step][j] *= scale;
            system.inverse[step][j] *= scale;
        }
        for (int i = 0; i < width; ++i) {
            if (i == step) continue;
            const double factor = work[i][step];
            for (int j = 0; j < width; ++j) {
                work[i][j] -= factor * work[step][j];
                system.inverse[i][j] -= factor * system.inverse[step][j];
            }
        }
    }
}

/// Fill J with the rows divided by powers of two, so that their largest entries are in [1/2, 1].
template <int Size>
void scale_rows(System<Size>& system, const VertexProblem& problem, int width) {
    for (int i = 0; i + 1 < width; ++i) {
        double largest = 0;
        for (int j = 0; j < width; ++j) largest = larger(largest, std::fabs(problem.rows[i][j]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        const double scale = std::ldexp(1.0, -exponent);
        for (int j = 0; j < width; ++j) system.matrix[i][j] = problem.rows[i][j] * scale;
        system.error = larger(system.error, problem.errors[i] * scale);
    }
}

/// Return ‖fl(I - Q M)‖∞ and ‖Q‖∞ in `norm`.
template <int Size>
double defect_of(const System<Size>& system, int width, double& norm) {
    double defect = 0;
    norm = 0;
    for (int i = 0; i < width; ++i) {
        double difference = 0, magnitude = 0;
        for (int j = 0; j < width; ++j) {
            double entry = i == j ? -1 : 0;
            for (int k = 0; k < width; ++k) entry += system.inverse[i][k] * system.matrix[k][j];
            difference += std::fabs(entry);
            magnitude += std::fabs(system.inverse[i][j]);
        }
        defect = larger(defect, difference);
        norm = larger(norm, magnitude);
    }
    return defect;
}

}  // namespace

double Vertices::solve(const VertexProblem& problem, double* point) const {
    switch (dimension_) {
        case 1: return solve_in<1>(problem, point);
        case 2: return solve_in<2>(problem, point);
        case 3: return solve_in<3>(problem, point);
        case 4: return solve_in<4>(problem, point);
        case 5: return solve_in<5>(problem, point);
        case 6: return solve_in<6>(problem, point);
        default: return solve_in<0>(problem, point);
    }
}

/// `Dimension` is d, or 0 for a d that is not known to the compiler.
template <int Dimension>
double Vertices::solve_in(const VertexProblem& problem, double* point) const {
    constexpr int size = (Dimension ? Dimension : kLargestDimension) + 1;
    const int width = Dimension ? Dimension + 1 : dimension_ + 1;
    const int d = width - 1;
    int fixed = d;  // the coordinate p, which the Newton step does not change
    if (problem.base_signs[0] <= 0) {
        fixed = 0;
        for (int j = 1; j < width; ++j)
            if (std::fabs(point[j]) > std::fabs(point[fixed])) fixed = j;
    }
    const double share = 1 / std::fabs(point[fixed]);
    for (int j = 0; j < width; ++j) point[j] *= share;
    point[fixed] = problem.base_signs[0] > 0 || point[fixed] > 0 ? 1 : -1;

    System<size> system;
    scale_rows<size>(system, problem, width);
    for (int j = 0; j < width; ++j) system.matrix[d][j] = j == fixed;
    invert<size>(system, width);
    double residual[size];
    const auto set_residual = [&] {
        for (int i = 0; i < d; ++i) {
            residual[i] = 0;
            for (int j = 0; j < width; ++j) residual[i] += system.matrix[i][j] * point[j];
        }
    };
    set_residual();
    for (int j = 0; j < width; ++j)
        if (j != fixed)
            for (int i = 0; i < d; ++i) point[j] -= system.inverse[j][i] * residual[i];
    set_residual();

    double largest = 0, sum = 0, norm, radius = 0;
    for (int j = 0; j < width; ++j) {
        largest = larger(largest, std::fabs(point[j]));
        sum += std::fabs(point[j]);
    }
    for (int i = 0; i < d; ++i)
        residual[i] = std::fabs(residual[i]) + ((d + 4) * kUnit + system.error) * sum;
    double defect = defect_of<size>(system, width, norm);
    defect += width * norm * (2 * (d + 4) * kUnit + system.error);
    for (int j = 0; j < width; ++j) {
        double entry = 0;
        for (int i = 0; i < d; ++i) entry += std::fabs(system.inverse[j][i]) * residual[i];
        radius = larger(radius, entry);
    }
    if (!(defect * kSlack < kLargestDefect)) return kInfinity;
    radius *= kSlack / (1 - defect * kSlack);
    if (!(radius <= largest / (kRadiusShare * width))) return kInfinity;
    if (problem.base_signs[0] <= 0 && !is_certainly_oriented(point, radius, problem.base_signs))
        return kInfinity;
    return radius;
}

/// Whether floats prove that one of the base signs holds at the point (section 6).
bool Vertices::is_certainly_oriented(const double* point, double radius,
                                     const std::int8_t* signs) const {
    double largest = 0;
    for (std::size_t j = 0; j < width(); ++j) largest = larger(largest, std::fabs(point[j]));
    const double size = static_cast<double>(width());
    const double bound = size * (radius + (size + 4) * kUnit * largest) * kSlack;
    for (std::size_t i = 0; i < width(); ++i) {
        double value = 0;
        for (std::size_t j = 0; j < width(); ++j) value += base_rows_[i * width() + j] * point[j];
        if (sign_of_value(value, bound) == signs[i]) return true;
    }
    return false;
}

Uncertainty Vertices::uncertainty(std::size_t vertex) const {
    const double* point = at(vertex);
    double largest = 0, sum = 0;
    for (std::size_t j = 0; j < width(); ++j) {
        largest = larger(largest, std::fabs(point[j]));
        sum += std::fabs(point[j]);
    }
    const double factor = static_cast<double>(width() + 2) * kUnit;
    return {(radii[vertex] + factor * largest) * kSlack, 2 * kSlack * sum};
}

int Vertices::certain_sign(const double* row, double error, std::size_t vertex) const {
    const double* point = at(vertex);
    double value = 0, norm = 0;
    for (std::size_t j = 0; j < width(); ++j) {
        value += row[j] * point[j];
        norm += std::fabs(row[j]);
    }
    if (norm == 0 && error == 0) return 0;
    const Uncertainty factors = uncertainty(vertex);
    return sign_of_value(value, norm * factors.spread + error * factors.sums);
}

Vertices Vertices::restricted(const Array<std::uint8_t>& marked) const {
    Vertices part(dimension_, base_rows_);
    for (std::size_t vertex = 0; vertex < size(); ++vertex) {
        if (!marked[vertex]) continue;
        part.radii.push_back(radii[vertex]);
        const double* point = at(vertex);
        const std::int8_t* signs = base_signs_at(vertex);
        part.coordinates.append(point, point + width());
        part.base_signs.append(signs, signs + width());
    }
    return part;
}

}  // namespace polyrelu
