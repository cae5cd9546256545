// Steps of a walk from cell to cell on a line or along a bent hyperplane, decided in floats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "slice_forms.hpp"

namespace polyrelu {

/// The largest dimension of the subspace in which a walk follows a line.
inline constexpr std::size_t kPlane = 2;
using PlaneVector = std::array<double, kPlane>;

/// Which line a walk follows through a cell, and which way is ahead (`CellOnLine` in Python).
/// A place of -1 stands for no neuron.
struct SliceLine {
    std::int64_t carrier = -1;
    std::int64_t back = -1;
    PlaneVector ray{};
    PlaneVector position{};
    /// The rough size of the forms in each coordinate.
    PlaneVector scales{};
};

/// The neuron that vanishes at the end of a cell, a point beyond the end, and the end, nearly.
struct SliceStep {
    std::size_t place;
    PlaneVector beyond;
    PlaneVector near;
};

/// Where a series of steps ends.
struct LegLimits {
    std::size_t most = 0;
    /// The leg ends with the step at whose end this neuron vanishes; -1 for none.
    std::int64_t target = -1;
    /// The leg ends before a step that would switch one of these neurons; may be null.
    const std::uint8_t* watched = nullptr;
    /// The leg ends on a cell with these signs; may be null.
    const std::int8_t* first = nullptr;
};

/// Steps at each of which exactly one neuron vanishes and takes the opposite sign.
struct Leg {
    std::vector<std::int64_t> switched;
    /// Ends of the cells, nearly, and points beyond them, shape (steps, k).
    std::vector<double> near, beyond;
    bool is_closed = false;
};

/// Makes steps on the cell of `SliceForms`; the rules are those of docs/theory/walks.md, "The end of
/// a cell", and the numbers those of polyrelu/walks/float_steps.py, bit for bit.
class SliceWalk {
public:
    explicit SliceWalk(SliceForms& forms);

    /// The end of the cell ahead, if the bounds prove that one neuron alone vanishes there. A point
    /// beyond the end lies ahead of the cell if `back` is known; otherwise the caller has to check.
    std::optional<SliceStep> next(const SliceLine& line);

    /// Make steps until a limit is reached or a step is left open. `line` is moved along.
    Leg run(SliceLine& line, const LegLimits& limits);

private:
    struct Guess {
        PlaneVector start{}, heading{};
        std::size_t moved = 0, first = 0;
        double zero = 0, beyond = 0;
    };
    bool aim(const SliceLine& line, Guess& guess) const;
    bool find_zeros(const SliceLine& line, Guess& guess);
    bool is_only_zero(const SliceLine& line, const Guess& guess, const PlaneVector& q) const;
    PlaneVector point_on_line(const SliceLine& line, const Guess& guess) const;
    void record(const SliceStep& step, Leg& leg) const;

    SliceForms& forms_;
    std::vector<double> zeros_;
};

}  // namespace polyrelu
