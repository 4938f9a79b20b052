// Compiled once per instruction set (see CMakeLists.txt): the machines, behind one function.
#include "kernels.hpp"

#include "classifier_kernel.hpp"
#include "lazy.hpp"
#include "sliced.hpp"
#include "tmae_bank.hpp"

namespace omnitm::OMNITM_ISA {

namespace {

template <bool FullRange>
Machine* make_lazy(const Corpus& corpus, const Settings& settings, uint32_t n_lanes) {
    // States of fewer than 8 bits are rare, and a width takes the compiler half a second per instruction set.
    if constexpr (FullRange) {
        if (n_lanes <= 16) return new LazyMachine<16, FullRange>(corpus, settings);
        if (n_lanes <= 32) return new LazyMachine<32, FullRange>(corpus, settings);
        if (n_lanes <= 128 && n_lanes > 64) return new LazyMachine<128, FullRange>(corpus, settings);
    }
    if (n_lanes <= 64) return new LazyMachine<64, FullRange>(corpus, settings);
    return new LazyMachine<256, FullRange>(corpus, settings);
}

Machine* make_sliced(const Corpus& corpus, const Settings& settings) {
    switch (settings.state_bits) {
        case 4: return new SlicedMachine<4>(corpus, settings);
        case 5: return new SlicedMachine<5>(corpus, settings);
        case 6: return new SlicedMachine<6>(corpus, settings);
        case 7: return new SlicedMachine<7>(corpus, settings);
        default: return new SlicedMachine<8>(corpus, settings);
    }
}

}  // namespace

Machine* make_machine(const Corpus& corpus, const Settings& settings, uint32_t n_lanes) {
    if (n_lanes == 0) return make_sliced(corpus, settings);
    if (settings.state_bits == 8) return make_lazy<true>(corpus, settings, n_lanes);
    return make_lazy<false>(corpus, settings, n_lanes);
}

SharedBank* make_shared_bank(const Corpus& corpus, const Settings& settings) {
    return new SharedMachine<8>(corpus, settings);
}

void teach_class(const Documents& documents, const ClassifierSettings& settings, const ClassClauses& clauses,
                 const ClassExamples& examples) {
    if (settings.forget_probability == 1ull << 31) ClassTeacher<true>(documents, settings, clauses).teach(examples);
    else ClassTeacher<false>(documents, settings, clauses).teach(examples);
}

}  // namespace omnitm::OMNITM_ISA
