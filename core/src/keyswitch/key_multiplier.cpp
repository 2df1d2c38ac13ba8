#include "key_multiplier.h"

#include <algorithm>
#include <utility>

#include "platform/parallel.h"
#include "platform/scratch.h"
#include "ringsmith/threads.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

// Words of a limb that are multiplied at a time by several threads, or by keys that are expanded:
// enough for the processor to fetch keys ahead, and few enough for the caches to keep what the
// switchings share. One thread takes whole limbs of keys in memory, since the first words of each
// run are waited for.
constexpr std::size_t kBlock = 4096;

}  // namespace

bool is_precomputed(const Switching& switching) {
  const PrecomputedKey* const precomputed = switching.key.precomputed;
  return precomputed != nullptr && precomputed->element() == switching.element;
}

KeyMultiplier::KeyMultiplier(const RnsContext& context, std::vector<Switching> switchings)
    : context_(context), switchings_(std::move(switchings)) {
  if (std::ranges::all_of(switchings_, [](const Switching& s) { return s.element == 1; })) {
    return;
  }
  for (const Switching& switching : switchings_) {
    permutations_.emplace_back(context.log_degree(), switching.element);
  }
}

void KeyMultiplier::multiply(std::size_t prime, const Factors& factors,
                             std::span<const OwnFactors> own, std::span<const LimbPair> out) const {
  const std::size_t degree = context_.degree();
  const bool scales = context_.ntt(prime).kernels().scales;
  const OwnFactors none;
  std::size_t written = 0;
  bool expands = false;
  for (const Switching& switching : switchings_) {
    written = std::max(written, KeyWords::written_halves(switching.key, is_precomputed(switching)));
    expands = expands || switching.key.seed != nullptr;
  }
  const std::size_t words = written == 0 && threads() == 1 ? degree : std::min(kBlock, degree);
  // A seed's streams are read from the beginning of their blocks on.
  const std::size_t run = expands ? std::min(kSeededBlock, degree) : words;
  const std::size_t work = 3 * switchings_.size() * factors.values.size() * run;
  parallel_for(degree / run, work, [&](std::size_t index) {
    ScratchWords buffer(written * factors.values.size() * words);
    std::vector<KeyWords> keys;
    keys.reserve(switchings_.size());
    // With precomputed keys, and with kernels that scale, the switchings share only the digits. All
    // read the same block of them, and each moves it to another position.
    std::vector<std::size_t> begins(switchings_.size(), index * run);
    for (std::size_t i = 0; i < switchings_.size(); ++i) {
      const bool precomputed = is_precomputed(switchings_[i]);
      if (moves() && scales && !precomputed) {
        begins[i] = permutations_[i].destination(index * run, run);
      }
      keys.emplace_back(context_, switchings_[i].key, switchings_[i].digits, prime, begins[i],
                        precomputed);
    }
    for (std::size_t done = 0; done < run; done += words) {
      for (std::size_t i = 0; i < switchings_.size(); ++i) {
        const KeyWords::Pointers& here = keys[i].next(words, buffer.words());
        const std::size_t begin = begins[i] + done;
        const std::size_t to = scatters(i) ? 0 : begin;
        multiply_block(prime, factors, own.empty() ? none : own[i], i, here, begin, words,
                       {&out[i][0][to], &out[i][1][to]});
      }
    }
  });
}

bool KeyMultiplier::takes_runs() const {
  return std::ranges::all_of(switchings_, [](const Switching& switching) {
    return switching.key.precomputed == nullptr && switching.key.seed == nullptr;
  });
}

void KeyMultiplier::multiply_run(std::size_t prime, const Factors& factors, std::size_t begin,
                                 std::span<const LimbPair> out) const {
  const std::size_t words = out[0][0].size();
  for (std::size_t i = 0; i < switchings_.size(); ++i) {
    KeyWords keys(context_, switchings_[i].key, switchings_[i].digits, prime, begin, false);
    multiply_block(prime, factors, {}, i, keys.next(words, {}), begin, words,
                   {out[i][0].data(), out[i][1].data()});
  }
}

bool KeyMultiplier::scatters(std::size_t index) const {
  return moves() && is_precomputed(switchings_[index]);
}

void KeyMultiplier::refuse_keys(std::size_t prime, const Switching& switching) const {
  const KeySwitchKeyView& key = switching.key;
  for (std::size_t half = 0; half < key.halves(); ++half) {
    for (const std::size_t digit : switching.digits) {
      const std::span<const u64> limb =
          limb_of(key.half(digit, half), key.row(prime), context_.degree());
      check_key_limb(limb, prime, context_.modulus(prime), switching.name);
    }
  }
}

void KeyMultiplier::multiply_block(std::size_t prime, const Factors& factors, const OwnFactors& own,
                                   std::size_t index, const KeyWords::Pointers& keys,
                                   std::size_t begin, std::size_t words,
                                   const std::array<u64*, 2>& out) const {
  const NttTables& tables = context_.ntt(prime);
  const bool precomputed = is_precomputed(switchings_[index]);
  const bool moves = !permutations_.empty() && !precomputed;  // digits; else the sums
  std::vector<const u64*> values = own.values.empty() ? factors.values : own.values;
  for (const u64*& value : values) {
    value += moves ? 0 : begin;
  }
  std::vector<const u64*> addends = factors.addends;
  for (const u64*& addend : addends) {
    addend += addend == nullptr ? 0 : begin;
  }
  std::array<const u64*, 2> starts = own.shift.halves;
  for (const u64*& start : starts) {
    start += start == nullptr ? 0 : simd::precomputed_size(tables.kernels().key_code, begin);
  }
  const simd::Permutation permutation =
      moves ? permutations_[index].from(begin) : simd::Permutation{};
  const simd::Permutation targets =
      scatters(index) ? permutations_[index].targets(begin) : simd::Permutation{};
  const simd::KeyTerms terms{factors.values.size(),
                             values.data(),
                             moves ? &permutation : nullptr,
                             addends.data(),
                             moves ? &tables.halves()[begin] : nullptr,
                             factors.scales.data(),
                             {keys[0].data(), keys[1].data()},
                             precomputed,
                             {starts[0], starts[1]},
                             targets.blocks == nullptr ? nullptr : &targets};
  if (!tables.kernels().key_products(tables.plan().prime, terms, out[0], out[1], words)) {
    refuse_keys(prime, switchings_[index]);
  }
}

}  // namespace ringsmith::kernels
