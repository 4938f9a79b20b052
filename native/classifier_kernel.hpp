// Teaches the clauses of one class, 256 literals at a time, and as late as possible.
//
// All that learning needs to know at once is which literals are included, since that decides which clauses are true.
// So a clause keeps a log of up to kLog lessons, and a chunk of its literals is settled (all lessons of the log applied,
// in registers) only when the log is full, or when a literal of the chunk matters that may have crossed the threshold
// since the chunk was last settled. kLog lessons move a state by at most kLog: a literal that was further away than
// that is still where it was. Others are `near`.
//
// Negated literals of words that documents often have matter all the time, so their chunks are prompt: settled after
// every lesson.
//
// Functions on the way of a lesson are inline, so that planes stay in registers.
#pragma once
#include <cstring>

#include "buffer.hpp"
#include "classifier.hpp"
#include "draws.hpp"
#include "planes.hpp"

namespace omnitm::OMNITM_ISA {

template <bool FairCoins>  // whether the specificity is 2
class ClassTeacher {
    static constexpr int kPlanes = 8;
    static constexpr uint32_t kLog = 16;        // `near_threshold` is written for 16
    static constexpr uint32_t kRemembered = 128;  // documents that lessons can refer to
    static constexpr uint64_t kPromptFrom = 2;  // see choose_prompt_chunks
    static constexpr uint32_t kNoLimit = 0xFFFFFFFFu;

    enum class Kind : uint32_t { remember, forget, reject };  // Ia, Ib, II

    struct Lesson {
        uint64_t coins;  // what the literals' coins are hashed from
        Kind kind;
        uint32_t document;  // place among the remembered ones
    };
    struct Note {  // about the literals of a chunk, from when it was last settled
        Slice included, near;
    };

  public:
    ClassTeacher(const Documents& documents, const ClassifierSettings& settings, const ClassClauses& clauses)
        : documents_(documents),
          settings_(settings),
          clauses_(clauses),
          n_half_((documents.n_words + kSlice - 1) / kSlice),
          n_chunks_(2 * n_half_),
          n_lanes_(clauses.n_active),
          n_watch_words_((n_half_ + 63) / 64),
          feedback_draws_(settings.key, Purpose::gate_and_feedback),
          literal_draws_(settings.key, Purpose::literal),
          remembered_(size_t{kRemembered} * n_half_),
          touched_(n_half_),
          is_prompt_(n_half_),
          prompt_(n_half_),
          notes_(size_t{n_lanes_} * n_chunks_),
          settled_(size_t{n_lanes_} * n_chunks_),
          watched_(size_t{n_lanes_} * n_watch_words_),
          log_(size_t{n_lanes_} * kLog),
          n_logged_(n_lanes_),
          outputs_(n_lanes_) {
        const uint32_t rest = documents.n_words % kSlice;
        for (uint32_t i = 0; i < kSlice; ++i)
            if (rest == 0 || i < rest) last_visible_[i / 64] |= 1ull << (i % 64);
    }

    void teach(const ClassExamples& examples) {
        choose_prompt_chunks(examples);
        start();
        for (uint64_t i = 0; i < examples.n_examples; ++i) {
            if (i % kRemembered == 0) settle_all();
            read(examples.documents[i], static_cast<uint32_t>(i % kRemembered));
            learn(examples.steps[i]);
        }
        settle_all();
    }

  private:
    // A chunk is prompt if a document has a word of it more often than not.
    void choose_prompt_chunks(const ClassExamples& examples) {
        Buffer<uint64_t> counts(n_half_);
        counts.fill(0);
        for (uint64_t i = 0; i < examples.n_examples; ++i) {
            const uint32_t document = examples.documents[i];
            for (uint64_t k = documents_.offsets[document]; k < documents_.offsets[document + 1]; ++k)
                ++counts[documents_.words[k] / kSlice];
        }
        n_prompt_ = 0;
        for (uint32_t chunk = 0; chunk < n_half_; ++chunk) {
            is_prompt_[chunk] = kPromptFrom * counts[chunk] >= examples.n_examples;
            if (is_prompt_[chunk]) prompt_[n_prompt_++] = chunk;
        }
        banned_.allocate(size_t{n_lanes_} * n_prompt_);
    }

    void start() {
        notes_.fill(Note{});
        settled_.fill(0);
        watched_.fill(0);
        n_logged_.fill(0);
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) {
            for (uint32_t chunk = 0; chunk < n_chunks_; ++chunk) {
                const Slice* planes = stored(lane, chunk);
                note(lane, chunk, {planes[kPlanes - 1], near_threshold(planes)});
            }
            for (uint32_t i = 0; i < n_prompt_; ++i)
                banned_[size_t{lane} * n_prompt_ + i] = stored(lane, n_half_ + prompt_[i])[kPlanes - 1];
        }
    }

    bool is_prompt(uint32_t chunk) const { return chunk >= n_half_ && is_prompt_[chunk - n_half_]; }

    Slice* stored(uint32_t lane, uint32_t chunk) const {
        const size_t at = (size_t{clauses_.active[lane]} * n_chunks_ + chunk) * kPlanes;
        return reinterpret_cast<Slice*>(clauses_.planes) + at;
    }

    // States 112 to 143: up to 16 steps away from crossing the threshold.
    template <class AnySlice>
    static Slice near_threshold(const AnySlice* planes) {
        return (planes[7] ^ planes[6]) & ~(planes[6] ^ planes[5]) & ~(planes[5] ^ planes[4]);
    }

    // ---- documents

    // Sets `bits_` to the document's words and `touched_` to the chunks it has that are not prompt.
    void read(uint32_t document, uint32_t place) {
        document_ = place;
        bits_ = remembered_.data() + size_t{place} * n_half_;
        for (uint32_t chunk = 0; chunk < n_half_; ++chunk) bits_[chunk] = Slice{};
        auto* bits = reinterpret_cast<uint64_t*>(bits_);
        for (uint64_t i = documents_.offsets[document]; i < documents_.offsets[document + 1]; ++i)
            bits[documents_.words[i] / 64] |= 1ull << (documents_.words[i] % 64);
        n_touched_ = 0;
        for (uint32_t chunk = 0; chunk < n_half_; ++chunk)
            if (!is_prompt_[chunk] && any(bits_[chunk])) touched_[n_touched_++] = chunk;
    }

    // ---- which clauses are true

    bool is_true(uint32_t lane) {
        return no_frequent_word_is_banned(lane) && no_other_word_is_banned(lane) && no_word_is_missing(lane);
    }

    bool no_frequent_word_is_banned(uint32_t lane) const {
        const Slice* banned = banned_.data() + size_t{lane} * n_prompt_;
        Slice found{};
        for (uint32_t i = 0; i < n_prompt_; ++i) found |= banned[i] & bits_[prompt_[i]];
        return !any(found);
    }

    bool no_other_word_is_banned(uint32_t lane) {
        const Note* notes = notes_.data() + size_t{lane} * n_chunks_ + n_half_;
        for (uint32_t i = 0; i < n_touched_; ++i) {
            const uint32_t chunk = touched_[i];
            if (any(notes[chunk].near & bits_[chunk])) settle(lane, n_half_ + chunk);
            if (any(notes[chunk].included & bits_[chunk])) return false;
        }
        return true;
    }

    bool no_word_is_missing(uint32_t lane) {
        const uint64_t* watched = watched_.data() + size_t{lane} * n_watch_words_;
        for (uint32_t word = 0; word < n_watch_words_; ++word)
            for (uint64_t rest = watched[word]; rest; rest &= rest - 1) {
                const uint32_t chunk = word * 64 + static_cast<uint32_t>(__builtin_ctzll(rest));
                const Note& note = notes_[size_t{lane} * n_chunks_ + chunk];
                if (any(note.near & ~bits_[chunk])) settle(lane, chunk);
                if (any(note.included & ~bits_[chunk])) return false;
            }
        return true;
    }

    // ---- feedback

    void learn(uint64_t step) {
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) outputs_[lane] = is_true(lane);
        const bool belongs = step % 2 == 0;
        const int64_t limit = settings_.threshold, vote = clipped_vote();
        const int64_t chance = belongs ? limit - vote : limit + vote;
        const uint64_t bound = 2 * static_cast<uint64_t>(limit);
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) {
            const uint32_t clause = clauses_.active[lane];
            const uint64_t number = step * settings_.n_clauses + clause, bits = feedback_draws_(number);
            if (below(bits >> 32, bound) < chance) give_feedback(lane, clause, number, belongs);
            if (outputs_[lane] && below(static_cast<uint32_t>(bits), bound) < chance) move_weight(clause, belongs);
        }
    }

    int64_t clipped_vote() const {
        int64_t vote = 0;
        for (uint32_t lane = 0; lane < n_lanes_; ++lane)
            if (outputs_[lane]) vote += clauses_.weights[clauses_.active[lane]];
        const int64_t limit = settings_.threshold;
        return vote > limit ? limit : vote < -limit ? -limit : vote;
    }

    [[gnu::always_inline]] void give_feedback(uint32_t lane, uint32_t clause, uint64_t number, bool belongs) {
        const bool votes_for = clause < settings_.n_clauses / 2;
        if (votes_for == belongs) {
            const bool remembers = outputs_[lane] && is_small(lane);
            write_down(lane, {literal_draws_(number), remembers ? Kind::remember : Kind::forget, document_});
        } else if (outputs_[lane]) {
            write_down(lane, {0, Kind::reject, document_});
        }
    }

    bool is_small(uint32_t lane) {
        if (settings_.max_included == kNoLimit) return true;
        settle_all(lane);
        uint32_t n_included = 0;
        for (uint32_t chunk = 0; chunk < n_chunks_; ++chunk) n_included += ones(stored(lane, chunk)[kPlanes - 1]);
        return n_included <= settings_.max_included;
    }

    // No weight changes its sign or becomes 0.
    void move_weight(uint32_t clause, bool belongs) {
        int32_t& weight = clauses_.weights[clause];
        if (weight != (belongs ? -1 : 1)) weight += belongs ? 1 : -1;
    }

    [[gnu::always_inline]] void write_down(uint32_t lane, const Lesson& lesson) {
        apply_promptly(lane, lesson);
        log_[size_t{lane} * kLog + n_logged_[lane]++] = lesson;
        if (n_logged_[lane] == kLog) settle_all(lane);
    }

    // ---- states

    void settle_all() {
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) settle_all(lane);
    }

    void settle_all(uint32_t lane) {
        if (!n_logged_[lane]) return;
        for (uint32_t chunk = 0; chunk < n_chunks_; ++chunk)
            if (!is_prompt(chunk)) settle(lane, chunk);
        n_logged_[lane] = 0;
        std::memset(settled_.data() + size_t{lane} * n_chunks_, 0, n_chunks_);
    }

    // Not for prompt chunks.
    void settle(uint32_t lane, uint32_t chunk) {
        uint8_t& settled = settled_[size_t{lane} * n_chunks_ + chunk];
        if (settled == n_logged_[lane]) return;
        Slice* memory = stored(lane, chunk);
        Slice planes[kPlanes];
        copy_planes(planes, memory);
        const Lesson* log = log_.data() + size_t{lane} * kLog;
        const Lesson *first = log + settled, *last = log + n_logged_[lane];
        if (chunk >= n_half_) apply_negated(planes, first, last, chunk);
        else if (any(planes[4] | planes[5] | planes[6] | planes[7])) apply_positive<kPlanes>(planes, first, last, chunk);
        else apply_positive<5>(planes, first, last, chunk);  // below 16, and below 32 afterwards
        if (chunk == n_half_ - 1 || chunk == n_chunks_ - 1)
            for (Slice& plane : planes) plane &= last_visible_;
        copy_planes(memory, planes);
        settled = static_cast<uint8_t>(n_logged_[lane]);
        note(lane, chunk, {planes[kPlanes - 1], near_threshold(planes)});
    }

    [[gnu::always_inline]] void apply_promptly(uint32_t lane, const Lesson& lesson) {
        for (uint32_t i = 0; i < n_prompt_; ++i) {
            const uint32_t chunk = n_half_ + prompt_[i];
            if (lesson.kind == Kind::reject && !any(bits_[prompt_[i]])) continue;
            Slice* memory = stored(lane, chunk);
            Slice planes[kPlanes];
            copy_planes(planes, memory);
            apply_negated(planes, &lesson, &lesson + 1, chunk);
            if (chunk == n_chunks_ - 1)
                for (Slice& plane : planes) plane &= last_visible_;
            copy_planes(memory, planes);
            banned_[size_t{lane} * n_prompt_ + i] = planes[kPlanes - 1];
        }
    }

    Slice coins(const Lesson& lesson, uint32_t chunk) const {
        if constexpr (FairCoins) return LiteralCoins::fair(lesson.coins, chunk);
        else return LiteralCoins(lesson.coins, settings_.forget_probability, n_chunks_)(chunk);
    }

    const Slice& words_of(const Lesson& lesson, uint32_t chunk) const {
        return remembered_[size_t{lesson.document} * n_half_ + chunk];
    }

    template <int N>
    [[gnu::always_inline]] void apply_positive(Slice* planes, const Lesson* first, const Lesson* last, uint32_t chunk) const {
        for (const Lesson* lesson = first; lesson != last; ++lesson) {
            if (lesson->kind == Kind::forget) {
                lower_states<N>(planes, coins(*lesson, chunk));
                continue;
            }
            const Slice words = words_of(*lesson, chunk);
            if (lesson->kind == Kind::reject) {
                raise_states<N>(planes, ~words);
                continue;
            }
            lower_states<N>(planes, coins(*lesson, chunk) & ~words);
            if (any(words)) raise_states<N>(planes, words);
        }
    }

    [[gnu::always_inline]] void apply_negated(Slice* planes, const Lesson* first, const Lesson* last, uint32_t chunk) const {
        for (const Lesson* lesson = first; lesson != last; ++lesson) {
            if (lesson->kind == Kind::forget) {
                lower_states<kPlanes>(planes, coins(*lesson, chunk));
                continue;
            }
            const Slice words = words_of(*lesson, chunk - n_half_);
            if (lesson->kind == Kind::reject) {
                if (any(words)) raise_states<kPlanes>(planes, words);
                continue;
            }
            raise_states<kPlanes>(planes, ~words);
            if (any(words)) lower_states<kPlanes>(planes, coins(*lesson, chunk) & words);
        }
    }

    [[gnu::always_inline]] void note(uint32_t lane, uint32_t chunk, const Note& note) {
        notes_[size_t{lane} * n_chunks_ + chunk] = note;
        if (chunk >= n_half_) return;
        uint64_t& watched = watched_[size_t{lane} * n_watch_words_ + chunk / 64];
        const uint64_t bit = 1ull << (chunk % 64);
        watched = any(note.included | note.near) ? watched | bit : watched & ~bit;
    }

    const Documents documents_;
    const ClassifierSettings settings_;
    const ClassClauses clauses_;
    const uint32_t n_half_, n_chunks_, n_lanes_, n_watch_words_;
    const Draws feedback_draws_, literal_draws_;
    Slice last_visible_{};
    Buffer<Slice> remembered_;
    Buffer<uint32_t> touched_;
    Buffer<uint8_t> is_prompt_;
    Buffer<uint32_t> prompt_;
    Buffer<Slice> banned_;  // lanes x prompt chunks: included negated literals
    Buffer<Note> notes_;
    Buffer<uint8_t> settled_;  // lessons of the log that a chunk has had
    Buffer<uint64_t> watched_;
    Buffer<Lesson> log_;
    Buffer<uint32_t> n_logged_;
    Buffer<uint8_t> outputs_;

    // The document at hand.
    uint32_t document_ = 0, n_touched_ = 0;
    Slice* bits_ = nullptr;
    uint32_t n_prompt_ = 0;
};

}  // namespace omnitm::OMNITM_ISA
