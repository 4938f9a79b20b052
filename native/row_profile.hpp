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

// For every feature the words in which it stands out: feature f has the places starts[f] to starts[f + 1].
template <class Row>
struct Postings {
    const int64_t* starts;
    const Row* rows;
    const uint16_t* values;
};

// Adds weight * value to totals[row] for every word of every feature of the query.
template <class Row>
void add_postings(const Postings<Row>& postings, const int32_t* features, const float* weights, size_t n_features,
                  float* totals) {
    for (size_t k = 0; k < n_features; ++k) {
        const int64_t end = postings.starts[features[k] + 1];
        for (int64_t place = postings.starts[features[k]]; place < end; ++place)
            totals[postings.rows[place]] += weights[k] * static_cast<float>(postings.values[place]);
    }
}

}  // namespace omnitm
