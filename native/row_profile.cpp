#include "row_profile.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "clones.hpp"
#include "processor.hpp"

#ifdef OMNITM_X86
#include <immintrin.h>
#endif

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

namespace {

// Rows lie anywhere in memory, so the next one is asked for while this one is read; a processor goes on by itself.
void ask_for(const void* start, size_t n_bytes) {
    constexpr size_t cache_line = 64, most = 16 * cache_line;
    for (size_t at = 0; at < std::min(n_bytes, most); at += cache_line)
        __builtin_prefetch(static_cast<const char*>(start) + at);
}

// Up to `n` entries of a sparse row: their columns are looked at first, and their values become real numbers.
struct Entries {
    static constexpr size_t most = 64;
    float values[most];

    OMNITM_CLONES bool read(const uint32_t* columns, const uint16_t* stored, size_t n, uint32_t last) {
        uint32_t largest = 0;
        for (size_t i = 0; i < n; ++i) {
            largest = std::max(largest, columns[i]);
            values[i] = static_cast<float>(stored[i]);
        }
        return largest <= last;
    }
};

}  // namespace

bool profile_products(const Profiles& matrix, const int64_t* rows, size_t n_rows, const float* query, size_t n_columns,
                      float* products) {
    const auto last = static_cast<uint32_t>(std::min<size_t>(n_columns - 1, UINT32_MAX));
    Entries entries;
    for (size_t i = 0; i < n_rows; ++i) {
        if (i + 1 < n_rows) {
            const int64_t next = matrix.starts[rows[i + 1]];
            const auto size = static_cast<size_t>(matrix.starts[rows[i + 1] + 1] - next);
            ask_for(matrix.columns + next, size * sizeof(uint32_t));
            ask_for(matrix.values + next, size * sizeof(uint16_t));
        }
        const int64_t end = matrix.starts[rows[i] + 1];
        float sums[4] = {};  // four, since a sum must wait for the one before it
        for (int64_t place = matrix.starts[rows[i]]; place < end; place += Entries::most) {
            const uint32_t* const columns = matrix.columns + place;
            const size_t n = std::min(Entries::most, static_cast<size_t>(end - place));
            if (n_columns == 0 || !entries.read(columns, matrix.values + place, n, last)) return false;
            size_t k = 0;
            for (; k + 4 <= n; k += 4)
                for (size_t s = 0; s < 4; ++s) sums[s] += entries.values[k + s] * query[columns[k + s]];
            for (; k < n; ++k) sums[0] += entries.values[k] * query[columns[k]];
        }
        products[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    return true;
}

void add_profiles(const Profiles& matrix, const int64_t* rows, const float* weights, size_t n_rows, float* sum) {
    for (size_t i = 0; i < n_rows; ++i)
        for (int64_t place = matrix.starts[rows[i]]; place < matrix.starts[rows[i] + 1]; ++place)
            sum[matrix.columns[place]] += weights[i] * static_cast<float>(matrix.values[place]);
}

OMNITM_CLONES static float real_dot(const float* first, const float* second, size_t n) {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += first[i] * second[i];
    return sum;
}

void chosen_products(const float* matrix, size_t n_columns, const int64_t* rows, size_t n_rows, const float* query,
                     float* products) {
    const auto row = [&](size_t i) { return matrix + static_cast<size_t>(rows[i]) * n_columns; };
    for (size_t i = 0; i < n_rows; ++i) {
        if (i + 1 < n_rows) ask_for(row(i + 1), n_columns * sizeof(float));
        products[i] = real_dot(row(i), query, n_columns);
    }
}

namespace {

// Two rows and four queries at once: each number that is loaded serves several products.
constexpr size_t rows_at_once = 2, queries_at_once = 4;

// Numbers of 16 bits, since most processors multiply and add pairs of these in one step.
class Pairs {
public:
    explicit Pairs(const Codes& codes)
        : n_(codes.n_columns), rows_(rows_at_once * n_), queries_(codes.queries, codes.queries + codes.n_queries * n_) {}

    void take_rows(const int8_t* rows, size_t count) { std::copy_n(rows, count * n_, rows_.begin()); }
    // The products of both rows with four queries.
    void multiply(size_t query, int32_t* products) const { multiply(rows_.data(), queries_.data() + query * n_, n_, products); }
    int32_t product(size_t row, size_t query) const { return dot(rows_.data() + row * n_, queries_.data() + query * n_, n_); }

private:
    OMNITM_CLONES static void multiply(const int16_t* rows, const int16_t* queries, size_t n, int32_t* products);
    OMNITM_CLONES static int32_t dot(const int16_t* first, const int16_t* second, size_t n);

    size_t n_;
    std::vector<int16_t> rows_, queries_;
};

void Pairs::multiply(const int16_t* rows, const int16_t* queries, size_t n, int32_t* products) {
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

int32_t Pairs::dot(const int16_t* first, const int16_t* second, size_t n) {
    int32_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += static_cast<int32_t>(first[i]) * static_cast<int32_t>(second[i]);
    return sum;
}

#ifdef OMNITM_X86
#define OMNITM_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

// Newer processors multiply bytes without a sign by bytes with one and add four products in one step. Rows are therefore
// taken 128 higher, and products are too high by 128 times the sum of the query.
class Bytes {
public:
    explicit Bytes(const Codes& codes) : n_(codes.n_columns), queries_(codes.queries), too_high_(codes.n_queries) {
        for (size_t q = 0; q < codes.n_queries; ++q)
            too_high_[q] = 128 * std::accumulate(queries_ + q * n_, queries_ + (q + 1) * n_, int32_t{0});
    }

    void take_rows(const int8_t* rows, size_t) { rows_ = rows; }

    OMNITM_VNNI void multiply(size_t query, int32_t* products) const {
        const int8_t *row = rows_, *other = rows_ + n_;
        const int8_t *p0 = queries_ + query * n_, *p1 = p0 + n_, *p2 = p1 + n_, *p3 = p2 + n_;
        __m256i a0 = {}, a1 = {}, a2 = {}, a3 = {}, b0 = {}, b1 = {}, b2 = {}, b3 = {};
        for (size_t i = 0; i < n_; i += sizeof(__m256i)) {
            const __mmask32 there = columns_from(i);
            const __m256i a = higher(row + i, there), b = higher(other + i, there);
            const __m256i q0 = _mm256_maskz_loadu_epi8(there, p0 + i), q1 = _mm256_maskz_loadu_epi8(there, p1 + i);
            const __m256i q2 = _mm256_maskz_loadu_epi8(there, p2 + i), q3 = _mm256_maskz_loadu_epi8(there, p3 + i);
            a0 = _mm256_dpbusd_epi32(a0, a, q0), b0 = _mm256_dpbusd_epi32(b0, b, q0);
            a1 = _mm256_dpbusd_epi32(a1, a, q1), b1 = _mm256_dpbusd_epi32(b1, b, q1);
            a2 = _mm256_dpbusd_epi32(a2, a, q2), b2 = _mm256_dpbusd_epi32(b2, b, q2);
            a3 = _mm256_dpbusd_epi32(a3, a, q3), b3 = _mm256_dpbusd_epi32(b3, b, q3);
        }
        const __m128i too_high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&too_high_[query]));
        auto* const out = reinterpret_cast<__m128i*>(products);
        _mm_storeu_si128(out, _mm_sub_epi32(sums(a0, a1, a2, a3), too_high));
        _mm_storeu_si128(out + 1, _mm_sub_epi32(sums(b0, b1, b2, b3), too_high));
    }

    OMNITM_VNNI int32_t product(size_t row, size_t query) const {
        __m256i sum = {};
        for (size_t i = 0; i < n_; i += sizeof(__m256i)) {
            const __mmask32 there = columns_from(i);
            const __m256i asked = _mm256_maskz_loadu_epi8(there, queries_ + query * n_ + i);
            sum = _mm256_dpbusd_epi32(sum, higher(rows_ + row * n_ + i, there), asked);
        }
        return _mm_cvtsi128_si32(sums(sum, sum, sum, sum)) - too_high_[query];
    }

private:
    __mmask32 columns_from(size_t i) const { return n_ - i < sizeof(__m256i) ? (1u << (n_ - i)) - 1 : ~0u; }

    OMNITM_VNNI static __m256i higher(const int8_t* row, __mmask32 there) {
        return _mm256_xor_si256(_mm256_maskz_loadu_epi8(there, row), _mm256_set1_epi8(-128));
    }

    // The sum of each of four vectors.
    OMNITM_VNNI static __m128i sums(__m256i a, __m256i b, __m256i c, __m256i d) {
        const __m256i four = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        return _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    }

    size_t n_;
    const int8_t* rows_ = nullptr;
    const int8_t* queries_;
    std::vector<int32_t> too_high_;
};

const bool has_vnni = this_processor().vnni;
#endif

template <class Way>
void multiply_codes(const Codes& codes, int32_t* products) {
    Way way(codes);
    int32_t found[rows_at_once * queries_at_once];
    for (size_t row = 0; row < codes.n_rows; row += rows_at_once) {
        const size_t count = std::min(rows_at_once, codes.n_rows - row);
        way.take_rows(codes.rows + row * codes.n_columns, count);
        size_t query = 0;
        for (; count == rows_at_once && query + queries_at_once <= codes.n_queries; query += queries_at_once) {
            way.multiply(query, found);
            for (size_t r = 0; r < rows_at_once; ++r)
                for (size_t q = 0; q < queries_at_once; ++q)
                    products[(query + q) * codes.n_rows + row + r] = found[r * queries_at_once + q];
        }
        for (; query < codes.n_queries; ++query)
            for (size_t r = 0; r < count; ++r) products[query * codes.n_rows + row + r] = way.product(r, query);
    }
}

}  // namespace

void code_products_portable(const Codes& codes, int32_t* products) { multiply_codes<Pairs>(codes, products); }

void code_products(const Codes& codes, int32_t* products) {
#ifdef OMNITM_X86
    if (has_vnni) return multiply_codes<Bytes>(codes, products);
#endif
    code_products_portable(codes, products);
}

}  // namespace omnitm
