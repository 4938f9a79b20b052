// Examples: a label, and the documents that are merged for it.
#pragma once
#include "buffer.hpp"
#include "corpus.hpp"
#include "draws.hpp"

namespace omnitm::OMNITM_ISA {

// The documents that do not contain a word, by rank, without listing them: document r + k is outside when exactly
// k documents of the word come before it. A directory keeps the search short.
class Outside {
  public:
    Outside() : first_(kMaxBuckets + 1) {}

    void set(const uint32_t* documents, uint64_t n_with, uint64_t n_documents) {
        documents_ = documents;
        n_with_ = n_with;
        size_ = n_documents - n_with;
        shift_ = 0;
        while ((size_ >> shift_) >= kMaxBuckets) ++shift_;
        uint64_t from = 0;
        for (uint64_t bucket = 0; bucket <= size_ >> shift_; ++bucket)
            first_[bucket] = from = before(bucket << shift_, from, n_with_);
        first_[(size_ >> shift_) + 1] = n_with_;
    }

    uint64_t size() const { return size_; }

    uint64_t operator[](uint64_t rank) const {
        const uint64_t bucket = rank >> shift_;
        return rank + before(rank, first_[bucket], first_[bucket + 1]);
    }

  private:
    static constexpr uint64_t kMaxBuckets = 1024;

    // How many documents of the word come before the outside document of this rank; the answer is in [low, high].
    uint64_t before(uint64_t rank, uint64_t low, uint64_t high) const {
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (documents_[middle] - middle > rank) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    const uint32_t* documents_ = nullptr;
    uint64_t n_with_ = 0, size_ = 0;
    int shift_ = 0;
    Buffer<uint64_t> first_;
};

class Sampler {
  public:
    Sampler(const Corpus& corpus, const Settings& settings)
        : corpus_(corpus), settings_(settings), chosen_(settings.accumulation) {}

    void set(uint32_t target, uint64_t key) {
        label_draws_ = Draws(key, Purpose::label);
        document_draws_ = Draws(key, Purpose::document);
        const uint64_t begin = corpus_.word_offsets[target], end = corpus_.word_offsets[target + 1];
        inside_ = corpus_.word_documents + begin;
        n_inside_ = end - begin;
        outside_.set(inside_, n_inside_, corpus_.n_documents);
        informative_ = n_inside_ > 0 && outside_.size() > 0;
    }

    bool label(uint64_t example) const { return (label_draws_(example) >> 32) < settings_.label_probability; }

    // Calls visit(word) for every word of every document drawn for the example, repeats included. Documents lie
    // far apart in memory: their addresses are fetched first, then their words, then they are read.
    template <class Visit>
    void documents(uint64_t example, bool label, Visit&& visit) {
        const uint64_t* offsets = corpus_.document_offsets;
        const uint64_t n = settings_.accumulation;
        for (uint64_t i = 0; i < n; ++i) {
            chosen_[i] = choose(document_draws_(example * n + i), label);
            __builtin_prefetch(offsets + chosen_[i]);
        }
        for (uint64_t i = 0; i < n; ++i) __builtin_prefetch(corpus_.document_words + offsets[chosen_[i]]);
        for (uint64_t i = 0; i < n; ++i)
            for (uint64_t k = offsets[chosen_[i]], end = offsets[chosen_[i] + 1]; k < end; ++k)
                visit(corpus_.document_words[k]);
    }

  private:
    uint64_t choose(uint64_t bits, bool label) const {
        if (!informative_) return high_product(bits, corpus_.n_documents);
        if (label) return inside_[high_product(bits, n_inside_)];
        return outside_[high_product(bits, outside_.size())];
    }

    const Corpus corpus_;
    const Settings settings_;
    Buffer<uint64_t> chosen_;
    Outside outside_;
    Draws label_draws_, document_draws_;
    const uint32_t* inside_ = nullptr;
    uint64_t n_inside_ = 0;
    bool informative_ = false;
};

}  // namespace omnitm::OMNITM_ISA
