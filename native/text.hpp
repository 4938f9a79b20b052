// From UTF-8 bytes to word numbers: tokenising, exact counting, and turning documents x words around.
// Plain computing on buffers: files, threads and memory limits are the business of src/omnitm/corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "characters.hpp"

namespace omnitm::text {

enum class Problem : int { none = 0, not_utf8 = 1, refused_character = 2 };

inline constexpr std::size_t longest_word = 65535;  // bytes; longer ones are counted and dropped
inline constexpr std::uint32_t no_word = 0xFFFFFFFFu;
// In a running text: ends of documents, and marks between two words.
inline constexpr std::uint32_t document_end = 0xFFFFFFFFu, comma_mark = 0xFFFFFFFEu, gap_mark = 0xFFFFFFFDu;
// The number of a word has marks: that its document has it for the first time, unless it is a stop word; and what stands
// before it, see Between.
inline constexpr std::uint32_t new_to_document = 0x80000000u;
inline constexpr std::uint32_t gap_before = 0x40000000u, comma_before = 0x20000000u, number_bits = 0x1FFFFFFFu;

// Memory aligned to cache lines, `before` bytes made `after` bytes. Where the system can, large ones grow without a
// second copy and lie in huge pages: tables are read at random, and addresses are found faster.
void* resized_memory(void* memory, std::size_t before, std::size_t after);
void free_memory(void* memory, std::size_t bytes);

// A growing array without constructors.
template <class T>
class Pod {
public:
    Pod() = default;
    Pod(const Pod&) = delete;
    Pod& operator=(const Pod&) = delete;
    ~Pod() { free_memory(data_, bytes()); }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return capacity_ * sizeof(T); }
    void reserve(std::size_t wanted) {
        if (wanted <= capacity_) return;
        std::size_t capacity = capacity_ + capacity_ / 2;
        if (capacity < wanted) capacity = wanted;
        data_ = static_cast<T*>(resized_memory(data_, bytes(), capacity * sizeof(T)));
        capacity_ = capacity;
    }
    void resize(std::size_t size) { reserve(size); size_ = size; }
    void grow_into_reserve(std::size_t n) { size_ += n; }
    void push(const T& value) { reserve(size_ + 1); data_[size_++] = value; }
    void clear() { size_ = 0; }
    void release() { free_memory(data_, bytes()); data_ = nullptr; size_ = capacity_ = 0; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

// Words as parallel arrays: word i is the next `lengths[i]` bytes of `letters`.
struct Records {
    std::vector<char> letters;
    std::vector<std::uint16_t> lengths;
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> documents;
    std::vector<std::uint32_t> ids;
};

struct Tally { std::uint64_t types = 0, tokens = 0; };
struct Selection {
    Records words;   // the `limit` most frequent of those that passed, in the order of the vocabulary
    Records others;  // the `limit_of_others` most frequent of those that did not
    Tally stop, rare, frequent, passed;
};
// Words that come after it in the order of the vocabulary are counted, not returned.
struct Floor {
    std::uint64_t count;
    std::string_view word;
};

// One block of text, prepared: the word numbers of each document, one after the other; only those that are
// `new_to_document`, unless the table keeps the order.
struct Block {
    std::span<const std::uint32_t> ids;  // lies in the table: until the next block is counted
    std::vector<std::uint32_t> lengths;  // per finished document
    std::size_t n_marks = 0;             // between words
    Problem problem = Problem::none;
    std::size_t problem_offset = 0;
};

// Numbers words as they are first seen and counts them; open addressing over 8-byte slots:
//   slot  = low 32 bits: hash, high 32 bits: word number + 1 (0 = empty)
//   entry = first 16 letters (zero-padded, so that most words are compared at once) | occurrences << 1, is longer |
//           documents | last document seen; 32 bytes, so that none lies in two cache lines
//   place = of all letters: 16 bits length, 48 bits offset
class WordTable {
public:
    explicit WordTable(const std::vector<std::string>& stop_words, bool keeps_order = false);

    Block count_block(const CharacterRules& rules, std::span<const char> text, Unit unit, bool ends_document);
    void absorb(std::span<const char> letters, std::span<const std::uint16_t> lengths,
                std::span<const std::uint64_t> counts, std::span<const std::uint64_t> documents);
    // Words `first` to `last` of the other table that are known here too are counted here, and no longer there.
    // Several threads may take different words of the same table at once.
    void take_common(WordTable& other, std::size_t first, std::size_t last);
    Records records() const;
    std::vector<Records> partitioned_records(unsigned n_partitions) const;
    Selection select(std::uint64_t min_count, std::uint64_t min_documents, std::uint64_t max_documents,
                     std::uint64_t limit, Floor floor, std::uint64_t limit_of_others, Floor floor_of_others) const;
    Records lookup(const std::vector<std::string>& words) const;
    // For every record the number that its word has in this table (`no_word` if none), placed at its id.
    std::vector<std::uint32_t> remap(std::span<const char> letters, std::span<const std::uint16_t> lengths,
                                     std::span<const std::uint32_t> ids, std::size_t n_ids) const;
    // For every word of this table its position in a list (`no_word` if it is not there).
    std::vector<std::uint32_t> positions_in(std::span<const char> letters, std::span<const std::uint16_t> lengths) const;
    void clear();

    std::size_t n_types() const { return entries_.size(); }
    std::size_t memory() const { return slots_.bytes() + entries_.bytes() + places_.bytes() + letters_.bytes(); }
    bool document_open() const { return document_open_; }
    std::uint64_t n_tokens = 0, n_too_long = 0;

private:
    struct Head {  // the first 16 letters
        std::uint64_t first, second;
        bool operator==(const Head&) const = default;
    };
    struct Entry {
        Head head;
        std::uint64_t count_and_is_long;
        std::uint32_t documents, last_document;
        std::uint64_t count() const { return count_and_is_long >> 1; }
        bool is_long() const { return count_and_is_long & 1; }
        void add(std::uint64_t count) { count_and_is_long += count << 1; }
    };
    static_assert(sizeof(Entry) == 32);
    std::string_view letters_of(std::size_t id) const { return {letters_.data() + (places_[id] >> 16), places_[id] & 0xFFFF}; }
    static Head head_of(std::string_view word);
    static std::uint64_t hash_of(const Head& head, std::string_view word);
    bool equals(std::uint32_t id, const Head& head, std::string_view word) const;
    std::uint32_t find(std::string_view word) const;
    std::uint32_t find(std::string_view word, const Head& head, std::uint32_t hash) const;
    std::uint32_t find_or_add(std::string_view word);
    std::uint32_t find_or_add(std::string_view word, const Head& head, std::uint32_t hash);
    void grow_slots(std::size_t capacity);
    struct Token {
        Head head;
        std::size_t start;  // of a word longer than its head, in the scratch
        std::uint32_t length, hash;
        std::uint32_t before;  // what stands before it: see Between
        std::string_view word(const char* scratch) const {
            return {length <= sizeof(Head) ? reinterpret_cast<const char*>(&head) : scratch + start, length};
        }
    };
    struct Batch {
        static constexpr std::size_t capacity = 128;
        Token tokens[capacity];
    };
    static constexpr std::uint32_t end_of_document = ~std::uint32_t{0};
    void flush(const char* scratch, const Batch& batch, std::size_t n_noted, Block& block);
    std::uint32_t id_of(const Token& token, const char* scratch);
    bool is_before(std::uint32_t a, std::uint32_t b) const;
    void append_to(Records& records, std::uint32_t id) const;
    void leave_out_rarest(std::vector<std::uint32_t>& ids, std::uint64_t limit) const;
    void append_most_frequent(Records& records, std::vector<std::uint32_t>& ids, std::uint64_t limit) const;

    Pod<std::uint64_t> slots_;
    Pod<Entry> entries_;
    Pod<std::uint64_t> places_;
    Pod<char> letters_;
    Pod<char> scratch_;
    Pod<std::uint32_t> ids_;                // of the block: documents so far, then those of the open document
    std::vector<std::string> stop_words_;
    bool keeps_order_;
    std::uint32_t document_ = 1;
    std::size_t pending_ = 0;               // how many of `ids_` belong to the open document
    std::size_t finished_ = 0;              // how many at the beginning of `ids_` belong to documents of the last block
    std::uint32_t between_ = nothing;       // what stands after the last word so far
    std::uint32_t unseen_ = nothing;        // what stands before words that were too long
    bool document_open_ = false;
    bool line_has_text_ = false;            // the line that a block was cut in is not blank so far
};

// Whether all numbers, without their marks, are below a limit.
bool all_marked_below(std::span<const std::uint32_t> ids, std::uint64_t limit);
// How many numbers have a mark of what stands before.
std::size_t marks_before(std::span<const std::uint32_t> ids);
// Where documents with final numbers go. There must be room: in `words` for all ids, in `word_lengths` for all lengths, in
// `tokens`, which may be null, for both and for all marks before words.
struct Remapped {
    std::uint32_t* words;
    std::uint32_t* word_lengths;
    std::uint32_t* tokens;
};
// Documents with final numbers (`remap`): the words below `n_words`, ascending; and the running text, where words
// without a number have the number `other`. Returns how many words there are.
std::size_t remap_documents(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> lengths,
                            std::span<const std::uint32_t> remap, std::uint32_t n_words, std::uint32_t other,
                            Remapped out);
// The other order of a run of documents: word by word, ascending document numbers.
void invert(std::span<const std::uint32_t> words, std::span<const std::uint32_t> lengths, std::uint32_t first_document,
            std::span<std::uint32_t> counts, std::span<std::uint32_t> documents);
// Where each number of a part of a running text stands: number by number, ascending places; not those of marks and ends.
// False if one has no count.
bool invert_running(std::span<const std::uint32_t> tokens, std::uint32_t first_place, std::span<std::uint32_t> counts,
                    std::span<std::uint32_t> places);
// Joins several such runs over the same range of words: run after run within each word.
void interleave(const std::vector<std::span<const std::uint32_t>>& counts,
                const std::vector<std::span<const std::uint32_t>>& runs, std::span<std::uint32_t> joined);
// Position of the first defect of two orders that should mirror each other; -1 when there is none.
std::int64_t first_defect(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> members,
                          std::uint64_t limit);

}  // namespace omnitm::text
