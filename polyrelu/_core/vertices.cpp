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

/// The linear system of section 4 with the coordinate p as the last one: M = [A b; 0 1], where
/// [A b] are the rows of the d forms, and Q = [R q; 0 1] with R and q nearly A^-1 and -A^-1 b.
template <int Size>
struct System {
    double a[Size][Size];
    double b[Size];
    double r[Size][Size];
    double q[Size];
    /// The largest error of a row.
    double error = 0;
};

/// Fill A and b with the rows divided by powers of two, so that their largest entries are in
/// [1/2, 1]. `fixed` is the coordinate p.
template <int Size>
void fill(System<Size>& system, const VertexProblem& problem, int d, int fixed) {
    for (int i = 0; i < d; ++i) {
        double largest = 0;
        for (int j = 0; j <= d; ++j) largest = larger(largest, std::fabs(problem.rows[i][j]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        const double scale = std::ldexp(1.0, -exponent);
        for (int j = 0; j < d; ++j)
            system.a[i][j] = problem.rows[i][j + (j >= fixed)] * scale;
        system.b[i] = problem.rows[i][fixed] * scale;
        system.error = larger(system.error, problem.errors[i] * scale);
    }
}

/// Write R by elimination with pivots of largest size; it is no number where A is singular.
template <int Size>
void invert(System<Size>& system, int d) {
    double work[Size][Size];
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            work[i][j] = system.a[i][j];
            system.r[i][j] = i == j;
        }
    for (int step = 0; step < d; ++step) {
        int pivot = step;
        for (int i = step + 1; i < d; ++i)
            if (std::fabs(work[i][step]) > std::fabs(work[pivot][step])) pivot = i;
        const double scale = work[pivot][step] == 0 ? kNotANumber : 1 / work[pivot][step];
        for (int j = 0; j < d; ++j) {
            std::swap(work[pivot][j], work[step][j]);
            std::swap(system.r[pivot][j], system.r[step][j]);
            work[step][j] *= scale;
            system.r[step][j] *= scale;
        }
        for (int i = 0; i < d; ++i) {
            if (i == step) continue;
            const double factor = work[i][step];
            for (int j = 0; j < d; ++j) {
                work[i][j] -= factor * work[step][j];
                system.r[i][j] -= factor * system.r[step][j];
            }
        }
    }
    for (int i = 0; i < d; ++i) {
        system.q[i] = 0;
        for (int j = 0; j < d; ++j) system.q[i] -= system.r[i][j] * system.b[j];
    }
}

/// Return ‖fl(I - Q M)‖∞, and ‖Q‖∞ in `norm`.
template <int Size>
double defect_of(const System<Size>& system, int d, double& norm) {
    double defect = 0;
    norm = 1;
    for (int i = 0; i < d; ++i) {
        double difference = system.q[i], magnitude = std::fabs(system.q[i]);
        for (int k = 0; k < d; ++k) difference += system.r[i][k] * system.b[k];
        difference = std::fabs(difference);
        for (int j = 0; j < d; ++j) {
            double entry = i == j ? -1 : 0;
            for (int k = 0; k < d; ++k) entry += system.r[i][k] * system.a[k][j];
            difference += std::fabs(entry);
            magnitude += std::fabs(system.r[i][j]);
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
    constexpr int size = Dimension ? Dimension : kLargestDimension;
    const int d = Dimension ? Dimension : dimension_;
    const int width = d + 1;
    int fixed = d;  // the coordinate p, which the Newton step does not change
    if (problem.base_signs[0] <= 0) {
        fixed = 0;
        for (int j = 1; j < width; ++j)
            if (std::fabs(point[j]) > std::fabs(point[fixed])) fixed = j;
    }
    System<size> system;
    fill<size>(system, problem, d, fixed);
    invert<size>(system, d);

    const double share = 1 / std::fabs(point[fixed]);
    const double last = problem.base_signs[0] > 0 || point[fixed] > 0 ? 1 : -1;
    double others[size], residual[size];
    for (int j = 0; j < d; ++j) others[j] = point[j + (j >= fixed)] * share;
    const auto set_residual = [&] {
        for (int i = 0; i < d; ++i) {
            residual[i] = system.b[i] * last;
            for (int j = 0; j < d; ++j) residual[i] += system.a[i][j] * others[j];
        }
    };
    set_residual();
    for (int j = 0; j < d; ++j)
        for (int i = 0; i < d; ++i) others[j] -= system.r[j][i] * residual[i];
    set_residual();

    double largest = 1, sum = 1, norm, radius = 0;
    for (int j = 0; j < d; ++j) {
        largest = larger(largest, std::fabs(others[j]));
        sum += std::fabs(others[j]);
        point[j + (j >= fixed)] = others[j];
    }
    point[fixed] = last;
    if constexpr (!kHasBounds) return 0;
    for (int i = 0; i < d; ++i)
        residual[i] = std::fabs(residual[i]) + ((d + 4) * kUnit + system.error) * sum;
    double defect = defect_of<size>(system, d, norm);
    defect += width * norm * (2 * (d + 4) * kUnit + system.error);
    for (int j = 0; j < d; ++j) {
        double entry = 0;
        for (int i = 0; i < d; ++i) entry += std::fabs(system.r[j][i]) * residual[i];
        radius = larger(radius, entry);
    }
    if (!(defect * kSlack < kLargestDefect)) return kInfinity;
    radius *= kSlack / (1 - defect * kSlack);
    if (!(radius <= largest / (kRadiusShare * width))) return kInfinity;
    if (problem.base_signs[0] <= 0 && !is_certainly_oriented(point, radius, problem.base_signs))
        return kInfinity;
    return radius;
}

void Vertices::guess_first(const VertexProblem& base, const std::int8_t* signs,
                           double* point) const {
    System<kLargestDimension> system;
    fill<kLargestDimension>(system, base, dimension_, dimension_);
    invert<kLargestDimension>(system, dimension_);
    for (int j = 0; j < dimension_; ++j) {
        point[j] = signs[0] * system.q[j];
        // At a direction t is 0, and one base form is not.
        for (int i = 0; i < dimension_ && signs[0] == 0; ++i)
            point[j] += signs[i + 1] * system.r[j][i];
    }
    point[dimension_] = signs[0];
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
    if constexpr (!kHasBounds) return sign_of_value(value, 0);
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
