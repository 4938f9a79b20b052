// SHA-256 of two files at a time, where the processor has instructions for it: those of one file wait for each other, those
// of two do not, so that the second one costs next to nothing. Everything else is left to Python's own library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omnitm {

constexpr size_t kShaBlock = 64;

// What is left to be hashed of a file: whole blocks, and the state after those before, eight numbers.
struct ShaInput {
    uint32_t* state;
    const uint8_t* content;
    size_t n_blocks;
};

bool has_sha256();
// Brings both states up to date. Only if the processor has the instructions.
void sha256_blocks(const ShaInput& first, const ShaInput& second);

}  // namespace omnitm
