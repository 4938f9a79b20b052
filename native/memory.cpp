#include <cstring>
#include <new>

#include "aligned.hpp"
#include "text.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace omnitm::text {
namespace {

void* copied_memory(void* memory, std::size_t before, std::size_t after) {
    void* const copy = new_aligned(after);
    if (before) std::memcpy(copy, memory, before);
    return copy;
}

#ifdef __linux__
bool is_mapped(std::size_t bytes) { return bytes >= (1u << 20); }

void* mapped_memory(void* memory, std::size_t before, std::size_t after) {
    void* const grown = is_mapped(before) ? mremap(memory, before, after, MREMAP_MAYMOVE)
                                          : mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED) throw std::bad_alloc();
    madvise(grown, after, MADV_HUGEPAGE);  // only a hint: it may fail
    return grown;
}
#endif

}  // namespace

void* resized_memory(void* memory, std::size_t before, std::size_t after) {
#ifdef __linux__
    if (is_mapped(before)) return mapped_memory(memory, before, after);
    if (is_mapped(after)) {
        void* const grown = mapped_memory(nullptr, 0, after);
        if (before) std::memcpy(grown, memory, before);
        free_aligned(memory);
        return grown;
    }
#endif
    void* const grown = copied_memory(memory, before, after);
    free_aligned(memory);
    return grown;
}

void free_memory(void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    if (is_mapped(bytes)) {
        munmap(memory, bytes);
        return;
    }
#endif
    free_aligned(memory);
}

}  // namespace omnitm::text
