// Counting words, building the index, and GloVe.
#include "bindings.hpp"

#include <algorithm>

#include "glove.hpp"
#include "text.hpp"

namespace omnitm {
namespace {

std::span<const char> letters_view(const Input<uint8_t>& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

void check_words(const Input<uint8_t>& letters, const Input<uint16_t>& lengths) {
    check(sum_of(view(lengths)) == letters.size(), "`lengths` must add up to the number of letters");
}

// Documents as numbers of words, one after the other.
void check_documents(const Input<uint32_t>& words, const Input<uint32_t>& lengths, size_t n_words) {
    check(sum_of(view(lengths)) == words.size(), "lengths of documents must add up to the number of their words");
    check(all_below(view(words), n_words), "a document has a word that is not there");
}

std::vector<std::string> to_strings(const std::vector<nb::bytes>& words) {
    std::vector<std::string> strings;
    for (const nb::bytes& word : words) strings.emplace_back(word.c_str(), word.size());
    return strings;
}

nb::tuple to_tuple(text::Records&& records) {
    std::vector<uint8_t> letters(records.letters.begin(), records.letters.end());
    return nb::make_tuple(to_numpy(std::move(letters)), to_numpy(std::move(records.lengths)),
                          to_numpy(std::move(records.counts)), to_numpy(std::move(records.documents)),
                          to_numpy(std::move(records.ids)));
}

nb::tuple to_tuple(const text::Tally& tally) { return nb::make_tuple(tally.types, tally.tokens); }

// The word numbers are a view of the table's memory.
nb::tuple count_block(nb::handle_t<text::WordTable> owner, const text::CharacterRules& rules,
                      const Input<uint8_t>& data, int unit, bool ends_document) {
    check(unit >= 0 && unit <= static_cast<int>(text::Unit::file), "`unit` must be 0 (line), 1 (paragraph) or 2 (file)");
    auto& table = nb::cast<text::WordTable&>(owner);
    text::Block block;
    {
        nb::gil_scoped_release released;
        block = table.count_block(rules, letters_view(data), static_cast<text::Unit>(unit), ends_document);
    }
    const nb::ndarray<nb::numpy, const uint32_t, nb::ndim<1>> ids(block.ids.data(), {block.ids.size()}, owner);
    return nb::make_tuple(ids, to_numpy(std::move(block.lengths)), block.n_marks, static_cast<int>(block.problem),
                          block.problem_offset);
}

nb::tuple select_words(const text::WordTable& table, uint64_t min_count, uint64_t min_documents,
                       uint64_t max_documents, uint64_t limit, uint64_t floor_count, const nb::bytes& floor_word,
                       uint64_t limit_of_others, uint64_t other_floor_count, const nb::bytes& other_floor_word) {
    const text::Floor floor{floor_count, {floor_word.c_str(), floor_word.size()}};
    const text::Floor other_floor{other_floor_count, {other_floor_word.c_str(), other_floor_word.size()}};
    text::Selection chosen;
    {
        nb::gil_scoped_release released;
        chosen = table.select(min_count, min_documents, max_documents, limit, floor, limit_of_others, other_floor);
    }
    return nb::make_tuple(to_tuple(std::move(chosen.words)), to_tuple(std::move(chosen.others)), to_tuple(chosen.stop),
                          to_tuple(chosen.rare), to_tuple(chosen.frequent), to_tuple(chosen.passed));
}

void check_room(const Output<uint32_t>& output, size_t needed) {
    check(output.size() >= needed, "the array to be filled is too small");
}

size_t total_size(const std::vector<Input<uint32_t>>& arrays) {
    size_t total = 0;
    for (const auto& array : arrays) total += array.size();
    return total;
}

// `tokens` may be empty: no running text is wanted.
size_t remap_documents(const std::vector<Input<uint32_t>>& ids, const std::vector<Input<uint32_t>>& lengths,
                       const std::vector<Input<uint32_t>>& remaps, uint32_t n_words, uint32_t other,
                       const Output<uint32_t>& words, const Output<uint32_t>& word_lengths,
                       const Output<uint32_t>& tokens) {
    check(ids.size() == lengths.size() && ids.size() == remaps.size(), "there must be as many lists of each kind");
    check_room(words, total_size(ids));
    check_room(word_lengths, total_size(lengths));
    size_t n_marks = 0;
    for (const auto& part : ids) n_marks += text::marks_before(view(part));
    if (tokens.size()) check_room(tokens, total_size(ids) + total_size(lengths) + n_marks);
    check_apart(words, word_lengths);
    check_apart(tokens, words, word_lengths);
    for (size_t i = 0; i < ids.size(); ++i) {
        check(sum_of(view(lengths[i])) == ids[i].size(), "lengths must add up to the number of words");
        check(text::all_marked_below(view(ids[i]), remaps[i].size()), "there is no such word");
        check_apart(words, ids[i], lengths[i], remaps[i]);
        check_apart(word_lengths, ids[i], lengths[i], remaps[i]);
        check_apart(tokens, ids[i], lengths[i], remaps[i]);
    }
    text::Remapped out{words.data(), word_lengths.data(), tokens.size() ? tokens.data() : nullptr};
    nb::gil_scoped_release released;
    size_t n_found = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
        const size_t n = text::remap_documents(view(ids[i]), view(lengths[i]), view(remaps[i]), n_words, other, out);
        n_found += n;
        out.words += n;
        out.word_lengths += lengths[i].size();
        if (out.tokens) out.tokens += ids[i].size() + lengths[i].size() + text::marks_before(view(ids[i]));
    }
    return n_found;
}

void invert_running(const Input<uint32_t>& tokens, uint32_t first_place, const Output<uint32_t>& counts,
                    const Output<uint32_t>& places) {
    check_room(places, tokens.size());
    check(tokens.size() <= 0xFFFFFFFFu, "a part of a running text may have 2**32 - 1 words");
    check_apart(places, tokens, counts);
    check_apart(counts, tokens);
    nb::gil_scoped_release released;
    const std::span<uint32_t> to_count(counts.data(), counts.size()), to_place(places.data(), tokens.size());
    check(text::invert_running(view(tokens), first_place, to_count, to_place), "there is no such word");
}

void invert(const Input<uint32_t>& words, const Input<uint32_t>& lengths, uint32_t first_document,
            const Output<uint32_t>& counts, const Output<uint32_t>& documents) {
    check_room(documents, words.size());
    check(words.size() <= 0xFFFFFFFFu, "a run of documents may have 2**32 - 1 words");
    check_documents(words, lengths, counts.size());
    check_apart(documents, words, lengths, counts);
    check_apart(counts, words, lengths);
    nb::gil_scoped_release released;
    text::invert(view(words), view(lengths), first_document, {counts.data(), counts.size()},
                 {documents.data(), words.size()});
}

size_t interleave(const std::vector<Input<uint32_t>>& counts, const std::vector<Input<uint32_t>>& runs,
                       const Output<uint32_t>& joined) {
    std::vector<std::span<const uint32_t>> count_views, run_views;
    const size_t total = total_size(runs);
    check_room(joined, total);
    check(counts.size() == runs.size(), "every run needs its counts");
    for (size_t i = 0; i < runs.size(); ++i) {
        check(counts[i].size() == counts[0].size(), "all runs must have counts of the same words");
        check(sum_of(view(counts[i])) == runs[i].size(), "counts must add up to the length of their run");
        check_apart(joined, counts[i], runs[i]);
        count_views.push_back(view(counts[i]));
        run_views.push_back(view(runs[i]));
    }
    nb::gil_scoped_release released;
    text::interleave(count_views, run_views, {joined.data(), total});
    return total;
}

void bind_words(nb::module_& m) {
    nb::class_<text::CharacterRules>(m, "CharacterRules", "What becomes of each code point; see corpus/characters.py.")
        .def(
            "__init__",
            [](text::CharacterRules* self, const Input<uint32_t>& actions, const Input<uint8_t>& contexts,
               const std::vector<nb::bytes>& expansions) {
                new (self) text::CharacterRules(view(actions), view(contexts), to_strings(expansions));
            },
            nb::arg("actions"), nb::arg("contexts"), nb::arg("expansions"));
    nb::class_<text::WordTable>(m, "WordTable", "Numbers words as they are first seen and counts them exactly.")
        .def(
            "__init__",
            [](text::WordTable* self, const std::vector<nb::bytes>& stop_words, bool keeps_order) {
                new (self) text::WordTable(to_strings(stop_words), keeps_order);
            },
            nb::arg("stop_words"), nb::arg("keeps_order") = false)
        .def("count_block", &count_block, nb::arg("rules"), nb::arg("data"), nb::arg("unit"), nb::arg("ends_document"),
             "Prepare a block: (word numbers, words per document, marks between words, problem, its byte offset). The "
             "word numbers are valid until the next block is counted.")
        .def(
            "absorb",
            [](text::WordTable& table, const Input<uint8_t>& letters, const Input<uint16_t>& lengths,
               const Input<uint64_t>& counts, const Input<uint64_t>& documents) {
                check_words(letters, lengths);
                check(counts.size() == lengths.size() && documents.size() == lengths.size(),
                      "every word needs its count and its number of documents");
                nb::gil_scoped_release released;
                table.absorb(letters_view(letters), view(lengths), view(counts), view(documents));
            },
            nb::arg("letters"), nb::arg("lengths"), nb::arg("counts"), nb::arg("documents"))
        .def(
            "take_common",
            [](text::WordTable& table, text::WordTable& other, size_t first, size_t last) {
                check(&table != &other, "a table has everything in common with itself");
                nb::gil_scoped_release released;
                table.take_common(other, first, last);
            },
            nb::arg("other"), nb::arg("first"), nb::arg("last"))
        .def("records", [](const text::WordTable& table) { return to_tuple(table.records()); })
        .def(
            "partitioned_records",
            [](const text::WordTable& table, unsigned n_partitions) {
                check(n_partitions >= 1 && n_partitions <= 1 << 10, "`n_partitions` must be from 1 to 1024");
                std::vector<text::Records> partitions;
                {
                    nb::gil_scoped_release released;
                    partitions = table.partitioned_records(n_partitions);
                }
                nb::list tuples;
                for (text::Records& records : partitions) {
                    tuples.append(to_tuple(std::move(records)));
                    records = {};
                }
                return tuples;
            },
            nb::arg("n_partitions"))
        .def("select", &select_words, nb::arg("min_count"), nb::arg("min_documents"), nb::arg("max_documents"),
             nb::arg("limit"), nb::arg("floor_count"), nb::arg("floor_word"), nb::arg("limit_of_others"),
             nb::arg("other_floor_count"), nb::arg("other_floor_word"))
        .def(
            "lookup",
            [](const text::WordTable& table, const std::vector<nb::bytes>& words) {
                text::Records found = table.lookup(to_strings(words));
                return nb::make_tuple(to_numpy(std::move(found.counts)), to_numpy(std::move(found.documents)));
            },
            nb::arg("words"))
        .def(
            "remap",
            [](const text::WordTable& table, const Input<uint8_t>& letters, const Input<uint16_t>& lengths,
               const Input<uint32_t>& ids, size_t n_ids) {
                check_words(letters, lengths);
                check(ids.size() == lengths.size(), "every word needs its number");
                check(n_ids <= size_t{1} << 32 && all_below(view(ids), n_ids), "`ids` must be below `n_ids`, at most 2**32");
                std::vector<uint32_t> numbers;
                {
                    nb::gil_scoped_release released;
                    numbers = table.remap(letters_view(letters), view(lengths), view(ids), n_ids);
                }
                return to_numpy(std::move(numbers));
            },
            nb::arg("letters"), nb::arg("lengths"), nb::arg("ids"), nb::arg("n_ids"))
        .def(
            "positions_in",
            [](const text::WordTable& table, const Input<uint8_t>& letters, const Input<uint16_t>& lengths) {
                check_words(letters, lengths);
                std::vector<uint32_t> positions;
                {
                    nb::gil_scoped_release released;
                    positions = table.positions_in(letters_view(letters), view(lengths));
                }
                return to_numpy(std::move(positions));
            },
            nb::arg("letters"), nb::arg("lengths"))
        .def("clear", &text::WordTable::clear)
        .def_prop_ro("n_types", &text::WordTable::n_types)
        .def_prop_ro("memory", &text::WordTable::memory)
        .def_prop_ro("document_open", &text::WordTable::document_open)
        .def_ro("n_tokens", &text::WordTable::n_tokens)
        .def_ro("n_too_long", &text::WordTable::n_too_long);
    m.def("remap_documents", &remap_documents, nb::arg("ids"), nb::arg("lengths"), nb::arg("remaps"),
          nb::arg("n_words"), nb::arg("other"), nb::arg("words"), nb::arg("word_lengths"), nb::arg("tokens"));
    m.def("invert_running", &invert_running, nb::arg("tokens"), nb::arg("first_place"), nb::arg("counts"),
          nb::arg("places"));
    m.def("invert", &invert, nb::arg("words"), nb::arg("lengths"), nb::arg("first_document"), nb::arg("counts"),
          nb::arg("documents"));
    m.def("interleave", &interleave, nb::arg("counts"), nb::arg("runs"), nb::arg("joined"));
    m.def(
        "first_defect",
        [](const Input<uint64_t>& offsets, const Input<uint32_t>& members, uint64_t limit) {
            nb::gil_scoped_release released;
            return text::first_defect(view(offsets), view(members), limit);
        },
        nb::arg("offsets"), nb::arg("members"), nb::arg("limit"));
}

// ---- GloVe

using FloatMatrix = AlignedArray<float, 2>;

glove::Text glove_text(const Input<uint32_t>& ids, const Input<uint64_t>& offsets, uint32_t n_words,
                       uint32_t window) {
    const std::span<const uint64_t> bounds = view(offsets);
    check(!bounds.empty() && bounds.back() == ids.size() && std::is_sorted(bounds.begin(), bounds.end()),
          "`offsets` must ascend and end where `ids` end");
    check(n_words < 1u << 31, "`n_words` must be below 2**31");
    check(all_below(view(ids), n_words), "`ids` must be numbers of words");
    return {view(ids), view(offsets), n_words, window};
}

NumpyArray<uint64_t> glove_neighbours(const Input<uint32_t>& ids, const Input<uint64_t>& offsets,
                                           uint32_t n_words, uint32_t window) {
    const glove::Text text = glove_text(ids, offsets, n_words, window);
    std::vector<uint64_t> counts;
    {
        nb::gil_scoped_release released;
        counts = glove::neighbours(text);
    }
    return to_numpy(std::move(counts));
}

nb::list glove_count(const Input<uint32_t>& ids, const Input<uint64_t>& offsets, uint32_t n_words,
                     uint32_t window, uint32_t first, uint32_t end, uint32_t n_groups,
                     double x_max, double alpha) {
    const glove::Text text = glove_text(ids, offsets, n_words, window);
    check(first <= end && end <= n_words, "`first` and `end` must be numbers of words, in this order");
    check(n_groups >= 1 && n_groups <= 1 << 6, "`n_groups` must be from 1 to 64");
    std::vector<std::vector<glove::Entry>> blocks;
    {
        nb::gil_scoped_release released;
        blocks = glove::count(text, first, end, n_groups, {x_max, alpha});
    }
    nb::list arrays;
    for (std::vector<glove::Entry>& block : blocks) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(block.data());
        arrays.append(to_numpy(std::vector<uint8_t>(bytes, bytes + block.size() * sizeof(glove::Entry))));
        block = {};
    }
    return arrays;
}

double glove_train(FloatMatrix words, FloatMatrix contexts, uint32_t size,
                   const std::vector<Input<uint8_t>>& blocks, float learning_rate, unsigned n_threads) {
    check(words.shape(0) == contexts.shape(0) && words.shape(1) == contexts.shape(1),
          "words and contexts must have vectors of the same shape");
    const size_t width = words.shape(1) / 2;
    check(words.shape(1) % 2 == 0 && width >= size_t{size} + 2 && width <= 1 << 20,
          "a vector must have room for as many squares as parameters, and for two more parameters than `size`");
    check(n_threads >= 1 && n_threads <= 1 << 12, "`n_threads` must be from 1 to 4096");
    check_apart(words, contexts);
    std::vector<std::span<const glove::Entry>> entries;
    for (const Input<uint8_t>& block : blocks) {
        check(block.size() % sizeof(glove::Entry) == 0, "a block must be whole entries of 16 bytes");
        check(reinterpret_cast<uintptr_t>(block.data()) % alignof(glove::Entry) == 0, "a block must start at a multiple of 4");
        check_apart(words, block);
        check_apart(contexts, block);
        const auto* first = reinterpret_cast<const glove::Entry*>(block.data());
        entries.emplace_back(first, block.size() / sizeof(glove::Entry));
        uint32_t largest = 0;
        for (const glove::Entry& entry : entries.back()) largest = std::max({largest, entry.row, entry.column});
        check(entries.back().empty() || largest < words.shape(0), "there is no such word");
    }
    nb::gil_scoped_release released;
    return glove::train({words.data(), contexts.data(), size, static_cast<uint32_t>(width)}, entries, learning_rate, n_threads);
}

void bind_glove(nb::module_& m) {
    m.def("glove_neighbours", &glove_neighbours, "ids"_a, "offsets"_a, "n_words"_a, "window"_a,
          "How many neighbours each word has in a text.");
    m.def("glove_count", &glove_count, "ids"_a, "offsets"_a, "n_words"_a, "window"_a, "first"_a, "end"_a,
          "n_groups"_a, "x_max"_a, "alpha"_a, "Counts of some words with all words, as bytes of entries per block.");
    m.def("glove_train", &glove_train, "words"_a, "contexts"_a, "size"_a, "blocks"_a, "learning_rate"_a,
          "n_threads"_a, "One pass over blocks that share no words; returns the cost.");
}

}  // namespace

void bind_text(nb::module_& m) {
    bind_words(m);
    bind_glove(m);
}

}  // namespace omnitm
