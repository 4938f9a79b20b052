// The machine at any specificity: every literal may toss a coin, so every literal is visited, 256 at a time.
//
// Lanes are literals. The bits of 256 states lie in bit planes, so that one step is a ripple of carries:
//
//   low_[lane][chunk][plane]   planes 0 .. Bits - 2        a chunk: 256 positive or 256 negated literals;
//   top_[lane][chunk]          plane Bits - 1, "included"  positive chunks first, the last one padded
//   asking_[lane]              a bit per chunk: whether one of its literals is included. Clauses are short, so this is
//                              what makes asking whether a clause is true cheap
#pragma once
#include "clauses.hpp"
#include "planes.hpp"
#include "sampler.hpp"

namespace omnitm::OMNITM_ISA {

template <int Bits>
class alignas(128) SlicedMachine : public Machine {  // threads must not share cache lines
  public:
    SlicedMachine(const Corpus& corpus, const Settings& settings)
        : corpus_(corpus),
          settings_(settings),
          n_half_((corpus.n_features() + kSlice - 1) / kSlice),
          n_chunks_(2 * n_half_),
          n_used_(settings.negated ? n_chunks_ : n_half_),
          sampler_(corpus, settings),
          clauses_(settings),
          words_(n_half_),
          visible_(n_half_),
          low_(size_t{settings.n_clauses} * n_chunks_ * (Bits - 1)),
          top_(size_t{settings.n_clauses} * n_chunks_),
          idle_(size_t{settings.n_clauses} * n_chunks_),
          n_asking_((n_chunks_ + 63) / 64),
          asking_(size_t{settings.n_clauses} * n_asking_),
          n_included_(settings.n_clauses),
          output_(settings.n_clauses),
          small_(settings.n_clauses),
          remember_(settings.n_clauses),
          forget_(settings.n_clauses),
          reject_(settings.n_clauses) {}

    bool train(uint32_t target, uint64_t key, const std::atomic<bool>& stop) override {
        return train(target, key, stop, nullptr);
    }

    bool record(uint32_t target, uint64_t key, const std::atomic<bool>& stop, const Recording& recording) override {
        return train(target, key, stop, &recording);
    }

    const int32_t* weights() const override { return clauses_.weights(); }

    void embedding(int16_t* out) const override {
        const int n_positive = static_cast<int>(clauses_.n_positive());
        for (uint32_t chunk = 0; chunk < n_half_; ++chunk) {
            int32_t sums[kSlice] = {};
            for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane) {
                if (!clauses_.positive(lane)) continue;
                add_states(lane, chunk, 1, sums);
                add_states(lane, n_half_ + chunk, -1, sums);
            }
            for (uint32_t i = 0; i < kSlice && chunk * kSlice + i < corpus_.n_features(); ++i)
                out[chunk * kSlice + i] = static_cast<int16_t>(n_positive ? floored(sums[i], n_positive) : 0);
        }
    }

    void states(uint8_t* out) const override {
        const size_t n_words = corpus_.n_features();
        const uint8_t initial = static_cast<uint8_t>(settings_.initial_state());
        for (size_t i = 0; i < 2 * n_words * settings_.n_clauses; ++i) out[i] = initial;
        for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane) {
            uint8_t* row = out + 2 * n_words * clauses_.clause(lane);
            for (uint32_t chunk = 0; chunk < n_chunks_; ++chunk) {
                int32_t sums[kSlice] = {};
                add_states(lane, chunk, 1, sums);
                const size_t half = chunk / n_half_, first = size_t{chunk % n_half_} * kSlice;
                for (size_t i = 0; i < kSlice && first + i < n_words; ++i)
                    row[half * n_words + first + i] = static_cast<uint8_t>(sums[i]);
            }
        }
    }

  protected:
    bool train(uint32_t target, uint64_t key, const std::atomic<bool>& stop, const Recording* recording) {
        start(target, key);
        for (uint64_t example = 0; example < settings_.n_examples; ++example) {
            if (stop.load(std::memory_order_relaxed)) return false;
            const bool label = sampler_.label(example);
            words_.fill(Slice{});
            sampler_.documents(example, [&](uint32_t word) { set_bit(words_, word); });
            learn(example, label);
            if (recording) write_down(example, *recording);
        }
        clauses_.finish();
        return true;
    }

    void write_down(uint64_t example, const Recording& recording) {
        const size_t first = example * settings_.n_clauses;
        clauses_.finish();
        for (uint32_t clause = 0; clause < settings_.n_clauses; ++clause) {
            recording.states[2 * (first + clause)] = static_cast<uint8_t>(settings_.initial_state());
            recording.states[2 * (first + clause) + 1] = static_cast<uint8_t>(settings_.initial_state());
            recording.feedback[first + clause] = 0;
            recording.weights[first + clause] = clauses_.weights()[clause];
        }
        for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane) {
            const size_t at = first + clauses_.clause(lane);
            recording.states[2 * at] = state(lane, recording.word / kSlice, recording.word % kSlice);
            recording.states[2 * at + 1] = state(lane, n_half_ + recording.word / kSlice, recording.word % kSlice);
            recording.feedback[at] =
                static_cast<uint8_t>(remember_[lane] ? 1 : forget_[lane] ? 2 : reject_[lane] ? 3 : 0);
        }
    }

    uint8_t state(uint32_t lane, uint32_t chunk, uint32_t i) const {
        const size_t at = size_t{lane} * n_chunks_ + chunk;
        uint32_t value = 0;
        for (int plane = 0; plane < Bits; ++plane) {
            const Slice& bits = plane < Bits - 1 ? low_[at * (Bits - 1) + plane] : top_[at];
            value |= static_cast<uint32_t>(bits[i / 64] >> (i % 64) & 1) << plane;
        }
        return static_cast<uint8_t>(value);
    }

    void start(uint32_t target, uint64_t key) {
        sampler_.set(target, key);
        clauses_.start(key);
        start_states();
        const uint32_t hidden = sampler_.hidden(target);
        if (hidden < corpus_.n_features()) flip_bit(visible_, hidden);
        literal_draws_ = Draws(key, Purpose::literal);
    }

    // All literals one step below inclusion, all words visible.
    void start_states() {
        low_.fill(~Slice{});
        top_.fill(Slice{});
        idle_.fill(0);
        asking_.fill(0);
        n_included_.fill(0);
        visible_.fill(Slice{});
        for (uint32_t w = 0; w < corpus_.n_features(); ++w) set_bit(visible_, w);
    }

    static void flip_bit(Buffer<Slice>& bits, uint32_t i) {
        reinterpret_cast<uint64_t*>(bits.data())[i / 64] ^= 1ull << (i % 64);
    }

    static void set_bit(Buffer<Slice>& bits, uint32_t i) {
        reinterpret_cast<uint64_t*>(bits.data())[i / 64] |= 1ull << (i % 64);
    }

    void learn(uint64_t example, bool label) {
        for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane) {
            output_[lane] = n_included_[lane] == 0 || matches(lane);
            small_[lane] = n_included_[lane] <= settings_.max_included;
        }
        clauses_.teach(example, label, output_.data(), small_.data(), remember_.data(), forget_.data(), reject_.data());
        for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane)
            give_feedback(lane, example * settings_.n_clauses + clauses_.clause(lane));
    }

    void give_feedback(uint32_t lane, uint64_t number) {
        const LiteralCoins coins(literal_draws_(number), settings_.forget_probability, n_chunks_);
        const auto nowhere = [](const Slice&) { return Slice{}; };
        const auto where_true = [](const Slice& is_true) { return is_true; };
        const auto where_false = [](const Slice& is_true) { return ~is_true; };
        if (remember_[lane])
            update(lane, where_true, [&](uint32_t chunk, const Slice& is_true) { return ~is_true & coins(chunk); });
        else if (forget_[lane])
            update(lane, nowhere, [&](uint32_t chunk, const Slice&) { return coins(chunk); });
        else if (reject_[lane])
            update(lane, where_false, [](uint32_t, const Slice&) { return Slice{}; });
    }

    // Whether all visible literals that the clause includes are true.
    bool matches(uint32_t lane) const {
        const Slice* top = top_.data() + size_t{lane} * n_chunks_;
        const uint64_t* asking = asking_.data() + size_t{lane} * n_asking_;
        for (uint32_t word = 0; word < n_asking_; ++word)
            for (uint64_t rest = asking[word]; rest; rest &= rest - 1) {
                const uint32_t chunk = word * 64 + static_cast<uint32_t>(__builtin_ctzll(rest));
                const uint32_t in_half = chunk < n_half_ ? chunk : chunk - n_half_;
                const Slice is_false = chunk < n_half_ ? ~words_[in_half] : words_[in_half];
                if (any(top[chunk] & is_false & visible_[in_half])) return false;
            }
        return true;
    }

    // A chunk whose states are all 0 is idle: there, nothing can sink and no coins are needed.
    template <class Up, class Down>
    void update(uint32_t lane, Up&& up, Down&& down) {
        Slice* top = top_.data() + size_t{lane} * n_chunks_;
        Slice* low = low_.data() + size_t{lane} * n_chunks_ * (Bits - 1);
        uint8_t* idle = idle_.data() + size_t{lane} * n_chunks_;
        uint64_t* asking = asking_.data() + size_t{lane} * n_asking_;
        for (uint32_t word = 0; word < n_asking_; ++word) asking[word] = 0;
        uint32_t n_included = 0;
        for (uint32_t chunk = 0; chunk < n_used_; ++chunk) {
            const uint32_t in_half = chunk < n_half_ ? chunk : chunk - n_half_;
            const Slice is_true = chunk < n_half_ ? words_[in_half] : ~words_[in_half];
            const Slice rising = up(is_true) & visible_[in_half];
            if (idle[chunk] && !any(rising)) continue;
            const Slice sinking = idle[chunk] ? Slice{} : down(chunk, is_true) & visible_[in_half];
            idle[chunk] = !move(low + size_t{chunk} * (Bits - 1), top[chunk], rising, sinking);
            const uint32_t n_here = ones(top[chunk]);
            asking[chunk / 64] |= uint64_t{n_here != 0} << (chunk % 64);
            n_included += n_here;
        }
        n_included_[lane] = n_included;
    }

    // Adds one where `up`, subtracts one where `down` (x - 1 = ~(~x + 1)), saturating at both ends. False: all are 0.
    static bool move(Slice* low, Slice& top, const Slice& up, const Slice& down) {
        Slice carry = up | down;
        for (int plane = 0; plane < Bits - 1; ++plane) {
            const Slice next = (low[plane] ^ down) & carry;
            low[plane] ^= carry;
            carry = next;
        }
        const Slice overflow = (top ^ down) & carry;
        top ^= carry;
        const Slice full = overflow & up, empty = overflow & down;
        Slice some = top = (top | full) & ~empty;
        for (int plane = 0; plane < Bits - 1; ++plane) some |= low[plane] = (low[plane] | full) & ~empty;
        return any(some);
    }

    void add_states(uint32_t lane, uint32_t chunk, int32_t sign, int32_t* sums) const {
        const size_t at = size_t{lane} * n_chunks_ + chunk;
        for (int plane = 0; plane < Bits; ++plane) {
            const Slice& bits = plane < Bits - 1 ? low_[at * (Bits - 1) + plane] : top_[at];
            const Counters words = (Counters)bits;
            for (int part = 0; part < 8; ++part)
                for (int i = 0; i < 32; ++i)
                    sums[part * 32 + i] += sign * static_cast<int32_t>((words[part] >> i & 1) << plane);
        }
    }

    static int floored(int sum, int n) { return sum >= 0 ? sum / n : -((-sum + n - 1) / n); }

    const Corpus corpus_;
    const Settings settings_;
    const uint32_t n_half_, n_chunks_, n_used_;
    Sampler sampler_;
    Clauses clauses_;
    Draws literal_draws_;
    Buffer<Slice> words_, visible_;
    Buffer<Slice> low_, top_;
    Buffer<uint8_t> idle_;
    const uint32_t n_asking_;
    Buffer<uint64_t> asking_;
    Buffer<uint32_t> n_included_;
    Buffer<uint8_t> output_, small_, remember_, forget_, reject_;
};

}  // namespace omnitm::OMNITM_ISA
