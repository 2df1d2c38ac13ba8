#include "key_words.h"

#include "parallel.h"
#include "ringsmith/kernels.h"
#include "scratch.h"

namespace ringsmith::kernels {

KeyWords::KeyWords(const RnsContext& context, const KeySwitchKeyView& key,
                   std::span<const std::size_t> digits, std::size_t prime, std::size_t begin) {
  for (const std::size_t digit : digits) {
    for (std::size_t half = 0; half < key.halves(); ++half) {
      following_[half].push_back(&key.half(digit, half)[prime * context.degree() + begin]);
    }
    if (key.seed != nullptr) {
      streams_.emplace_back(*key.seed, digit, prime, begin / kSeededBlock,
                            context.ntt(prime).plan().prime);
    }
  }
}

const KeyWords::Pointers& KeyWords::next(std::size_t words, std::span<u64> expanded) {
  piece_ = following_;
  for (auto& half : following_) {
    for (const u64*& word : half) {
      word += words;
    }
  }
  if (!streams_.empty()) {
    piece_[1].resize(streams_.size());
    parallel_for(streams_.size(), kExpansionPasses * words, [&](std::size_t i) {
      const std::span<u64> limb = expanded.subspan(i * words, words);
      streams_[i].next(limb);
      piece_[1][i] = limb.data();
    });
  }
  return piece_;
}

void key_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits, const KeySwitchKeyView& key,
                       std::span<const std::size_t> numbers, std::size_t half, std::span<u64> out) {
  if (half < key.halves()) {
    std::vector<std::span<const u64>> keys;
    for (const std::size_t number : numbers) {
      keys.push_back(key.half(number, half));
    }
    ksk_inner_product(context, base, digits, keys, out);
    return;
  }
  const std::size_t degree = context.degree();
  parallel_for(base.size(), kExpansionPasses * digits.size() * degree, [&](std::size_t limb) {
    ScratchWords expanded(digits.size() * degree);
    std::vector<const u64*> digit_limbs(digits.size());
    std::vector<const u64*> key_limbs(digits.size());
    const NttTables& tables = context.ntt(base[limb]);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const std::span<u64> words = expanded.words().subspan(i * degree, degree);
      expand_key_half(*key.seed, numbers[i], base[limb], tables.modulus(), words);
      digit_limbs[i] = &digits[i][limb * degree];
      key_limbs[i] = words.data();
    }
    tables.kernels().inner_product(tables.plan().prime, digits.size(), digit_limbs.data(),
                                   key_limbs.data(), nullptr, &out[limb * degree], nullptr, degree);
  });
}

}  // namespace ringsmith::kernels
