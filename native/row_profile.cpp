#include "row_profile.hpp"

#include <algorithm>
#include <vector>

#include "clones.hpp"

namespace omnitm {
namespace {

// Equal neighbours would wait for each other in one histogram.
constexpr size_t n_histograms = 4;

struct Range {
    int16_t low, high;
};

OMNITM_CLONES Range range_of(const int16_t* values, size_t count) {
    int16_t low = values[0], high = values[0];
    for (size_t i = 1; i < count; ++i) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    return {low, high};
}

int16_t mode_of(const int16_t* values, size_t count, std::vector<uint32_t>& histograms) {
    const Range range = range_of(values, count);
    const size_t width = static_cast<size_t>(range.high - range.low) + 1;
    histograms.assign(width * n_histograms, 0);
    for (size_t i = 0; i < count; ++i)
        ++histograms[(i % n_histograms) * width + static_cast<size_t>(values[i] - range.low)];
    size_t best = 0;
    uint32_t most = 0;
    for (size_t value = 0; value < width; ++value) {
        uint32_t times = 0;
        for (size_t h = 0; h < n_histograms; ++h) times += histograms[h * width + value];
        if (times > most) {
            most = times;
            best = value;
        }
    }
    return static_cast<int16_t>(range.low + static_cast<int32_t>(best));
}

OMNITM_CLONES void scale_row(const int16_t* values, size_t count, int16_t baseline, float gain, float* scaled) {
    for (size_t i = 0; i < count; ++i) scaled[i] = static_cast<float>(values[i] - baseline) * gain;
}

OMNITM_CLONES void add_row(const float* scaled, size_t count, double* sums, double* squares) {
    for (size_t i = 0; i < count; ++i) {
        const double x = scaled[i];
        sums[i] += x;
        squares[i] += x * x;
    }
}

OMNITM_CLONES int64_t number_above(const float* scaled, const float* limits, size_t count) {
    int32_t above = 0;
    for (size_t i = 0; i < count; ++i) above += scaled[i] > limits[i];
    return above;
}

// Calls visit(row, x of the row's columns) for every row.
template <class Visit>
void for_each_row(const RowMatrix& matrix, const RowScale& scale, Visit&& visit) {
    std::vector<float> scaled(matrix.n_columns);
    for (size_t row = 0; row < matrix.n_rows; ++row) {
        scale_row(matrix.data + row * matrix.n_columns, matrix.n_columns, scale.baseline[row], scale.gain[row],
                  scaled.data());
        if (scale.own[row] >= 0) scaled[static_cast<size_t>(scale.own[row])] = 0;
        visit(row, scaled.data());
    }
}

}  // namespace

void row_modes(const RowMatrix& matrix, int16_t* modes) {
    std::vector<uint32_t> histograms;
    for (size_t row = 0; row < matrix.n_rows; ++row)
        modes[row] = matrix.n_columns == 0
                         ? int16_t{0}
                         : mode_of(matrix.data + row * matrix.n_columns, matrix.n_columns, histograms);
}

void add_moments(const RowMatrix& matrix, const RowScale& scale, double* sums, double* squares) {
    for_each_row(matrix, scale,
                 [&](size_t, const float* scaled) { add_row(scaled, matrix.n_columns, sums, squares); });
}

void count_above(const RowMatrix& matrix, const RowScale& scale, const float* limits, int64_t* counts) {
    for_each_row(matrix, scale, [&](size_t row, const float* scaled) {
        counts[row] = number_above(scaled, limits, matrix.n_columns);
    });
}

bool excess_above(const RowMatrix& matrix, const RowScale& scale, const float* limits,
                  const float* inverse_deviations, const int64_t* starts, int32_t* columns, float* excesses) {
    bool fits = true;
    for_each_row(matrix, scale, [&](size_t row, const float* scaled) {
        int64_t place = starts[row];
        for (size_t i = 0; i < matrix.n_columns; ++i)
            if (scaled[i] > limits[i]) {
                if (place == starts[row + 1]) {
                    fits = false;
                    return;
                }
                columns[place] = static_cast<int32_t>(i);
                excesses[place++] = (scaled[i] - limits[i]) * inverse_deviations[i];
            }
        fits = fits && place == starts[row + 1];
    });
    return fits;
}

void profile_products(const Profiles& matrix, const int64_t* rows, size_t n_rows, const float* query,
                      float* products) {
    for (size_t i = 0; i < n_rows; ++i) {
        const int64_t end = matrix.starts[rows[i] + 1];
        int64_t place = matrix.starts[rows[i]];
        float sums[4] = {};  // four, since a sum must wait for the one before it
        for (; place + 4 <= end; place += 4)
            for (int64_t k = 0; k < 4; ++k)
                sums[k] += static_cast<float>(matrix.values[place + k]) * query[matrix.columns[place + k]];
        for (; place < end; ++place) sums[0] += static_cast<float>(matrix.values[place]) * query[matrix.columns[place]];
        products[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

// Numbers of 16 bits, since processors multiply and add pairs of these in one step. Two rows and four queries at once:
// each number that is loaded serves several products.
constexpr size_t rows_at_once = 2, queries_at_once = 4;

OMNITM_CLONES static void multiply_codes(const int16_t* rows, const int16_t* queries, size_t n, int32_t* products) {
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    const int16_t *row = rows, *other = rows + n;
    const int16_t *q0 = queries, *q1 = q0 + n, *q2 = q1 + n, *q3 = q2 + n;
    for (size_t i = 0; i < n; ++i) {
        const int32_t a = row[i], b = other[i];
        a0 += a * static_cast<int32_t>(q0[i]);
        a1 += a * static_cast<int32_t>(q1[i]);
        a2 += a * static_cast<int32_t>(q2[i]);
        a3 += a * static_cast<int32_t>(q3[i]);
        b0 += b * static_cast<int32_t>(q0[i]);
        b1 += b * static_cast<int32_t>(q1[i]);
        b2 += b * static_cast<int32_t>(q2[i]);
        b3 += b * static_cast<int32_t>(q3[i]);
    }
    const int32_t found[] = {a0, a1, a2, a3, b0, b1, b2, b3};
    std::copy_n(found, rows_at_once * queries_at_once, products);
}

OMNITM_CLONES static int32_t dot(const int16_t* first, const int16_t* second, size_t n) {
    int32_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += static_cast<int32_t>(first[i]) * static_cast<int32_t>(second[i]);
    return sum;
}

void code_products(const int8_t* codes, size_t n_rows, size_t n_columns, const int8_t* queries, size_t n_queries,
                   int32_t* products) {
    const std::vector<int16_t> asked(queries, queries + n_queries * n_columns);
    std::vector<int16_t> own(rows_at_once * n_columns);
    int32_t found[rows_at_once * queries_at_once];
    for (size_t row = 0; row < n_rows; row += rows_at_once) {
        const size_t count = std::min(rows_at_once, n_rows - row);
        std::copy_n(codes + row * n_columns, count * n_columns, own.begin());
        size_t query = 0;
        for (; count == rows_at_once && query + queries_at_once <= n_queries; query += queries_at_once) {
            multiply_codes(own.data(), asked.data() + query * n_columns, n_columns, found);
            for (size_t r = 0; r < rows_at_once; ++r)
                for (size_t q = 0; q < queries_at_once; ++q)
                    products[(query + q) * n_rows + row + r] = found[r * queries_at_once + q];
        }
        for (; query < n_queries; ++query)
            for (size_t r = 0; r < count; ++r)
                products[query * n_rows + row + r] =
                    dot(own.data() + r * n_columns, asked.data() + query * n_columns, n_columns);
    }
}

}  // namespace omnitm
