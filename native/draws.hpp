// Random draws by number, as in src/omnitm/machine/draws.py: a word's draws depend on its key alone.
#pragma once
#include <cstdint>

namespace omnitm::OMNITM_ISA {

constexpr uint64_t kGamma = 0x9E3779B97F4A7C15ull;

enum class Purpose : uint64_t {
    initial_weight = 1,
    label,
    document,
    gate_and_feedback,
    weight,
    literal,
    order,
    clause_drop,
    other_class
};

inline uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

class Draws {
  public:
    Draws() = default;
    Draws(uint64_t key, Purpose purpose) : stream_(mix(key + static_cast<uint64_t>(purpose) * kGamma)) {}
    uint64_t operator()(uint64_t number) const { return mix(stream_ + (number + 1) * kGamma); }

  private:
    uint64_t stream_ = 0;
};

inline uint64_t high_product(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

// 32 random bits as a number from 0 to bound - 1.
inline int64_t below(uint32_t bits, uint64_t bound) { return static_cast<int64_t>((bits * bound) >> 32); }

}  // namespace omnitm::OMNITM_ISA
