#include "checksums.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "processor.hpp"

#ifdef OMNITM_X86
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace omnitm {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // Castagnoli's, reversed
constexpr size_t kLanes = 4;                   // blocks at a time: the instruction takes three cycles, but a new one can start in each

constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
    std::array<std::array<uint32_t, 256>, 8> tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
        tables[0][byte] = crc;
    }
    for (size_t k = 1; k < 8; ++k)
        for (uint32_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 255];
    return tables;
}

constexpr auto kTables = make_tables();

struct Portable {
    static uint32_t byte(uint32_t crc, uint8_t value) { return crc >> 8 ^ kTables[0][(crc ^ value) & 255]; }
    static uint32_t eight(uint32_t crc, const uint8_t* data) {
        uint32_t found = 0;
        for (size_t k = 0; k < 8; ++k) found ^= kTables[7 - k][data[k] ^ (k < 4 ? crc >> 8 * k & 255 : 0)];
        return found;
    }
};

#ifdef OMNITM_X86
#define OMNITM_CRC_TARGET __attribute__((target("sse4.2")))
struct Hardware {
    OMNITM_CRC_TARGET static uint32_t byte(uint32_t crc, uint8_t value) { return _mm_crc32_u8(crc, value); }
    OMNITM_CRC_TARGET static uint32_t eight(uint32_t crc, const uint8_t* data) {
        uint64_t value;
        std::memcpy(&value, data, 8);
        return static_cast<uint32_t>(_mm_crc32_u64(crc, value));
    }
};
const bool kHasHardware = this_processor().crc32c;
#elif defined(__ARM_FEATURE_CRC32)
#define OMNITM_CRC_TARGET
struct Hardware {
    static uint32_t byte(uint32_t crc, uint8_t value) { return __crc32cb(crc, value); }
    static uint32_t eight(uint32_t crc, const uint8_t* data) {
        uint64_t value;
        std::memcpy(&value, data, 8);
        return __crc32cd(crc, value);
    }
};
constexpr bool kHasHardware = true;
#else
#define OMNITM_CRC_TARGET
using Hardware = Portable;
constexpr bool kHasHardware = false;
#endif

// Written out twice, because a function for newer processors cannot be inlined into a template for all.
#define OMNITM_CRC_FUNCTIONS(name, Step, target)                                                     \
    target uint32_t crc_##name(const uint8_t* data, size_t size, uint32_t crc) {                     \
        crc = ~crc;                                                                                  \
        for (; size >= 8; size -= 8, data += 8) crc = Step::eight(crc, data);                        \
        for (; size; --size, ++data) crc = Step::byte(crc, *data);                                   \
        return ~crc;                                                                                 \
    }                                                                                                \
    target void crc_lanes_##name(const uint8_t* const* blocks, size_t size, uint32_t* sums) {        \
        uint32_t a = ~0u, b = ~0u, c = ~0u, d = ~0u;                                                 \
        for (size_t place = 0; place < size; place += 8) {                                           \
            a = Step::eight(a, blocks[0] + place);                                                   \
            b = Step::eight(b, blocks[1] + place);                                                   \
            c = Step::eight(c, blocks[2] + place);                                                   \
            d = Step::eight(d, blocks[3] + place);                                                   \
        }                                                                                            \
        sums[0] = ~a, sums[1] = ~b, sums[2] = ~c, sums[3] = ~d;                                      \
    }
OMNITM_CRC_FUNCTIONS(portable, Portable, )
OMNITM_CRC_FUNCTIONS(hardware, Hardware, OMNITM_CRC_TARGET)

// The checksums of four blocks of `size` bytes, a multiple of 8, at a time: one alone waits for its own last step.
void crc_lanes(const uint8_t* const* blocks, size_t size, uint32_t* sums) {
    kHasHardware ? crc_lanes_hardware(blocks, size, sums) : crc_lanes_portable(blocks, size, sums);
}

// Checksums are polynomials over GF(2) modulo Castagnoli's, with the coefficient of x^0 in the highest bit.
uint32_t multiplied(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = b >> 1 ^ (b & 1 ? kPolynomial : 0);  // times x
    }
    return product;
}

// What the checksum of a text is multiplied by when `size` bytes follow it: x^(8 size).
uint32_t shift_by(size_t size) {
    uint32_t shift = 1u << 31, power = 1u << 23;  // x^0; x^8, squared for every bit of the size
    for (; size; size >>= 1, power = multiplied(power, power))
        if (size & 1) shift = multiplied(shift, power);
    return shift;
}
constexpr size_t kLongBlock = 1 << 16;
const uint32_t kLongShift = shift_by(kLongBlock);

// Blocks of a long run, in the order in which they are checked: every lane goes on with the block after its last,
// so that the processor fetches it in time.
constexpr size_t kRun = 64;
size_t in_run(size_t step) { return step % kLanes * (kRun / kLanes) + step / kLanes; }

// Blocks that wait until there are enough of them to be checked at a time.
class Checker {
public:
    explicit Checker(const CheckedBlocks& blocks) : blocks_(blocks) {}

    bool add(size_t block) {
        const size_t start = block * kChecksumBlock, size = std::min(kChecksumBlock, blocks_.size - start);
        if (size < kChecksumBlock) return mark(block, crc32c(blocks_.content + start, size, 0));
        waiting_[n_waiting_] = block;
        places_[n_waiting_] = blocks_.content + start;
        return ++n_waiting_ < kLanes || check_waiting();
    }

    bool finish() {
        bool sound = true;
        for (size_t k = 0; k < n_waiting_ && sound; ++k) sound = mark(waiting_[k], crc32c(places_[k], kChecksumBlock, 0));
        n_waiting_ = 0;
        return sound;
    }

    size_t damaged() const { return damaged_; }

private:
    bool check_waiting() {
        uint32_t sums[kLanes];
        crc_lanes(places_, kChecksumBlock, sums);
        n_waiting_ = 0;
        for (size_t k = 0; k < kLanes; ++k)
            if (!mark(waiting_[k], sums[k])) return false;
        return true;
    }

    bool mark(size_t block, uint32_t sum) {
        if (sum != blocks_.sums[block]) {
            damaged_ = block;
            return false;
        }
        blocks_.checked[block] = 1;
        return true;
    }

    const CheckedBlocks& blocks_;
    size_t waiting_[kLanes] = {}, n_waiting_ = 0, damaged_ = 0;
    const uint8_t* places_[kLanes] = {};
};

}  // namespace

uint32_t crc32c(const uint8_t* data, size_t size, uint32_t crc) {
    for (; size >= kLanes * kLongBlock; size -= kLanes * kLongBlock) {
        uint32_t sums[kLanes];
        const uint8_t* blocks[kLanes];
        for (size_t k = 0; k < kLanes; ++k, data += kLongBlock) blocks[k] = data;
        crc_lanes(blocks, kLongBlock, sums);
        for (uint32_t sum : sums) crc = multiplied(kLongShift, crc) ^ sum;
    }
    return kHasHardware ? crc_hardware(data, size, crc) : crc_portable(data, size, crc);
}

uint32_t crc32c_portable(const uint8_t* data, size_t size, uint32_t crc) { return crc_portable(data, size, crc); }

void block_checksums(const uint8_t* content, size_t size, uint32_t* sums) {
    size_t start = 0;
    for (; size - start >= kRun * kChecksumBlock; start += kRun * kChecksumBlock, sums += kRun)
        for (size_t step = 0; step < kRun; step += kLanes) {
            uint32_t found[kLanes];
            const uint8_t* blocks[kLanes];
            for (size_t k = 0; k < kLanes; ++k) blocks[k] = content + start + in_run(step + k) * kChecksumBlock;
            crc_lanes(blocks, kChecksumBlock, found);
            for (size_t k = 0; k < kLanes; ++k) sums[in_run(step + k)] = found[k];
        }
    for (; start < size; start += kChecksumBlock)
        *sums++ = crc32c(content + start, std::min(kChecksumBlock, size - start), 0);
}

template <class Start>
int64_t check(const CheckedBlocks& blocks, size_t n_spans, size_t span, Start start_of) {
    Checker checker(blocks);
    if (!span) return -1;
    for (size_t k = 0; k < n_spans; ++k) {
        const size_t start = start_of(k), last = (start + span - 1) / kChecksumBlock;
        for (size_t first = start / kChecksumBlock; first <= last; first += kRun)
            for (size_t step = 0; step < std::min(kRun, last - first + 1); ++step) {
                const size_t block = first + (last - first < kRun ? step : in_run(step));
                if (!blocks.checked[block] && !checker.add(block)) return static_cast<int64_t>(checker.damaged());
            }
    }
    return checker.finish() ? -1 : static_cast<int64_t>(checker.damaged());
}

int64_t check_spans(const CheckedBlocks& blocks, const int64_t* starts, size_t n_spans, size_t span) {
    return check(blocks, n_spans, span, [starts](size_t k) { return static_cast<size_t>(starts[k]); });
}

int64_t check_column(const CheckedBlocks& blocks, size_t start, size_t distance, size_t n_spans, size_t span) {
    return check(blocks, n_spans, span, [=](size_t k) { return start + k * distance; });
}

}  // namespace omnitm
