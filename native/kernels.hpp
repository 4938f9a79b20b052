// The machines of each instruction set.
#pragma once
#include "classifier.hpp"
#include "corpus.hpp"

namespace omnitm {

constexpr uint32_t kMaxLazyLanes = 256;

#define OMNITM_DECLARE(isa)                                                                             \
    namespace isa {                                                                                     \
    /* n_lanes: how many clauses the lazy machine must hold; 0 asks for the sliced machine. */          \
    Machine* make_machine(const Corpus& corpus, const Settings& settings, uint32_t n_lanes);            \
    SharedBank* make_shared_bank(const Corpus& corpus, const Settings& settings);                       \
    void teach_class(const Documents& documents, const ClassifierSettings& settings,                    \
                     const ClassClauses& clauses, const ClassExamples& examples);                       \
    }
OMNITM_DECLARE(portable)
#ifdef OMNITM_X86
OMNITM_DECLARE(avx2)
OMNITM_DECLARE(avx512)
#endif
#undef OMNITM_DECLARE

}  // namespace omnitm
