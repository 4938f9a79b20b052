#include "autoencoder.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels.hpp"
#include "processor.hpp"
#define OMNITM_ISA dispatch
#include "draws.hpp"

namespace omnitm {

namespace {

bool lazy_can(const Settings& settings) {
    const bool countable = settings.max_included < 254 || settings.max_included == kNoLimit;
    return settings.forget_probability >> 32 && settings.n_clauses <= kMaxLazyLanes && countable && settings.negated;
}

Machine* make([[maybe_unused]] const std::string& isa, const Corpus& corpus, const Settings& settings, uint32_t n_lanes) {
#ifdef OMNITM_X86
    if (isa == "avx512") return avx512::make_machine(corpus, settings, n_lanes);
    if (isa == "avx2") return avx2::make_machine(corpus, settings, n_lanes);
#endif
    return portable::make_machine(corpus, settings, n_lanes);
}

SharedBank* make_shared([[maybe_unused]] const std::string& isa, const Corpus& corpus, const Settings& settings) {
#ifdef OMNITM_X86
    if (isa == "avx512") return avx512::make_shared_bank(corpus, settings);
    if (isa == "avx2") return avx2::make_shared_bank(corpus, settings);
#endif
    return portable::make_shared_bank(corpus, settings);
}

uint32_t positive_clauses(uint64_t key, uint32_t n_clauses) {
    const dispatch::Draws initial(key, dispatch::Purpose::initial_weight);
    uint32_t n = 0;
    for (uint32_t j = 0; j < n_clauses; ++j) n += initial(j) >> 63;
    return n;
}

}  // namespace

void refuse_corpus() {
    throw std::invalid_argument("the index is damaged: it names words or documents that are not there; build it again");
}

std::vector<std::string> instruction_sets() {
    std::vector<std::string> found = {"portable"};
#ifdef OMNITM_X86
    const Processor processor = this_processor();
    if (processor.avx2) found.push_back("avx2");
    if (processor.avx512) found.push_back("avx512");
#endif
    return found;
}

std::string known_isa(const std::string& isa) {
    const std::vector<std::string> known = instruction_sets();
    if (isa == "auto") return known.back();
    if (std::find(known.begin(), known.end(), isa) == known.end())
        throw std::invalid_argument("this processor has no instruction set '" + isa + "'");
    return isa;
}

Autoencoder::Autoencoder(const Corpus& corpus, const Settings& settings, const std::string& kernel,
                         const std::string& isa)
    : corpus_(corpus), settings_(settings) {
    isa_ = known_isa(isa);
    if (kernel != "auto" && kernel != "lazy" && kernel != "sliced")
        throw std::invalid_argument("there is no kernel '" + kernel + "'");
    if (kernel == "lazy" && !lazy_can(settings))
        throw std::invalid_argument("the lazy kernel needs specificity 1, at most 256 clauses, a countable limit and "
                                    "negated literals");
    sliced_ = kernel == "sliced" || !lazy_can(settings);
}

bool Autoencoder::train(uint32_t target, uint64_t key) {
    trained_ = nullptr;
    Machine& machine = machine_for(key);
    if (!machine.train(target, key, stop_)) return false;
    trained_ = &machine;
    return true;
}

bool Autoencoder::record(uint32_t target, uint64_t key, const Recording& recording) {
    trained_ = nullptr;
    std::unique_ptr<Machine>& machine = sliced_ ? wide_ : recorder_;
    if (!machine) machine.reset(make(isa_, corpus_, settings_, 0));
    if (!machine->record(target, key, stop_, recording)) return false;
    trained_ = machine.get();
    return true;
}

const Machine& Autoencoder::machine() const {
    if (!trained_) throw std::logic_error("train a word first");
    return *trained_;
}

Machine& Autoencoder::machine_for(uint64_t key) {
    const uint32_t n_lanes = settings_.fast ? positive_clauses(key, settings_.n_clauses) : settings_.n_clauses;
    const bool narrow = settings_.fast && !sliced_ && n_lanes <= settings_.n_clauses / 2;
    std::unique_ptr<Machine>& machine = narrow ? narrow_ : wide_;
    const uint32_t room = sliced_ ? 0 : narrow ? std::max(settings_.n_clauses / 2, 1u) : settings_.n_clauses;
    if (!machine) machine.reset(make(isa_, corpus_, settings_, room));
    return *machine;
}

SharedAutoencoder::SharedAutoencoder(const Corpus& corpus, const Settings& settings, const std::string& isa)
    : corpus_(corpus), settings_(settings), bank_(make_shared(known_isa(isa), corpus, settings)) {}

bool SharedAutoencoder::train(const std::vector<uint32_t>& targets, const std::vector<uint64_t>& keys, uint64_t key) {
    stop_ = false;
    n_done_ = 0;
    return bank_->train(targets.data(), keys.data(), static_cast<uint32_t>(targets.size()), key, stop_, n_done_);
}

}  // namespace omnitm
