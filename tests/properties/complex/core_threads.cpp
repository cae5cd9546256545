// Cuts an arrangement of hyperplanes with one, two and three threads; the cells must be the same.
//
// `.ci/run` compiles this file and the core with the thread sanitizer, which ends the program with
// an error at the first access to memory that two threads do not agree upon. The sanitizer does not
// work inside Python.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "subdivision.hpp"

namespace {

using namespace polyrelu;

constexpr int kDimension = 4, kNumForms = 30;

/// Nothing is left open with integers that are this short.
class NobodyIsAsked : public Caller {
public:
    void decide(std::span<const std::int64_t>, std::span<const std::int64_t>,
                std::span<std::int8_t>) override {
        std::abort();
    }
    void pause() override {}
};

/// The rows of t and of random forms with integer entries.
std::vector<double> random_rows() {
    std::mt19937 generator(1);
    std::vector<double> rows(kDimension, 0.0);
    rows.push_back(1);
    for (int i = 0; i < kNumForms * (kDimension + 1); ++i)
        rows.push_back(static_cast<double>(generator() % 1001) - 500);
    return rows;
}

/// The words and the lists of facets of all cells, as one number.
std::uint64_t digest_with(std::size_t num_threads) {
    const std::vector<double> rows = random_rows(), errors(1 + kNumForms, 0.0);
    Subdivision subdivision(kDimension);
    subdivision.forms.share(rows.data(), errors.data(), 1 + kNumForms);
    Array<std::int32_t> numbers;
    Array<double> base;
    for (std::int32_t form = 0; form <= kDimension; ++form) {
        numbers.push_back(form);
        for (int c = 0; c <= kDimension; ++c)
            base.push_back(rows[static_cast<std::size_t>(form * (kDimension + 1) + c)] / 1000);
    }
    const std::vector<std::uint8_t> two_sided(kDimension, 1);
    subdivision.start(two_sided, std::move(numbers), std::move(base));
    if (num_threads > 1) subdivision.lattice.team = std::make_shared<Team>(num_threads);
    std::vector<Chunk> layer(1);
    layer[0].members = (std::uint32_t{1} << kNumForms) - 1;
    layer[0].first = 1;
    std::vector<KnownColumn> known;
    for (int bit = 0; bit < kDimension; ++bit)
        known.push_back({0, bit, static_cast<std::size_t>(bit) + 1});
    NobodyIsAsked caller;
    subdivision.decide(std::move(layer), known, caller);
    subdivision.begin(0, caller);
    for (int bit = 0; bit < kNumForms;) bit += subdivision.cut(bit, kNumForms, caller);
    std::uint64_t digest = 0;
    for (const Level& level : subdivision.lattice.levels) {
        for (const Word word : level.words) digest = digest * 31 + word;
        for (const std::int32_t facet : level.heap)
            digest = digest * 31 + static_cast<std::uint64_t>(facet);
    }
    std::printf("%zu cells\n", subdivision.lattice.num_cells());
    return digest;
}

}  // namespace

int main() {
    const std::uint64_t expected = digest_with(1);
    return digest_with(2) == expected && digest_with(3) == expected ? 0 : 1;
}
