#include "characters.hpp"

#include <algorithm>
#include <bit>

#include "checks.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace omnitm::text {
namespace {

std::uint32_t code_at(const unsigned char* at, const unsigned char* end) {
    std::uint32_t code = *at;
    if (code >= 0x80 && decode(at, end, code) == 0) return 0xFFFD;
    return code;
}

// Which of 64 bytes are what: a bit for each byte, the first one lowest.
struct Classes {
    std::uint64_t letters = 0, digits = 0, joints = 0, hyphens = 0, stops = 0, spaces = 0, newlines = 0;
    std::uint64_t marks = 0, commas = 0;  // other visible ASCII, and which of it are commas
};

#ifdef __SSE2__
Classes classes_of(const unsigned char* at) {
    Classes classes;
    // Bytes from `first` on, at most `n`, become the lowest signed numbers.
    const auto in_range = [](__m128i bytes, int first, int n) {
        const __m128i shifted = _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(128 - first)));
        return _mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(n - 128)));
    };
    for (int i = 0; i < 64; i += 16) {
        const auto bits = [i](__m128i found) {
            return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))) << i;
        };
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
        const __m128i letters = in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
        classes.letters |= bits(letters);
        classes.digits |= bits(in_range(bytes, '0', 10));
        const auto equal = [bytes](char byte) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)); };
        const __m128i hyphens = equal('-');
        classes.hyphens |= bits(hyphens);
        classes.joints |= bits(_mm_or_si128(equal('\''), hyphens));
        classes.commas |= bits(equal(','));
        classes.stops |= bits(equal('.'));
        classes.marks |= bits(in_range(bytes, '!', '~' - '!' + 1));
        classes.spaces |= bits(equal(' '));
        classes.newlines |= bits(equal('\n'));
    }
    classes.marks &= ~(classes.letters | classes.digits | classes.joints | classes.stops);
    return classes;
}
#else
Classes classes_of(const unsigned char* at) {
    Classes classes;
    constexpr std::uint64_t ones = 0x0101010101010101ull, tops = 0x80 * ones;
    for (int i = 0; i < 64; i += 8) {
        const std::uint64_t bytes = load(at + i, 8), low = bytes & ~tops;
        // The highest bits of bytes `first` to `last`, all ASCII, are brought together by a multiplication.
        const auto in_range = [=](std::uint64_t values, std::uint64_t first, std::uint64_t last) {
            const std::uint64_t from_first = values + (0x80 - first) * ones, after_last = values + (0x7F - last) * ones;
            return ((from_first & ~after_last & ~bytes & tops) >> 7) * 0x0102040810204080ull >> 56 << i;
        };
        classes.letters |= in_range(low | 0x20 * ones, 'a', 'z');
        classes.digits |= in_range(low, '0', '9');
        classes.hyphens |= in_range(low, '-', '-');
        classes.joints |= in_range(low, '\'', '\'') | in_range(low, '-', '-');
        classes.commas |= in_range(low, ',', ',');
        classes.stops |= in_range(low, '.', '.');
        classes.marks |= in_range(low, '!', '~');
        classes.spaces |= in_range(low, ' ', ' ');
        classes.newlines |= in_range(low, '\n', '\n');
    }
    classes.marks &= ~(classes.letters | classes.digits | classes.joints | classes.stops);
    return classes;
}
#endif

bool is_letter(unsigned char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

// Whether a character becomes a part of a word: itself, another one, or several.
bool stays(const CharacterRules& rules, std::uint32_t code) {
    const std::uint32_t action = rules.actions[code];
    return action < refused || action == capital_sigma;
}

}  // namespace

int decode(const unsigned char* at, const unsigned char* end, std::uint32_t& code) {
    const auto trail = [&](int i) { return at + i < end && (at[i] & 0xC0) == 0x80; };
    const unsigned lead = at[0];
    if (lead >= 0xC2 && lead <= 0xDF && trail(1)) {
        code = (lead & 0x1F) << 6 | (at[1] & 0x3F);
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF && trail(1) && trail(2)) {
        code = (lead & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F);
        return code >= 0x800 && (code < 0xD800 || code > 0xDFFF) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4 && trail(1) && trail(2) && trail(3)) {
        code = (lead & 0x07) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6 | (at[3] & 0x3F);
        return code >= 0x10000 && code < n_code_points ? 4 : 0;
    }
    return 0;
}

char* encode(std::uint32_t code, char* out) {
    if (code < 0x80) {
        *out++ = static_cast<char>(code);
    } else if (code < 0x800) {
        *out++ = static_cast<char>(0xC0 | code >> 6);
        *out++ = static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = static_cast<char>(0xE0 | code >> 12);
        *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (code & 0x3F));
    } else {
        *out++ = static_cast<char>(0xF0 | code >> 18);
        *out++ = static_cast<char>(0x80 | (code >> 12 & 0x3F));
        *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (code & 0x3F));
    }
    return out;
}

bool is_final_sigma(const CharacterRules& rules, const unsigned char* begin, const unsigned char* at,
                    const unsigned char* end) {
    const unsigned char* back = at;
    std::uint8_t context = case_ignorable;
    while (back > begin && context == case_ignorable) {
        do --back;
        while (back > begin && (*back & 0xC0) == 0x80);
        context = rules.contexts[code_at(back, end)] & sigma_bits;
    }
    if (context != cased) return false;
    context = case_ignorable;
    for (const unsigned char* ahead = at + 2; ahead < end && context == case_ignorable;) {
        context = rules.contexts[code_at(ahead, end)] & sigma_bits;
        do ++ahead;
        while (ahead < end && (*ahead & 0xC0) == 0x80);
    }
    return context != cased;
}

int leading_letters(std::uint64_t bytes) {
    constexpr std::uint64_t ones = 0x0101010101010101ull, tops = 0x80 * ones;
    const std::uint64_t folded = (bytes | 0x20 * ones) & ~tops;
    const std::uint64_t from_a = folded + (0x80 - 'a') * ones, after_z = folded + (0x7F - 'z') * ones;
    const std::uint64_t others = ~(from_a & ~after_z & ~bytes) & tops;
    return others ? std::countr_zero(others) / 8 : 8;
}

PlainWords plain_words_of(const CharacterRules& rules, const unsigned char* at, Unit unit) {
    const Classes classes = classes_of(at);
    const std::uint64_t letters = classes.letters;
    const std::uint64_t deleted = (classes.marks & rules.marks.deleted) | (classes.joints & rules.joints.deleted) |
                                  (classes.stops & rules.stops.deleted) | (classes.digits & rules.digits.deleted);
    const std::uint64_t line_ends = unit == Unit::line ? classes.newlines : 0;
    const std::uint64_t newlines = unit == Unit::paragraph ? 0 : classes.newlines;  // there, a line may be blank
    const std::uint64_t ends = classes.spaces | newlines | (classes.marks & rules.marks.spaces) |
                               (classes.joints & rules.joints.spaces) | (classes.stops & rules.stops.spaces) |
                               (classes.digits & rules.digits.spaces);
    // Stops between letters, or after one at the end of the 64 bytes, are looked at closely.
    const std::uint64_t last = std::uint64_t{1} << 63;
    const std::uint64_t inner_stops = rules.stops_may_vanish ? classes.stops & letters << 1 & (letters >> 1 | last) : 0;
    // A run of deleted bytes must not go on with a letter if it follows a letter or has a digit. The sum carries such a
    // run's first or second bit to the byte after the run.
    const std::uint64_t suspects = (deleted & letters << 1) | (deleted & classes.digits);
    const std::uint64_t after_suspects = (deleted + suspects) & ~deleted;
    std::uint64_t long_words = letters & letters >> 1;
    for (const int distance : {2, 4, 8}) long_words &= long_words >> distance;
    const std::uint64_t others = ~(letters | deleted | ends) | (after_suspects & letters) | long_words | inner_stops;
    const std::uint64_t before_others = others ? (others & (~others + 1)) - 1 : ~std::uint64_t{0};
    const int n_bytes = 64 - std::countl_zero(ends & before_others);
    const std::uint64_t done = n_bytes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_bytes) - 1;
    // Digits that go on with a word, maybe after other deleted bytes, belong to it; a number by itself is a dropped word.
    // Adding the first bit of a run of deleted bytes clears all of it.
    const std::uint64_t numbers = classes.digits & (deleted + (deleted & letters << 1));
    const std::uint64_t commas = classes.commas & rules.commas_leave_commas;
    const std::uint64_t gaps = (classes.marks & ~classes.commas & rules.marks_leave_gaps) |
                               (classes.hyphens & rules.hyphens_leave_gaps) | (classes.stops & rules.stops_leave_gaps) |
                               (classes.digits & rules.digits_leave_gaps) | (numbers & rules.numbers_leave_gaps);
    // The sum carries any bit of a run between two words to the start of the second.
    const std::uint64_t in_words = letters & done;
    const std::uint64_t after_last = done & ~(in_words ? ~std::uint64_t{0} >> std::countl_zero(in_words) : 0);
    return {letters,
            ((letters & ~(letters << 1)) | line_ends) & done,
            (~letters + gaps) & letters,
            (~letters + commas) & letters,
            (gaps & after_last ? a_gap : nothing) | (commas & after_last ? a_comma : nothing),
            n_bytes,
            others == 0 && n_bytes > 0};
}

bool is_between_single_letters(const unsigned char* begin, const unsigned char* at, const unsigned char* end) {
    const auto has_letter = [=](std::ptrdiff_t offset) {
        return offset >= begin - at && offset < end - at && is_letter(at[offset]);
    };
    return has_letter(-1) && has_letter(1) && !has_letter(-2) && !has_letter(2);
}

bool is_between_letters(const CharacterRules& rules, const unsigned char* begin, const unsigned char* at, int width,
                        const unsigned char* end) {
    if (at == begin || at + width == end) return false;
    const unsigned char* back = at - 1;
    while (back > begin && (*back & 0xC0) == 0x80) --back;
    return stays(rules, code_at(back, end)) && stays(rules, code_at(at + width, end));
}

bool is_blank(const unsigned char* at, const unsigned char* end) {
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) ++at;
    return at == end;
}

CharacterRules::CharacterRules(std::span<const std::uint32_t> actions_, std::span<const std::uint8_t> contexts_,
                               std::vector<std::string> expansions_)
    : actions(actions_.begin(), actions_.end()), contexts(contexts_.begin(), contexts_.end()),
      expansions(std::move(expansions_)) {
    check_tables();
    const auto maps_letters = [&](std::uint32_t bit) {
        for (std::uint32_t letter = 'A'; letter <= 'Z'; ++letter)
            if (actions[letter] != (letter | bit) || actions[letter | 0x20] != (letter | 0x20)) return false;
        return std::endian::native == std::endian::little;
    };
    letter_bit = maps_letters(0x20) ? 0x20 : 0;
    plain_letters = letter_bit || maps_letters(0);
    plain_words = plain_letters && actions[' '] == space && actions['\n'] == newline;
    for (std::uint32_t point = '!'; point <= '~'; ++point) {
        const bool is_digit = point >= '0' && point <= '9';
        if ((point | 0x20) >= 'a' && (point | 0x20) <= 'z') continue;
        Uniform& kind = is_digit                            ? digits
                        : point == '\'' || point == '-' ? joints
                        : point == '.'                      ? stops
                                                            : marks;
        const std::uint32_t action = actions[point];
        if (action != deleted && action != apostrophe && action != hyphen && !(is_digit && action == deleted_digit))
            kind.deleted = 0;
        if (action != space && action != full_stop) kind.spaces = 0;
        if (action == full_stop) stops_may_vanish = true;
    }
    find_marks();
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::uint32_t action = byte < 0x80 ? actions[byte] : static_cast<std::uint32_t>(first_action);
        first_byte[byte] = action < 0x80       ? static_cast<std::uint16_t>(action)
                           : action == space   ? std::uint16_t{byte_space}
                           : action == newline ? std::uint16_t{byte_newline}
                           : action == deleted ? std::uint16_t{byte_deleted}
                           : action == refused ? std::uint16_t{byte_refused}
                           : action == apostrophe    ? std::uint16_t{byte_apostrophe}
                           : action == deleted_digit ? std::uint16_t{byte_digit}
                           : action == hyphen        ? std::uint16_t{byte_hyphen}
                           : action == full_stop     ? std::uint16_t{byte_stop}
                                                     : std::uint16_t{byte_wide};
    }
}

// What leaves marks between words is known for 64 bytes at once if it is the same for all of a kind.
void CharacterRules::find_marks() {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const auto leaves = [&](std::uint32_t point) { return between(point) == a_gap ? all : 0; };
    marks_leave_gaps = leaves('!');
    commas_leave_commas = between(',') == a_comma ? all : 0;
    hyphens_leave_gaps = leaves('-');
    stops_leave_gaps = leaves('.');
    digits_leave_gaps = leaves('0');
    numbers_leave_gaps = actions['0'] == deleted_digit ? all : 0;
    bool are_uniform = between('\'') == nothing && (between(',') == a_comma || between(',') == nothing);
    for (std::uint32_t point = '!'; point <= '~'; ++point) {
        const bool is_digit = point >= '0' && point <= '9';
        if (((point | 0x20) >= 'a' && (point | 0x20) <= 'z') || point == ',' || point == '\'' || point == '-' || point == '.')
            continue;
        are_uniform &= leaves(point) == (is_digit ? digits_leave_gaps : marks_leave_gaps);
        are_uniform &= !is_digit || (actions[point] == deleted_digit) == (actions['0'] == deleted_digit);
    }
    plain_words = plain_words && are_uniform && between(' ') == nothing && between('\n') == nothing;
}

// A character of two bytes or more may become as long as the longest expansion, one of a single byte half as long:
// `count_block` reserves memory by that.
void CharacterRules::check_tables() {
    check(actions.size() == n_code_points && contexts.size() == n_code_points,
          "actions and contexts need one value per code point");
    for (const std::string& expansion : expansions) longest_expansion = std::max(longest_expansion, expansion.size());
    check(longest_expansion <= 1 << 10, "an expansion may have 1024 bytes");
    for (std::uint32_t point = 0; point < n_code_points; ++point) {
        const std::uint32_t action = actions[point];
        if (action < first_action) {
            check(action < n_code_points && (point >= 0x80 || action < 0x800),
                  "an action must be a code point, below 0x800 for ASCII, or a known code");
        } else if (action >= refused) {
            check(action <= full_stop && (point >= 0x80 || action != capital_sigma), "an action is unknown");
            check((action != hyphen || point == '-' || point >= 0x80) && (action != full_stop || point == '.'),
                  "hyphens and full stops are known by their bytes");
        } else {
            const std::uint32_t number = action - first_expansion;
            check(number < expansions.size(), "an action names an expansion that is not there");
            check(point >= 0x80 || 2 * expansions[number].size() <= longest_expansion,
                  "the expansion of an ASCII character is too long");
        }
    }
}

}  // namespace omnitm::text
