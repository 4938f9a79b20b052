#include "text.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>

#include "checks.hpp"

namespace omnitm::text {
namespace {

// What is noted of what stands before a word: with commas alone a comma, with anything else a gap.
constexpr std::uint32_t bits_before[4] = {0, gap_before, comma_before, gap_before};
constexpr char apostrophe_mark = '\xFF';  // stands for an apostrophe within a word; never part of UTF-8

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Eight letters as a number that is the larger, the later they come in the order of bytes.
std::uint64_t as_number(std::uint64_t letters) {
    return std::endian::native == std::endian::little ? __builtin_bswap64(letters) : letters;
}

// The first `n` of eight bytes, the others zero; `n` may be anything up to 16.
std::uint64_t leading(std::uint64_t bytes, std::size_t n) {
    return n >= 8 ? bytes : bytes & ((std::uint64_t{1} << (8 * n)) - 1);
}

// What keeps the first letters of 16: the row of their number.
struct LetterMasks {
    std::uint64_t rows[17][2];
    constexpr LetterMasks() : rows() {
        for (std::size_t n = 0; n <= 16; ++n)
            for (std::size_t k = 0; k < 16; ++k) rows[n][k / 8] |= k < n ? std::uint64_t{0xFF} << k % 8 * 8 : 0;
    }
};
constexpr LetterMasks letter_masks;

}  // namespace

WordTable::WordTable(const std::vector<std::string>& stop_words, bool keeps_order)
    : stop_words_(stop_words), keeps_order_(keeps_order) {
    for (const std::string& word : stop_words) check(word.size() <= longest_word, "a stop word is longer than 65535 bytes");
    clear();
    check(n_types() == stop_words.size(), "a stop word is there twice");
}

void WordTable::clear() {
    slots_.release();
    entries_.release();
    places_.release();
    letters_.release();
    document_ = 1;
    between_ = unseen_ = nothing;
    grow_slots(1 << 12);
    for (const std::string& word : stop_words_) find_or_add(word);
}

void WordTable::grow_slots(std::size_t capacity) {
    slots_.release();
    slots_.resize(capacity);
    std::memset(slots_.data(), 0, capacity * sizeof(std::uint64_t));
    const std::size_t mask = capacity - 1;
    for (std::size_t id = 0; id < entries_.size(); ++id) {
        const auto hash = static_cast<std::uint32_t>(hash_of(entries_[id].head, letters_of(id)));
        std::size_t at = hash & mask;
        while (slots_[at]) at = (at + 1) & mask;
        slots_[at] = static_cast<std::uint64_t>(id + 1) << 32 | hash;
    }
}

WordTable::Head WordTable::head_of(std::string_view word) {
    Head head{};
    if (!word.empty()) std::memcpy(&head, word.data(), std::min<std::size_t>(word.size(), 16));
    return head;
}

inline std::uint64_t WordTable::hash_of(const Head& head, std::string_view word) {
    std::uint64_t hash = mix(head.first ^ 0x9E3779B97F4A7C15ull, head.second ^ 0xD6E8FEB86659FD93ull);
    if (word.size() <= 16) return hash;
    for (std::size_t at = 16; at + 8 < word.size(); at += 8)
        hash = mix(hash ^ load(word.data() + at, 8), 0xA0761D6478BD642Full);
    return mix(hash ^ load(word.data() + word.size() - 8, 8), 0xE7037ED1A0B428DBull ^ word.size());  // may overlap
}

// No word contains NUL, so that two of up to 16 letters are equal if their heads are.
inline bool WordTable::equals(std::uint32_t id, const Head& head, std::string_view word) const {
    const Entry& entry = entries_[id];
    if (((entry.head.first ^ head.first) | (entry.head.second ^ head.second)) != 0) return false;
    if (word.size() <= 16 && !entry.is_long()) return true;
    return letters_of(id) == word;
}

inline std::uint32_t WordTable::find(std::string_view word, const Head& head, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const std::uint64_t slot = slots_[at];
        if (!slot) return no_word;
        if (static_cast<std::uint32_t>(slot) == hash) {
            const auto id = static_cast<std::uint32_t>((slot >> 32) - 1);
            if (equals(id, head, word)) return id;
        }
    }
}

std::uint32_t WordTable::find(std::string_view word) const {
    const Head head = head_of(word);
    return find(word, head, static_cast<std::uint32_t>(hash_of(head, word)));
}

std::uint32_t WordTable::find_or_add(std::string_view word) {
    const Head head = head_of(word);
    return find_or_add(word, head, static_cast<std::uint32_t>(hash_of(head, word)));
}

std::uint32_t WordTable::find_or_add(std::string_view word, const Head& head, std::uint32_t hash) {
    const std::uint32_t known = find(word, head, hash);
    if (known != no_word) return known;
    if (entries_.size() >= number_bits - 16) throw std::length_error("more than 500 million different words");
    if ((entries_.size() + 1) * 5 > slots_.size() * 3) grow_slots(slots_.size() * 2);
    const auto id = static_cast<std::uint32_t>(entries_.size());
    const std::size_t offset = letters_.size();
    letters_.resize(offset + word.size());
    if (!word.empty()) std::memcpy(letters_.data() + offset, word.data(), word.size());
    places_.push(static_cast<std::uint64_t>(offset) << 16 | word.size());
    entries_.push({head, word.size() > sizeof(Head), 0, 0});
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at]) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint64_t>(id + 1) << 32 | hash;
    return id;
}

// Looks up all tokens of the batch; their slots are on their way already, so that now the entries can be fetched.
void WordTable::flush(const char* scratch, const Batch& batch, std::size_t n_noted, Block& block) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < n_noted; ++i) {
        const std::uint64_t slot = slots_[batch.tokens[i].hash & mask];
        __builtin_prefetch(entries_.data() + ((slot >> 32) - (slot != 0)), 1);
    }
    ids_.reserve(ids_.size() + n_noted);
    std::uint32_t* const first = ids_.data() + ids_.size();
    std::uint32_t* out = first;
    std::uint32_t* document = out - pending_;
    n_tokens += n_noted;
    for (std::size_t i = 0; i < n_noted; ++i) {
        const Token& token = batch.tokens[i];
        if (token.length == end_of_document) {
            block.lengths.push_back(static_cast<std::uint32_t>(out - document));
            document = out;
            ++document_;
            --n_tokens;
            unseen_ = nothing;
        } else if (const std::uint32_t id = id_of(token, scratch); id != no_word) {
            // Without branches where the text decides at random: is the word new to the document, is it a stop word?
            Entry& entry = entries_[id];
            const bool is_new = entry.last_document != document_;
            entry.add(1);
            entry.documents += is_new;
            entry.last_document = document_;
            const bool is_kept = is_new & (id >= stop_words_.size());
            // Before the first word of a document no mark says anything, and without the order none does.
            const std::uint32_t before = (out != document) & keeps_order_ ? token.before | unseen_ : nothing;
            unseen_ = nothing;
            *out = id | (is_kept ? new_to_document : 0) | bits_before[before];  // there is room for the whole batch
            out += is_kept | keeps_order_;
        } else {
            unseen_ |= token.before;
            ++n_too_long;
        }
    }
    ids_.grow_into_reserve(static_cast<std::size_t>(out - first));
    pending_ = static_cast<std::size_t>(out - document);
}

// The number of a word, which is added if it is new; `no_word` if it is too long.
inline std::uint32_t WordTable::id_of(const Token& token, const char* scratch) {
    const std::uint64_t slot = slots_[token.hash & (slots_.size() - 1)];
    const auto id = static_cast<std::uint32_t>((slot >> 32) - 1);
    const std::string_view word = token.word(scratch);
    if (static_cast<std::uint32_t>(slot) == token.hash && slot && equals(id, token.head, word)) return id;
    return word.size() > longest_word ? no_word : find_or_add(word, token.head, token.hash);
}

Block WordTable::count_block(const CharacterRules& rules, std::span<const char> text, Unit unit, bool ends_document) {
    Block block;
    // `ids_` shall begin with those of a document that began in an earlier block.
    if (pending_) std::memmove(ids_.data(), ids_.data() + finished_, pending_ * sizeof(std::uint32_t));
    ids_.resize(pending_);
    finished_ = 0;
    const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
    const unsigned char* const end = begin + text.size();
    const unsigned char* at = begin;
    const unsigned char* line = begin;
    // The shortest wide character has two bytes; a look-up reads up to 16 bytes past a word.
    scratch_.resize(text.size() * rules.longest_expansion / 2 + 64);
    char* const words = scratch_.data();
    char* word = words;
    char* out = words;
    Batch batch;
    std::size_t n_noted = 0;
    const auto refuse = [&](Problem problem) {
        block.problem = problem;
        block.problem_offset = static_cast<std::size_t>(at - begin);
        return block;
    };
    const auto note_flushed = [&] {
        flush(words, batch, n_noted, block);
        n_noted = 0;
        word = out = words;
    };
    const auto note = [&](const Head& head, std::uint32_t hash, std::size_t length) {
        __builtin_prefetch(slots_.data() + (hash & (slots_.size() - 1)));
        batch.tokens[n_noted] = {head, static_cast<std::size_t>(word - words), static_cast<std::uint32_t>(length), hash, between_};
        between_ = nothing;
        if (++n_noted == Batch::capacity) note_flushed();
        word = out;
    };
    const auto note_written = [&] {
        const auto length = static_cast<std::size_t>(out - word);
        const std::size_t beyond = length > 8 ? length - 8 : 0;
        const Head head{leading(load(word, 8), length), leading(load(word + 8, 8), beyond)};
        const auto hash = static_cast<std::uint32_t>(hash_of(head, {word, length}));
        if (length <= sizeof(Head)) out = word;  // the head says it all
        note(head, hash, length);
    };
    bool has_apostrophe = false, begins_with_digit = false, is_between_words = true;
    const Head possessive = head_of("'s");
    const auto possessive_hash = static_cast<std::uint32_t>(hash_of(possessive, {}));
    const auto end_word = [&] {
        bool is_possessive = false;
        if (begins_with_digit) {
            out = word;
            between_ |= a_gap;
        } else if (has_apostrophe) {  // never the first character
            while (out[-1] == apostrophe_mark) --out;
            is_possessive = out - word > 2 && (out[-1] | 0x20) == 's' && out[-2] == apostrophe_mark;
            out = std::remove(word, out - (is_possessive ? 2 : 0), apostrophe_mark);
        }
        begins_with_digit = has_apostrophe = false;
        is_between_words = true;
        if (out == word) return;
        note_written();
        if (is_possessive) note(possessive, possessive_hash, 2);
    };
    const auto note_apostrophe = [&] {
        if (out == word) return;
        *out++ = apostrophe_mark;
        has_apostrophe = true;
    };
    const auto note_hyphen = [&](int width) {
        if (is_between_letters(rules, begin, at, width, end)) {
            *out++ = '-';
        } else {
            end_word();
            std::uint32_t point = *at;
            if (width > 1) decode(at, end, point);
            between_ |= rules.between(point);
        }
    };
    const auto note_digit = [&] { begins_with_digit = begins_with_digit || out == word; };
    const auto close_document = [&] {
        note({}, 0, end_of_document);
        document_open_ = false;
    };
    const std::uint64_t letter_bits = rules.letter_bit * 0x0101010101010101ull;
    // Takes the plain words of the next 64 bytes; false if the word after them is not plain. Looks at no more than 80 bytes.
    const auto note_plain_words = [&] {
        const unsigned char* const from = at;
        PlainWords plain = plain_words_of(rules, from, unit);
        const std::uint64_t first_words = plain.starts & plain.letters;
        const std::uint64_t first = first_words & (~first_words + 1);
        plain.gaps |= between_ & a_gap ? first : 0;
        plain.commas |= between_ & a_comma ? first : 0;
        between_ = (first ? nothing : between_) | plain.after_last;
        if (n_noted + 64 > Batch::capacity) note_flushed();
        Token* token = batch.tokens + n_noted;
        const std::uint64_t* const slots = slots_.data();
        const std::size_t slot_mask = slots_.size() - 1;
        for (std::uint64_t starts = plain.starts; starts; starts &= starts - 1, ++token) {
            const int start = std::countr_zero(starts);
            const int length = std::countr_one(plain.letters >> start);  // 0: the end of a line
            const auto& mask = letter_masks.rows[length];
            token->head = {(load(from + start, 8) | letter_bits) & mask[0], (load(from + start + 8, 8) | letter_bits) & mask[1]};
            token->hash = static_cast<std::uint32_t>(hash_of(token->head, {}));
            token->length = length ? static_cast<std::uint32_t>(length) : end_of_document;
            token->before = (plain.gaps >> start & 1) | (plain.commas >> start & 1) << 1;
            __builtin_prefetch(slots + (token->hash & slot_mask));
        }
        n_noted = static_cast<std::size_t>(token - batch.tokens);
        at += plain.n_bytes;
        return plain.are_all;
    };
    if (at < end && unit != Unit::paragraph) document_open_ = true;
    while (at < end) {
        if (rules.plain_words && is_between_words && end - at >= 80) {
            is_between_words = note_plain_words();
            if (is_between_words) continue;
        }
        if (rules.plain_letters && end - at >= 8) {  // most bytes of other words are letters: eight at a time
            std::uint64_t eight = load(at, 8);
            const int n = leading_letters(eight);
            eight |= letter_bits;
            std::memcpy(out, &eight, 8);
            out += n;
            at += n;
            if (n == 8) continue;
        }
        const std::uint16_t code = rules.first_byte[*at];
        if (code < 256) {
            *out++ = static_cast<char>(code);
            ++at;
        } else if (code == byte_space) {
            end_word();
            between_ |= rules.between(*at);
            ++at;
        } else if (code == byte_newline) {
            end_word();
            if (unit == Unit::line) {
                close_document();
                document_open_ = at + 1 < end;
            } else if (unit == Unit::paragraph) {
                const bool blank = !line_has_text_ && is_blank(line, at);
                if (!blank) document_open_ = true;
                if (blank && document_open_) close_document();
                line_has_text_ = false;
                line = at + 1;
            }
            ++at;
        } else if (code >= byte_deleted) {
            if (code == byte_apostrophe) note_apostrophe();
            if (code == byte_digit) note_digit();
            if (code == byte_hyphen) note_hyphen(1);
            if (code == byte_stop && !is_between_single_letters(begin, at, end)) {
                end_word();
                between_ |= rules.between(*at);
            }
            ++at;
        } else if (code == byte_refused) {
            return refuse(Problem::refused_character);
        } else {
            std::uint32_t point = *at;
            const int width = point < 0x80 ? 1 : decode(at, end, point);
            if (width == 0) return refuse(Problem::not_utf8);
            const std::uint32_t action = rules.actions[point];
            if (action < first_action) {
                out = encode(action, out);
            } else if (action == capital_sigma) {
                out = encode(is_final_sigma(rules, begin, at, end) ? 0x3C2 : 0x3C3, out);
            } else if (action == space) {
                end_word();
                between_ |= rules.between(point);
            } else if (action == refused) {
                return refuse(Problem::refused_character);
            } else if (action == apostrophe) {
                note_apostrophe();
            } else if (action == deleted_digit) {
                note_digit();
            } else if (action == hyphen) {
                note_hyphen(width);
            } else if (action != deleted) {
                const std::string& expansion = rules.expansions.at(action - first_expansion);
                std::memcpy(out, expansion.data(), expansion.size());
                out += expansion.size();
            }
            at += width;
        }
    }
    end_word();
    if (unit == Unit::paragraph) {
        line_has_text_ = line_has_text_ || !is_blank(line, end);
        document_open_ = document_open_ || line_has_text_;
        line_has_text_ = line_has_text_ && !ends_document;
    }
    if (ends_document && (document_open_ || unit == Unit::file)) close_document();
    flush(words, batch, n_noted, block);
    finished_ = ids_.size() - pending_;
    block.ids = {ids_.data(), finished_};
    block.n_marks = keeps_order_ ? marks_before(block.ids) : 0;
    return block;
}

void WordTable::absorb(std::span<const char> letters, std::span<const std::uint16_t> lengths,
                       std::span<const std::uint64_t> counts, std::span<const std::uint64_t> documents) {
    const char* at = letters.data();
    for (std::size_t i = 0; i < lengths.size(); at += lengths[i++]) {
        const std::string_view word(at, lengths[i]);
        Entry& entry = entries_[find_or_add(word)];
        entry.add(counts[i]);
        entry.documents += static_cast<std::uint32_t>(documents[i]);
    }
}

void WordTable::take_common(WordTable& other, std::size_t first, std::size_t last) {
    constexpr std::size_t ahead = 16;
    std::uint32_t hashes[ahead];
    const std::size_t mask = slots_.size() - 1;
    const auto prepare = [&](std::size_t id) {
        const std::uint32_t hash = static_cast<std::uint32_t>(hash_of(other.entries_[id].head, other.letters_of(id)));
        hashes[id % ahead] = hash;
        __builtin_prefetch(slots_.data() + (hash & mask));
    };
    last = std::min(last, other.n_types());
    for (std::size_t id = first; id < std::min(first + ahead, last); ++id) prepare(id);
    for (std::size_t id = first; id < last; ++id) {
        Entry& there = other.entries_[id];
        const std::uint32_t here = find(other.letters_of(id), there.head, hashes[id % ahead]);
        if (id + ahead < last) prepare(id + ahead);
        if (here == no_word) continue;
        entries_[here].add(there.count());
        entries_[here].documents += there.documents;
        there.count_and_is_long &= 1;
        there.documents = 0;
    }
}

void WordTable::append_to(Records& records, std::uint32_t id) const {
    const Entry& entry = entries_[id];
    const std::string_view letters = letters_of(id);
    records.letters.insert(records.letters.end(), letters.begin(), letters.end());
    records.lengths.push_back(static_cast<std::uint16_t>(letters.size()));
    records.counts.push_back(entry.count());
    records.documents.push_back(entry.documents);
    records.ids.push_back(id);
}

Records WordTable::records() const {
    Records records;
    records.letters.reserve(letters_.size());
    for (std::size_t id = 0; id < entries_.size(); ++id) append_to(records, static_cast<std::uint32_t>(id));
    return records;
}

std::vector<Records> WordTable::partitioned_records(unsigned n_partitions) const {
    std::vector<Records> partitions(n_partitions);
    for (std::size_t id = 0; id < entries_.size(); ++id) {
        const std::uint64_t hash = hash_of(entries_[id].head, letters_of(id));
        append_to(partitions[(hash >> 32) % n_partitions], static_cast<std::uint32_t>(id));
    }
    return partitions;
}

// The order of the vocabulary: most frequent first, equally frequent ones by their letters.
bool WordTable::is_before(std::uint32_t a, std::uint32_t b) const {
    if (entries_[a].count() != entries_[b].count()) return entries_[a].count() > entries_[b].count();
    return letters_of(a) < letters_of(b);
}

void WordTable::append_most_frequent(Records& records, std::vector<std::uint32_t>& ids, std::uint64_t limit) const {
    leave_out_rarest(ids, limit);
    // Entries lie far apart, so what decides nearly always is brought together: the count and the first eight letters.
    struct Ranked {
        std::uint64_t count, first_letters;
        std::uint32_t id;
    };
    std::vector<Ranked> ranked;
    ranked.reserve(ids.size());
    for (const std::uint32_t id : ids) ranked.push_back({entries_[id].count(), as_number(entries_[id].head.first), id});
    const auto before = [&](const Ranked& a, const Ranked& b) {
        if (a.count != b.count) return a.count > b.count;
        if (a.first_letters != b.first_letters) return a.first_letters < b.first_letters;
        return is_before(a.id, b.id);
    };
    if (ranked.size() > limit) {
        std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(limit), ranked.end(), before);
        ranked.resize(limit);
    }
    std::sort(ranked.begin(), ranked.end(), before);
    for (const Ranked& word : ranked) append_to(records, word.id);
}

// Most words are too rare by their counts alone, which are compared sooner than words; equal ones are left.
void WordTable::leave_out_rarest(std::vector<std::uint32_t>& ids, std::uint64_t limit) const {
    if (limit == 0) ids.clear();
    if (ids.size() <= limit) return;
    std::vector<std::uint64_t> counts;
    counts.reserve(ids.size());
    for (const std::uint32_t id : ids) counts.push_back(entries_[id].count());
    const auto last = counts.begin() + static_cast<std::ptrdiff_t>(limit - 1);
    std::nth_element(counts.begin(), last, counts.end(), std::greater<>());
    std::erase_if(ids, [&, least = *last](std::uint32_t id) { return entries_[id].count() < least; });
}

Selection WordTable::select(std::uint64_t min_count, std::uint64_t min_documents, std::uint64_t max_documents,
                            std::uint64_t limit, Floor floor, std::uint64_t limit_of_others,
                            Floor floor_of_others) const {
    Selection selection;
    std::vector<std::uint32_t> passed, others;
    for (std::size_t id = 0; id < entries_.size(); ++id) {
        const Entry& entry = entries_[id];
        const std::uint64_t count = entry.count();
        if (count == 0) continue;
        Tally& tally = id < stop_words_.size()                                ? selection.stop
                       : count < min_count || entry.documents < min_documents ? selection.rare
                       : entry.documents > max_documents                      ? selection.frequent
                                                                              : selection.passed;
        ++tally.types;
        tally.tokens += count;
        const bool has_passed = &tally == &selection.passed;
        const Floor& lowest = has_passed ? floor : floor_of_others;
        if (count > lowest.count || (count == lowest.count && letters_of(id) < lowest.word))
            (has_passed ? passed : others).push_back(static_cast<std::uint32_t>(id));
    }
    append_most_frequent(selection.words, passed, limit);
    append_most_frequent(selection.others, others, limit_of_others);
    return selection;
}

Records WordTable::lookup(const std::vector<std::string>& words) const {
    Records found;
    for (const std::string& word : words) {
        const std::uint32_t id = find(word);
        found.counts.push_back(id == no_word ? 0 : entries_[id].count());
        found.documents.push_back(id == no_word ? 0 : entries_[id].documents);
    }
    return found;
}

std::vector<std::uint32_t> WordTable::remap(std::span<const char> letters, std::span<const std::uint16_t> lengths,
                                            std::span<const std::uint32_t> ids, std::size_t n_ids) const {
    std::vector<std::uint32_t> numbers(n_ids, no_word);
    const char* at = letters.data();
    for (std::size_t i = 0; i < lengths.size(); at += lengths[i++]) {
        const std::string_view word(at, lengths[i]);
        numbers.at(ids[i]) = find(word);
    }
    return numbers;
}

std::vector<std::uint32_t> WordTable::positions_in(std::span<const char> letters,
                                                   std::span<const std::uint16_t> lengths) const {
    std::vector<std::uint32_t> positions(n_types(), no_word);
    const char* at = letters.data();
    for (std::size_t i = 0; i < lengths.size(); at += lengths[i++]) {
        const std::uint32_t id = find(std::string_view(at, lengths[i]));
        if (id != no_word) positions[id] = static_cast<std::uint32_t>(i);
    }
    return positions;
}

}  // namespace omnitm::text
