#include "classifier.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "autoencoder.hpp"
#include "kernels.hpp"

namespace omnitm {

void teach_class(const std::string& isa, const Documents& documents, const ClassifierSettings& settings,
                 const ClassClauses& clauses, const ClassExamples& examples) {
    const std::string chosen = known_isa(isa);
#ifdef OMNITM_X86
    if (chosen == "avx512") return avx512::teach_class(documents, settings, clauses, examples);
    if (chosen == "avx2") return avx2::teach_class(documents, settings, clauses, examples);
#endif
    portable::teach_class(documents, settings, clauses, examples);
}

namespace {

// For every literal the clauses that include it.
struct Inverse {
    std::vector<uint64_t> offsets;
    std::vector<uint32_t> clauses;

    Inverse(const ClauseLists& lists, uint32_t n_literals)
        : offsets(size_t{n_literals} + 1), clauses(lists.offsets[lists.n_clauses]) {
        for (uint64_t i = 0; i < clauses.size(); ++i) ++offsets[lists.literals[i] + 1];
        for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
        std::vector<uint64_t> next(offsets.begin(), offsets.end() - 1);
        for (uint32_t clause = 0; clause < lists.n_clauses; ++clause)
            for (uint64_t i = lists.offsets[clause]; i < lists.offsets[clause + 1]; ++i)
                clauses[next[lists.literals[i]]++] = clause;
    }

    template <class Function>
    void each(uint32_t literal, Function&& function) const {
        for (uint64_t i = offsets[literal]; i < offsets[literal + 1]; ++i) function(clauses[i]);
    }
};

constexpr int32_t kNever = 1 << 30;  // more missing words than there can be

}  // namespace

void class_votes(const Documents& documents, uint64_t first, uint64_t last, const ClauseLists& clauses, int64_t* votes) {
    const Inverse inverse(clauses, 2 * documents.n_words);
    std::vector<int32_t> wanted(clauses.n_clauses), missing(clauses.n_clauses);
    for (uint32_t clause = 0; clause < clauses.n_clauses; ++clause) {
        const uint32_t* begin = clauses.literals + clauses.offsets[clause];
        const uint32_t* end = clauses.literals + clauses.offsets[clause + 1];
        wanted[clause] = begin == end ? kNever : static_cast<int32_t>(std::lower_bound(begin, end, documents.n_words) - begin);
    }
    for (uint64_t document = first; document < last; ++document) {
        missing = wanted;
        for (uint64_t i = documents.offsets[document]; i < documents.offsets[document + 1]; ++i) {
            const uint32_t word = documents.words[i];
            inverse.each(word, [&](uint32_t clause) { --missing[clause]; });
            inverse.each(documents.n_words + word, [&](uint32_t clause) { missing[clause] = kNever; });
        }
        int64_t vote = 0;
        for (uint32_t clause = 0; clause < clauses.n_clauses; ++clause)
            vote += missing[clause] == 0 ? clauses.weights[clause] : 0;
        votes[document - first] = vote;
    }
}

}  // namespace omnitm
