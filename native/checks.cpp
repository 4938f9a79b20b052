#include "checks.hpp"

#include <algorithm>

#include "clones.hpp"

namespace omnitm {
namespace {

OMNITM_CLONES uint32_t largest_of(const uint16_t* numbers, size_t count) {
    uint16_t largest = 0;
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, numbers[i]);
    return largest;
}

OMNITM_CLONES uint32_t largest_of(const uint32_t* numbers, size_t count) {
    uint32_t largest = 0;
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, numbers[i]);
    return largest;
}

template <class T>
uint64_t summed(std::span<const T> numbers) {
    uint64_t sum = 0;
    for (const T number : numbers) sum += number;
    return sum;
}

}  // namespace

bool all_below(std::span<const uint16_t> numbers, uint64_t limit) {
    return numbers.empty() || largest_of(numbers.data(), numbers.size()) < limit;
}

bool all_below(std::span<const uint32_t> numbers, uint64_t limit) {
    return numbers.empty() || largest_of(numbers.data(), numbers.size()) < limit;
}

uint64_t sum_of(std::span<const uint16_t> numbers) { return summed(numbers); }
uint64_t sum_of(std::span<const uint32_t> numbers) { return summed(numbers); }

}  // namespace omnitm
