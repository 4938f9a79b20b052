// Machines that learn: one word, words that share a bank, classes of documents.
#include "bindings.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "autoencoder.hpp"
#include "classifier.hpp"

namespace omnitm {
namespace {

constexpr uint64_t certain = uint64_t{1} << 32;  // a probability of 1

// Lengths only: what the arrays hold is checked by the sampler, for the words and documents that it draws.
Corpus corpus_of(const Input<uint64_t>& document_offsets, const Input<uint32_t>& document_words,
                 const Input<uint64_t>& word_offsets, const Input<uint32_t>& word_documents) {
    constexpr size_t most = size_t{1} << 31;
    check(document_offsets.size() >= 2 && word_offsets.size() >= 2, "a corpus needs a document and a word");
    check(document_offsets.size() <= 2 * most && word_offsets.size() <= most,
          "a corpus may have 2**32 - 1 documents and 2**31 - 1 words");
    return {document_offsets.data(), document_words.data(),     word_offsets.data(),
            word_documents.data(),   document_words.size(),     word_documents.size(),
            document_offsets.size() - 1, static_cast<uint32_t>(word_offsets.size() - 1)};
}

// Of the text in its order; the sampler checks the places that it draws.
Corpus running_corpus(const Input<uint32_t>& tokens, const Input<uint64_t>& word_starts, const Input<uint32_t>& places,
                      const Input<uint32_t>& feature_of, uint32_t n_feature_words, uint32_t n_joined_words,
                      const std::vector<uint32_t>& joiners, uint32_t passage_reach) {
    const size_t n_numbers = feature_of.size();
    check(n_numbers >= 1 && n_numbers < size_t{1} << 31 && places.size() >= 1 && tokens.size() >= 3,
          "a text needs a word and a place, and its two ends");
    check(word_starts.size() == n_numbers + 1 && word_starts(0) == 0 && word_starts(n_numbers) == places.size(),
          "`word_starts` must span `places`, for every number of `feature_of`");
    check(n_feature_words >= 1 && n_feature_words <= 1u << 28, "there must be 1 to 2**28 feature words");
    check(n_joined_words <= 1u << 28, "there must be at most 2**28 words that may be joined");
    check(joiners.size() <= RunningText::kMostJoiners, "there may be five joiners");
    check(passage_reach <= 1u << 16, "`passage_reach` must be at most 65536");
    for (const uint32_t number : joiners)
        check(number < n_numbers || number == RunningText::kComma, "a joiner must be the number of a word, or the comma");
    const uint32_t n_features = std::max(n_feature_words, n_joined_words);
    for (size_t number = 0; number < n_numbers; ++number) {
        check(word_starts(number) <= word_starts(number + 1), "`word_starts` must ascend");
        check(feature_of(number) < n_features || feature_of(number) == RunningText::kNoFeature,
              "there is no such feature word");
    }
    Corpus corpus{};
    corpus.n_words = static_cast<uint32_t>(n_numbers);
    corpus.running = {tokens.data(), word_starts.data(), places.data(), feature_of.data(), tokens.size(), places.size(),
                      static_cast<uint32_t>(n_numbers), n_feature_words, n_joined_words,
                      static_cast<uint32_t>(joiners.size())};
    std::copy(joiners.begin(), joiners.end(), corpus.running.joiners);
    corpus.running.passage_reach = passage_reach;
    return corpus;
}

Settings checked(const Settings& settings) {
    check(settings.n_clauses >= 1 && settings.n_clauses <= 1 << 16, "`n_clauses` must be from 1 to 65536");
    check(settings.threshold >= 1 && settings.threshold <= 1 << 30, "`threshold` must be from 1 to 2**30");
    check(settings.accumulation >= 1 && settings.accumulation <= 1 << 16, "`accumulation` must be from 1 to 65536");
    check(settings.accumulation_growth >= 1 && settings.accumulation_growth <= 1 << 10,
          "`accumulation_growth` must be from 1 to 1024");
    // Draws are numbered by example and clause, and by example and document, in 64 bits.
    check(settings.n_examples >= 1 && settings.n_examples <= uint64_t{1} << 47, "`n_examples` must be from 1 to 2**47");
    check(settings.state_bits >= 4 && settings.state_bits <= 8, "`state_bits` must be from 4 to 8");
    check(settings.forget_probability <= certain && settings.label_probability <= certain,
          "probabilities are numbers of 2**32nds, at most 2**32");
    return settings;
}

// Keeps the corpus' arrays alive for as long as a machine reads them.
class PyAutoencoder {
  public:
    PyAutoencoder(Input<uint32_t> tokens, Input<uint64_t> word_starts, Input<uint32_t> places, Input<uint32_t> feature_of,
                  uint32_t n_feature_words, uint32_t n_joined_words, const std::vector<uint32_t>& joiners,
                  uint32_t passage_reach, uint32_t n_clauses, int32_t threshold, uint64_t forget_probability,
                  uint32_t accumulation, uint32_t accumulation_growth, uint64_t n_examples, uint64_t label_probability, uint32_t max_included,
                  int state_bits, bool fast, bool negated, const std::string& kernel, const std::string& isa)
        : owners_{nb::cast(tokens), nb::cast(word_starts), nb::cast(places), nb::cast(feature_of)},
          autoencoder_(running_corpus(tokens, word_starts, places, feature_of, n_feature_words, n_joined_words, joiners,
                                      passage_reach),
                       checked({n_clauses, threshold, forget_probability, accumulation, accumulation_growth, n_examples, label_probability,
                                max_included, state_bits, fast, negated}),
                       kernel, isa) {}

    PyAutoencoder(Input<uint64_t> document_offsets, Input<uint32_t> document_words, Input<uint64_t> word_offsets,
                  Input<uint32_t> word_documents, uint32_t n_clauses, int32_t threshold, uint64_t forget_probability,
                  uint32_t accumulation, uint32_t accumulation_growth, uint64_t n_examples, uint64_t label_probability, uint32_t max_included,
                  int state_bits, bool fast, bool negated, const std::string& kernel, const std::string& isa)
        : owners_{nb::cast(document_offsets), nb::cast(document_words), nb::cast(word_offsets),
                  nb::cast(word_documents)},
          autoencoder_(corpus_of(document_offsets, document_words, word_offsets, word_documents),
                       checked({n_clauses, threshold, forget_probability, accumulation, accumulation_growth, n_examples, label_probability,
                                max_included, state_bits, fast, negated}),
                       kernel, isa) {}

    bool train(uint32_t target, uint64_t key) {
        check_word(target);
        nb::gil_scoped_release unlocked;
        return autoencoder_.train(target, key);
    }

    bool record(uint32_t target, uint64_t key, uint32_t word, const Output<uint8_t>& states,
                const Output<uint8_t>& feedback, const Output<int32_t>& weights) {
        check_word(target);
        if (word >= autoencoder_.corpus().n_features()) throw nb::index_error("no such word");
        const size_t size = autoencoder_.settings().n_examples * autoencoder_.settings().n_clauses;
        check(states.size() == 2 * size && feedback.size() == size && weights.size() == size,
              "arrays must have a place per example and clause, `states` two");
        nb::gil_scoped_release unlocked;
        return autoencoder_.record(target, key, {word, states.data(), feedback.data(), weights.data()});
    }

    void stop() { autoencoder_.stop(); }

    void embedding(const Output<int16_t>& out) {
        check(out.size() == autoencoder_.corpus().n_features(), "`out` must have a place per word");
        const Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.embedding(out.data());
    }

    void states(const Output<uint8_t>& out) {
        check(out.size() == size_t{2} * autoencoder_.corpus().n_features() * autoencoder_.settings().n_clauses,
              "`out` must have a place per clause and literal");
        const Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.states(out.data());
    }

    void weights(const Output<int32_t>& out) {
        check(out.size() == autoencoder_.settings().n_clauses, "`out` must have a place per clause");
        std::copy_n(autoencoder_.machine().weights(), out.size(), out.data());
    }

  private:
    void check_word(uint32_t word) const {
        if (word >= autoencoder_.corpus().n_words) throw nb::index_error("no such word");
    }

    nb::object owners_[4];
    Autoencoder autoencoder_;
};

// A bank of clauses that several words share.
class PySharedAutoencoder {
  public:
    PySharedAutoencoder(Input<uint64_t> document_offsets, Input<uint32_t> document_words, Input<uint64_t> word_offsets,
                        Input<uint32_t> word_documents, uint32_t n_clauses, int32_t threshold,
                        uint64_t forget_probability, uint32_t accumulation, uint32_t accumulation_growth, uint64_t n_examples,
                        uint64_t label_probability, uint32_t max_included, bool negated, const std::string& isa)
        : owners_{nb::cast(document_offsets), nb::cast(document_words), nb::cast(word_offsets),
                  nb::cast(word_documents)},
          shared_(corpus_of(document_offsets, document_words, word_offsets, word_documents),
                  checked({n_clauses, threshold, forget_probability, accumulation, accumulation_growth, n_examples, label_probability,
                           max_included, 8, false, negated}),
                  isa) {}

    bool train(const std::vector<uint32_t>& targets, const std::vector<uint64_t>& keys, uint64_t key) {
        check(!targets.empty() && targets.size() == keys.size(), "a key per target, and one at least");
        for (const uint32_t target : targets)
            if (target >= shared_.corpus().n_words) throw nb::index_error("no such word");
        n_targets_ = 0;  // there are no weights if training fails
        bool is_whole;
        {
            nb::gil_scoped_release unlocked;
            is_whole = shared_.train(targets, keys, key);
        }
        n_targets_ = targets.size();
        return is_whole;
    }

    void stop() { shared_.stop(); }
    uint64_t n_done() const { return shared_.n_done(); }

    void states(const Output<uint8_t>& out) {
        check_trained();
        check(out.size() == size_t{2} * shared_.corpus().n_words * shared_.settings().n_clauses,
              "`out` must have a place per clause and literal");
        shared_.bank().shared_states(out.data());
    }

    void weights(const Output<int32_t>& out) {
        check_trained();
        check(out.size() == n_targets_ * shared_.settings().n_clauses, "`out` must have a place per target and clause");
        std::copy_n(shared_.bank().shared_weights(), out.size(), out.data());
    }

  private:
    void check_trained() const {
        if (n_targets_ == 0) throw std::logic_error("train words first");
    }

    nb::object owners_[4];
    SharedAutoencoder shared_;
    size_t n_targets_ = 0;
};

// ---- the classifier

void check_lists(const Input<uint64_t>& offsets, const Input<uint32_t>& members, uint64_t limit) {
    const std::span<const uint64_t> bounds = view(offsets);
    check(!bounds.empty() && bounds.front() == 0 && bounds.back() == members.size() &&
              std::is_sorted(bounds.begin(), bounds.end()),
          "offsets must start at 0, ascend, and end where the members end");
    check(all_below(view(members), limit), "a member is too large");
}

Documents documents_of(const Input<uint64_t>& offsets, const Input<uint32_t>& words, uint32_t n_words) {
    check(n_words < 1u << 31, "`n_words` must be below 2**31");
    check_lists(offsets, words, n_words);
    return {offsets.data(), words.data(), offsets.size() - 1, n_words};
}

// No weight may leave its 32 bits on the way, at a step per example.
void check_weights(const Output<int32_t>& weights, size_t n_examples) {
    constexpr int32_t most = 1 << 30;
    check(weights.size() < most && n_examples < most, "there may be 2**30 - 1 clauses, and as many examples");
    for (const int32_t weight : view(weights)) check(weight >= -most && weight <= most, "a weight is beyond 2**30");
}

void check_clauses(const Output<uint64_t>& planes, size_t n_clauses, const Input<uint32_t>& active, uint32_t n_words) {
    constexpr size_t chunk = 32;  // numbers of 64 bits: 8 planes of 256
    check(planes.size() == n_clauses * 2 * ((n_words + size_t{255}) / 256) * chunk,
          "`planes` must have 8 x 256 bits per clause and chunk");
    check(reinterpret_cast<uintptr_t>(planes.data()) % 32 == 0, "`planes` must start at a multiple of 32");
    for (size_t i = 0; i < active.size(); ++i)
        check(active(i) < n_clauses && (i == 0 || active(i) > active(i - 1)),
              "`active` must be numbers of clauses, ascending");
}

void teach(const Input<uint64_t>& offsets, const Input<uint32_t>& words, uint32_t n_words,
           const Output<uint64_t>& planes, const Output<int32_t>& weights, const Input<uint32_t>& active,
           const Input<uint32_t>& documents, const Input<uint64_t>& steps, int32_t threshold,
           uint64_t forget_probability, uint32_t max_included, uint64_t key, const std::string& isa) {
    const Documents texts = documents_of(offsets, words, n_words);
    check(documents.size() == steps.size(), "every document needs a step");
    check(all_below(view(documents), texts.n_documents), "there is no such document");
    check_weights(weights, documents.size());
    check_clauses(planes, weights.size(), active, n_words);
    check(threshold >= 1 && threshold <= 1 << 30, "`threshold` must be from 1 to 2**30");
    check(forget_probability <= certain, "`forget_probability` is a number of 2**32nds, at most 2**32");
    check_apart(planes, weights, offsets, words, active, documents, steps);
    check_apart(weights, offsets, words, active, documents, steps);
    const ClassifierSettings settings = {static_cast<uint32_t>(weights.size()), threshold, forget_probability,
                                         max_included, key};
    nb::gil_scoped_release unlocked;
    teach_class(isa, texts, settings,
                {planes.data(), weights.data(), active.data(), static_cast<uint32_t>(active.size())},
                {documents.data(), steps.data(), documents.size()});
}

void vote(const Input<uint64_t>& offsets, const Input<uint32_t>& words, uint32_t n_words, uint64_t first,
          const Input<uint64_t>& clause_offsets, const Input<uint32_t>& clause_literals, const Input<int32_t>& weights,
          const Output<int64_t>& votes) {
    const Documents texts = documents_of(offsets, words, n_words);
    check_lists(clause_offsets, clause_literals, 2 * uint64_t{n_words});
    check(weights.size() + 1 == clause_offsets.size(), "every clause needs a weight");
    check(first <= texts.n_documents && votes.size() <= texts.n_documents - first,
          "there are not that many documents");
    check_apart(votes, offsets, words, clause_offsets, clause_literals, weights);
    nb::gil_scoped_release unlocked;
    class_votes(texts, first, first + votes.size(),
                {clause_offsets.data(), clause_literals.data(), weights.data(), static_cast<uint32_t>(weights.size())},
                votes.data());
}

}  // namespace

void bind_machines(nb::module_& m) {
    m.def("instruction_sets", &instruction_sets, "Instruction sets of this processor, best last.");
    nb::class_<PyAutoencoder>(m, "Autoencoder", "One thread's machine: see omnitm.machine.Autoencoder.")
        .def(nb::init<Input<uint64_t>, Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, uint32_t, int32_t, uint64_t,
                      uint32_t, uint32_t, uint64_t, uint64_t, uint32_t, int, bool, bool, const std::string&, const std::string&>(),
             "document_offsets"_a, "document_words"_a, "word_offsets"_a, "word_documents"_a, nb::kw_only(),
             "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "accumulation_growth"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "state_bits"_a, "fast"_a, "negated"_a, "kernel"_a,
             "isa"_a)
        .def(nb::init<Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, Input<uint32_t>, uint32_t, uint32_t,
                      const std::vector<uint32_t>&, uint32_t, uint32_t, int32_t, uint64_t, uint32_t, uint32_t, uint64_t,
                      uint64_t, uint32_t, int, bool, bool, const std::string&, const std::string&>(),
             "tokens"_a, "word_starts"_a, "places"_a, "feature_of"_a, "n_feature_words"_a, "n_joined_words"_a, "joiners"_a,
             "passage_reach"_a, nb::kw_only(), "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "accumulation_growth"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "state_bits"_a, "fast"_a, "negated"_a, "kernel"_a,
             "isa"_a)
        .def("train", &PyAutoencoder::train, "target"_a, "key"_a, "False: stopped before the end.")
        .def("record", &PyAutoencoder::record, "target"_a, "key"_a, "word"_a, "states"_a, "feedback"_a, "weights"_a,
             "Train, and write down what becomes of one word's literals. False: stopped before the end.")
        .def("stop", &PyAutoencoder::stop, "Make a running `train` return soon; may be called from any thread.")
        .def("embedding", &PyAutoencoder::embedding, "out"_a)
        .def("states", &PyAutoencoder::states, "out"_a)
        .def("weights", &PyAutoencoder::weights, "out"_a);
    nb::class_<PySharedAutoencoder>(m, "SharedAutoencoder", "See omnitm.machine.SharedAutoencoder.")
        .def(nb::init<Input<uint64_t>, Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, uint32_t, int32_t, uint64_t,
                      uint32_t, uint32_t, uint64_t, uint64_t, uint32_t, bool, const std::string&>(),
             "document_offsets"_a, "document_words"_a, "word_offsets"_a, "word_documents"_a, nb::kw_only(),
             "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "accumulation_growth"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "negated"_a, "isa"_a)
        .def("train", &PySharedAutoencoder::train, "targets"_a, "keys"_a, "key"_a, "False: stopped before the end.")
        .def("stop", &PySharedAutoencoder::stop, "Make a running `train` return soon; may be called from any thread.")
        .def_prop_ro("n_done", &PySharedAutoencoder::n_done)
        .def("states", &PySharedAutoencoder::states, "out"_a)
        .def("weights", &PySharedAutoencoder::weights, "out"_a);
    m.def("teach_class", &teach, "offsets"_a, "words"_a, "n_words"_a, "planes"_a, "weights"_a, "active"_a,
          "documents"_a, "steps"_a, nb::kw_only(), "threshold"_a, "forget_probability"_a, "max_included"_a, "key"_a,
          "isa"_a, "Teach the clauses of one class; planes and weights change.");
    m.def("class_votes", &vote, "offsets"_a, "words"_a, "n_words"_a, "first"_a, "clause_offsets"_a,
          "clause_literals"_a, "weights"_a, "votes"_a, "Write one class's votes on documents from `first` on.");
}

}  // namespace omnitm
