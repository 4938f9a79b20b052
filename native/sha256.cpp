#include "sha256.hpp"

#include <algorithm>

#include "processor.hpp"

#ifdef OMNITM_X86
#include <immintrin.h>

namespace omnitm {
namespace {

alignas(16) constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define OMNITM_SHA_TARGET __attribute__((target("sha,sse4.1")))

// The eight numbers as the instructions want them: a, b, e, f together and c, d, g, h, the last one lowest.
struct ShaState {
    __m128i abef, cdgh;
};

OMNITM_SHA_TARGET inline ShaState loaded(const uint32_t* state) {
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state)), 0xB1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4)), 0x1B);
    return {_mm_alignr_epi8(badc, hgfe, 8), _mm_blend_epi16(hgfe, badc, 0xF0)};
}

OMNITM_SHA_TARGET inline void store(const ShaState& from, uint32_t* state) {
    const __m128i feba = _mm_shuffle_epi32(from.abef, 0x1B), dchg = _mm_shuffle_epi32(from.cdgh, 0xB1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

// As many blocks of each of `n_files` files, in step.
template <int n_files>
OMNITM_SHA_TARGET void hash_in_step(const ShaInput* files, size_t n_blocks) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
    ShaState states[n_files];
    for (int k = 0; k < n_files; ++k) states[k] = loaded(files[k].state);
    for (size_t block = 0; block < n_blocks; ++block) {
        ShaState now[n_files];
        __m128i words[n_files][4];  // the last 16 of the 64 words of the schedule
        for (int k = 0; k < n_files; ++k) now[k] = states[k];
#pragma GCC unroll 16
        for (int step = 0; step < 16; ++step)  // four rounds each
#pragma GCC unroll 2
            for (int k = 0; k < n_files; ++k) {
                __m128i& next = words[k][step % 4];
                if (step < 4) {
                    const uint8_t* const at = files[k].content + block * kShaBlock + 16 * step;
                    next = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), big_endian);
                } else {
                    const __m128i last = words[k][(step + 3) % 4], before_last = words[k][(step + 2) % 4];
                    next = _mm_add_epi32(_mm_sha256msg1_epu32(next, words[k][(step + 1) % 4]),
                                         _mm_alignr_epi8(last, before_last, 4));
                    next = _mm_sha256msg2_epu32(next, last);
                }
                const auto* const constants = reinterpret_cast<const __m128i*>(kRoundConstants + 4 * step);
                const __m128i sums = _mm_add_epi32(next, _mm_load_si128(constants));
                now[k].cdgh = _mm_sha256rnds2_epu32(now[k].cdgh, now[k].abef, sums);
                now[k].abef = _mm_sha256rnds2_epu32(now[k].abef, now[k].cdgh, _mm_shuffle_epi32(sums, 0x0E));
            }
        for (int k = 0; k < n_files; ++k) {
            states[k].abef = _mm_add_epi32(states[k].abef, now[k].abef);
            states[k].cdgh = _mm_add_epi32(states[k].cdgh, now[k].cdgh);
        }
    }
    for (int k = 0; k < n_files; ++k) store(states[k], files[k].state);
}

void hash_alone(const ShaInput& file, size_t first_block) {
    const ShaInput rest{file.state, file.content + first_block * kShaBlock, file.n_blocks - first_block};
    hash_in_step<1>(&rest, rest.n_blocks);
}

}  // namespace

bool has_sha256() {
    static const bool has = this_processor().sha;
    return has;
}

void sha256_blocks(const ShaInput& first, const ShaInput& second) {
    const ShaInput both[] = {first, second};
    const size_t n_common = std::min(first.n_blocks, second.n_blocks);
    hash_in_step<2>(both, n_common);
    hash_alone(first, n_common);
    hash_alone(second, n_common);
}

}  // namespace omnitm
#else
namespace omnitm {

bool has_sha256() { return false; }
void sha256_blocks(const ShaInput&, const ShaInput&) {}

}  // namespace omnitm
#endif
