// Functions that are compiled for this and for newer processors; the right one is chosen when the module is loaded.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define OMNITM_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define OMNITM_CLONES
#endif
