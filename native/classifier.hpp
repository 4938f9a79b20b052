// What the classifier's kernels see. Shared by all instruction sets: data only, but for the two functions at the end.
#pragma once
#include <cstdint>
#include <string>

namespace omnitm {

struct Documents {
    const uint64_t* offsets;  // words of document i: words[offsets[i] .. offsets[i + 1])
    const uint32_t* words;
    uint64_t n_documents;
    uint32_t n_words;
};

struct ClassifierSettings {
    uint32_t n_clauses;
    int32_t threshold;
    uint64_t forget_probability;  // 2**32 / specificity
    uint32_t max_included;        // 2**32 - 1: no limit
    uint64_t key;
};

// The clauses of one class. A chunk is 256 neighbouring literals as 8 bit planes of 4 words each, lowest bit first:
//
//   planes[clause][chunk][plane][word]     chunks of positive literals first, then those of negated ones;
//                                          the last of each is padded with literals that stay in state 0
struct ClassClauses {
    uint64_t* planes;
    int32_t* weights;
    const uint32_t* active;  // clauses that take part, ascending
    uint32_t n_active;
};

// What one class is shown, in this order; an even step number says that the document belongs to the class.
struct ClassExamples {
    const uint32_t* documents;
    const uint64_t* steps;
    uint64_t n_examples;
};

// Included literals of each clause, ascending.
struct ClauseLists {
    const uint64_t* offsets;
    const uint32_t* literals;
    const int32_t* weights;
    uint32_t n_clauses;
};

void teach_class(const std::string& isa, const Documents& documents, const ClassifierSettings& settings,
                 const ClassClauses& clauses, const ClassExamples& examples);

// Writes one class's vote on documents first .. last - 1.
void class_votes(const Documents& documents, uint64_t first, uint64_t last, const ClauseLists& clauses, int64_t* votes);

}  // namespace omnitm
