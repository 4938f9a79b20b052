// The profile of a row of integer word vectors: its baseline, its coordinates over words, and those that stand out.
// All of it reads the matrix where it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vectors.hpp"

namespace omnitm {

// Writes the most frequent value of every row; the lowest of equally frequent ones.
void row_modes(const RowMatrix& matrix, int16_t* modes);

// How values become comparable between rows: x = (value - baseline[row]) * gain[row], and 0 in the row's own
// column (own[row], or -1 if it has none).
struct RowScale {
    const int16_t* baseline;
    const float* gain;
    const int32_t* own;
};

// Adds x and x * x of every row to the sums of its columns.
void add_moments(const RowMatrix& matrix, const RowScale& scale, double* sums, double* squares);

// Counts in every row the columns with x > limit[column].
void count_above(const RowMatrix& matrix, const RowScale& scale, const float* limits, int64_t* counts);

// Writes those columns, and by how much they exceed the limit: (x - limit[column]) * inverse_deviation[column].
// Row r fills the places starts[r] to starts[r + 1]; false if it has more of them or fewer.
bool excess_above(const RowMatrix& matrix, const RowScale& scale, const float* limits,
                  const float* inverse_deviations, const int64_t* starts, int32_t* columns, float* excesses);

// Sparse rows: row r has the columns columns[starts[r]] to columns[starts[r + 1]], with a value each.
struct Profiles {
    const int64_t* starts;
    const uint32_t* columns;
    const uint16_t* values;
};

// Multiplies some sparse rows with a dense vector; false if one of them has a column beyond it.
bool profile_products(const Profiles& matrix, const int64_t* rows, size_t n_rows, const float* query, size_t n_columns,
                      float* products);

// Adds some sparse rows, each times its weight, to a dense vector.
void add_profiles(const Profiles& matrix, const int64_t* rows, const float* weights, size_t n_rows, float* sum);

// Multiplies some rows of a dense matrix with a vector.
void chosen_products(const float* matrix, size_t n_columns, const int64_t* rows, size_t n_rows, const float* query,
                     float* products);

// Small integers: rows of a matrix, and several vectors as long as its rows.
struct Codes {
    const int8_t* rows;
    size_t n_rows;
    const int8_t* queries;
    size_t n_queries, n_columns;
};

// Multiplies every row with every vector, exactly: queries x rows.
void code_products(const Codes& codes, int32_t* products);
void code_products_portable(const Codes& codes, int32_t* products);  // for processors without the instruction

}  // namespace omnitm
