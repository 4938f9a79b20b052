#include "vectors.hpp"

#include <algorithm>
#include <cstdlib>

#include "clones.hpp"

namespace omnitm {
namespace {

// Several rows at a time: their streams from memory overlap.
constexpr size_t rows_at_once = 4;
constexpr size_t longest_block = 1024;  // reading is the limit, but only if 256 bits are multiplied at once

OMNITM_CLONES int32_t magnitude(const int16_t* values, size_t count) {
    int32_t largest = 0;
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(int32_t{values[i]}));
    return largest;
}

// How many products of such magnitudes can be added in 32 bits.
size_t block_length(int32_t first, int32_t second) {
    const int64_t product = std::max<int64_t>(1, int64_t{first} * second);
    return std::clamp<size_t>(static_cast<size_t>(INT32_MAX / product), 1, longest_block);
}

OMNITM_CLONES int64_t dot(const int16_t* row, const int16_t* query, size_t n_columns, size_t block) {
    int64_t total = 0;
    for (size_t start = 0; start < n_columns; start += block) {
        const size_t end = std::min(start + block, n_columns);
        int32_t sum = 0;
        for (size_t i = start; i < end; ++i) sum += int32_t{row[i]} * query[i];
        total += sum;
    }
    return total;
}

OMNITM_CLONES void dots_of_rows(const int16_t* rows, const int16_t* query, size_t n_columns, size_t block,
                                int64_t* totals) {
    for (size_t r = 0; r < rows_at_once; ++r) totals[r] = 0;
    for (size_t start = 0; start < n_columns; start += block) {
        const size_t end = std::min(start + block, n_columns);
        for (size_t r = 0; r < rows_at_once; ++r) {
            const int16_t* row = rows + r * n_columns;
            int32_t sum = 0;
            for (size_t i = start; i < end; ++i) sum += int32_t{row[i]} * query[i];
            totals[r] += sum;
        }
    }
}

OMNITM_CLONES int64_t square(const int16_t* row, size_t n_columns) {
    int64_t total = 0;
    for (size_t i = 0; i < n_columns; ++i) total += int64_t{int32_t{row[i]} * row[i]};
    return total;
}

}  // namespace

int32_t row_squares(const RowMatrix& matrix, int64_t* squares) {
    int32_t largest = 0;
    for (size_t row = 0; row < matrix.n_rows; ++row) {
        const int16_t* values = matrix.data + row * matrix.n_columns;
        squares[row] = square(values, matrix.n_columns);
        largest = std::max(largest, magnitude(values, matrix.n_columns));
    }
    return largest;
}

void row_dots(const RowMatrix& matrix, int32_t largest, const int16_t* queries, size_t n_queries, int64_t* dots) {
    const size_t n_columns = matrix.n_columns;
    const size_t block = block_length(largest, magnitude(queries, n_queries * n_columns));
    size_t row = 0;
    for (; row + rows_at_once <= matrix.n_rows; row += rows_at_once)
        for (size_t query = 0; query < n_queries; ++query) {
            int64_t totals[rows_at_once];
            dots_of_rows(matrix.data + row * n_columns, queries + query * n_columns, n_columns, block, totals);
            for (size_t r = 0; r < rows_at_once; ++r) dots[(row + r) * n_queries + query] = totals[r];
        }
    for (; row < matrix.n_rows; ++row)
        for (size_t query = 0; query < n_queries; ++query)
            dots[row * n_queries + query] =
                dot(matrix.data + row * n_columns, queries + query * n_columns, n_columns, block);
}

}  // namespace omnitm
