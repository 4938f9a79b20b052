// The only file that knows Python, with classifier_bindings.cpp: argument checks, array owners, and the GIL released around work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include <memory>

#include "autoencoder.hpp"
#include "company.hpp"
#include "glove.hpp"
#include "text.hpp"
#include "vectors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// ---- word vectors

using Matrix = nb::ndarray<const int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

int32_t block_sums(Matrix matrix, Input<int64_t> edges, Output<int64_t> sums, Output<int64_t> squares) {
    const size_t n_blocks = edges.size() ? edges.size() - 1 : 0;
    for (size_t k = 0; k < edges.size(); ++k)
        if (edges(k) < (k ? edges(k - 1) : 0) || edges(k) > static_cast<int64_t>(matrix.shape(1)))
            throw nb::value_error("`edges` must be columns in ascending order");
    if (sums.size() != matrix.shape(0) * n_blocks || squares.size() != sums.size())
        throw nb::value_error("`sums` and `squares` must have a place per row and block");
    nb::gil_scoped_release unlocked;
    return omnitm::block_sums({matrix.data(), matrix.shape(0), matrix.shape(1)}, edges.data(), n_blocks, sums.data(),
                              squares.data());
}

void add_dots(Matrix matrix, int32_t largest, Input<int64_t> rows, Input<int16_t> query, size_t first, size_t last,
              Output<int64_t> dots) {
    if (query.size() != matrix.shape(1)) throw nb::value_error("the query must be as long as rows");
    if (first > last || last > matrix.shape(1)) throw nb::value_error("`first` and `last` must be columns");
    if (dots.size() != rows.size()) throw nb::value_error("`dots` must have a place per row");
    for (size_t k = 0; k < rows.size(); ++k)
        if (rows(k) < 0 || rows(k) >= static_cast<int64_t>(matrix.shape(0))) throw nb::value_error("no such row");
    nb::gil_scoped_release unlocked;
    omnitm::add_dots({matrix.data(), matrix.shape(0), matrix.shape(1)}, largest, rows.data(), rows.size(), query.data(),
                     first, last, dots.data());
}

void row_dots(Matrix matrix, int32_t largest, Matrix queries, Output<int64_t> dots) {
    if (queries.shape(1) != matrix.shape(1)) throw nb::value_error("queries must be as long as rows");
    if (dots.size() != matrix.shape(0) * queries.shape(0))
        throw nb::value_error("`dots` must have a place per row and query");
    nb::gil_scoped_release unlocked;
    omnitm::row_dots({matrix.data(), matrix.shape(0), matrix.shape(1)}, largest, queries.data(), queries.shape(0),
                     dots.data());
}

void sparse_dots(Input<uint8_t> content, Input<int64_t> starts, Matrix queries, Output<int64_t> dots) {
    if (starts.size() == 0) throw nb::value_error("`starts` must have the start of each row and the end of the last");
    const size_t n_rows = starts.size() - 1;
    for (size_t row = 0; row <= n_rows; ++row)
        if (starts(row) % 4 || starts(row) < (row ? starts(row - 1) : 0) ||
            starts(row) > static_cast<int64_t>(content.size()))
            throw nb::value_error("`starts` must ascend within `content`, by multiples of 4");
    if (dots.size() != n_rows * queries.shape(0)) throw nb::value_error("`dots` must have a place per row and query");
    bool sound;
    {
        nb::gil_scoped_release unlocked;
        sound = omnitm::sparse_dots({content.data(), starts.data(), n_rows, queries.shape(1)}, queries.data(),
                                    queries.shape(0), dots.data());
    }
    if (!sound) throw nb::value_error("there is a position beyond the last column");
}

omnitm::RowMatrix rows_of(const Matrix& matrix) { return {matrix.data(), matrix.shape(0), matrix.shape(1)}; }

void row_modes(Matrix matrix, Output<int16_t> modes) {
    if (modes.size() != matrix.shape(0)) throw nb::value_error("`modes` must have a place per row");
    nb::gil_scoped_release unlocked;
    omnitm::row_modes(rows_of(matrix), modes.data());
}

// A matrix with what makes its rows comparable; checked once, used by all functions below.
struct ScaledRows {
    Matrix matrix;
    Input<int16_t> baseline;
    Input<float> gain;
    Input<int32_t> own;

    ScaledRows(Matrix matrix, Input<int16_t> baseline, Input<float> gain, Input<int32_t> own)
        : matrix(matrix), baseline(baseline), gain(gain), own(own) {
        const size_t n_rows = matrix.shape(0);
        if (baseline.size() != n_rows || gain.size() != n_rows || own.size() != n_rows)
            throw nb::value_error("baseline, gain and own must have a place per row");
        for (size_t row = 0; row < n_rows; ++row)
            if (own.data()[row] >= static_cast<int64_t>(matrix.shape(1)))
                throw nb::value_error("`own` names a column that is not there");
    }
    omnitm::RowMatrix rows() const { return rows_of(matrix); }
    omnitm::RowScale scale() const { return {baseline.data(), gain.data(), own.data()}; }
    void check_columns(std::initializer_list<size_t> sizes) const {
        for (size_t size : sizes)
            if (size != matrix.shape(1)) throw nb::value_error("there must be a number per column");
    }

    void moments(Output<double> sums, Output<double> squares) const {
        check_columns({sums.size(), squares.size()});
        nb::gil_scoped_release unlocked;
        omnitm::add_moments(rows(), scale(), sums.data(), squares.data());
    }

    void count_above(Input<float> limits, Output<int64_t> counts) const {
        check_columns({limits.size()});
        if (counts.size() != matrix.shape(0)) throw nb::value_error("`counts` must have a place per row");
        nb::gil_scoped_release unlocked;
        omnitm::count_above(rows(), scale(), limits.data(), counts.data());
    }

    void excess_above(Input<float> limits, Input<float> inverse_deviations, Input<int64_t> starts,
                      Output<int32_t> columns, Output<float> excesses) const {
        check_columns({limits.size(), inverse_deviations.size()});
        const size_t n_rows = matrix.shape(0);
        const bool fits = starts.size() == n_rows + 1 && columns.size() == excesses.size() &&
                          starts.data()[n_rows] == static_cast<int64_t>(columns.size());
        if (!fits) throw nb::value_error("`starts` must come from `count_above` and fit the outputs");
        nb::gil_scoped_release unlocked;
        omnitm::excess_above(rows(), scale(), limits.data(), inverse_deviations.data(), starts.data(),
                             columns.data(), excesses.data());
    }
};

template <class Row>
void add_postings(Input<int64_t> starts, Input<Row> rows, Input<uint16_t> values, Input<int32_t> features,
                  Input<float> weights, Output<float> totals) {
    if (features.size() != weights.size() || rows.size() != values.size())
        throw nb::value_error("every feature needs a weight, and every row a value");
    for (size_t k = 0; k < features.size(); ++k) {
        const int64_t feature = features.data()[k];
        if (feature < 0 || feature + 1 >= static_cast<int64_t>(starts.size()))
            throw nb::value_error("there is no such feature");
        const int64_t from = starts.data()[feature], to = starts.data()[feature + 1];
        if (from < 0 || to < from || to > static_cast<int64_t>(rows.size()))
            throw nb::value_error("`starts` leads out of the rows");
        for (int64_t place = from; place < to; ++place)
            if (rows.data()[place] >= totals.size()) throw nb::value_error("there is no such row");
    }
    nb::gil_scoped_release unlocked;
    omnitm::add_postings<Row>({starts.data(), rows.data(), values.data()}, features.data(), weights.data(),
                              features.size(), totals.data());
}

void bind_scaled_rows(nb::module_& m) {
    m.def("add_postings", &add_postings<uint16_t>, "starts"_a, "rows"_a, "values"_a, "features"_a, "weights"_a,
          "totals"_a, "Add weight * value to the words of every feature.");
    m.def("add_postings", &add_postings<uint32_t>, "starts"_a, "rows"_a, "values"_a, "features"_a, "weights"_a,
          "totals"_a);
    nb::class_<ScaledRows>(m, "ScaledRows", "Rows as (value - baseline) * gain, without a copy of the matrix.")
        .def(nb::init<Matrix, Input<int16_t>, Input<float>, Input<int32_t>>(), "matrix"_a, "baseline"_a, "gain"_a,
             "own"_a)
        .def("moments", &ScaledRows::moments, "sums"_a, "squares"_a, "Add values and squares to column sums.")
        .def("count_above", &ScaledRows::count_above, "limits"_a, "counts"_a,
             "Count the columns above their limits in every row.")
        .def("excess_above", &ScaledRows::excess_above, "limits"_a, "inverse_deviations"_a, "starts"_a, "columns"_a,
             "excesses"_a, "Write the columns above their limits, and by how many deviations they exceed them.");
}

void bind_vectors(nb::module_& m) {
    m.def("row_modes", &row_modes, "matrix"_a, "modes"_a, "Find the most frequent value of every row.");
    bind_scaled_rows(m);
    m.def("block_sums", &block_sums, "matrix"_a, "edges"_a, "sums"_a, "squares"_a,
          "Sum blocks of columns, and their squares, of every row; returns the largest magnitude.");
    m.def("add_dots", &add_dots, "matrix"_a, "largest"_a, "rows"_a, "query"_a, "first"_a, "last"_a, "dots"_a,
          "Multiply some columns of some rows with a query.");
    m.def("sparse_dots", &sparse_dots, "content"_a, "starts"_a, "queries"_a, "dots"_a,
          "Multiply every row of a matrix that is mostly zeros with every query.");
    m.def("row_dots", &row_dots, "matrix"_a, "largest"_a, "queries"_a, "dots"_a, "Multiply every row with every query.");
}

// ---- training

// Keeps the corpus' arrays alive for as long as a machine reads them.
class PyAutoencoder {
  public:
    PyAutoencoder(Input<uint64_t> document_offsets, Input<uint32_t> document_words, Input<uint64_t> word_offsets,
                  Input<uint32_t> word_documents, uint32_t n_clauses, int32_t threshold, uint64_t forget_probability,
                  uint32_t accumulation, uint64_t n_examples, uint64_t label_probability, uint32_t max_included,
                  int state_bits, bool fast, bool negated, const std::string& kernel, const std::string& isa)
        : owners_{nb::cast(document_offsets), nb::cast(document_words), nb::cast(word_offsets),
                  nb::cast(word_documents)},
          autoencoder_({document_offsets.data(), document_words.data(), word_offsets.data(), word_documents.data(),
                        document_offsets.size() - 1, static_cast<uint32_t>(word_offsets.size() - 1)},
                       {n_clauses, threshold, forget_probability, accumulation, n_examples, label_probability,
                        max_included, state_bits, fast, negated},
                       kernel, isa) {}

    bool train(uint32_t target, uint64_t key) {
        if (target >= autoencoder_.corpus().n_words) throw nb::index_error("no such word");
        nb::gil_scoped_release unlocked;
        return autoencoder_.train(target, key);
    }

    bool record(uint32_t target, uint64_t key, uint32_t word, Output<uint8_t> states, Output<uint8_t> feedback,
                Output<int32_t> weights) {
        const uint32_t n_words = autoencoder_.corpus().n_words;
        if (target >= n_words || word >= n_words) throw nb::index_error("no such word");
        const size_t size = autoencoder_.settings().n_examples * autoencoder_.settings().n_clauses;
        if (states.size() != 2 * size || feedback.size() != size || weights.size() != size)
            throw nb::value_error("arrays must have a place per example and clause, `states` two");
        nb::gil_scoped_release unlocked;
        return autoencoder_.record(target, key, {word, states.data(), feedback.data(), weights.data()});
    }

    void stop() { autoencoder_.stop(); }

    void embedding(Output<int16_t> out) {
        if (out.size() != autoencoder_.corpus().n_words) throw nb::value_error("`out` must have a place per word");
        const omnitm::Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.embedding(out.data());
    }

    void states(Output<uint8_t> out) {
        if (out.size() != size_t{2} * autoencoder_.corpus().n_words * autoencoder_.settings().n_clauses)
            throw nb::value_error("`out` must have a place per clause and literal");
        const omnitm::Machine& machine = autoencoder_.machine();
        nb::gil_scoped_release unlocked;
        machine.states(out.data());
    }

    void weights(Output<int32_t> out) {
        if (out.size() != autoencoder_.settings().n_clauses) throw nb::value_error("`out` must have a place per clause");
        const int32_t* weights = autoencoder_.machine().weights();
        std::copy(weights, weights + out.size(), out.data());
    }

  private:
    nb::object owners_[4];
    omnitm::Autoencoder autoencoder_;
};

// A bank of clauses that several words share.
class PySharedAutoencoder {
  public:
    PySharedAutoencoder(Input<uint64_t> document_offsets, Input<uint32_t> document_words, Input<uint64_t> word_offsets,
                        Input<uint32_t> word_documents, uint32_t n_clauses, int32_t threshold,
                        uint64_t forget_probability, uint32_t accumulation, uint64_t n_examples,
                        uint64_t label_probability, uint32_t max_included, bool negated, const std::string& isa)
        : owners_{nb::cast(document_offsets), nb::cast(document_words), nb::cast(word_offsets),
                  nb::cast(word_documents)},
          shared_({document_offsets.data(), document_words.data(), word_offsets.data(), word_documents.data(),
                   document_offsets.size() - 1, static_cast<uint32_t>(word_offsets.size() - 1)},
                  {n_clauses, threshold, forget_probability, accumulation, n_examples, label_probability, max_included,
                   8, false, negated},
                  isa) {}

    bool train(const std::vector<uint32_t>& targets, const std::vector<uint64_t>& keys, uint64_t key) {
        if (targets.empty() || targets.size() != keys.size()) throw nb::value_error("a key per target, and one at least");
        for (const uint32_t target : targets)
            if (target >= shared_.corpus().n_words) throw nb::index_error("no such word");
        n_targets_ = targets.size();
        nb::gil_scoped_release unlocked;
        return shared_.train(targets, keys, key);
    }

    void stop() { shared_.stop(); }
    uint64_t n_done() const { return shared_.n_done(); }

    void states(Output<uint8_t> out) {
        if (out.size() != size_t{2} * shared_.corpus().n_words * shared_.settings().n_clauses)
            throw nb::value_error("`out` must have a place per clause and literal");
        shared_.bank().shared_states(out.data());
    }

    void weights(Output<int32_t> out) {
        if (out.size() != n_targets_ * shared_.settings().n_clauses)
            throw nb::value_error("`out` must have a place per target and clause");
        const int32_t* weights = shared_.bank().shared_weights();
        std::copy(weights, weights + out.size(), out.data());
    }

  private:
    nb::object owners_[4];
    omnitm::SharedAutoencoder shared_;
    size_t n_targets_ = 0;
};

void bind_shared_autoencoder(nb::module_& m) {
    nb::class_<PySharedAutoencoder>(m, "SharedAutoencoder", "See omnitm.machine.SharedAutoencoder.")
        .def(nb::init<Input<uint64_t>, Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, uint32_t, int32_t, uint64_t,
                      uint32_t, uint64_t, uint64_t, uint32_t, bool, const std::string&>(),
             "document_offsets"_a, "document_words"_a, "word_offsets"_a, "word_documents"_a, nb::kw_only(),
             "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "negated"_a, "isa"_a)
        .def("train", &PySharedAutoencoder::train, "targets"_a, "keys"_a, "key"_a, "False: stopped before the end.")
        .def("stop", &PySharedAutoencoder::stop, "Make a running `train` return soon; may be called from any thread.")
        .def_prop_ro("n_done", &PySharedAutoencoder::n_done)
        .def("states", &PySharedAutoencoder::states, "out"_a)
        .def("weights", &PySharedAutoencoder::weights, "out"_a);
}

void bind_autoencoder(nb::module_& m) {
    m.def("instruction_sets", &omnitm::instruction_sets, "Instruction sets of this processor, best last.");
    nb::class_<PyAutoencoder>(m, "Autoencoder", "One thread's machine: see omnitm.machine.Autoencoder.")
        .def(nb::init<Input<uint64_t>, Input<uint32_t>, Input<uint64_t>, Input<uint32_t>, uint32_t, int32_t, uint64_t,
                      uint32_t, uint64_t, uint64_t, uint32_t, int, bool, bool, const std::string&, const std::string&>(),
             "document_offsets"_a, "document_words"_a, "word_offsets"_a, "word_documents"_a, nb::kw_only(),
             "n_clauses"_a, "threshold"_a, "forget_probability"_a, "accumulation"_a, "n_examples"_a,
             "label_probability"_a, "max_included"_a, "state_bits"_a, "fast"_a, "negated"_a, "kernel"_a,
             "isa"_a)
        .def("train", &PyAutoencoder::train, "target"_a, "key"_a, "False: stopped before the end.")
        .def("record", &PyAutoencoder::record, "target"_a, "key"_a, "word"_a, "states"_a, "feedback"_a, "weights"_a,
             "Train, and write down what becomes of one word's literals. False: stopped before the end.")
        .def("stop", &PyAutoencoder::stop, "Make a running `train` return soon; may be called from any thread.")
        .def("embedding", &PyAutoencoder::embedding, "out"_a)
        .def("states", &PyAutoencoder::states, "out"_a)
        .def("weights", &PyAutoencoder::weights, "out"_a);
}

// ---- text: counting words and building the index

namespace text = omnitm::text;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // an array to be filled
template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> view(const Array<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumpyArray<T>(owned->data(), {owned->size()}, owner);
}

std::span<const char> letters_view(const Array<std::uint8_t>& array) {
    return {reinterpret_cast<const char*>(array.data()), array.size()};
}

std::vector<std::string> to_strings(const std::vector<nb::bytes>& words) {
    std::vector<std::string> strings;
    for (const nb::bytes& word : words) strings.emplace_back(word.c_str(), word.size());
    return strings;
}

nb::tuple to_tuple(text::Records&& records) {
    std::vector<std::uint8_t> letters(records.letters.begin(), records.letters.end());
    return nb::make_tuple(to_numpy(std::move(letters)), to_numpy(std::move(records.lengths)),
                          to_numpy(std::move(records.counts)), to_numpy(std::move(records.documents)),
                          to_numpy(std::move(records.ids)));
}

nb::tuple to_tuple(const text::Tally& tally) { return nb::make_tuple(tally.types, tally.tokens); }

// The word numbers are a view of the table's memory.
nb::tuple count_block(nb::handle_t<text::WordTable> owner, const text::CharacterRules& rules,
                      const Array<std::uint8_t>& data, int unit, bool ends_document) {
    auto& table = nb::cast<text::WordTable&>(owner);
    text::Block block;
    {
        nb::gil_scoped_release released;
        block = table.count_block(rules, letters_view(data), static_cast<text::Unit>(unit), ends_document);
    }
    const nb::ndarray<nb::numpy, const std::uint32_t, nb::ndim<1>> ids(block.ids.data(), {block.ids.size()}, owner);
    return nb::make_tuple(ids, to_numpy(std::move(block.lengths)), static_cast<int>(block.problem),
                          block.problem_offset);
}

nb::tuple select_words(const text::WordTable& table, std::uint64_t min_count, std::uint64_t min_documents,
                       std::uint64_t max_documents, std::uint64_t limit, std::uint64_t floor_count,
                       const nb::bytes& floor_word) {
    const std::string_view floor(floor_word.c_str(), floor_word.size());
    text::Selection chosen;
    {
        nb::gil_scoped_release released;
        chosen = table.select(min_count, min_documents, max_documents, limit, floor_count, floor);
    }
    return nb::make_tuple(to_tuple(std::move(chosen.words)), to_tuple(chosen.stop), to_tuple(chosen.rare),
                          to_tuple(chosen.frequent), to_tuple(chosen.passed));
}

template <class T>
void check_room(const Output<T>& output, std::size_t needed) {
    if (output.size() < needed) throw std::invalid_argument("the array to be filled is too small");
}

std::size_t total_size(const std::vector<Array<std::uint32_t>>& arrays) {
    std::size_t total = 0;
    for (const auto& array : arrays) total += array.size();
    return total;
}

std::size_t remap_documents(const std::vector<Array<std::uint32_t>>& ids,
                            const std::vector<Array<std::uint32_t>>& lengths,
                            const std::vector<Array<std::uint32_t>>& remaps, const Output<std::uint32_t>& words,
                            const Output<std::uint32_t>& word_lengths) {
    check_room(words, total_size(ids));
    check_room(word_lengths, total_size(lengths));
    nb::gil_scoped_release released;
    std::size_t n_words = 0, done = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        n_words += text::remap_documents(view(ids[i]), view(lengths[i]), view(remaps[i]), words.data() + n_words,
                                         word_lengths.data() + done);
        done += lengths[i].size();
    }
    return n_words;
}

void invert(const Array<std::uint32_t>& words, const Array<std::uint32_t>& lengths, std::uint32_t first_document,
            const Output<std::uint32_t>& counts, const Output<std::uint32_t>& documents) {
    check_room(documents, words.size());
    nb::gil_scoped_release released;
    text::invert(view(words), view(lengths), first_document, {counts.data(), counts.size()},
                 {documents.data(), words.size()});
}

std::size_t interleave(const std::vector<Array<std::uint32_t>>& counts, const std::vector<Array<std::uint32_t>>& runs,
                       const Output<std::uint32_t>& joined) {
    std::vector<std::span<const std::uint32_t>> count_views, run_views;
    for (const auto& array : counts) count_views.push_back(view(array));
    for (const auto& array : runs) run_views.push_back(view(array));
    const std::size_t total = total_size(runs);
    check_room(joined, total);
    nb::gil_scoped_release released;
    text::interleave(count_views, run_views, {joined.data(), total});
    return total;
}

void bind_text(nb::module_& m) {
    nb::class_<text::CharacterRules>(m, "CharacterRules", "What becomes of each code point; see corpus/characters.py.")
        .def(
            "__init__",
            [](text::CharacterRules* self, const Array<std::uint32_t>& actions, const Array<std::uint8_t>& contexts,
               const std::vector<nb::bytes>& expansions) {
                new (self) text::CharacterRules(view(actions), view(contexts), to_strings(expansions));
            },
            nb::arg("actions"), nb::arg("contexts"), nb::arg("expansions"));
    nb::class_<text::WordTable>(m, "WordTable", "Numbers words as they are first seen and counts them exactly.")
        .def(
            "__init__",
            [](text::WordTable* self, const std::vector<nb::bytes>& stop_words) {
                new (self) text::WordTable(to_strings(stop_words));
            },
            nb::arg("stop_words"))
        .def("count_block", &count_block, nb::arg("rules"), nb::arg("data"), nb::arg("unit"), nb::arg("ends_document"),
             "Prepare a block: (word numbers, words per document, problem, its byte offset). The word numbers are "
             "valid until the next block is counted.")
        .def(
            "absorb",
            [](text::WordTable& table, const Array<std::uint8_t>& letters, const Array<std::uint16_t>& lengths,
               const Array<std::uint64_t>& counts, const Array<std::uint64_t>& documents) {
                nb::gil_scoped_release released;
                table.absorb(letters_view(letters), view(lengths), view(counts), view(documents));
            },
            nb::arg("letters"), nb::arg("lengths"), nb::arg("counts"), nb::arg("documents"))
        .def(
            "take_common",
            [](text::WordTable& table, text::WordTable& other, std::size_t first, std::size_t last) {
                if (&table == &other) throw std::invalid_argument("a table has everything in common with itself");
                nb::gil_scoped_release released;
                table.take_common(other, first, last);
            },
            nb::arg("other"), nb::arg("first"), nb::arg("last"))
        .def("records", [](const text::WordTable& table) { return to_tuple(table.records()); })
        .def(
            "partitioned_records",
            [](const text::WordTable& table, unsigned n_partitions) {
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
             nb::arg("limit"), nb::arg("floor_count"), nb::arg("floor_word"))
        .def(
            "lookup",
            [](const text::WordTable& table, const std::vector<nb::bytes>& words) {
                text::Records found = table.lookup(to_strings(words));
                return nb::make_tuple(to_numpy(std::move(found.counts)), to_numpy(std::move(found.documents)));
            },
            nb::arg("words"))
        .def(
            "remap",
            [](const text::WordTable& table, const Array<std::uint8_t>& letters, const Array<std::uint16_t>& lengths,
               const Array<std::uint32_t>& ids, std::size_t n_ids) {
                std::vector<std::uint32_t> numbers;
                {
                    nb::gil_scoped_release released;
                    numbers = table.remap(letters_view(letters), view(lengths), view(ids), n_ids);
                }
                return to_numpy(std::move(numbers));
            },
            nb::arg("letters"), nb::arg("lengths"), nb::arg("ids"), nb::arg("n_ids"))
        .def(
            "positions_in",
            [](const text::WordTable& table, const Array<std::uint8_t>& letters, const Array<std::uint16_t>& lengths) {
                std::vector<std::uint32_t> positions;
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
    m.def("remap_documents", &remap_documents, nb::arg("ids"), nb::arg("lengths"), nb::arg("remaps"), nb::arg("words"),
          nb::arg("word_lengths"));
    m.def("invert", &invert, nb::arg("words"), nb::arg("lengths"), nb::arg("first_document"), nb::arg("counts"),
          nb::arg("documents"));
    m.def("interleave", &interleave, nb::arg("counts"), nb::arg("runs"), nb::arg("joined"));
    m.def(
        "first_defect",
        [](const Array<std::uint64_t>& offsets, const Array<std::uint32_t>& members, std::uint64_t limit) {
            nb::gil_scoped_release released;
            return text::first_defect(view(offsets), view(members), limit);
        },
        nb::arg("offsets"), nb::arg("members"), nb::arg("limit"));
}

// ---- GloVe

namespace glove = omnitm::glove;

using FloatMatrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

glove::Text glove_text(const Array<std::uint32_t>& ids, const Array<std::uint64_t>& offsets, std::uint32_t n_words,
                       std::uint32_t window) {
    const std::span<const std::uint64_t> bounds = view(offsets);
    if (bounds.empty() || bounds.back() != ids.size() || !std::is_sorted(bounds.begin(), bounds.end()))
        throw nb::value_error("`offsets` must span `ids` and ascend");
    for (const std::uint32_t id : view(ids))
        if (id >= n_words) throw nb::value_error("`ids` must be numbers of words");
    return {view(ids), view(offsets), n_words, window};
}

NumpyArray<std::uint64_t> glove_neighbours(const Array<std::uint32_t>& ids, const Array<std::uint64_t>& offsets,
                                           std::uint32_t n_words, std::uint32_t window) {
    const glove::Text text = glove_text(ids, offsets, n_words, window);
    std::vector<std::uint64_t> counts;
    {
        nb::gil_scoped_release released;
        counts = glove::neighbours(text);
    }
    return to_numpy(std::move(counts));
}

nb::list glove_count(const Array<std::uint32_t>& ids, const Array<std::uint64_t>& offsets, std::uint32_t n_words,
                     std::uint32_t window, std::uint32_t first, std::uint32_t end, std::uint32_t n_groups,
                     double x_max, double alpha) {
    const glove::Text text = glove_text(ids, offsets, n_words, window);
    if (first > end || end > n_words || n_groups == 0) throw nb::value_error("no such words or groups");
    std::vector<std::vector<glove::Entry>> blocks;
    {
        nb::gil_scoped_release released;
        blocks = glove::count(text, first, end, n_groups, {x_max, alpha});
    }
    nb::list arrays;
    for (std::vector<glove::Entry>& block : blocks) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(block.data());
        arrays.append(to_numpy(std::vector<std::uint8_t>(bytes, bytes + block.size() * sizeof(glove::Entry))));
        block = {};
    }
    return arrays;
}

double glove_train(FloatMatrix words, FloatMatrix contexts, std::uint32_t size,
                   const std::vector<Array<std::uint8_t>>& blocks, float learning_rate, unsigned n_threads) {
    if (words.shape(0) != contexts.shape(0) || words.shape(1) != contexts.shape(1) || words.shape(1) < 2 * (size + 2))
        throw nb::value_error("vectors must have room for parameters and squares");
    std::vector<std::span<const glove::Entry>> entries;
    for (const Array<std::uint8_t>& block : blocks) {
        const auto* first = reinterpret_cast<const glove::Entry*>(block.data());
        entries.emplace_back(first, block.size() / sizeof(glove::Entry));
        for (const glove::Entry& entry : entries.back())
            if (std::max(entry.row, entry.column) >= words.shape(0)) throw nb::value_error("no such word");
    }
    nb::gil_scoped_release released;
    return glove::train({words.data(), contexts.data(), size, static_cast<std::uint32_t>(words.shape(1) / 2)}, entries,
                        learning_rate, n_threads);
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

void bind_classifier(nb::module_& m);

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of omnitm; use the Python modules around them.";
    bind_vectors(m);
    bind_autoencoder(m);
    bind_shared_autoencoder(m);
    bind_text(m);
    bind_glove(m);
    bind_classifier(m);
}
