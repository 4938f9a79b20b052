#include <cstdlib>
#include <cstring>
#include <new>

#include "text.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace omnitm::text {
namespace {

constexpr std::size_t cache_line = 64;

void* copied_memory(void* memory, std::size_t before, std::size_t after) {
    void* const copy = std::aligned_alloc(cache_line, (after + cache_line - 1) / cache_line * cache_line);
    if (!copy) throw std::bad_alloc();
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
        std::free(memory);
        return grown;
    }
#endif
    void* const grown = copied_memory(memory, before, after);
    std::free(memory);
    return grown;
}

void free_memory(void* memory, std::size_t bytes) {
#ifdef __linux__
    if (is_mapped(bytes)) {
        munmap(memory, bytes);
        return;
    }
#endif
    std::free(memory);
}

}  // namespace omnitm::text
