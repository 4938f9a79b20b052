// The module, and its functions on word vectors; machine_bindings.cpp and text_bindings.cpp have the others.
#include "bindings.hpp"

#include <algorithm>

#include "checksums.hpp"
#include "patterns.hpp"
#include "row_profile.hpp"
#include "sha256.hpp"
#include "vectors.hpp"

namespace omnitm {
namespace {

using Matrix = InputRows<int16_t>;

RowMatrix rows_of(const Matrix& matrix) { return {matrix.data(), matrix.shape(0), matrix.shape(1)}; }

int32_t sum_blocks(const Matrix& matrix, const Input<int64_t>& edges, const Output<int64_t>& sums,
                   const Output<int64_t>& squares) {
    const size_t n_blocks = edges.size() ? edges.size() - 1 : 0;
    for (size_t k = 0; k < edges.size(); ++k)
        check(edges(k) >= (k ? edges(k - 1) : 0) && edges(k) <= static_cast<int64_t>(matrix.shape(1)),
              "`edges` must be columns in ascending order");
    check(sums.size() == matrix.shape(0) * n_blocks && squares.size() == sums.size(),
          "`sums` and `squares` must have a place per row and block");
    check_apart(sums, edges);
    check_apart(squares, edges);
    nb::gil_scoped_release unlocked;
    return block_sums(rows_of(matrix), edges.data(), n_blocks, sums.data(), squares.data());
}

// A smaller magnitude than the true one would make sums of products too large for their 32 bits.
void check_magnitude(int32_t largest) {
    check(largest >= 0 && largest <= 1 << 15, "`largest` must be the largest magnitude in the matrix, at most 2**15");
}

void add_some_dots(const Matrix& matrix, int32_t largest, const Input<int64_t>& rows, const Input<int16_t>& query,
                   size_t first, size_t last, const Output<int64_t>& dots) {
    check_magnitude(largest);
    check(query.size() == matrix.shape(1), "the query must be as long as rows");
    check(first <= last && last <= matrix.shape(1), "`first` and `last` must be columns");
    check(dots.size() == rows.size(), "`dots` must have a place per row");
    for (const int64_t row : view(rows))
        check(row >= 0 && row < static_cast<int64_t>(matrix.shape(0)), "there is no such row");
    check_apart(dots, rows);
    nb::gil_scoped_release unlocked;
    add_dots(rows_of(matrix), largest, rows.data(), rows.size(), query.data(), first, last, dots.data());
}

void all_dots(const Matrix& matrix, int32_t largest, const Matrix& queries, const Output<int64_t>& dots) {
    check_magnitude(largest);
    check(queries.shape(1) == matrix.shape(1), "queries must be as long as rows");
    check(dots.size() == matrix.shape(0) * queries.shape(0), "`dots` must have a place per row and query");
    nb::gil_scoped_release unlocked;
    row_dots(rows_of(matrix), largest, queries.data(), queries.shape(0), dots.data());
}

void all_sparse_dots(const Input<uint8_t>& content, const Input<int64_t>& starts, const Matrix& queries,
                     const Output<int64_t>& dots) {
    check(starts.size() > 0, "`starts` must have the start of each row and the end of the last");
    const size_t n_rows = starts.size() - 1;
    for (size_t row = 0; row <= n_rows; ++row)
        check(starts(row) % 4 == 0 && starts(row) >= (row ? starts(row - 1) : 0) &&
                  starts(row) <= static_cast<int64_t>(content.size()),
              "`starts` must ascend within `content`, by multiples of 4");
    check(reinterpret_cast<uintptr_t>(content.data()) % 4 == 0, "`content` must start at a multiple of 4");
    check(dots.size() == n_rows * queries.shape(0), "`dots` must have a place per row and query");
    check_apart(dots, content, starts);
    bool is_sound;
    {
        nb::gil_scoped_release unlocked;
        is_sound = sparse_dots({content.data(), starts.data(), n_rows, queries.shape(1)}, queries.data(),
                               queries.shape(0), dots.data());
    }
    check(is_sound, "there is a position beyond the last column");
}

void modes_of_rows(const Matrix& matrix, const Output<int16_t>& modes) {
    check(modes.size() == matrix.shape(0), "`modes` must have a place per row");
    check_apart(modes, matrix);
    nb::gil_scoped_release unlocked;
    row_modes(rows_of(matrix), modes.data());
}

// A matrix with what makes its rows comparable.
struct ScaledRows {
    Matrix matrix;
    Input<int16_t> baseline;
    Input<float> gain;
    Input<int32_t> own;

    ScaledRows(Matrix matrix, Input<int16_t> baseline, Input<float> gain, Input<int32_t> own)
        : matrix(matrix), baseline(baseline), gain(gain), own(own) {
        const size_t n_rows = matrix.shape(0);
        check(baseline.size() == n_rows && gain.size() == n_rows && own.size() == n_rows,
              "baseline, gain and own must have a place per row");
        scale();
    }

    RowMatrix rows() const { return rows_of(matrix); }

    // Checked again by every function: the array still belongs to Python.
    RowScale scale() const {
        for (const int32_t column : view(own))
            check(column < static_cast<int64_t>(matrix.shape(1)), "`own` names a column that is not there");
        return {baseline.data(), gain.data(), own.data()};
    }

    void check_columns(std::initializer_list<size_t> sizes) const {
        for (const size_t size : sizes) check(size == matrix.shape(1), "there must be a number per column");
    }

    void moments(const Output<double>& sums, const Output<double>& squares) const {
        check_columns({sums.size(), squares.size()});
        check_apart(sums, own);
        check_apart(squares, own);
        const RowScale scaled = scale();
        nb::gil_scoped_release unlocked;
        add_moments(rows(), scaled, sums.data(), squares.data());
    }

    void count_above(const Input<float>& limits, const Output<int64_t>& counts) const {
        check_columns({limits.size()});
        check(counts.size() == matrix.shape(0), "`counts` must have a place per row");
        check_apart(counts, own);
        const RowScale scaled = scale();
        nb::gil_scoped_release unlocked;
        omnitm::count_above(rows(), scaled, limits.data(), counts.data());
    }

    void excess_above(const Input<float>& limits, const Input<float>& inverse_deviations, const Input<int64_t>& starts,
                      const Output<int32_t>& columns, const Output<float>& excesses) const {
        constexpr const char* unfit = "`starts` must come from `count_above` and fit `columns` and `excesses`";
        check_columns({limits.size(), inverse_deviations.size()});
        const std::span<const int64_t> bounds = view(starts);
        check(bounds.size() == matrix.shape(0) + 1 && columns.size() == excesses.size(), unfit);
        check(bounds.front() == 0 && bounds.back() == static_cast<int64_t>(columns.size()), unfit);
        check(std::is_sorted(bounds.begin(), bounds.end()), unfit);
        check_apart(columns, starts, own, limits);
        check_apart(excesses, starts, own, limits);
        const RowScale scaled = scale();
        bool is_sound;
        {
            nb::gil_scoped_release unlocked;
            is_sound = omnitm::excess_above(rows(), scaled, limits.data(), inverse_deviations.data(), starts.data(),
                                            columns.data(), excesses.data());
        }
        check(is_sound, unfit);
    }
};

Profiles checked_profiles(const Input<int64_t>& starts, const Input<uint32_t>& columns, const Input<uint16_t>& values,
                          const Input<int64_t>& rows) {
    check(columns.size() == values.size(), "every column needs a value");
    for (const int64_t row : view(rows)) {
        check(row >= 0 && row < static_cast<int64_t>(starts.size()) - 1, "there is no such row");
        const int64_t from = starts.data()[row], to = starts.data()[row + 1];
        check(from >= 0 && to >= from && to <= static_cast<int64_t>(columns.size()), "`starts` leads out of the columns");
    }
    return {starts.data(), columns.data(), values.data()};
}

void products_of_profiles(const Input<int64_t>& starts, const Input<uint32_t>& columns, const Input<uint16_t>& values,
                          const Input<int64_t>& rows, const Input<float>& query, const Output<float>& products) {
    check(rows.size() == products.size(), "every row needs a place for its product");
    check_apart(products, starts, columns, rows);
    const Profiles profiles = checked_profiles(starts, columns, values, rows);
    bool is_sound;
    {
        nb::gil_scoped_release unlocked;
        is_sound = profile_products(profiles, rows.data(), rows.size(), query.data(), query.size(), products.data());
    }
    check(is_sound, "there is no such column");
}

void sum_of_profiles(const Input<int64_t>& starts, const Input<uint32_t>& columns, const Input<uint16_t>& values,
                     const Input<int64_t>& rows, const Input<float>& weights, const Output<float>& sum) {
    check(rows.size() == weights.size(), "every row needs a weight");
    check_apart(sum, starts, columns, rows);
    const Profiles profiles = checked_profiles(starts, columns, values, rows);
    for (const int64_t row : view(rows)) {
        const auto from = static_cast<size_t>(starts.data()[row]), to = static_cast<size_t>(starts.data()[row + 1]);
        check(all_below(view(columns).subspan(from, to - from), sum.size()), "there is no such column");
    }
    nb::gil_scoped_release unlocked;
    add_profiles(profiles, rows.data(), weights.data(), rows.size(), sum.data());
}

void products_of_chosen(const InputRows<float>& matrix, const Input<int64_t>& rows, const Input<float>& query,
                        const Output<float>& products) {
    check(query.size() == matrix.shape(1), "a query must have a number per column");
    check(rows.size() == products.size(), "every row needs a place for its product");
    check_apart(products, rows);
    for (const int64_t row : view(rows))
        check(row >= 0 && row < static_cast<int64_t>(matrix.shape(0)), "there is no such row");
    nb::gil_scoped_release unlocked;
    chosen_products(matrix.data(), matrix.shape(1), rows.data(), rows.size(), query.data(), products.data());
}

using CodeRows = InputRows<int8_t>;

void products_of_codes(const CodeRows& codes, const CodeRows& queries, const AlignedArray<int32_t, 2>& products,
                       bool portable) {
    check(queries.shape(1) == codes.shape(1) && codes.shape(1) < (1u << 16), "a query must have a number per column");
    check(products.shape(0) == queries.shape(0) && products.shape(1) == codes.shape(0),
          "every query and row need a place for their product");
    nb::gil_scoped_release unlocked;
    (portable ? code_products_portable : code_products)(
        {codes.data(), codes.shape(0), queries.data(), queries.shape(0), codes.shape(1)}, products.data());
}

using Reals = InputRows<float>;


WeightedRows weighted_rows(const Input<int64_t>& starts, const Input<int32_t>& columns, const Input<float>& values,
                       size_t n_columns) {
    const std::span<const int64_t> bounds = view(starts);
    check(columns.size() == values.size(), "every column needs a value");
    check(!bounds.empty() && bounds.front() >= 0 && bounds.back() <= static_cast<int64_t>(columns.size()) &&
              std::is_sorted(bounds.begin(), bounds.end()),
          "`starts` leads out of the columns");
    const int32_t* const first = columns.data() + bounds.front();
    const std::span<const int32_t> used(first, static_cast<size_t>(bounds.back() - bounds.front()));
    check(all_below({reinterpret_cast<const uint32_t*>(used.data()), used.size()}, n_columns), "there is no such column");
    for (size_t row = 0; row + 1 < bounds.size(); ++row)
        check(std::is_sorted(columns.data() + bounds[row], columns.data() + bounds[row + 1]), "columns must ascend in a row");
    return {bounds, columns.data(), values.data()};
}

void products_with_dense(const Input<int64_t>& starts, const Input<int32_t>& columns, const Input<float>& values,
                         const Reals& dense, const AlignedArray<float, 2>& products) {
    const WeightedRows rows = weighted_rows(starts, columns, values, dense.shape(0));
    check(products.shape(0) == starts.size() - 1 && products.shape(1) == dense.shape(1),
          "every row needs a place for its products");
    check_apart(products, starts, columns);
    nb::gil_scoped_release unlocked;
    sparse_products(rows, dense.data(), dense.shape(0), dense.shape(1), products.data());
}

template <class Number>
void products_of_dense(const Reals& matrix, const Reals& other, const AlignedArray<Number, 2>& products) {
    check(matrix.shape(1) == other.shape(0), "the other matrix must have a row per column");
    check(products.shape(0) == matrix.shape(0) && products.shape(1) == other.shape(1),
          "`products` must have a place per row and column");
    check_apart(products, matrix, other);
    nb::gil_scoped_release unlocked;
    dense_products(matrix.data(), matrix.shape(0), matrix.shape(1), other.data(), other.shape(1), products.data());
}

void make_orthogonaliser(const AlignedArray<double, 2>& products, const AlignedArray<double, 2>& turn) {
    const size_t size = products.shape(0);
    check(products.shape(1) == size && turn.shape(0) == size && turn.shape(1) == size, "both must be square and alike");
    check_apart(turn, products);
    nb::gil_scoped_release unlocked;
    orthogonaliser(products.data(), size, turn.data());
}

void make_eigenvectors(const AlignedArray<double, 2>& matrix, const Output<double>& values) {
    const size_t size = matrix.shape(0);
    check(matrix.shape(1) == size && values.size() == size, "the matrix must be square, with a value per row");
    check_apart(values, matrix);
    nb::gil_scoped_release unlocked;
    symmetric_eigenvectors(matrix.data(), size, values.data());
}

void bind_vectors(nb::module_& m) {
    m.def("row_modes", &modes_of_rows, "matrix"_a, "modes"_a, "Find the most frequent value of every row.");
    m.def("profile_products", &products_of_profiles, "starts"_a, "columns"_a, "values"_a, "rows"_a, "query"_a,
          "products"_a, "Multiply some sparse rows with a dense vector.");
    m.def("add_profiles", &sum_of_profiles, "starts"_a, "columns"_a, "values"_a, "rows"_a, "weights"_a, "sum"_a,
          "Add some sparse rows, each times its weight, to a dense vector.");
    m.def("chosen_products", &products_of_chosen, "matrix"_a, "rows"_a, "query"_a, "products"_a,
          "Multiply some rows of a matrix with a vector.");
    m.def("code_products", &products_of_codes, "codes"_a, "queries"_a, "products"_a, nb::kw_only(), "portable"_a = false,
          "Multiply every row of small integers with several vectors of them: queries x rows.");
    m.def("sparse_products", &products_with_dense, "starts"_a, "columns"_a, "values"_a, "dense"_a, "products"_a,
          "Multiply sparse rows with a dense matrix.");
    m.def("dense_products", &products_of_dense<float>, "matrix"_a, "other"_a, "products"_a, "Multiply two matrices.");
    m.def("dense_products", &products_of_dense<double>, "matrix"_a, "other"_a, "products"_a);
    m.def("orthogonaliser", &make_orthogonaliser, "products"_a, "turn"_a,
          "Find what makes columns orthogonal, given their products, which are overwritten.");
    m.def("symmetric_eigenvectors", &make_eigenvectors, "matrix"_a, "values"_a,
          "Put the eigenvectors of a symmetric matrix in its place, as rows; values ascend.");
    nb::class_<ScaledRows>(m, "ScaledRows", "Rows as (value - baseline) * gain, without a copy of the matrix.")
        .def(nb::init<Matrix, Input<int16_t>, Input<float>, Input<int32_t>>(), "matrix"_a, "baseline"_a, "gain"_a,
             "own"_a)
        .def("moments", &ScaledRows::moments, "sums"_a, "squares"_a, "Add values and squares to column sums.")
        .def("count_above", &ScaledRows::count_above, "limits"_a, "counts"_a,
             "Count the columns above their limits in every row.")
        .def("excess_above", &ScaledRows::excess_above, "limits"_a, "inverse_deviations"_a, "starts"_a, "columns"_a,
             "excesses"_a, "Write the columns above their limits, and by how many deviations they exceed them.");
    m.def("block_sums", &sum_blocks, "matrix"_a, "edges"_a, "sums"_a, "squares"_a,
          "Sum blocks of columns, and their squares, of every row; returns the largest magnitude.");
    m.def("add_dots", &add_some_dots, "matrix"_a, "largest"_a, "rows"_a, "query"_a, "first"_a, "last"_a, "dots"_a,
          "Multiply some columns of some rows with a query.");
    m.def("sparse_dots", &all_sparse_dots, "content"_a, "starts"_a, "queries"_a, "dots"_a,
          "Multiply every row of a matrix that is mostly zeros with every query.");
    m.def("row_dots", &all_dots, "matrix"_a, "largest"_a, "queries"_a, "dots"_a, "Multiply every row with every query.");
}

// ---- checksums of files

size_t n_checksums(size_t size) { return (size + kChecksumBlock - 1) / kChecksumBlock; }

uint32_t checksum(const Input<uint8_t>& content, bool portable) {
    nb::gil_scoped_release unlocked;
    return (portable ? crc32c_portable : crc32c)(content.data(), content.size(), 0);
}

void checksums_of_blocks(const Input<uint8_t>& content, const Output<uint32_t>& sums) {
    check(sums.size() == n_checksums(content.size()), "`sums` must have a place per block");
    check_apart(sums, content);
    nb::gil_scoped_release unlocked;
    block_checksums(content.data(), content.size(), sums.data());
}

int64_t check_some_spans(const Input<uint8_t>& content, const Input<uint32_t>& sums, const Output<uint8_t>& checked,
                         const Input<int64_t>& starts, size_t span) {
    const size_t size = content.size();
    check(sums.size() == n_checksums(size) && checked.size() == sums.size(),
          "`sums` and `checked` must have a place per block");
    for (const int64_t start : view(starts))
        check(start >= 0 && span <= size && static_cast<size_t>(start) <= size - span,
              "a span must lie within `content`");
    check_apart(checked, content, sums, starts);
    nb::gil_scoped_release unlocked;
    return check_spans({content.data(), size, sums.data(), checked.data()}, starts.data(), starts.size(), span);
}

int64_t check_a_column(const Input<uint8_t>& content, const Input<uint32_t>& sums, const Output<uint8_t>& checked,
                       size_t start, size_t distance, size_t span) {
    const size_t size = content.size();
    check(sums.size() == n_checksums(size) && checked.size() == sums.size(),
          "`sums` and `checked` must have a place per block");
    check(distance > 0 && span <= distance && start <= distance - span && size % distance == 0,
          "a column must lie within its row, and rows must make up `content`");
    check_apart(checked, content, sums);
    nb::gil_scoped_release unlocked;
    return check_column({content.data(), size, sums.data(), checked.data()}, start, distance, size / distance, span);
}

void hash_blocks(const Output<uint32_t>& first_state, const Input<uint8_t>& first, const Output<uint32_t>& second_state,
                 const Input<uint8_t>& second) {
    check(first_state.size() == 8 && second_state.size() == 8, "a state must have 8 numbers");
    check(first.size() % kShaBlock == 0 && second.size() % kShaBlock == 0, "contents must be whole blocks of 64 bytes");
    check_apart(first_state, second_state, first, second);
    check_apart(second_state, first, second);
    check(has_sha256(), "this processor has no instructions for SHA-256");
    nb::gil_scoped_release released;
    sha256_blocks({first_state.data(), first.data(), first.size() / kShaBlock},
                  {second_state.data(), second.data(), second.size() / kShaBlock});
}

void bind_checksums(nb::module_& m) {
    m.attr("CHECKSUM_BLOCK") = kChecksumBlock;
    m.attr("SHA256_BLOCK") = kShaBlock;
    m.def("has_sha256", &has_sha256, "Whether the processor has instructions for SHA-256.");
    m.def("sha256_blocks", &hash_blocks, "first_state"_a, "first"_a, "second_state"_a, "second"_a,
          "Bring the states of SHA-256 of two contents up to date.");
    m.def("crc32c", &checksum, "content"_a, nb::kw_only(), "portable"_a = false, "CRC-32C of bytes.");
    m.def("block_checksums", &checksums_of_blocks, "content"_a, "sums"_a, "CRC-32C of every block of a file.");
    m.def("check_column", &check_a_column, "content"_a, "sums"_a, "checked"_a, "start"_a, "distance"_a, "span"_a,
          "Check the blocks with `span` bytes at the same place of every row of `distance` bytes; as `check_spans`.");
    m.def("check_spans", &check_some_spans, "content"_a, "sums"_a, "checked"_a, "starts"_a, "span"_a,
          "Check the blocks of some spans that are not yet marked as checked; the number of a damaged one, or -1.");
}

}  // namespace

void bind_machines(nb::module_& m);
void bind_text(nb::module_& m);

}  // namespace omnitm

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of omnitm; use the Python modules around them.";
    omnitm::bind_vectors(m);
    omnitm::bind_machines(m);
    omnitm::bind_text(m);
    omnitm::bind_checksums(m);
}
