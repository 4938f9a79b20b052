#include "patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "clones.hpp"

namespace omnitm {
namespace {

using Eight = float __attribute__((vector_size(32)));

constexpr size_t lanes = 8;
// 6 x 16 sums, two vectors of the other matrix and one of this fill the 16 registers.
constexpr size_t tile_rows = 6, tile_columns = 2 * lanes;
constexpr size_t most_depth = 256;   // 16 KiB of a panel stay in the first cache
constexpr size_t rows_at_once = 96;  // 96 KiB of the matrix stay in the second
constexpr size_t sparse_width = 8 * lanes;
constexpr size_t sparse_rows_at_once = 1024;  // 256 KiB of sums

// sums[r][c] = sum over k of rows[r][k] * panel[k][c]
OMNITM_CLONES void multiply_tile(const float* const* rows, const float* panel, size_t depth, float* sums) {
    Eight low[tile_rows] = {}, high[tile_rows] = {};
    for (size_t k = 0; k < depth; ++k) {
        Eight left, right;
        std::memcpy(&left, panel + k * tile_columns, sizeof left);
        std::memcpy(&right, panel + k * tile_columns + lanes, sizeof right);
#pragma GCC unroll 6
        for (size_t r = 0; r < tile_rows; ++r) {
            low[r] += rows[r][k] * left;
            high[r] += rows[r][k] * right;
        }
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < tile_rows; ++r) {
        std::memcpy(sums + r * tile_columns, &low[r], sizeof low[r]);
        std::memcpy(sums + r * tile_columns + lanes, &high[r], sizeof high[r]);
    }
}

// Adds value * panel[column] for the entries of one sparse row, whose columns count from `first`.
OMNITM_CLONES void add_sparse(const int32_t* columns, const float* values, size_t count, const float* panel, int32_t first,
                              float* sums) {
    Eight parts[sparse_width / lanes];
    std::memcpy(parts, sums, sizeof parts);
    for (size_t k = 0; k < count; ++k) {
        const float* row = panel + static_cast<size_t>(columns[k] - first) * sparse_width;
#pragma GCC unroll 8
        for (size_t part = 0; part < sparse_width / lanes; ++part) {
            Eight numbers;
            std::memcpy(&numbers, row + part * lanes, sizeof numbers);
            parts[part] += values[k] * numbers;
        }
    }
    std::memcpy(sums, parts, sizeof parts);
}

// Where the entries of each row reach the columns 0, 2,048, 4,096 ... : these many rows of a panel stay in the second cache.
class ColumnBlocks {
  public:
    ColumnBlocks(const WeightedRows& rows, size_t n_columns)
        : rows_(rows), n_blocks_((n_columns + width - 1) / width), bounds_((rows.starts.size() - 1) * (n_blocks_ + 1)) {
        for (size_t row = 0; row + 1 < rows.starts.size(); ++row) {
            int64_t place = rows.starts[row];
            int64_t* bounds = bounds_.data() + row * (n_blocks_ + 1);
            for (size_t block = 0; block < n_blocks_; ++block) {
                bounds[block] = place;
                const auto end = static_cast<int32_t>(std::min((block + 1) * width, n_columns));
                place = std::lower_bound(rows.columns + place, rows.columns + rows.starts[row + 1], end) - rows.columns;
            }
            bounds[n_blocks_] = rows.starts[row + 1];
        }
    }

    // sums[row - first] = row times a panel: a matrix of n_columns x 64.
    void multiply(size_t first, size_t last, const float* panel, float* sums) const {
        std::fill_n(sums, (last - first) * sparse_width, 0.0f);
        for (size_t block = 0; block < n_blocks_; ++block)
            for (size_t row = first; row < last; ++row) {
                const int64_t* bounds = bounds_.data() + row * (n_blocks_ + 1) + block;
                add_sparse(rows_.columns + bounds[0], rows_.values + bounds[0], static_cast<size_t>(bounds[1] - bounds[0]),
                           panel + block * width * sparse_width, static_cast<int32_t>(block * width),
                           sums + (row - first) * sparse_width);
            }
    }

  private:
    static constexpr size_t width = 2048;
    const WeightedRows& rows_;
    size_t n_blocks_;
    std::vector<int64_t> bounds_;
};

OMNITM_CLONES void add_scaled(double* to, const double* from, size_t count, double factor) {
    for (size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

OMNITM_CLONES void rotate(double* first, double* second, size_t count, double cosine, double sine) {
    for (size_t i = 0; i < count; ++i) {
        const double a = first[i], b = second[i];
        first[i] = cosine * a - sine * b;
        second[i] = sine * a + cosine * b;
    }
}

double dot(const double* a, const double* b, size_t count) {
    double sums[4] = {};  // four, since a sum must wait for the one before it
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < count; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Columns `from` to `to` of a matrix, in panels of 16, each with its rows one after the other; 0 beyond the last column.
std::vector<float> panels_of(const float* other, size_t depth, size_t n_columns) {
    const size_t n_panels = (n_columns + tile_columns - 1) / tile_columns;
    std::vector<float> panels(n_panels * depth * tile_columns, 0.0f);
    for (size_t panel = 0; panel < n_panels; ++panel) {
        const size_t first = panel * tile_columns, count = std::min(tile_columns, n_columns - first);
        for (size_t k = 0; k < depth; ++k)
            std::copy_n(other + k * n_columns + first, count, panels.data() + (panel * depth + k) * tile_columns);
    }
    return panels;
}

// Turns a symmetric matrix A into a tridiagonal one, Q' A Q, by reflections; Q' takes the place of A.
void make_tridiagonal(double* a, size_t n, double* diagonal, double* beside) {
    std::vector<double> factors(n, 0.0), product(n);
    for (size_t k = 0; k + 2 < n; ++k) {
        double* v = a + k * n + k + 1;  // the part of row k that is turned into a multiple of (1, 0, 0, ...)
        const size_t m = n - k - 1;
        diagonal[k] = a[k * n + k];
        const double length = std::sqrt(dot(v, v, m));
        const double rest = dot(v + 1, v + 1, m - 1);
        beside[k] = rest > 0 ? (v[0] > 0 ? -length : length) : v[0];
        if (rest <= 0) continue;
        v[0] -= beside[k];
        const double factor = 2 / (v[0] * v[0] + rest);
        factors[k] = factor;
        // A <- H A H with H = 1 - factor v v': p = factor A v, w = p - (factor p'v / 2) v, A - v w' - w v'.
        std::fill_n(product.data(), m, 0.0);
        for (size_t i = 0; i < m; ++i) add_scaled(product.data(), a + (k + 1 + i) * n + k + 1, m, factor * v[i]);
        add_scaled(product.data(), v, m, -factor * dot(product.data(), v, m) / 2);
        for (size_t i = 0; i < m; ++i) {
            double* row = a + (k + 1 + i) * n + k + 1;
            add_scaled(row, product.data(), m, -v[i]);
            add_scaled(row, v, m, -product[i]);
        }
    }
    if (n >= 2) diagonal[n - 2] = a[(n - 2) * n + n - 2], beside[n - 2] = a[(n - 2) * n + n - 1];
    diagonal[n - 1] = a[n * n - 1];
    // Q = H_0 H_1 ..., applied to 1 from the last reflection to the first, which touches ever more rows and columns.
    std::vector<double> q(n * n, 0.0);
    for (size_t i = 0; i < n; ++i) q[i * n + i] = 1;
    for (size_t k = n < 2 ? 0 : n - 2; k-- > 0;) {
        const double* v = a + k * n + k + 1;
        const size_t m = n - k - 1;
        if (factors[k] == 0) continue;
        std::fill_n(product.data(), m, 0.0);
        for (size_t i = 0; i < m; ++i) add_scaled(product.data(), q.data() + (k + 1 + i) * n + k + 1, m, v[i]);
        for (size_t i = 0; i < m; ++i)
            add_scaled(q.data() + (k + 1 + i) * n + k + 1, product.data(), m, -factors[k] * v[i]);
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) a[i * n + j] = q[j * n + i];
}

// Turns a tridiagonal matrix into a diagonal one by QL steps with implicit shifts (Golub & Van Loan, section 8.3), and
// turns the rows with it.
void make_diagonal(double* rows, size_t n, double* diagonal, double* beside) {
    constexpr int most_rounds = 100;  // two are usual
    for (size_t low = 0; low < n; ++low)
        for (int round = 0; round < most_rounds; ++round) {
            size_t high = low;
            while (high + 1 < n && std::abs(beside[high]) > std::numeric_limits<double>::epsilon() *
                                                                (std::abs(diagonal[high]) + std::abs(diagonal[high + 1])))
                ++high;
            if (high == low) break;
            double shift = (diagonal[low + 1] - diagonal[low]) / (2 * beside[low]);
            shift = diagonal[high] - diagonal[low] +
                    beside[low] / (shift + std::copysign(std::hypot(shift, 1.0), shift));
            double sine = 1, cosine = 1, moved = 0;
            bool is_split = false;
            for (size_t i = high; i-- > low;) {
                const double f = sine * beside[i], b = cosine * beside[i];
                const double length = std::hypot(f, shift);
                beside[i + 1] = length;
                if (length == 0) {
                    diagonal[i + 1] -= moved;
                    is_split = true;
                    break;
                }
                sine = f / length, cosine = shift / length;
                const double g = diagonal[i + 1] - moved;
                const double r = (diagonal[i] - g) * sine + 2 * cosine * b;
                moved = sine * r;
                diagonal[i + 1] = g + moved;
                shift = cosine * r - b;
                rotate(rows + i * n, rows + (i + 1) * n, n, cosine, sine);
            }
            if (!is_split) diagonal[low] -= moved, beside[low] = shift;
            beside[high] = 0;
        }
}

}  // namespace

void sparse_products(const WeightedRows& rows, const float* dense, size_t n_dense_rows, size_t n_columns, float* products) {
    const size_t n_rows = rows.starts.size() - 1;
    const ColumnBlocks blocks(rows, n_dense_rows);
    std::vector<float> panel(n_dense_rows * sparse_width, 0.0f), sums(sparse_rows_at_once * sparse_width);
    for (size_t first = 0; first < n_columns; first += sparse_width) {
        const size_t count = std::min(sparse_width, n_columns - first);
        for (size_t row = 0; row < n_dense_rows; ++row)
            std::copy_n(dense + row * n_columns + first, count, panel.data() + row * sparse_width);
        for (size_t chunk = 0; chunk < n_rows; chunk += sparse_rows_at_once) {
            const size_t end = std::min(chunk + sparse_rows_at_once, n_rows);
            blocks.multiply(chunk, end, panel.data(), sums.data());
            for (size_t row = chunk; row < end; ++row)
                std::copy_n(sums.data() + (row - chunk) * sparse_width, count, products + row * n_columns + first);
        }
    }
}

template <class Number>
void dense_products(const float* matrix, size_t n_rows, size_t depth, const float* other, size_t n_columns,
                    Number* products) {
    const std::vector<float> panels = panels_of(other, depth, n_columns);
    std::fill_n(products, n_rows * n_columns, Number{0});
    float sums[tile_rows * tile_columns];
    const float* rows[tile_rows];
    for (size_t from = 0; from < depth; from += most_depth) {
        const size_t count = std::min(most_depth, depth - from);
        for (size_t block = 0; block < n_rows; block += rows_at_once) {
            const size_t block_end = std::min(block + rows_at_once, n_rows);
            for (size_t first = 0; first < n_columns; first += tile_columns) {
                const float* panel = panels.data() + first * depth + from * tile_columns;
                const size_t width = std::min(tile_columns, n_columns - first);
                for (size_t row = block; row < block_end; row += tile_rows) {
                    // Beyond the end the last row is multiplied again and left out.
                    for (size_t r = 0; r < tile_rows; ++r)
                        rows[r] = matrix + std::min(row + r, block_end - 1) * depth + from;
                    multiply_tile(rows, panel, count, sums);
                    for (size_t r = 0; r < std::min(tile_rows, block_end - row); ++r)
                        for (size_t c = 0; c < width; ++c)
                            products[(row + r) * n_columns + first + c] += sums[r * tile_columns + c];
                }
            }
        }
    }
}

template void dense_products(const float*, size_t, size_t, const float*, size_t, float*);
template void dense_products(const float*, size_t, size_t, const float*, size_t, double*);

void orthogonaliser(double* products, size_t size, double* turn) {
    constexpr double rounding = 1e-9;
    double* s = products;
    std::vector<double> squares(size);
    for (size_t k = 0; k < size; ++k) squares[k] = s[k * size + k];
    // S = R' R with R upper triangular, row by row, in the upper half of S; T is its inverse.
    for (size_t k = 0; k < size; ++k) {
        double* row = s + k * size;
        const bool is_new = row[k] > rounding * squares[k] && squares[k] > 0;
        const double inverse = is_new ? 1 / std::sqrt(row[k]) : 0;
        for (size_t j = k; j < size; ++j) row[j] *= inverse;
        for (size_t i = k + 1; i < size; ++i) add_scaled(s + i * size + i, row + i, size - i, -row[i]);
    }
    // R T = 1 from the last row to the first: T[k] = (1[k] - sum over j > k of R[k][j] T[j]) / R[k][k].
    std::fill_n(turn, size * size, 0.0);
    for (size_t k = size; k-- > 0;) {
        const double* row = s + k * size;
        if (row[k] == 0) continue;
        double* found = turn + k * size;
        found[k] = 1;
        for (size_t j = k + 1; j < size; ++j) add_scaled(found + j, turn + j * size + j, size - j, -row[j]);
        for (size_t j = k; j < size; ++j) found[j] /= row[k];
    }
}

void symmetric_eigenvectors(double* matrix, size_t size, double* values) {
    if (size == 0) return;
    std::vector<double> beside(size, 0.0), diagonal(size);
    make_tridiagonal(matrix, size, diagonal.data(), beside.data());
    make_diagonal(matrix, size, diagonal.data(), beside.data());
    std::vector<size_t> order(size);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return diagonal[a] < diagonal[b]; });
    const std::vector<double> rows(matrix, matrix + size * size);
    for (size_t k = 0; k < size; ++k) {
        values[k] = diagonal[order[k]];
        std::copy_n(rows.data() + order[k] * size, size, matrix + k * size);
    }
}

}  // namespace omnitm
