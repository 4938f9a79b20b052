// What a kernel sees of a corpus, and what it is asked to learn. Shared by all instruction sets: data only.
#pragma once
#include <atomic>
#include <cstdint>

namespace omnitm {

// The text in its order, as numbers: a document end before the first document and after every document, and marks where
// commas, other punctuation or numbers stand between two words of a document, never two of them together. The places of
// number k: places[word_starts[k] .. word_starts[k + 1]), ascending; together all places but ends and marks.
struct RunningText {
    static constexpr uint32_t kNoFeature = 0xFFFFFFFFu;
    static constexpr uint32_t kDocumentEnd = 0xFFFFFFFFu, kComma = 0xFFFFFFFEu, kGap = 0xFFFFFFFDu;
    static constexpr uint32_t kMostJoiners = 5;

    const uint32_t* tokens = nullptr;  // null: there is none, and what is learnt from are documents
    const uint64_t* word_starts = nullptr;
    const uint32_t* places = nullptr;
    const uint32_t* feature_of = nullptr;  // by number: which of the feature words it is, or kNoFeature
    uint64_t n_tokens = 0, n_places = 0;
    // The first so many feature words are features where they are neighbours, the first so many where they are joined.
    uint32_t n_numbers = 0, n_feature_words = 0, n_joined_words = 0;
    uint32_t n_joiners = 0, joiners[kMostJoiners] = {};  // numbers of words such as "and", and the comma
    // Words of a passage on each side of a place, whose feature words are learnt from; 0: its neighbours are.
    uint32_t passage_reach = 0;

    bool joins(uint32_t number) const {
        bool found = false;
        for (uint32_t k = 0; k < n_joiners; ++k) found |= joiners[k] == number;
        return found;
    }

    static bool is_mark(uint32_t number) { return number == kComma || number == kGap; }
};

// Words of document i: document_words[document_offsets[i] .. document_offsets[i + 1]), ascending; and the inverse.
struct Corpus {
    const uint64_t* document_offsets;
    const uint32_t* document_words;
    const uint64_t* word_offsets;
    const uint32_t* word_documents;
    uint64_t n_document_words, n_word_documents;  // lengths of the arrays
    uint64_t n_documents;
    uint32_t n_words;
    RunningText running = {};

    // Words of a document, feature words of a passage, or feature words at each of four places around a word and, where
    // there are words such as "and", joined with it by one of these.
    uint32_t n_features() const {
        if (!running.tokens) return n_words;
        return running.passage_reach ? running.n_feature_words : 4 * running.n_feature_words + running.n_joined_words;
    }
};

// Throws std::invalid_argument: an offset, a word or a document lies outside its range. Samplers check what they draw,
// so that a corpus need not be read as a whole before the first word is trained.
[[noreturn]] void refuse_corpus();

struct Settings {
    uint32_t n_clauses;
    int32_t threshold;
    uint64_t forget_probability;  // 2**32 / specificity
    uint32_t accumulation;
    uint32_t accumulation_growth;  // of frequent words: see Sampler::merged_places
    uint64_t n_examples;
    uint64_t label_probability;  // 2**32 * output_balancing
    uint32_t max_included;       // 2**32 - 1: no limit
    int state_bits;
    bool fast;
    bool negated;  // whether clauses may ask for the absence of a word; the lazy machine needs it

    int initial_state() const { return (1 << (state_bits - 1)) - 1; }
    int max_state() const { return (1 << state_bits) - 1; }
};

constexpr uint32_t kNoLimit = 0xFFFFFFFFu;

// What became of one word's two literals, example by example; the arrays belong to the caller.
struct Recording {
    uint32_t word;
    uint8_t* states;    // n_examples x n_clauses x 2, after the example: "the word occurs", "it does not"
    uint8_t* feedback;  // n_examples x n_clauses: 0 none, 1 remember (Ia), 2 forget (Ib), 3 reject (II)
    int32_t* weights;   // n_examples x n_clauses, after the example
};

// One word's machine; the memory is used again for the next word.
class Machine {
  public:
    virtual ~Machine() = default;
    // False: stopped half-way through `stop`.
    virtual bool train(uint32_t target, uint64_t key, const std::atomic<bool>& stop) = 0;
    // Trains as `train` does and fills the recording; false as well when this kind of machine cannot.
    virtual bool record(uint32_t target, uint64_t key, const std::atomic<bool>& stop, const Recording& recording) = 0;
    virtual void embedding(int16_t* out) const = 0;    // n_words
    virtual void states(uint8_t* out) const = 0;       // n_clauses x 2 n_words
    virtual const int32_t* weights() const = 0;        // n_clauses
};

// A clause bank that several words share: the classic TM-AE.
class SharedBank {
  public:
    virtual ~SharedBank() = default;
    // Draws of a word come from its key, first weights and the order of words from `key`. False: stopped half-way.
    virtual bool train(const uint32_t* targets, const uint64_t* keys, uint32_t n_targets, uint64_t key,
                       const std::atomic<bool>& stop, std::atomic<uint64_t>& n_done) = 0;
    virtual void shared_states(uint8_t* out) const = 0;  // n_clauses x 2 n_words
    virtual const int32_t* shared_weights() const = 0;   // n_targets x n_clauses
};

}  // namespace omnitm
