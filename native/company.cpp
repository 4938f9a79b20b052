#include "company.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "clones.hpp"

namespace omnitm {
namespace {

// Equal neighbours would wait for each other in one histogram.
constexpr size_t n_histograms = 4;

// A query reads scattered columns: they are asked for while an earlier row is at work.
constexpr size_t rows_ahead = 1;

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

OMNITM_CLONES float root_dot(const float* scaled, const CompanyQuery& query) {
    float total = 0;
    for (size_t k = 0; k < query.size; ++k) {
        const float excess = (scaled[k] - query.limits[k]) * query.inverse_deviations[k];
        total += query.weights[k] * std::sqrt(std::max(excess, 0.0f));
    }
    return total;
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

void excess_above(const RowMatrix& matrix, const RowScale& scale, const float* limits,
                  const float* inverse_deviations, const int64_t* starts, int32_t* columns, float* excesses) {
    for_each_row(matrix, scale, [&](size_t row, const float* scaled) {
        int64_t place = starts[row];
        for (size_t i = 0; i < matrix.n_columns; ++i)
            if (scaled[i] > limits[i]) {
                columns[place] = static_cast<int32_t>(i);
                excesses[place++] = (scaled[i] - limits[i]) * inverse_deviations[i];
            }
    });
}

void root_excess_dots(const RowMatrix& matrix, const RowScale& scale, const CompanyQuery& query, float* dots) {
    std::vector<float> scaled(query.size);
    for (size_t row = 0; row < matrix.n_rows; ++row) {
        const int16_t* values = matrix.data + row * matrix.n_columns;
        const int32_t baseline = scale.baseline[row];
        const int16_t* ahead = row + rows_ahead < matrix.n_rows ? values + rows_ahead * matrix.n_columns : values;
        for (size_t k = 0; k < query.size; ++k) {
            __builtin_prefetch(ahead + query.columns[k], 0, 0);
            scaled[k] = static_cast<float>(values[query.columns[k]] - baseline) * scale.gain[row];
        }
        const int32_t* end = query.columns + query.size;
        const int32_t* own = std::lower_bound(query.columns, end, scale.own[row]);
        if (own != end && *own == scale.own[row]) scaled[static_cast<size_t>(own - query.columns)] = 0;
        dots[row] = root_dot(scaled.data(), query);
    }
}

}  // namespace omnitm
