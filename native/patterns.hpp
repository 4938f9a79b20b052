// What finding the common patterns of many rows needs: products of matrices and eigenvectors. Every number is computed in
// the same order however the rows are shared among threads, so results do not depend on their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace omnitm {

// Sparse rows: row r has the columns columns[starts[r]] to columns[starts[r + 1]], ascending, with a value each.
struct WeightedRows {
    std::span<const int64_t> starts;
    const int32_t* columns;
    const float* values;
};

// Products of sparse rows with a dense matrix, n_dense_rows x n_columns: rows x n_columns.
void sparse_products(const WeightedRows& rows, const float* dense, size_t n_dense_rows, size_t n_columns, float* products);

// matrix (n_rows x depth) times other (depth x n_columns). Sums of 256 products are single; sums of these as `Number`.
template <class Number>
void dense_products(const float* matrix, size_t n_rows, size_t depth, const float* other, size_t n_columns,
                    Number* products);

// Finds T, upper triangular, so that T' S T is 1 on the diagonal and 0 elsewhere: with S = Y' Y the columns of Y T are
// orthogonal and have length 1. What a column adds to those before it below 1e-9 of its own square is rounding: its
// column of T is 0, and so is its place on the diagonal. Both are size x size; S is overwritten.
void orthogonaliser(double* products, size_t size, double* turn);

// Eigenvalues of a symmetric matrix, ascending, and eigenvectors as rows, in place of the matrix.
void symmetric_eigenvectors(double* matrix, size_t size, double* values);

}  // namespace omnitm
