// The classic TM-AE: several words share one bank of clauses, each with weights of its own.
#pragma once
#include "sliced.hpp"

namespace omnitm::OMNITM_ISA {

// One row of clause weights per word. A clause takes part the less, the heavier it is on average over the words.
class SharedWeights {
  public:
    explicit SharedWeights(const Settings& settings)
        : settings_(settings),
          sum_(settings.n_clauses),
          gate_(settings.n_clauses),
          coin_(settings.n_clauses),
          weight_coin_(settings.n_clauses) {}

    void start(uint32_t n_targets, uint64_t key) {
        n_targets_ = n_targets;
        weights_.allocate(size_t{n_targets} * settings_.n_clauses);
        const Draws initial(key, Purpose::initial_weight);
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) {
            sum_[j] = n_targets;
            for (size_t row = 0; row < n_targets; ++row)
                weights_[row * settings_.n_clauses + j] = initial(j) >> 63 ? 1 : -1;
        }
    }

    const int32_t* data() const { return weights_.data(); }

    // As Clauses::teach, for the word in this row.
    void teach(uint32_t row, uint64_t key, uint64_t example, bool label, const uint8_t* output, const uint8_t* small,
               uint8_t* remember, uint8_t* forget, uint8_t* reject) {
        toss(key, example);
        int32_t* weights = weights_.data() + size_t{row} * settings_.n_clauses;
        const int64_t vote = clipped_vote(weights, output);
        const int64_t chance = label ? settings_.threshold - vote : settings_.threshold + vote;
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) {
            const bool taught = gate_[j] & (coin_[j] < chance);
            const bool agrees = (weights[j] >= 0) == label;
            remember[j] = taught & agrees & output[j] & small[j];
            forget[j] = taught & agrees & !remember[j];
            reject[j] = taught & !agrees & output[j];
        }
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) {
            if (!(gate_[j] & output[j] & (weight_coin_[j] < chance))) continue;
            sum_[j] -= magnitude(weights[j]);
            weights[j] += label ? 1 : -1;
            sum_[j] += magnitude(weights[j]);
        }
    }

  private:
    static int64_t magnitude(int32_t weight) { return weight < 0 ? -int64_t{weight} : weight; }

    void toss(uint64_t key, uint64_t example) {
        const Draws feedback(key, Purpose::gate_and_feedback), weight(key, Purpose::weight);
        const uint64_t first = example * settings_.n_clauses, threshold = settings_.threshold;
        const int64_t n = n_targets_;
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) {
            const uint64_t bits = feedback(first + j);
            gate_[j] = below(bits >> 32, threshold) * n < settings_.threshold * n - sum_[j];
            coin_[j] = below(static_cast<uint32_t>(bits), 2 * threshold);
            weight_coin_[j] = below(weight(first + j) >> 32, 2 * threshold);
        }
    }

    int64_t clipped_vote(const int32_t* weights, const uint8_t* output) const {
        int64_t vote = 0;
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) vote += gate_[j] & output[j] ? weights[j] : 0;
        const int64_t limit = settings_.threshold;
        return vote > limit ? limit : vote < -limit ? -limit : vote;
    }

    const Settings settings_;
    uint32_t n_targets_ = 0;
    Buffer<int32_t> weights_;
    Buffer<int64_t> sum_;  // of magnitudes, over the words
    Buffer<uint8_t> gate_;
    Buffer<int64_t> coin_, weight_coin_;
};

// Documents of each word, drawn as its own machine would draw them.
class Samplers {
  public:
    Samplers() = default;
    Samplers(const Samplers&) = delete;
    Samplers& operator=(const Samplers&) = delete;
    ~Samplers() { clear(); }

    void set(const Corpus& corpus, const Settings& settings, const uint32_t* targets, const uint64_t* keys,
             uint32_t n_targets) {
        clear();
        members_.allocate(n_targets);
        for (; n_ < n_targets; ++n_) {
            members_[n_] = new Sampler(corpus, settings);
            members_[n_]->set(targets[n_], keys[n_]);
        }
    }
    Sampler& operator[](uint32_t row) { return *members_[row]; }

  private:
    void clear() {
        while (n_) delete members_[--n_];
    }

    uint32_t n_ = 0;
    Buffer<Sampler*> members_;
};

template <int Bits>
class SharedMachine final : public SlicedMachine<Bits>, public SharedBank {
    using Base = SlicedMachine<Bits>;

  public:
    SharedMachine(const Corpus& corpus, const Settings& settings) : Base(corpus, settings), weights_(settings) {}
    using Base::train;

    bool train(const uint32_t* targets, const uint64_t* keys, uint32_t n_targets, uint64_t key,
               const std::atomic<bool>& stop, std::atomic<uint64_t>& n_done) override {
        start(targets, keys, n_targets, key);
        for (uint64_t example = 0; example < this->settings_.n_examples; ++example) {
            shuffle(example, n_targets);
            for (uint32_t k = 0; k < n_targets; ++k) {
                if (stop.load(std::memory_order_relaxed)) return false;
                learn(order_[k], targets[order_[k]], keys[order_[k]], example);
            }
            n_done.store(example + 1, std::memory_order_relaxed);
        }
        return true;
    }

    void shared_states(uint8_t* out) const override { this->states(out); }
    const int32_t* shared_weights() const override { return weights_.data(); }

  private:
    void start(const uint32_t* targets, const uint64_t* keys, uint32_t n_targets, uint64_t key) {
        samplers_.set(this->corpus_, this->settings_, targets, keys, n_targets);
        this->clauses_.start(key);
        this->start_states();
        weights_.start(n_targets, key);
        order_draws_ = Draws(key, Purpose::order);
        order_.allocate(n_targets);
    }

    void shuffle(uint64_t example, uint32_t n_targets) {
        for (uint32_t k = 0; k < n_targets; ++k) order_[k] = k;
        for (uint32_t k = n_targets - 1; k > 0; --k) {
            const uint64_t other = high_product(order_draws_(example * n_targets + k), k + 1);
            const uint32_t held = order_[k];
            order_[k] = order_[other];
            order_[other] = held;
        }
    }

    void learn(uint32_t row, uint32_t target, uint64_t key, uint64_t example) {
        const bool label = samplers_[row].label(example);
        this->words_.fill(Slice{});
        samplers_[row].documents(example, [&](uint32_t word) { this->set_bit(this->words_, word); });
        this->flip_bit(this->visible_, target);
        for (uint32_t lane = 0; lane < this->settings_.n_clauses; ++lane) {
            const uint32_t n_included = this->n_included_[lane] - own_literals(lane, target);
            this->output_[lane] = n_included == 0 || this->matches(lane);
            this->small_[lane] = n_included <= this->settings_.max_included;
        }
        weights_.teach(row, key, example, label, this->output_.data(), this->small_.data(), this->remember_.data(),
                       this->forget_.data(), this->reject_.data());
        this->literal_draws_ = Draws(key, Purpose::literal);
        for (uint32_t lane = 0; lane < this->settings_.n_clauses; ++lane)
            this->give_feedback(lane, example * this->settings_.n_clauses + lane);
        this->flip_bit(this->visible_, target);
    }

    // How many of the target's two literals the clause includes; they are hidden while the target learns.
    uint32_t own_literals(uint32_t lane, uint32_t target) const {
        const auto* top = reinterpret_cast<const uint64_t*>(this->top_.data() + size_t{lane} * this->n_chunks_);
        const auto* negated = top + size_t{this->n_half_} * (kSlice / 64);
        return static_cast<uint32_t>((top[target / 64] >> (target % 64) & 1) + (negated[target / 64] >> (target % 64) & 1));
    }

    SharedWeights weights_;
    Samplers samplers_;
    Draws order_draws_;
    Buffer<uint32_t> order_;
};

}  // namespace omnitm::OMNITM_ISA
