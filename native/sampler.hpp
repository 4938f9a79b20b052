// Examples: a label, and what is merged for it: documents, or passages or places of a running text.
#pragma once
#include <algorithm>
#include <cstring>

#include "buffer.hpp"
#include "corpus.hpp"
#include "draws.hpp"
#include "planes.hpp"

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

// Documents lie far apart in memory, so each is asked for early: its address 2 * kLag documents ahead, its words kLag
// documents ahead.
class Sampler {
  public:
    Sampler(const Corpus& corpus, const Settings& settings)
        : corpus_(corpus), settings_(settings) {}

    void set(uint32_t target, uint64_t key) {
        target_ = target;
        label_draws_ = Draws(key, Purpose::label);
        document_draws_ = Draws(key, Purpose::document);
        if (corpus_.running.tokens) set_places(target);
        else set_documents(target);
        const bool learns_places = corpus_.running.tokens && !corpus_.running.passage_reach;
        merged_ = learns_places ? merged_places(n_inside_) : settings_.accumulation;
        n_draws_ = settings_.n_examples * merged_;
        ask_ahead();
    }

    // The feature that must not be seen: the word itself among those of its documents or passages. At a place, and for a
    // word that is no feature, there is none: a number beyond all features.
    uint32_t hidden(uint32_t target) const {
        const RunningText& running = corpus_.running;
        if (!running.tokens) return target;
        const uint32_t feature = running.passage_reach ? running.feature_of[target] : RunningText::kNoFeature;
        return feature == RunningText::kNoFeature ? corpus_.n_features() : feature;
    }

    bool label(uint64_t example) const { return (label_draws_(example) >> 32) < settings_.label_probability; }

    // Calls visit(feature) for every word of every document or passage drawn for the example, or for every neighbour of
    // every place, repeats included. Examples must be asked for in order, from 0. Inline, so that what `visit` counts stays in registers.
    template <class Visit>
    [[gnu::always_inline]] void documents(uint64_t example, Visit&& visit) {
        const uint64_t first = example * merged_, end = first + merged_;
        if (corpus_.running.tokens) {
            for (uint64_t i = first; i < end; ++i) {
                choose_next();
                fetch_place(i + kLag);
                const uint64_t place = corpus_.running.places[chosen_[i % kHeld]];
                if (corpus_.running.passage_reach) passage(place, visit);
                else neighbours(place, visit);
            }
            return;
        }
        for (uint64_t i = first; i < end; ++i) {
            choose_next();
            fetch(i + kLag);
            const uint64_t document = chosen_[i % kHeld], begin = corpus_.document_offsets[document];
            const uint64_t stop = corpus_.document_offsets[document + 1];
            if (begin > stop || stop > corpus_.n_document_words) [[unlikely]] refuse_corpus();
            check_words(corpus_.document_words + begin, stop - begin);
            for (uint64_t k = begin; k < stop; ++k) visit(corpus_.document_words[k]);
        }
    }

  private:
    static constexpr uint64_t kLag = 32, kHeld = 128, kFrequent = 1'500;

    void set_documents(uint32_t target) {
        const uint64_t begin = corpus_.word_offsets[target], end = corpus_.word_offsets[target + 1];
        if (begin > end || end > corpus_.n_word_documents || end - begin > corpus_.n_documents) refuse_corpus();
        inside_ = corpus_.word_documents + begin;
        n_inside_ = end - begin;
        outside_.set(inside_, n_inside_, corpus_.n_documents);
        informative_ = n_inside_ > 0 && outside_.size() > 0;
    }

    void set_places(uint32_t target) {
        const RunningText& running = corpus_.running;
        first_inside_ = running.word_starts[target];
        n_inside_ = running.word_starts[target + 1] - first_inside_;
        informative_ = n_inside_ > 0 && n_inside_ < running.n_places;
    }

    // Places merged into an example of a word that has so many: frequent words merge more, so that more of their places
    // are seen. The same as AutoencoderSettings.merged_places.
    uint64_t merged_places(uint64_t n_places) const {
        const uint64_t least = settings_.accumulation, most = least * settings_.accumulation_growth;
        const uint64_t grown = least * n_places / kFrequent;
        return grown < least ? least : grown > most ? most : grown;
    }

    void ask_ahead() {
        n_chosen_ = n_labels_ = left_in_example_ = 0;
        for (uint64_t i = 0; i < 2 * kLag; ++i) choose_next();
        for (uint64_t i = 0; i < kLag; ++i) corpus_.running.tokens ? fetch_place(i) : fetch(i);
    }

    void choose_next() {
        if (n_chosen_ == n_draws_) return;
        if (left_in_example_ == 0) {
            left_in_example_ = merged_;
            label_ = label(n_labels_++);
        }
        --left_in_example_;
        if (corpus_.running.tokens) {
            const uint64_t rank = choose_place(document_draws_(n_chosen_));
            chosen_[n_chosen_++ % kHeld] = rank;
            __builtin_prefetch(corpus_.running.places + rank);
            return;
        }
        const uint64_t document = choose(document_draws_(n_chosen_));
        if (document >= corpus_.n_documents) [[unlikely]] refuse_corpus();
        chosen_[n_chosen_++ % kHeld] = document;
        __builtin_prefetch(corpus_.document_offsets + document);
    }

    // Places lie word by word, so those of other words are the ranks before and after those of the target.
    uint64_t choose_place(uint64_t bits) const {
        if (!informative_) return high_product(bits, corpus_.running.n_places);
        if (label_) return first_inside_ + high_product(bits, n_inside_);
        const uint64_t rank = high_product(bits, corpus_.running.n_places - n_inside_);
        return rank < first_inside_ ? rank : rank + n_inside_;
    }

    [[gnu::always_inline]] void fetch_place(uint64_t i) const {
        if (i >= n_draws_) return;
        const uint32_t* at = corpus_.running.tokens + corpus_.running.places[chosen_[i % kHeld]];
        const uint64_t reach = corpus_.running.passage_reach ? corpus_.running.passage_reach : 2;
        __builtin_prefetch(at - reach);
        __builtin_prefetch(at + reach);
        if (reach > 2) __builtin_prefetch(at);
    }

    // A word, and those before and after it, up to the ends of the passage or of the document. A passage of another word
    // ends at the target as well, so that it is one without the target.
    template <class Visit>
    [[gnu::always_inline]] void passage(uint64_t place, Visit&& visit) const {
        const RunningText& running = corpus_.running;
        if (place == 0 || place + 1 >= running.n_tokens) [[unlikely]] refuse_corpus();
        const uint32_t centre = running.tokens[place];
        const uint32_t end = centre == target_ ? RunningText::kDocumentEnd : target_;
        const auto note = [&](uint32_t number) __attribute__((always_inline)) {
            if (number == RunningText::kDocumentEnd || number == end) return false;
            const uint32_t feature = number < running.n_numbers ? running.feature_of[number] : RunningText::kNoFeature;
            if (feature != RunningText::kNoFeature) visit(feature);
            return true;
        };
        note(centre);
        // Marks are no words: they do not count, and are passed over.
        uint64_t left = running.passage_reach;
        for (uint64_t at = place; left && at > 0 && note(running.tokens[at - 1]); --at)
            left -= !RunningText::is_mark(running.tokens[at - 1]);
        left = running.passage_reach;
        for (uint64_t at = place + 1; left && at < running.n_tokens && note(running.tokens[at]); ++at)
            left -= !RunningText::is_mark(running.tokens[at]);
    }

    template <class Visit>
    [[gnu::always_inline]] void neighbours(uint64_t place, Visit&& visit) const {
        const RunningText& running = corpus_.running;
        if (place == 0 || place + 1 >= running.n_tokens) [[unlikely]] refuse_corpus();
        const uint32_t* const at = running.tokens + place;
        const uint32_t n = running.n_feature_words;
        // Ends of documents and marks are no words, and larger than all numbers.
        const auto note = [&](uint32_t number, uint32_t shift, uint32_t count) __attribute__((always_inline)) {
            if (number >= running.n_numbers) return;
            const uint32_t feature = running.feature_of[number];
            if (feature < count) visit(shift + feature);
        };
        // The word across a joiner, or across a comma and a joiner: "red, and blue".
        const auto note_joined = [&](uint32_t one_on, uint32_t two_on, const uint32_t* third) __attribute__((always_inline)) {
            if (!running.joins(one_on)) return;
            const bool is_pair = (one_on == RunningText::kComma) != (two_on == RunningText::kComma) && running.joins(two_on);
            note(is_pair ? *third : two_on, 4 * n, running.n_joined_words);
        };
        if (at[-1] != RunningText::kDocumentEnd) {
            if (place >= 2) {
                note(at[-2], 0, n);
                note_joined(at[-1], at[-2], place >= 3 ? at - 3 : at - 2);
            }
            note(at[-1], n, n);
        }
        if (at[1] != RunningText::kDocumentEnd) {
            note(at[1], 2 * n, n);
            if (place + 2 < running.n_tokens) {
                note(at[2], 3 * n, n);
                note_joined(at[1], at[2], place + 3 < running.n_tokens ? at + 3 : at + 2);
            }
        }
    }

    // Always inline: GCC takes a function that only prefetches for one without effect and drops the calls.
    [[gnu::always_inline]] void fetch(uint64_t i) const {
        if (i >= n_draws_) return;
        const uint64_t begin = corpus_.document_offsets[chosen_[i % kHeld]];
        if (begin > corpus_.n_document_words) [[unlikely]] refuse_corpus();
        const uint32_t* words = corpus_.document_words + begin;
        __builtin_prefetch(words);
        __builtin_prefetch(words + 15);
    }

    // All at once before they are visited, since kernels use them as indices. The last eight may be looked at twice.
    void check_words(const uint32_t* words, uint64_t count) const {
        uint32_t largest = 0;
        if (count < 8) {
            for (uint64_t k = 0; k < count; ++k) largest = words[k] > largest ? words[k] : largest;
            if (largest >= corpus_.n_words) [[unlikely]] refuse_corpus();
            return;
        }
        Counters highest = eight(words + count - 8);
        for (uint64_t k = 0; k + 8 < count; k += 8) {
            const Counters next = eight(words + k);
            highest = next > highest ? next : highest;
        }
        if (any((Slice)(highest >= corpus_.n_words))) [[unlikely]] refuse_corpus();
    }

    static Counters eight(const uint32_t* words) {
        Counters loaded;
        std::memcpy(&loaded, words, sizeof loaded);
        return loaded;
    }

    uint64_t choose(uint64_t bits) const {
        if (!informative_) return high_product(bits, corpus_.n_documents);
        if (label_) return inside_[high_product(bits, n_inside_)];
        return outside_[high_product(bits, outside_.size())];
    }

    const Corpus corpus_;
    const Settings settings_;
    uint32_t target_ = 0;
    uint64_t merged_ = 0, n_draws_ = 0;  // documents per example, and of all examples
    uint64_t chosen_[kHeld];
    uint64_t n_chosen_ = 0, n_labels_ = 0, left_in_example_ = 0;
    bool label_ = false;
    Outside outside_;
    Draws label_draws_, document_draws_;
    const uint32_t* inside_ = nullptr;
    uint64_t first_inside_ = 0, n_inside_ = 0;
    bool informative_ = false;
};

}  // namespace omnitm::OMNITM_ISA
