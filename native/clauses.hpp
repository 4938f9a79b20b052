// Clause weights, and who gets which feedback: the part of an update that looks at clauses, not at literals.
#pragma once
#include "buffer.hpp"
#include "corpus.hpp"
#include "draws.hpp"

namespace omnitm::OMNITM_ISA {

// A lane is a clause that is trained: all of them, or in `fast` only those that start with weight +1.
class Clauses {
  public:
    explicit Clauses(const Settings& settings)
        : settings_(settings),
          weights_(settings.n_clauses),
          clause_(settings.n_clauses),
          lane_weight_(settings.n_clauses),
          gate_(settings.n_clauses),
          coin_(settings.n_clauses),
          weight_coin_(settings.n_clauses) {}

    void start(uint64_t key) {
        feedback_draws_ = Draws(key, Purpose::gate_and_feedback);
        weight_draws_ = Draws(key, Purpose::weight);
        const Draws initial(key, Purpose::initial_weight);
        n_lanes_ = 0;
        for (uint32_t j = 0; j < settings_.n_clauses; ++j) {
            weights_[j] = initial(j) >> 63 ? 1 : -1;
            if (settings_.fast && weights_[j] < 0) continue;
            lane_weight_[n_lanes_] = weights_[j];
            clause_[n_lanes_++] = j;
        }
    }

    uint32_t n_lanes() const { return n_lanes_; }
    uint32_t clause(uint32_t lane) const { return clause_[lane]; }
    bool positive(uint32_t lane) const { return lane_weight_[lane] > 0; }
    uint32_t n_positive() const {
        uint32_t n = 0;
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) n += positive(lane);
        return n;
    }
    const int32_t* weights() const { return weights_.data(); }

    // From each lane's output and whether its clause is small enough to learn (0 or 1 each): who remembers (Ia),
    // forgets (Ib) or rejects (II), as 0 or 1. Weights are updated.
    void teach(uint64_t example, bool label, const uint8_t* output, const uint8_t* small, uint8_t* remember,
               uint8_t* forget, uint8_t* reject) {
        if (settings_.fast) toss_fast(example);
        else toss(example);
        const int64_t vote = settings_.fast ? 0 : clipped_vote(output);
        const int64_t chance = label ? settings_.threshold - vote : settings_.threshold + vote;
        for (uint32_t j = 0; j < n_lanes_; ++j) {
            const bool taught = gate_[j] & (coin_[j] < chance);
            const bool agrees = (lane_weight_[j] >= 0) == label;
            const bool remembers = taught & agrees & output[j] & small[j];
            remember[j] = remembers;
            forget[j] = taught & agrees & !remembers;
            reject[j] = taught & !agrees & output[j];
        }
        if (!settings_.fast) move_weights(label ? 1 : -1, chance, output);
    }

    // Weights as the caller sees them: by clause.
    void finish() {
        for (uint32_t lane = 0; lane < n_lanes_; ++lane) weights_[clause_[lane]] = lane_weight_[lane];
    }

  private:
    void toss(uint64_t example) {
        const uint64_t first = example * settings_.n_clauses, threshold = settings_.threshold;
        for (uint32_t j = 0; j < n_lanes_; ++j) {
            const uint64_t bits = feedback_draws_(first + j);
            const int64_t weight = lane_weight_[j] < 0 ? -lane_weight_[j] : lane_weight_[j];
            gate_[j] = below(bits >> 32, threshold) < settings_.threshold - weight;
            coin_[j] = below(static_cast<uint32_t>(bits), 2 * threshold);
            weight_coin_[j] = below(weight_draws_(first + j) >> 32, 2 * threshold);
        }
    }

    void toss_fast(uint64_t example) {
        const uint64_t first = example * settings_.n_clauses, threshold = settings_.threshold;
        for (uint32_t j = 0; j < n_lanes_; ++j) {
            gate_[j] = 1;
            coin_[j] = below(static_cast<uint32_t>(feedback_draws_(first + clause_[j])), 2 * threshold);
        }
    }

    int64_t clipped_vote(const uint8_t* output) const {
        int64_t vote = 0;
        for (uint32_t j = 0; j < n_lanes_; ++j) vote += (gate_[j] & output[j]) ? lane_weight_[j] : 0;
        const int64_t limit = settings_.threshold;
        return vote > limit ? limit : vote < -limit ? -limit : vote;
    }

    void move_weights(int32_t step, int64_t chance, const uint8_t* output) {
        for (uint32_t j = 0; j < n_lanes_; ++j)
            lane_weight_[j] += (gate_[j] & output[j] & (weight_coin_[j] < chance)) ? step : 0;
    }

    const Settings settings_;
    Draws feedback_draws_, weight_draws_;
    uint32_t n_lanes_ = 0;
    Buffer<int32_t> weights_;
    Buffer<uint32_t> clause_;
    Buffer<int32_t> lane_weight_;
    Buffer<uint8_t> gate_;
    Buffer<int64_t> coin_, weight_coin_;
};

}  // namespace omnitm::OMNITM_ISA
