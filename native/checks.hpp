// Checks of arrays that come from outside, made before native code indexes with what is in them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace omnitm {

// Throws what becomes Python's ValueError.
inline void check(bool is_sound, const char* message) {
    if (!is_sound) throw std::invalid_argument(message);
}

// One pass each, as fast as memory.
bool all_below(std::span<const uint16_t> numbers, uint64_t limit);
bool all_below(std::span<const uint32_t> numbers, uint64_t limit);
uint64_t sum_of(std::span<const uint16_t> numbers);
uint64_t sum_of(std::span<const uint32_t> numbers);

// Whether two arrays share memory: what is written to one would change the other after it was checked.
template <class A, class B>
bool overlap(std::span<A> a, std::span<B> b) {
    const auto begin = [](const auto& array) { return reinterpret_cast<uintptr_t>(array.data()); };
    return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size_bytes() && begin(b) < begin(a) + a.size_bytes();
}

}  // namespace omnitm
