// A byte per clause, N clauses at once: the arithmetic of automata.
#pragma once
#include <cstdint>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace omnitm::OMNITM_ISA {

// Copies are written out: left to itself, GCC copies structures of vectors in small pieces through the stack.
//
// 16 lanes through the compiler's vector types: SSE2, NEON or plain code, whatever the target has.
// Wider lanes are pairs of narrower ones, down to what one register holds.
template <int N>
struct Lanes {
    static_assert(N >= 16 && (N & (N - 1)) == 0);
    Lanes<N / 2> a, b;
    static Lanes all(uint8_t value) { return {Lanes<N / 2>::all(value), Lanes<N / 2>::all(value)}; }
    static Lanes load(const uint8_t* p) { return {Lanes<N / 2>::load(p), Lanes<N / 2>::load(p + N / 2)}; }
    void store(uint8_t* p) const { a.store(p), b.store(p + N / 2); }
    bool any_high() const { return (a | b).any_high(); }
};

#define OMNITM_PAIRWISE(name)                                                  \
    template <int N>                                                           \
    inline Lanes<N> name(const Lanes<N>& x, const Lanes<N>& y) {               \
        return {name(x.a, y.a), name(x.b, y.b)};                               \
    }
OMNITM_PAIRWISE(operator+)
OMNITM_PAIRWISE(operator-)
OMNITM_PAIRWISE(operator&)
OMNITM_PAIRWISE(operator|)
OMNITM_PAIRWISE(min)
OMNITM_PAIRWISE(max)
OMNITM_PAIRWISE(add_saturating)
OMNITM_PAIRWISE(subtract_saturating)
OMNITM_PAIRWISE(and_not)   // x & ~y
OMNITM_PAIRWISE(where_above)  // x where x > y, else 0
#undef OMNITM_PAIRWISE

template <>
struct Lanes<16> {
    typedef uint8_t Vector __attribute__((vector_size(16)));
    Vector v;
    Lanes() = default;
    Lanes(const Vector& vector) : v(vector) {}
    Lanes(const Lanes& other) : v(other.v) {}
    Lanes& operator=(const Lanes& other) {
        v = other.v;
        return *this;
    }
    static Lanes all(uint8_t value) { return {Vector{} + value}; }
    static Lanes load(const uint8_t* p) {
        Lanes x;
        std::memcpy(&x.v, p, 16);
        return x;
    }
    void store(uint8_t* p) const { std::memcpy(p, &v, 16); }
    bool any_high() const {
#ifdef __AVX2__
        return _mm_movemask_epi8((__m128i)v) != 0;
#else
        uint64_t half[2];
        std::memcpy(half, &v, 16);
        return (half[0] | half[1]) & 0x8080808080808080ull;
#endif
    }
};
inline Lanes<16> operator+(const Lanes<16>& x, const Lanes<16>& y) { return {x.v + y.v}; }
inline Lanes<16> operator-(const Lanes<16>& x, const Lanes<16>& y) { return {x.v - y.v}; }
inline Lanes<16> operator&(const Lanes<16>& x, const Lanes<16>& y) { return {x.v & y.v}; }
inline Lanes<16> operator|(const Lanes<16>& x, const Lanes<16>& y) { return {x.v | y.v}; }
inline Lanes<16> and_not(const Lanes<16>& x, const Lanes<16>& y) { return {x.v & ~y.v}; }
#ifdef __AVX2__
#define OMNITM_BY_INTRINSIC(name, intrinsic)                                                        \
    inline Lanes<16> name(const Lanes<16>& x, const Lanes<16>& y) {                                 \
        return {(Lanes<16>::Vector)intrinsic((__m128i)x.v, (__m128i)y.v)};                          \
    }
OMNITM_BY_INTRINSIC(min, _mm_min_epu8)
OMNITM_BY_INTRINSIC(max, _mm_max_epu8)
OMNITM_BY_INTRINSIC(add_saturating, _mm_adds_epu8)
OMNITM_BY_INTRINSIC(subtract_saturating, _mm_subs_epu8)
#undef OMNITM_BY_INTRINSIC
#else
inline Lanes<16> min(const Lanes<16>& x, const Lanes<16>& y) { return {x.v < y.v ? x.v : y.v}; }
inline Lanes<16> max(const Lanes<16>& x, const Lanes<16>& y) { return {x.v > y.v ? x.v : y.v}; }
inline Lanes<16> add_saturating(const Lanes<16>& x, const Lanes<16>& y) {
    const Lanes<16>::Vector sum = x.v + y.v;
    return {sum | (Lanes<16>::Vector)(sum < x.v)};
}
inline Lanes<16> subtract_saturating(const Lanes<16>& x, const Lanes<16>& y) {
    return {(x.v - y.v) & (Lanes<16>::Vector)(x.v > y.v)};
}
#endif
inline Lanes<16> where_above(const Lanes<16>& x, const Lanes<16>& y) {
    return {x.v & (Lanes<16>::Vector)(x.v > y.v)};
}

#ifdef __AVX2__
template <>
struct Lanes<32> {
    __m256i v;
    Lanes() = default;
    Lanes(__m256i vector) : v(vector) {}
    Lanes(const Lanes& other) : v(other.v) {}
    Lanes& operator=(const Lanes& other) {
        v = other.v;
        return *this;
    }
    static Lanes all(uint8_t value) { return {_mm256_set1_epi8(static_cast<char>(value))}; }
    static Lanes load(const uint8_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
    void store(uint8_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
    bool any_high() const { return _mm256_movemask_epi8(v) != 0; }
};
inline Lanes<32> operator+(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_add_epi8(x.v, y.v)}; }
inline Lanes<32> operator-(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_sub_epi8(x.v, y.v)}; }
inline Lanes<32> operator&(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_and_si256(x.v, y.v)}; }
inline Lanes<32> operator|(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_or_si256(x.v, y.v)}; }
inline Lanes<32> and_not(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_andnot_si256(y.v, x.v)}; }
inline Lanes<32> min(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_min_epu8(x.v, y.v)}; }
inline Lanes<32> max(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_max_epu8(x.v, y.v)}; }
inline Lanes<32> add_saturating(const Lanes<32>& x, const Lanes<32>& y) { return {_mm256_adds_epu8(x.v, y.v)}; }
inline Lanes<32> subtract_saturating(const Lanes<32>& x, const Lanes<32>& y) {
    return {_mm256_subs_epu8(x.v, y.v)};
}
inline Lanes<32> where_above(const Lanes<32>& x, const Lanes<32>& y) {
    return {_mm256_andnot_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(x.v, y.v), y.v), x.v)};
}
#endif

}  // namespace omnitm::OMNITM_ISA
