// GloVe (Pennington et al. 2014): counting who stands near whom, and factorising the logarithm of it by AdaGrad.
//
// Words fall into groups (number modulo n_groups), so counts fall into n_groups x n_groups blocks. Blocks that share
// neither rows nor columns touch different vectors: they are trained side by side, without locks, and the result does
// not depend on the number of threads.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace omnitm::glove {

// The text: words of document i are ids[offsets[i] .. offsets[i + 1]).
struct Text {
    std::span<const uint32_t> ids;
    std::span<const uint64_t> offsets;
    uint32_t n_words;
    uint32_t window;
};

// One count, ready for training.
struct Entry {
    uint32_t row, column;
    float log_count;
    float importance;  // min(1, (count / x_max) ** alpha)
};

struct Weighting {
    double x_max, alpha;
};

// How many neighbours all occurrences of each word have.
std::vector<uint64_t> neighbours(const Text& text);

// Counts of the words first .. end - 1 with all words, a neighbour at distance n counting 1 / n, sorted into
// n_groups * n_groups blocks. Takes 8 bytes per neighbour of these words for a while.
std::vector<std::vector<Entry>> count(const Text& text, uint32_t first, uint32_t end, uint32_t n_groups,
                                      const Weighting& weighting);

// Vectors of all words: per word `width` parameters, then as many sums of squared steps. In the parameters,
// `size` coordinates, then two that make room for the biases (one is learned, the other is always 1), then zeros.
struct Vectors {
    float* words;
    float* contexts;
    uint32_t size, width;
};

// One pass over blocks that share no rows and no columns; returns the sum of the weighted squared errors before
// the steps. An entry's row and column must be numbers of words.
double train(const Vectors& vectors, std::span<const std::span<const Entry>> blocks, float learning_rate,
             unsigned n_threads);

}  // namespace omnitm::glove
