#include "glove.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

// Steps on 256 bits at once; the compiler makes the loops below into that.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define OMNITM_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define OMNITM_CLONES
#endif

namespace omnitm::glove {
namespace {

struct Neighbour {
    uint32_t word;
    float nearness;
};

// Calls visit(position, from, to) for every word of the text: its neighbours are from .. to - 1 without itself.
template <class Visit>
void each_position(const Text& text, Visit&& visit) {
    for (size_t document = 0; document + 1 < text.offsets.size(); ++document) {
        const uint64_t begin = text.offsets[document], end = text.offsets[document + 1];
        for (uint64_t at = begin; at < end; ++at)
            visit(at, at - begin > text.window ? at - text.window : begin, std::min(end, at + text.window + 1));
    }
}

// Neighbours of the words first .. end - 1, word by word; starts[k] .. starts[k + 1] are those of word first + k.
std::vector<Neighbour> gather(const Text& text, uint32_t first, uint32_t end, std::vector<uint64_t>& starts) {
    starts.assign(end - first + 1, 0);
    each_position(text, [&](uint64_t at, uint64_t from, uint64_t to) {
        const uint32_t word = text.ids[at];
        if (word >= first && word < end) starts[word - first + 1] += to - from - 1;
    });
    for (size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
    std::vector<Neighbour> found(starts.back());
    std::vector<uint64_t> next(starts.begin(), starts.end() - 1);
    each_position(text, [&](uint64_t at, uint64_t from, uint64_t to) {
        const uint32_t word = text.ids[at];
        if (word < first || word >= end) return;
        uint64_t& place = next[word - first];
        for (uint64_t other = from; other < at; ++other) found[place++] = {text.ids[other], 1.0f / (at - other)};
        for (uint64_t other = at + 1; other < to; ++other) found[place++] = {text.ids[other], 1.0f / (other - at)};
    });
    return found;
}

OMNITM_CLONES double train_block(const Vectors& vectors, std::span<const Entry> entries, float learning_rate) {
    constexpr size_t kAhead = 4;
    const uint32_t width = vectors.width;
    double cost = 0;
    for (size_t k = 0; k < entries.size(); ++k) {
        if (k + kAhead < entries.size()) {
            const Entry& later = entries[k + kAhead];
            for (uint32_t i = 0; i < 2 * width; i += 16) {
                __builtin_prefetch(vectors.words + size_t{later.row} * 2 * width + i, 1);
                __builtin_prefetch(vectors.contexts + size_t{later.column} * 2 * width + i, 1);
            }
        }
        const Entry& entry = entries[k];
        float* __restrict word = vectors.words + size_t{entry.row} * 2 * width;
        float* __restrict context = vectors.contexts + size_t{entry.column} * 2 * width;
        float* __restrict word_squares = word + width;
        float* __restrict context_squares = context + width;
        float product = 0;
        for (uint32_t i = 0; i < width; ++i) product += word[i] * context[i];
        const float error = product - entry.log_count, slope = entry.importance * error;
        cost += 0.5 * slope * error;
        const float rate = learning_rate * slope;
        for (uint32_t i = 0; i < width; ++i) {
            const float word_step = rate * context[i], context_step = rate * word[i];
            word[i] -= word_step * (1.0f / std::sqrt(word_squares[i]));
            context[i] -= context_step * (1.0f / std::sqrt(context_squares[i]));
            word_squares[i] += word_step * word_step;
            context_squares[i] += context_step * context_step;
        }
        word[vectors.size + 1] = 1.0f;  // faces the context's bias
        context[vectors.size] = 1.0f;   // faces the word's bias
    }
    return cost;
}

}  // namespace

std::vector<uint64_t> neighbours(const Text& text) {
    std::vector<uint64_t> counts(text.n_words);
    each_position(text, [&](uint64_t at, uint64_t from, uint64_t to) { counts[text.ids[at]] += to - from - 1; });
    return counts;
}

std::vector<std::vector<Entry>> count(const Text& text, uint32_t first, uint32_t end, uint32_t n_groups,
                                      const Weighting& weighting) {
    std::vector<std::vector<Entry>> blocks(size_t{n_groups} * n_groups);
    std::vector<uint64_t> starts;
    const std::vector<Neighbour> found = gather(text, first, end, starts);
    std::vector<double> sums(text.n_words);
    std::vector<uint32_t> seen;
    for (uint32_t row = first; row < end; ++row) {
        seen.clear();
        for (uint64_t k = starts[row - first]; k < starts[row - first + 1]; ++k) {
            if (sums[found[k].word] == 0) seen.push_back(found[k].word);
            sums[found[k].word] += found[k].nearness;
        }
        for (const uint32_t column : seen) {
            const double importance = std::min(1.0, std::pow(sums[column] / weighting.x_max, weighting.alpha));
            blocks[size_t{row % n_groups} * n_groups + column % n_groups].push_back(
                {row, column, static_cast<float>(std::log(sums[column])), static_cast<float>(importance)});
            sums[column] = 0;
        }
    }
    return blocks;
}

double train(const Vectors& vectors, std::span<const std::span<const Entry>> blocks, float learning_rate,
             unsigned n_threads) {
    std::vector<double> costs(blocks.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t block; (block = next++) < blocks.size();)
            costs[block] = train_block(vectors, blocks[block], learning_rate);
    };
    std::vector<std::thread> others;
    for (unsigned k = 1; k < std::min<size_t>(n_threads, blocks.size()); ++k) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    double cost = 0;
    for (const double part : costs) cost += part;
    return cost;
}

}  // namespace omnitm::glove
