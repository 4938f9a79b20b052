// What becomes of every character of a text, and which parts of it are plain enough to be taken 64 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace omnitm::text {

// What becomes of a code point; every value below `first_action` is the code point that replaces it.
enum Action : std::uint32_t {
    first_action = 0xFFFF0000u,
    first_expansion = 0xFFFF0000u,  // + k: replaced by the k-th expansion (several code points)
    refused = 0xFFFFFFF0u,          // must not occur (NUL in a file that should be text)
    newline = 0xFFFFFFF1u,          // ends a line
    capital_sigma = 0xFFFFFFF2u,    // lower case depends on its neighbours
    space = 0xFFFFFFF3u,            // ends a word
    deleted = 0xFFFFFFF4u,          // vanishes, the word goes on
    apostrophe = 0xFFFFFFF5u,       // the same, but before a last s it begins a word of its own: 's
    deleted_digit = 0xFFFFFFF6u,    // the same, but a word that begins with it is dropped
    hyphen = 0xFFFFFFF7u,           // becomes - between two characters that stay, else it ends a word
    full_stop = 0xFFFFFFF8u,        // ., ends a word, but between two single letters it vanishes
};
// What a character is to its neighbours: for a capital sigma, and for a running text, in which some that end words leave a
// mark between these.
enum Context : std::uint8_t { cased = 1, case_ignorable = 2, sigma_bits = 3, leaves_gap = 4, leaves_comma = 8 };
// What stands between two words, before it is known which mark that makes: commas alone make one, all else a gap.
enum Between : std::uint32_t { nothing = 0, a_gap = 1, a_comma = 2 };
enum class Unit : int { line = 0, paragraph = 1, file = 2 };

inline constexpr std::size_t n_code_points = 0x110000;

// What becomes of a byte that begins a character; smaller values are the byte to write.
enum ByteCode : std::uint16_t {
    byte_space = 256,
    byte_newline,
    byte_refused,
    byte_wide,
    byte_deleted,  // from here on nothing is written, but for hyphens between letters
    byte_apostrophe,
    byte_digit,
    byte_hyphen,
    byte_stop  // may end a word
};

// The rules of preparation as tables, computed by Python so that both agree on the version of Unicode.
struct CharacterRules {
    CharacterRules(std::span<const std::uint32_t> actions, std::span<const std::uint8_t> contexts,
                   std::vector<std::string> expansions);
    std::vector<std::uint32_t> actions;
    std::vector<std::uint8_t> contexts;
    std::vector<std::string> expansions;
    std::uint32_t between(std::uint32_t point) const { return contexts[point] >> 2 & (a_gap | a_comma); }
    std::uint16_t first_byte[256];  // < 256: the byte to write; else a ByteCode
    std::size_t longest_expansion = 4;
    bool plain_letters = false;    // ASCII letters stay or are lower-cased, so that eight can be done at a time:
    std::uint64_t letter_bit = 0;  // by setting this bit in each
    bool plain_words = false;      // and a space ends a word
    // What becomes of visible ASCII that is no letter, if it is the same for all of a kind: all bits are set, else none.
    struct Uniform {
        std::uint64_t deleted = ~std::uint64_t{0}, spaces = ~std::uint64_t{0};
    };
    Uniform marks, joints, stops, digits;  // joints: ' and -; stops: .
    bool stops_may_vanish = false;
    // All bits set where these leave a gap or a comma between words; of digits those that begin a word, which is dropped.
    std::uint64_t marks_leave_gaps = 0, commas_leave_commas = 0, hyphens_leave_gaps = 0, stops_leave_gaps = 0;
    std::uint64_t digits_leave_gaps = 0, numbers_leave_gaps = 0;

private:
    void check_tables();
    void find_marks();
};

inline std::uint64_t load(const void* bytes, std::size_t n) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, n);
    return value;
}

// Length of the well-formed UTF-8 sequence at `at` (2 to 4), or 0; the code point goes to `code`.
int decode(const unsigned char* at, const unsigned char* end, std::uint32_t& code);
char* encode(std::uint32_t code, char* out);
// Unicode's Final_Sigma: a cased letter before and none after, case-ignorable characters skipped.
bool is_final_sigma(const CharacterRules& rules, const unsigned char* begin, const unsigned char* at,
                    const unsigned char* end);
// Of a full stop.
bool is_between_single_letters(const unsigned char* begin, const unsigned char* at, const unsigned char* end);
// Of a hyphen of `width` bytes.
bool is_between_letters(const CharacterRules& rules, const unsigned char* begin, const unsigned char* at, int width,
                        const unsigned char* end);
bool is_blank(const unsigned char* at, const unsigned char* end);

// How many of the 8 bytes, from the first on, are ASCII letters.
int leading_letters(std::uint64_t bytes);

// The words among 64 bytes that are nothing but up to 15 ASCII letters, with marks or digits that vanish before or after.
struct PlainWords {
    std::uint64_t letters;
    std::uint64_t starts;  // of words, and ends of lines
    std::uint64_t gaps, commas;  // starts of words that something stands before which leaves such a mark
    std::uint32_t after_last;    // what stands after the last word: see Between
    int n_bytes;           // they and what is between them
    bool are_all;          // if not, the next word is not plain
};
PlainWords plain_words_of(const CharacterRules& rules, const unsigned char* at, Unit unit);

}  // namespace omnitm::text
