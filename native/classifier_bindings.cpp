// The classifier's part of bindings.cpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "classifier.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Offset, class Member>
void check_lists(const Input<Offset>& offsets, const Input<Member>& members, uint64_t limit) {
    const Offset *begin = offsets.data(), *end = begin + offsets.size();
    if (begin == end || begin[0] != 0 || end[-1] != members.size() || !std::is_sorted(begin, end))
        throw nb::value_error("offsets must start at 0, ascend, and end where the members end");
    for (size_t i = 0; i < members.size(); ++i)
        if (members.data()[i] >= limit) throw nb::value_error("a member is too large");
}

omnitm::Documents documents_of(const Input<uint64_t>& offsets, const Input<uint32_t>& words, uint32_t n_words) {
    check_lists(offsets, words, n_words);
    return {offsets.data(), words.data(), offsets.size() - 1, n_words};
}

void check_examples(const Input<uint32_t>& documents, const Input<uint64_t>& steps, uint64_t n_documents) {
    if (documents.size() != steps.size()) throw nb::value_error("every document needs a step");
    for (size_t i = 0; i < documents.size(); ++i)
        if (documents.data()[i] >= n_documents) throw nb::value_error("there is no such document");
}

void check_clauses(const Output<uint64_t>& planes, const Output<int32_t>& weights, const Input<uint32_t>& active,
                   uint32_t n_words) {
    const size_t n_clauses = weights.size(), chunk = 32;
    if (planes.size() != n_clauses * 2 * ((n_words + size_t{255}) / 256) * chunk)
        throw nb::value_error("`planes` must have 8 x 256 bits per clause and chunk");
    if (reinterpret_cast<uintptr_t>(planes.data()) % 32) throw nb::value_error("`planes` must start at a multiple of 32");
    for (size_t i = 0; i < active.size(); ++i)
        if (active.data()[i] >= n_clauses || (i && active.data()[i] <= active.data()[i - 1]))
            throw nb::value_error("`active` must be numbers of clauses, ascending");
}

void teach_class(Input<uint64_t> offsets, Input<uint32_t> words, uint32_t n_words, Output<uint64_t> planes,
                 Output<int32_t> weights, Input<uint32_t> active, Input<uint32_t> documents, Input<uint64_t> steps,
                 int32_t threshold, uint64_t forget_probability, uint32_t max_included, uint64_t key,
                 const std::string& isa) {
    const omnitm::Documents texts = documents_of(offsets, words, n_words);
    check_examples(documents, steps, texts.n_documents);
    check_clauses(planes, weights, active, n_words);
    if (threshold < 1 || threshold > 1 << 30) throw nb::value_error("`threshold` must be from 1 to 2**30");
    const omnitm::ClassifierSettings settings = {static_cast<uint32_t>(weights.size()), threshold, forget_probability,
                                                 max_included, key};
    nb::gil_scoped_release unlocked;
    omnitm::teach_class(isa, texts, settings,
                        {planes.data(), weights.data(), active.data(), static_cast<uint32_t>(active.size())},
                        {documents.data(), steps.data(), documents.size()});
}

void class_votes(Input<uint64_t> offsets, Input<uint32_t> words, uint32_t n_words, uint64_t first,
                 Input<uint64_t> clause_offsets, Input<uint32_t> clause_literals, Input<int32_t> weights,
                 Output<int64_t> votes) {
    const omnitm::Documents texts = documents_of(offsets, words, n_words);
    check_lists(clause_offsets, clause_literals, 2 * uint64_t{n_words});
    if (weights.size() + 1 != clause_offsets.size()) throw nb::value_error("every clause needs a weight");
    if (first > texts.n_documents || votes.size() > texts.n_documents - first)
        throw nb::value_error("there are not that many documents");
    nb::gil_scoped_release unlocked;
    omnitm::class_votes(texts, first, first + votes.size(),
                        {clause_offsets.data(), clause_literals.data(), weights.data(),
                         static_cast<uint32_t>(weights.size())},
                        votes.data());
}

}  // namespace

void bind_classifier(nb::module_& m) {
    m.def("teach_class", &teach_class, "offsets"_a, "words"_a, "n_words"_a, "planes"_a, "weights"_a, "active"_a,
          "documents"_a, "steps"_a, nb::kw_only(), "threshold"_a, "forget_probability"_a, "max_included"_a, "key"_a,
          "isa"_a, "Teach the clauses of one class; planes and weights change.");
    m.def("class_votes", &class_votes, "offsets"_a, "words"_a, "n_words"_a, "first"_a, "clause_offsets"_a,
          "clause_literals"_a, "weights"_a, "votes"_a, "Write one class's votes on documents from `first` on.");
}
