// Memory that begins on a cache line; Windows has functions of its own for it.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <new>
#ifdef _WIN32
#include <malloc.h>
#endif

namespace omnitm {

constexpr std::size_t cache_line = 64;

// Internal linkage: the kernels are compiled for several instruction sets and must not share functions.
static inline void* new_aligned(std::size_t bytes) {
    const std::size_t whole = bytes ? (bytes + cache_line - 1) / cache_line * cache_line : cache_line;
#ifdef _WIN32
    void* const memory = _aligned_malloc(whole, cache_line);
#else
    void* const memory = std::aligned_alloc(cache_line, whole);
#endif
    if (!memory) throw std::bad_alloc();
    return memory;
}

static inline void free_aligned(void* memory) {
#ifdef _WIN32
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

}  // namespace omnitm
