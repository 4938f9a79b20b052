// 256 automata at once: the bits of their states lie in bit planes, so that a step is a ripple of carries.
#pragma once
#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace omnitm::OMNITM_ISA {

typedef uint64_t Slice __attribute__((vector_size(32)));
typedef uint32_t Counters __attribute__((vector_size(32)));
constexpr uint32_t kSlice = 256;

#ifdef __AVX2__
inline bool any(const Slice& x) { return !_mm256_testz_si256((__m256i)x, (__m256i)x); }
#else
inline bool any(const Slice& x) { return x[0] | x[1] | x[2] | x[3]; }
#endif
inline uint32_t ones(const Slice& x) {
    return static_cast<uint32_t>(__builtin_popcountll(x[0]) + __builtin_popcountll(x[1]) + __builtin_popcountll(x[2]) +
                                 __builtin_popcountll(x[3]));
}

// Eight planes, copied one by one: a loop would become a copy of bytes, in pieces and through the stack.
inline __attribute__((always_inline)) void copy_planes(Slice* to, const Slice* from) {
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
    to[4] = from[4], to[5] = from[5], to[6] = from[6], to[7] = from[7];
}

// Without this GCC keeps the planes of a clause in memory; Clang unrolls short loops by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define OMNITM_UNROLL _Pragma("GCC unroll 8")
#else
#define OMNITM_UNROLL
#endif

// Adds one to the states in `up`, whose bits lie in the lowest N planes; saturates.
template <int N>
inline __attribute__((always_inline)) void raise_states(Slice* planes, Slice up) {
OMNITM_UNROLL
    for (int i = 0; i < N; ++i) {
        const Slice carry = planes[i] & up;
        planes[i] ^= up;
        up = carry;
    }
OMNITM_UNROLL
    for (int i = 0; i < N; ++i) planes[i] |= up;
}

// Subtracts one from the states in `down`; saturates.
template <int N>
inline __attribute__((always_inline)) void lower_states(Slice* planes, Slice down) {
OMNITM_UNROLL
    for (int i = 0; i < N; ++i) {
        const Slice borrow = ~planes[i] & down;
        planes[i] ^= down;
        down = borrow;
    }
OMNITM_UNROLL
    for (int i = 0; i < N; ++i) planes[i] &= ~down;
}

// Coins for the literals of one clause and example; see literal_coins in draws.py.
class LiteralCoins {
  public:
    LiteralCoins(uint64_t bits, uint64_t probability, uint32_t n_chunks)
        : first_(static_cast<uint32_t>(bits >> 32)),
          second_(static_cast<uint32_t>(bits)),
          always_(probability >> 32),
          probability_(static_cast<uint32_t>(probability)),
          counters_per_bit_(n_chunks * (kSlice / 32)) {}

    Slice operator()(uint32_t chunk) const {
        Slice heads{}, undecided = ~Slice{};
        if (always_) return undecided;
        uint32_t counter = chunk * (kSlice / 32);
        for (uint32_t rest = probability_; rest; rest <<= 1, counter += counters_per_bit_) {
            const Slice random = hash(counter, first_, second_);
            if (rest >> 31) {
                heads |= undecided & ~random;
                undecided &= random;
            } else {
                undecided &= ~random;
            }
            if (!any(undecided)) break;
        }
        return heads;
    }

    // The same where one bit decides: for a probability of one half.
    static Slice fair(uint64_t bits, uint32_t chunk) {
        return ~hash(chunk * (kSlice / 32), static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits));
    }

  private:
    static Slice hash(uint32_t counter, uint32_t first, uint32_t second) {
        constexpr uint32_t step = 0x9E3779B1u;
        Counters x = Counters{0, step, 2 * step, 3 * step, 4 * step, 5 * step, 6 * step, 7 * step} + (counter * step + first);
        x = (x ^ (x >> 16)) * 0x7FEB352Du;
        x ^= second;
        x = (x ^ (x >> 15)) * 0x846CA68Bu;
        return (Slice)(x ^ (x >> 16));
    }

    uint32_t first_, second_;
    bool always_;
    uint32_t probability_, counters_per_bit_;
};

}  // namespace omnitm::OMNITM_ISA
