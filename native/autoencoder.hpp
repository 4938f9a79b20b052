// Chooses the machine for a word: lazy at specificity 1, sliced otherwise, in the best instruction set there is.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "corpus.hpp"

namespace omnitm {

std::vector<std::string> instruction_sets();  // of this processor, best last
std::string known_isa(const std::string& isa);  // one of them; "auto": the best

class Autoencoder {
  public:
    // kernel: "auto", "lazy" or "sliced"; isa: "auto" or one of instruction_sets().
    Autoencoder(const Corpus& corpus, const Settings& settings, const std::string& kernel, const std::string& isa);

    bool train(uint32_t target, uint64_t key);
    // Trains on the sliced machine, which visits every literal in every example, and fills the recording.
    bool record(uint32_t target, uint64_t key, const Recording& recording);
    void stop() { stop_ = true; }
    const Machine& machine() const;
    const Corpus& corpus() const { return corpus_; }
    const Settings& settings() const { return settings_; }

  private:
    Machine& machine_for(uint64_t key);

    Corpus corpus_;
    Settings settings_;
    std::string isa_;
    bool sliced_;
    std::atomic<bool> stop_ = false;
    std::unique_ptr<Machine> narrow_, wide_;  // `fast` keeps one for few positive clauses and one for many
    std::unique_ptr<Machine> recorder_;       // the sliced machine, where the others are lazy
    Machine* trained_ = nullptr;
};

// The same for a bank that several words share, always sliced, with states of 8 bits.
class SharedAutoencoder {
  public:
    SharedAutoencoder(const Corpus& corpus, const Settings& settings, const std::string& isa);

    bool train(const std::vector<uint32_t>& targets, const std::vector<uint64_t>& keys, uint64_t key);
    void stop() { stop_ = true; }
    uint64_t n_done() const { return n_done_; }  // examples that all words have learned from so far
    const SharedBank& bank() const { return *bank_; }
    const Corpus& corpus() const { return corpus_; }
    const Settings& settings() const { return settings_; }

  private:
    Corpus corpus_;
    Settings settings_;
    std::unique_ptr<SharedBank> bank_;
    std::atomic<bool> stop_ = false;
    std::atomic<uint64_t> n_done_ = 0;
};

}  // namespace omnitm
