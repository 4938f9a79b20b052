// CRC-32C (Castagnoli) of the blocks of a file, which tell a damaged block when it is first read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omnitm {

constexpr size_t kChecksumBlock = 4096;

// The content of a file, the checksums of its blocks (the last one may be shorter), and which blocks have been checked.
struct CheckedBlocks {
    const uint8_t* content;
    size_t size;
    const uint32_t* sums;
    uint8_t* checked;
};

uint32_t crc32c(const uint8_t* data, size_t size, uint32_t crc);
uint32_t crc32c_portable(const uint8_t* data, size_t size, uint32_t crc);  // for processors without the instruction
void block_checksums(const uint8_t* content, size_t size, uint32_t* sums);
// Check the blocks that hold `n_spans` spans of `span` bytes each; return the first one that is damaged, or -1.
int64_t check_spans(const CheckedBlocks& blocks, const int64_t* starts, size_t n_spans, size_t span);
// The same for spans at equal distances.
int64_t check_column(const CheckedBlocks& blocks, size_t start, size_t distance, size_t n_spans, size_t span);

}  // namespace omnitm
