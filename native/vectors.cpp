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

OMNITM_CLONES void dots_of_rows(const int16_t* const* rows, const int16_t* query, size_t n_columns, size_t block,
                                int64_t* totals) {
    for (size_t r = 0; r < rows_at_once; ++r) totals[r] = 0;
    for (size_t start = 0; start < n_columns; start += block) {
        const size_t end = std::min(start + block, n_columns);
        for (size_t r = 0; r < rows_at_once; ++r) {
            const int16_t* row = rows[r];
            int32_t sum = 0;
            for (size_t i = start; i < end; ++i) sum += int32_t{row[i]} * query[i];
            totals[r] += sum;
        }
    }
}

OMNITM_CLONES int64_t sum_of(const int16_t* values, size_t count) {
    int64_t total = 0;
    for (size_t start = 0; start < count; start += longest_block) {
        const size_t end = std::min(start + longest_block, count);
        int32_t sum = 0;
        for (size_t i = start; i < end; ++i) sum += values[i];
        total += sum;
    }
    return total;
}

OMNITM_CLONES int64_t square_of(const int16_t* values, size_t count) {
    int64_t total = 0;
    for (size_t i = 0; i < count; ++i) total += int64_t{int32_t{values[i]} * values[i]};
    return total;
}

}  // namespace

int32_t block_sums(const RowMatrix& matrix, const int64_t* edges, size_t n_blocks, int64_t* sums, int64_t* squares) {
    int32_t largest = 0;
    for (size_t row = 0; row < matrix.n_rows; ++row)
        for (size_t k = 0; k < n_blocks; ++k) {
            const int16_t* values = matrix.data + row * matrix.n_columns + edges[k];
            const size_t count = static_cast<size_t>(edges[k + 1] - edges[k]);
            sums[row * n_blocks + k] = sum_of(values, count);
            squares[row * n_blocks + k] = square_of(values, count);
            largest = std::max(largest, magnitude(values, count));
        }
    return largest;
}

void add_dots(const RowMatrix& matrix, int32_t largest, const int64_t* rows, size_t n_rows, const int16_t* query,
              size_t first, size_t last, int64_t* dots) {
    const size_t length = last - first;
    const size_t block = block_length(largest, magnitude(query + first, length));
    const auto at = [&](size_t place) { return matrix.data + static_cast<size_t>(rows[place]) * matrix.n_columns + first; };
    size_t place = 0;
    for (; place + rows_at_once <= n_rows; place += rows_at_once) {
        const int16_t* pointers[rows_at_once];
        int64_t totals[rows_at_once];
        for (size_t r = 0; r < rows_at_once; ++r) pointers[r] = at(place + r);
        dots_of_rows(pointers, query + first, length, block, totals);
        for (size_t r = 0; r < rows_at_once; ++r) dots[place + r] += totals[r];
    }
    for (; place < n_rows; ++place) dots[place] += dot(at(place), query + first, length, block);
}

void row_dots(const RowMatrix& matrix, int32_t largest, const int16_t* queries, size_t n_queries, int64_t* dots) {
    const size_t n_columns = matrix.n_columns;
    const size_t block = block_length(largest, magnitude(queries, n_queries * n_columns));
    size_t row = 0;
    for (; row + rows_at_once <= matrix.n_rows; row += rows_at_once)
        for (size_t query = 0; query < n_queries; ++query) {
            const int16_t* pointers[rows_at_once];
            int64_t totals[rows_at_once];
            for (size_t r = 0; r < rows_at_once; ++r) pointers[r] = matrix.data + (row + r) * n_columns;
            dots_of_rows(pointers, queries + query * n_columns, n_columns, block, totals);
            for (size_t r = 0; r < rows_at_once; ++r) dots[(row + r) * n_queries + query] = totals[r];
        }
    for (; row < matrix.n_rows; ++row)
        for (size_t query = 0; query < n_queries; ++query)
            dots[row * n_queries + query] =
                dot(matrix.data + row * n_columns, queries + query * n_columns, n_columns, block);
}

bool sparse_dots(const SparseRows& matrix, const int16_t* queries, size_t n_queries, int64_t* dots) {
    for (size_t row = 0; row < matrix.n_rows; ++row) {
        const uint8_t* begin = matrix.content + matrix.starts[row];
        const size_t count = static_cast<size_t>(matrix.starts[row + 1] - matrix.starts[row]) / 6;
        const auto* positions = reinterpret_cast<const uint32_t*>(begin);
        const auto* values = reinterpret_cast<const int16_t*>(positions + count);
        for (size_t q = 0; q < n_queries; ++q) {
            const int16_t* query = queries + q * matrix.n_columns;
            int64_t total = 0;
            for (size_t i = 0; i < count; ++i) {
                if (positions[i] >= matrix.n_columns) return false;
                total += int32_t{values[i]} * query[positions[i]];
            }
            dots[row * n_queries + q] = total;
        }
    }
    return true;
}

}  // namespace omnitm
