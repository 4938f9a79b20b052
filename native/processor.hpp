// What this processor can do. On Windows the compiler's own way needs a library that is not linked there.
#pragma once
#ifdef OMNITM_X86
#include <cpuid.h>

#include <cstdint>

namespace omnitm {

struct Processor {
    bool crc32c = false;  // SSE 4.2
    bool sha = false;     // SHA-256
    bool avx2 = false;    // with BMI2
    bool avx512 = false;  // with BW, VL and DQ
    bool vnni = false;    // AVX-512 that multiplies bytes and adds the products
};

// Not every compiler knows this one by name.
inline bool has_sha_instructions() {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & 1u << 29);
}

#ifdef _WIN32
inline Processor this_processor() {
    unsigned eax, ebx, ecx, edx;
    constexpr unsigned saves_registers = 1u << 27;
    Processor found;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return found;
    found.crc32c = ecx & 1u << 20;
    found.sha = found.crc32c && has_sha_instructions();
    if (!(ecx & saves_registers)) return found;
    unsigned enabled, high;
    __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return found;
    constexpr unsigned with_avx2 = 1u << 5 | 1u << 8, with_avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    found.avx2 = (enabled & 0x06) == 0x06 && (ebx & with_avx2) == with_avx2;
    found.avx512 = found.avx2 && (enabled & 0xe6) == 0xe6 && (ebx & with_avx512) == with_avx512;
    found.vnni = found.avx512 && (ecx & 1u << 11);
    return found;
}
#else
inline Processor this_processor() {
    Processor found;
    found.crc32c = __builtin_cpu_supports("sse4.2");
    found.sha = found.crc32c && has_sha_instructions();
    found.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    found.avx512 = found.avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq");
    found.vnni = found.avx512 && __builtin_cpu_supports("avx512vnni");
    return found;
}
#endif

}  // namespace omnitm
#endif
