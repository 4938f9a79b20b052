// Dot products with every row of a matrix of word vectors, read once from memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace omnitm {

// Row-major int16, as in a model's vectors.i16.
struct RowMatrix {
    const int16_t* data;
    size_t n_rows, n_columns;
};

// Writes the sum of squares of every row, and returns the largest magnitude of all.
int32_t row_squares(const RowMatrix& matrix, int64_t* squares);

// Writes dots[row * n_queries + query]. `largest` is the largest magnitude in the matrix: it decides how many
// products fit into 32 bits.
void row_dots(const RowMatrix& matrix, int32_t largest, const int16_t* queries, size_t n_queries, int64_t* dots);

}  // namespace omnitm
