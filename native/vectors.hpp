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

// Writes sums and sums of squares of the blocks of columns edges[k] to edges[k + 1] of every row, rows x blocks, and
// returns the largest magnitude of all.
int32_t block_sums(const RowMatrix& matrix, const int64_t* edges, size_t n_blocks, int64_t* sums, int64_t* squares);

// Adds to dots[i] the product of row rows[i] with the query over the columns first to last. `largest` as below.
void add_dots(const RowMatrix& matrix, int32_t largest, const int64_t* rows, size_t n_rows, const int16_t* query,
              size_t first, size_t last, int64_t* dots);

// Writes dots[row * n_queries + query]. `largest` is the largest magnitude in the matrix: it decides how many
// products fit into 32 bits.
void row_dots(const RowMatrix& matrix, int32_t largest, const int16_t* queries, size_t n_queries, int64_t* dots);

// Rows of which only what is not zero is kept: row r lies in the bytes starts[r] to starts[r + 1], a multiple of 4 each:
// n positions of 4 bytes, n values of 2 bytes, and two bytes more if n is odd.
struct SparseRows {
    const uint8_t* content;
    const int64_t* starts;
    size_t n_rows, n_columns;
};

// As row_dots; false if a position is no column.
bool sparse_dots(const SparseRows& matrix, const int16_t* queries, size_t n_queries, int64_t* dots);

}  // namespace omnitm
