// Documents x words, and the same pairs the other way round.
#include <algorithm>
#include <cstring>

#include "clones.hpp"
#include "text.hpp"

namespace omnitm::text {
namespace {

// What belongs to rare words is not in the cache, so it is asked for so many words before it is needed.
constexpr std::ptrdiff_t asked_ahead = 48;

// Sorts up to `n` different numbers by counting, for each, the smaller ones: no branch depends on their order.
template <std::size_t n>
__attribute__((always_inline)) inline void sort_by_rank(std::uint32_t* numbers, std::size_t size) {
    std::int32_t padded[n], ranks[n] = {};
    for (std::size_t i = 0; i < n; ++i) padded[i] = i < size ? static_cast<std::int32_t>(numbers[i]) : 0x7FFFFFFF;
    for (std::size_t j = 0; j < size; ++j) {
        const std::int32_t other = padded[j];
        for (std::size_t i = 0; i < n; ++i) ranks[i] += other < padded[i];
    }
    for (std::size_t i = 0; i < size; ++i) numbers[ranks[i]] = static_cast<std::uint32_t>(padded[i]);
}

// Inlined, so as to be compiled for the processor that its caller is compiled for.
__attribute__((always_inline)) inline void sort_different(std::uint32_t* begin, std::uint32_t* end, bool fits_signed) {
    const auto size = static_cast<std::size_t>(end - begin);
    if (size < 2) return;
    if (!fits_signed || size > 32)
        std::sort(begin, end);
    else if (size <= 8)
        sort_by_rank<8>(begin, size);
    else if (size <= 12)
        sort_by_rank<12>(begin, size);
    else if (size <= 16)
        sort_by_rank<16>(begin, size);
    else
        sort_by_rank<32>(begin, size);
}

template <bool has_order>
__attribute__((always_inline)) inline std::size_t remap_all(const std::uint32_t* ids, std::size_t n_ids,
                                                            const std::uint32_t* lengths, std::size_t n_documents,
                                                            const std::uint32_t* remap, std::uint32_t n_words,
                                                            std::uint32_t other, Remapped to) {
    const std::uint32_t* const all_end = ids + n_ids;
    const bool fits_signed = n_words < 0x7FFFFFFF;
    std::uint32_t* out = to.words;
    std::uint32_t* token = to.tokens;
    for (std::size_t document = 0; document < n_documents; ++document) {
        std::uint32_t* const first = out;
        const std::uint32_t* const end = ids + lengths[document];
        const std::size_t ahead = all_end - end >= asked_ahead ? asked_ahead : 0;
        for (; ids < end; ++ids) {
            __builtin_prefetch(remap + (ids[ahead] & number_bits));
            const std::uint32_t number = remap[*ids & number_bits];
            *out = number;
            out += (number < n_words) & (*ids >> 31);
            if constexpr (has_order) {
                // A mark that is not there is written over.
                const std::uint32_t mark = (*ids & (gap_before | comma_before)) / comma_before;
                *token = document_end - mark;
                token += mark != 0;
                // In 64 bits: of 32 GCC may make a vector, by way of memory.
                *token++ = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, other));
            }
        }
        if constexpr (has_order) *token++ = document_end;
        sort_different(first, out, fits_signed);
        to.word_lengths[document] = static_cast<std::uint32_t>(out - first);
    }
    return static_cast<std::size_t>(out - to.words);
}

OMNITM_CLONES std::size_t remap_sets(const std::uint32_t* ids, std::size_t n_ids, const std::uint32_t* lengths,
                                     std::size_t n_documents, const std::uint32_t* remap, std::uint32_t n_words,
                                     std::uint32_t other, Remapped to) {
    return remap_all<false>(ids, n_ids, lengths, n_documents, remap, n_words, other, to);
}

OMNITM_CLONES std::size_t remap_running(const std::uint32_t* ids, std::size_t n_ids, const std::uint32_t* lengths,
                                        std::size_t n_documents, const std::uint32_t* remap, std::uint32_t n_words,
                                        std::uint32_t other, Remapped to) {
    return remap_all<true>(ids, n_ids, lengths, n_documents, remap, n_words, other, to);
}

}  // namespace

std::size_t remap_documents(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> lengths,
                            std::span<const std::uint32_t> remap, std::uint32_t n_words, std::uint32_t other,
                            Remapped out) {
    if (out.tokens)
        return remap_running(ids.data(), ids.size(), lengths.data(), lengths.size(), remap.data(), n_words, other, out);
    return remap_sets(ids.data(), ids.size(), lengths.data(), lengths.size(), remap.data(), n_words, other, out);
}

bool all_marked_below(std::span<const std::uint32_t> ids, std::uint64_t limit) {
    std::uint32_t largest = 0;
    for (const std::uint32_t id : ids) largest = std::max(largest, id & number_bits);
    return ids.empty() || largest < limit;
}

std::size_t marks_before(std::span<const std::uint32_t> ids) {
    std::size_t found = 0;
    for (const std::uint32_t id : ids) found += (id & (gap_before | comma_before)) != 0;
    return found;
}

bool invert_running(std::span<const std::uint32_t> tokens, std::uint32_t first_place, std::span<std::uint32_t> counts,
                    std::span<std::uint32_t> places) {
    // Number k is row k + 1; row 0 is for marks and ends of documents, whose places come after all others: no branch depends
    // on them.
    const auto row_of = [](std::uint32_t token) { return token < gap_mark ? token + 1 : 0; };
    std::uint32_t last_row = 0;
    for (const std::uint32_t token : tokens) last_row = std::max(last_row, row_of(token));
    if (last_row > counts.size()) return false;
    std::vector<std::uint32_t> next(counts.size() + 1);
    for (const std::uint32_t token : tokens) ++next[row_of(token)];
    std::uint32_t total = 0;
    for (std::size_t number = 0; number < counts.size(); ++number) {
        counts[number] = next[number + 1];
        next[number + 1] = total;
        total += counts[number];
    }
    next[0] = total;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::uint32_t later = tokens[std::min(i + asked_ahead, tokens.size() - 1)];
        __builtin_prefetch(places.data() + next[row_of(later)], 1);
        places[next[row_of(tokens[i])]++] = first_place + static_cast<std::uint32_t>(i);
    }
    return true;
}

void invert(std::span<const std::uint32_t> words, std::span<const std::uint32_t> lengths, std::uint32_t first_document,
            std::span<std::uint32_t> counts, std::span<std::uint32_t> documents) {
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::uint32_t word : words) ++counts[word];
    std::vector<std::uint32_t> next(counts.size());
    std::uint32_t total = 0;
    for (std::size_t word = 0; word < counts.size(); ++word) {
        next[word] = total;
        total += counts[word];
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i)
        for (const std::size_t end = at + lengths[i]; at < end; ++at) {
            const std::uint32_t later = words[std::min(at + asked_ahead, words.size() - 1)];
            __builtin_prefetch(documents.data() + next[later], 1);
            documents[next[words[at]]++] = first_document + static_cast<std::uint32_t>(i);
        }
}

void interleave(const std::vector<std::span<const std::uint32_t>>& counts,
                const std::vector<std::span<const std::uint32_t>>& runs, std::span<std::uint32_t> joined) {
    std::vector<const std::uint32_t*> at;
    for (const auto& run : runs) at.push_back(run.data());
    std::uint32_t* out = joined.data();
    const std::size_t n_words = counts.empty() ? 0 : counts[0].size();
    for (std::size_t word = 0; word < n_words; ++word)
        for (std::size_t run = 0; run < runs.size(); ++run) {
            const std::uint32_t n = counts[run][word];
            if (n) std::memcpy(out, at[run], n * sizeof(std::uint32_t));
            out += n;
            at[run] += n;
        }
}

std::int64_t first_defect(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> members,
                          std::uint64_t limit) {
    if (offsets.empty() || offsets[0] != 0 || offsets.back() != members.size()) return 0;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        if (offsets[row] > offsets[row + 1] || offsets[row + 1] > members.size()) return static_cast<std::int64_t>(row);
        for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i)
            if (members[i] >= limit || (i > offsets[row] && members[i - 1] >= members[i]))
                return static_cast<std::int64_t>(row);
    }
    return -1;
}

}  // namespace omnitm::text
