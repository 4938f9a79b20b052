// The machine at specificity 1, where every step is certain: only words that occur in an example are visited.
//
// Lanes are clauses. A word's automata are two vectors, `positive` and `negated`; at 32 clauses they fill one
// cache line. An example moves every absent word in the same way, by a monotone saturating map, and such maps
// compose into x -> clamp(x + shift, low, high) per lane. So an absent word needs no work until it is seen again:
//
//   never seen       one shared state, `unseen_`
//   seen, not in     `states_`, as of the start of the block; of all of them together only the highest positive
//   this block       literal and the (limit + 1) highest negated ones matter to clauses, since maps keep order:
//                    `top_positive_`, `top_negated_`, stepped like words
//   seen in block    `states_`, as of the group (the example) in which they were last visited; `Group` holds the map
//                    from then to now, and bounds on its members: only when a bound reaches inclusion and nothing
//                    in the row above hides it are the members looked at (`alarm`)
//   hot              those members that were found close to inclusion: stepped one by one
//
// The next examples are drawn ahead, a block at a time, because documents do not depend on states.
#pragma once
#include "clauses.hpp"
#include "lanes.hpp"
#include "sampler.hpp"

namespace omnitm::OMNITM_ISA {

template <int N, bool FullRange>
class alignas(128) LazyMachine final : public Machine {  // threads must not share cache lines
    using L = Lanes<N>;

    // States are kept with an offset so that inclusion is always the top bit; 8 bits use the full byte.
    struct Range {
        uint8_t offset, low, high;
        explicit Range(const Settings& s)
            : offset(static_cast<uint8_t>(127 - s.initial_state())),
              low(offset),
              high(static_cast<uint8_t>(offset + s.max_state())) {}
    };

    struct Literals {
        L positive, negated;
        // By address, not by branch: whether a word is present is unpredictable.
        const L& true_one(bool present) const { return *(present ? &positive : &negated); }
        const L& false_one(bool present) const { return *(present ? &negated : &positive); }
    };

    // Steps of one example: what happens to true and to false literals, as 0 or 1 per lane.
    struct Step {
        L up, down;
    };
    struct Steps {
        Step of_true, of_false;
        const Step& positive(bool present) const { return *(present ? &of_true : &of_false); }
        const Step& negated(bool present) const { return *(present ? &of_false : &of_true); }
    };

    // What absence has done to a literal since some moment: x -> clamp(x, floor, ceiling) + shift, modulo 256.
    struct Drift {
        L floor, ceiling, shift;
        L operator()(const L& x) const { return min(max(x, floor), ceiling) + shift; }
    };

    struct Group {
        Drift positive, negated;
        Literals bound;
    };

    static constexpr uint32_t kNoSlot = 0xFFFFFFFFu;
    static constexpr uint32_t kMinBlock = 8, kMaxBlock = 128;  // examples
    static constexpr uint32_t kLast = 0x80000000u;         // flags the last visit to a slot within a block
    static constexpr uint32_t kPrefetch = 16;              // visits ahead
    static constexpr uint32_t kEnoughWords = 1u << 17;     // visited in a block
    static constexpr uint16_t kHot = kMaxBlock + 1;        // the group of words that are up to date
    static constexpr uint8_t kWarm = 3;                    // steps below inclusion where a hot word is left alone

  public:
    LazyMachine(const Corpus& corpus, const Settings& settings)
        : corpus_(corpus),
          settings_(settings),
          range_(settings),
          sampler_(corpus, settings),
          clauses_(settings),
          stamps_(corpus.n_features() + 1),
          slot_of_(corpus.n_features()),
          word_of_(corpus.n_features()),
          states_(corpus.n_features()),
          group_of_(corpus.n_features()),
          last_visit_(corpus.n_features()),
          visited_at_(corpus.n_features()),
          visited_(kEnoughWords + corpus.n_features() + kPrefetch),
          block_slots_(corpus.n_features() + 1),
          cold_(corpus.n_features() + 1),
          leaving_(corpus.n_features() + 1),
          hot_(corpus.n_features()),
          cooled_(corpus.n_features()),
          groups_(kMaxBlock + 2),
          counts_(settings.max_included != kNoLimit),
          top_negated_(counts_ ? settings.max_included + 1 : 1) {
        stamps_.fill(0);
        slot_of_.fill(kNoSlot);
        visited_.fill(0);
        groups_[kHot] = new_group();
    }

    bool train(uint32_t target, uint64_t key, const std::atomic<bool>& stop) override {
        start(target, key);
        for (uint64_t example = 0; example < settings_.n_examples; example += block_size_) {
            if (stop.load(std::memory_order_relaxed)) return false;
            draw_block(example);
            synchronise();
            for (uint32_t b = 0; b < block_size_; ++b) learn(example + b, b);
        }
        bring_up_to_date();
        clauses_.finish();
        return true;
    }

    // Literals that nobody looks at are behind; the sliced machine records.
    bool record(uint32_t, uint64_t, const std::atomic<bool>&, const Recording&) override { return false; }

    const int32_t* weights() const override { return clauses_.weights(); }

    void embedding(int16_t* out) const override {
        const int n_positive = static_cast<int>(clauses_.n_positive());
        if (n_positive == 0) {
            for (uint32_t w = 0; w < corpus_.n_features(); ++w) out[w] = 0;
            return;
        }
        alignas(64) uint8_t mask_bytes[N] = {};
        for (uint32_t lane = 0; lane < clauses_.n_lanes(); ++lane)
            mask_bytes[lane] = clauses_.positive(lane) ? 0xFF : 0;
        const L mask = L::load(mask_bytes);
        const int16_t unseen = mean_difference(unseen_, mask, n_positive);
        for (uint32_t w = 0; w < corpus_.n_features(); ++w) out[w] = unseen;
        for (uint32_t slot = 0; slot < n_slots_; ++slot)
            out[word_of_[slot]] = mean_difference(states_[slot], mask, n_positive);
        if (target_ < corpus_.n_features()) out[target_] = 0;
    }

    void states(uint8_t* out) const override {
        const size_t n_words = corpus_.n_features();
        const uint8_t initial = static_cast<uint8_t>(settings_.initial_state());
        for (size_t i = 0; i < 2 * n_words * settings_.n_clauses; ++i) out[i] = initial;
        for (size_t w = 0; w < n_words; ++w) {
            const Literals& x = slot_of_[w] == kNoSlot ? unseen_ : states_[slot_of_[w]];
            alignas(64) uint8_t positive[N], negated[N];
            x.positive.store(positive), x.negated.store(negated);
            for (uint32_t lane = 0; lane < clauses_.n_lanes() && w != target_; ++lane) {
                uint8_t* row = out + 2 * n_words * clauses_.clause(lane);
                row[w] = positive[lane] - range_.offset;
                row[n_words + w] = negated[lane] - range_.offset;
            }
        }
    }

  private:
    void start(uint32_t target, uint64_t key) {
        for (uint32_t slot = 0; slot < n_slots_; ++slot) slot_of_[word_of_[slot]] = kNoSlot;
        n_slots_ = n_hot_ = visit_ = n_visits_ = n_block_visits_ = 0;
        target_ = sampler_.hidden(target);
        sampler_.set(target, key);
        clauses_.start(key);
        unseen_ = {L::all(127), L::all(127)};
    }

    // ---- drawing ahead

    void draw_block(uint64_t first) {
        number_visits();
        block_size_ = n_block_slots_ = 0;
        uint32_t n = 0;
        // Early on many words are close to inclusion; short blocks let most of them count as outside.
        const uint64_t limit = first < kMaxBlock ? (first < kMinBlock ? kMinBlock : first) : kMaxBlock;
        while (first + block_size_ < settings_.n_examples && block_size_ < limit && n < kEnoughWords) {
            const uint64_t example = first + block_size_;
            label_[block_size_] = sampler_.label(example);
            begin_[block_size_] = n;
            n = draw_example(example, n);
            note_visits(begin_[block_size_], n);
            ++block_size_;
        }
        begin_[block_size_] = n_block_visits_ = n;
        for (uint32_t i = 0; i < n_block_slots_; ++i) visited_[last_visit_[block_slots_[i]] - n_visits_ - 1] |= kLast;
    }

    // Visits are numbered from 1 on, through all blocks; 0 means none yet.
    void number_visits() {
        n_visits_ += n_block_visits_;
        if (n_visits_ < 1u << 31) return;
        for (uint32_t slot = 0; slot < n_slots_; ++slot) last_visit_[slot] = 0;
        n_visits_ = 0;
    }

    // Appends the words of the example to the n visits so far, each once; returns how many there are then.
    uint32_t draw_example(uint64_t example, uint32_t n) {
        if (++stamp_ == 0) stamps_.fill(0), stamp_ = 1;
        const uint16_t stamp = stamp_;
        uint16_t* const stamps = stamps_.data();
        uint32_t* const visited = visited_.data();
        stamps[target_] = stamp;  // hidden: as if it had been visited already
        sampler_.documents(example, [&](uint32_t word) __attribute__((always_inline)) {
            visited[n] = word;
            n += stamps[word] != stamp;
            stamps[word] = stamp;
        });
        return n;
    }

    // Turns words into slots, and notes each slot once per block.
    void note_visits(uint32_t from, uint32_t to) {
        uint32_t* const visited = visited_.data();
        uint32_t* const slot_of = slot_of_.data();
        uint32_t* const block_slots = block_slots_.data();
        uint32_t* const last_visit = last_visit_.data();
        const uint32_t before = n_visits_;
        uint32_t n = n_block_slots_;
        for (uint32_t i = from; i < to; ++i) {
            if (slot_of[visited[i]] == kNoSlot) [[unlikely]] meet(visited[i]);
            const uint32_t slot = slot_of[visited[i]];
            visited[i] = block_slots[n] = slot;
            n += last_visit[slot] <= before;
            last_visit[slot] = before + i + 1;
        }
        n_block_slots_ = n;
    }

    void meet(uint32_t word) {
        const uint32_t slot = n_slots_++;
        slot_of_[word] = slot;
        word_of_[slot] = word;
        states_[slot] = unseen_;
        group_of_[slot] = kHot;  // up to date
        last_visit_[slot] = visited_at_[slot] = 0;
    }

    // ---- between blocks

    void bring_up_to_date() {
        for (uint32_t slot = 0; slot < n_slots_; ++slot) {
            states_[slot] = caught_up(slot);
            group_of_[slot] = kHot;
        }
    }

    Literals caught_up(uint32_t slot) const {
        const Group& group = groups_[group_of_[slot]];
        return {group.positive(states_[slot].positive), group.negated(states_[slot].negated)};
    }

    // Brings every word to the start of the block and sums up those that the block does not visit.
    void synchronise() {
        n_hot_ = n_cooled_ = 0;
        Group fresh = new_group();
        L top_positive = L::all(0);
        n_top_ = 0;
        const uint32_t* const last_visit = last_visit_.data();
        const uint32_t n_visits = n_visits_;
        Literals* const states = states_.data();
        uint16_t* const group_of = group_of_.data();
        for (uint32_t slot = 0, n = n_slots_; slot < n; ++slot) {
            const Group& group = groups_[group_of[slot]];
            const Literals x{group.positive(states[slot].positive), group.negated(states[slot].negated)};
            states[slot] = x;
            group_of[slot] = 0;
            if (last_visit[slot] > n_visits) {
                raise(fresh.bound, x);
            } else {
                top_positive = max(top_positive, x.positive);
                sum_up(x.negated);
            }
        }
        groups_[0] = fresh;
        bound_of_all_ = fresh.bound;
        const uint32_t n_unseen = corpus_.n_features() - n_slots_ - (target_ < corpus_.n_features());
        for (uint32_t i = 0; i < n_unseen && i < top_negated_.size(); ++i) sum_up(unseen_.negated);
        top_positive_ = n_unseen ? max(top_positive, unseen_.positive) : top_positive;
        hide();
    }

    // What the words outside the block hide: a literal not above these changes nothing for any clause.
    void hide() {
        hidden_.positive = top_positive_;
        hidden_.negated = n_top_ == top_negated_.size() ? top_negated_[n_top_ - 1] : L::all(0);
    }

    void sum_up(const L& negated) {
        const uint32_t last = static_cast<uint32_t>(top_negated_.size()) - 1;
        if (n_top_ <= last) [[unlikely]] top_negated_[n_top_++] = L::all(0);
        else if (!above(negated, top_negated_[last])) [[likely]] return;
        L candidate = negated;
        for (uint32_t i = 0; i < n_top_; ++i) {
            const L lower = min(top_negated_[i], candidate);
            top_negated_[i] = max(top_negated_[i], candidate);
            candidate = lower;
        }
    }

    static bool above(const L& x, const L& y) {
        return add_saturating(subtract_saturating(x, y), L::all(127)).any_high();
    }

    Group new_group() const {
        const Drift still{L::all(range_.low), L::all(range_.high), L::all(0)};
        return {still, still, {L::all(0), L::all(0)}};
    }

    static void raise(Literals& bound, const Literals& x) {
        bound.positive = max(bound.positive, x.positive);
        bound.negated = max(bound.negated, x.negated);
    }

    // ---- one example

    void learn(uint64_t example, uint32_t b) {
        L violated = top_positive_, included = L::all(0);
        for (uint32_t i = 0; i < n_top_; ++i) included = count(included, top_negated_[i]);
        visit(b, violated, included);
        alarm(b);
        for (uint32_t i = 0; i < n_hot_; ++i) {
            const Literals& x = states_[hot_[i]];
            const bool present = visited_at_[hot_[i]] == visit_;
            violated = violated | x.false_one(present);
            included = count(included, x.true_one(present));
        }
        update(b, feedback(example, label_[b], violated, included));
    }

    L count(const L& n, const L& x) const { return add_saturating(n, min(x & L::all(0x80), L::all(1))); }

    // The words of the example, brought up to date; those that are not hot are noted in `cold_`, or in
    // `leaving_` if the block does not visit them again.
    void visit(uint32_t b, L& violated, L& included) {
        // Vector stores may alias anything, so all that the loop needs is held in locals.
        Literals* const states = states_.data();
        uint16_t* const group_of = group_of_.data();
        const Group* const groups = groups_.data();
        const uint32_t* const visited = visited_.data();
        uint32_t *const cold = cold_.data(), *const leaving = leaving_.data();
        L any_negated = violated, n_included = included;
        uint32_t n_cold = 0, n_leaving = 0;
        ++visit_;
        for (uint32_t i = begin_[b], end = begin_[b + 1]; i < end; ++i) {
            __builtin_prefetch(&states[visited[i + kPrefetch] & ~kLast]);
            const uint32_t slot = visited[i] & ~kLast;
            if (group_of[slot] == kHot) {
                visited_at_[slot] = visit_;
                continue;
            }
            const Group& group = groups[group_of[slot]];
            const Literals x{group.positive(states[slot].positive), group.negated(states[slot].negated)};
            states[slot] = x;
            group_of[slot] = static_cast<uint16_t>(b + 1);
            cold[n_cold] = leaving[n_leaving] = slot;
            n_leaving += visited[i] >> 31;
            n_cold += 1 - (visited[i] >> 31);
            any_negated = any_negated | x.negated;
            n_included = count(n_included, x.positive);
        }
        violated = any_negated;
        included = n_included;
        n_cold_ = n_cold;
        n_leaving_ = n_leaving;
    }

    // Is a bound included in a lane where nothing else settles the matter? Then look at the members.
    void alarm(uint32_t b) {
        if (!matters(bound_of_all_, hidden_)) return;
        for (uint32_t g = 0; g <= b; ++g)
            if (matters(groups_[g].bound, hidden_)) inspect(g);
    }

    static bool matters(const Literals& x, const Literals& hidden) {
        return (and_not(x.positive, hidden.positive) | and_not(x.negated, hidden.negated)).any_high();
    }

    void inspect(uint32_t g) {
        Group& group = groups_[g];
        group.bound = {L::all(0), L::all(0)};
        const uint32_t* slots = g == 0 ? block_slots_.data() : visited_.data() + begin_[g - 1];
        const uint32_t n = g == 0 ? n_block_slots_ : begin_[g] - begin_[g - 1];
        for (uint32_t i = 0; i < n; ++i)
            if (!(slots[i] & kLast)) look_at(slots[i], g);
        if (g == 0) return;
        for (uint32_t i = cooled_begin_[g]; i < cooled_begin_[g + 1]; ++i) look_at(cooled_[i], g);
    }

    void look_at(uint32_t slot, uint32_t g) {
        if (group_of_[slot] != g) return;
        const Literals x = caught_up(slot);
        if (is_warm(x)) {
            states_[slot] = x;
            make_hot(slot);
        } else {
            raise(groups_[g].bound, x);
        }
    }

    void make_hot(uint32_t slot) {
        group_of_[slot] = kHot;
        hot_[n_hot_++] = slot;
    }

    // Near inclusion, and higher than what the words outside the block already account for.
    bool is_warm(const Literals& x) const {
        const L near = L::all(kWarm);
        return (add_saturating(where_above(x.positive, hidden_.positive), near) |
                add_saturating(where_above(x.negated, hidden_.negated), near))
            .any_high();
    }

    Steps feedback(uint64_t example, bool label, const L& violated, const L& included) {
        alignas(64) uint8_t violations[N], sizes[N], output[N], small[N];
        alignas(64) uint8_t remember[N] = {}, forget[N] = {}, reject[N] = {};
        violated.store(violations), included.store(sizes);
        for (int j = 0; j < N; ++j) {
            output[j] = violations[j] < 128;
            small[j] = !counts_ || sizes[j] <= settings_.max_included;
        }
        clauses_.teach(example, label, output, small, remember, forget, reject);
        const L ia = L::load(remember), ib = L::load(forget), ii = L::load(reject);
        return {{ia, ib}, {ii, ia | ib}};
    }

    L step(const L& x, const Step& s) const {
        if constexpr (FullRange) return subtract_saturating(add_saturating(x, s.up), s.down);
        return max(subtract_saturating(min(add_saturating(x, s.up), L::all(range_.high)), s.down), L::all(range_.low));
    }
    Literals stepped(const Literals& x, const Steps& s, bool present) const {
        return {step(x.positive, s.positive(present)), step(x.negated, s.negated(present))};
    }

    void update(uint32_t b, const Steps& steps) {
        unseen_ = stepped(unseen_, steps, false);
        if (n_top_ > 0) top_positive_ = step(top_positive_, steps.of_false);
        for (uint32_t i = 0; i < n_top_; ++i) top_negated_[i] = step(top_negated_[i], steps.of_true);
        hide();
        update_groups(b, steps);
        update_words(b, steps);
    }

    void update_groups(uint32_t b, const Steps& steps) {
        bound_of_all_ = {L::all(0), L::all(0)};
        for (uint32_t g = 0; g <= b; ++g) {
            Group& group = groups_[g];
            drift(group.positive, steps.of_false);
            drift(group.negated, steps.of_true);
            group.bound = stepped(group.bound, steps, false);
            raise(bound_of_all_, group.bound);
        }
    }

    // The lowest and highest results step like states; the rest follows.
    void drift(Drift& map, const Step& s) const {
        const L low = step(map.floor + map.shift, s), high = step(map.ceiling + map.shift, s);
        map.shift = map.shift + s.up - s.down;
        map.floor = low - map.shift;
        map.ceiling = high - map.shift;
    }

    void update_words(uint32_t b, const Steps& by_reference) {
        const Steps steps = by_reference;
        const Literals hidden = hidden_;
        Literals* const states = states_.data();
        const uint32_t n_hot = n_hot_;
        Group group = new_group();
        for (uint32_t i = 0, n = n_cold_; i < n; ++i) {
            const uint32_t slot = cold_[i];
            const Literals x = stepped(states[slot], steps, true);
            states[slot] = x;
            if (matters(x, hidden)) make_hot(slot);
            else raise(group.bound, x);
        }
        L top_positive = top_positive_;
        for (uint32_t i = 0, n = n_leaving_; i < n; ++i) {
            const uint32_t slot = leaving_[i];
            const Literals x = stepped(states[slot], steps, true);
            states[slot] = x;
            top_positive = max(top_positive, x.positive);
            sum_up(x.negated);
        }
        top_positive_ = top_positive;
        groups_[b + 1] = group;
        cooled_begin_[b + 1] = n_cooled_;
        update_hot(b, n_hot, steps);
        cooled_begin_[b + 2] = n_cooled_;
        raise(bound_of_all_, groups_[b + 1].bound);
        hide();
    }

    // The first n hot words take their step; those that have become cool join the group of this example.
    void update_hot(uint32_t b, uint32_t n, const Steps& steps) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n_hot_; ++i) {
            const uint32_t slot = hot_[i];
            if (i < n) {
                const bool visited = visited_at_[slot] == visit_;
                const Literals x = stepped(states_[slot], steps, visited);
                states_[slot] = x;
                if (visited && last_visit_[slot] - n_visits_ <= begin_[b + 1]) {
                    group_of_[slot] = static_cast<uint16_t>(b + 1);
                    top_positive_ = max(top_positive_, x.positive);
                    sum_up(x.negated);
                    continue;
                }
                if (!is_warm(x) && n_cooled_ < cooled_.size()) {
                    group_of_[slot] = static_cast<uint16_t>(b + 1);
                    raise(groups_[b + 1].bound, x);
                    cooled_[n_cooled_++] = slot;
                    continue;
                }
            }
            hot_[kept++] = slot;
        }
        n_hot_ = kept;
    }

    static int16_t mean_difference(const Literals& x, const L& mask, int n_positive) {
        alignas(64) uint8_t positive[N], negated[N];
        (x.positive & mask).store(positive), (x.negated & mask).store(negated);
        int sum = 0;
        for (int j = 0; j < N; ++j) sum += positive[j] - negated[j];
        const int floored = sum >= 0 ? sum / n_positive : -((-sum + n_positive - 1) / n_positive);
        return static_cast<int16_t>(floored);
    }

    const Corpus corpus_;
    const Settings settings_;
    const Range range_;
    Sampler sampler_;
    Clauses clauses_;

    uint32_t target_ = 0;  // the hidden word; n_features() if there is none
    uint32_t n_slots_ = 0;
    uint16_t stamp_ = 0;
    Buffer<uint16_t> stamps_;      // by word, and one for no word: the last example that it was drawn for
    Buffer<uint32_t> slot_of_;     // by word
    Buffer<uint32_t> word_of_;     // by slot, in order of first sight: what is used together lies together
    Buffer<Literals> states_;      // by slot
    Buffer<uint16_t> group_of_;    // by slot
    Buffer<uint32_t> last_visit_;  // by slot: number of its last visit, up to the end of the block
    Buffer<uint32_t> visited_at_;  // by slot, only for hot words: the last example that visited it
    Literals unseen_;

    uint32_t block_size_ = 0, visit_ = 0, n_visits_ = 0, n_block_visits_ = 0;
    bool label_[kMaxBlock];
    uint32_t begin_[kMaxBlock + 1];
    Buffer<uint32_t> visited_;      // slots, example by example: begin_[b] .. begin_[b + 1]
    Buffer<uint32_t> block_slots_;  // the same without repeats
    uint32_t n_block_slots_ = 0;

    Buffer<uint32_t> cold_, leaving_, hot_, cooled_;
    uint32_t n_cold_ = 0, n_leaving_ = 0, n_hot_ = 0, n_cooled_ = 0;
    uint32_t cooled_begin_[kMaxBlock + 2];
    Buffer<Group> groups_;  // 0: the block's start, b + 1: example b, kHot: up to date
    Literals bound_of_all_;
    const bool counts_;
    L top_positive_;
    Buffer<L> top_negated_;  // the n_top_ highest among words outside the block
    uint32_t n_top_ = 0;
    Literals hidden_;
};

}  // namespace omnitm::OMNITM_ISA
