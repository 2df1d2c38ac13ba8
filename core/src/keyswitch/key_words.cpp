#include "key_words.h"

#include <algorithm>

#include "platform/parallel.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/precomputed_key.h"

namespace ringsmith::kernels {

void check_key_limb(std::span<const u64> limb, std::size_t prime, const Modulus& modulus,
                    std::string_view name) {
  const u64 q = modulus.value();
  const auto bad = std::ranges::find_if(limb, [q](u64 word) { return word >= q; });
  if (bad != limb.end()) {
    throw ParameterError(text(name, " has ", *bad, " at position ", bad - limb.begin(), " of limb ",
                              prime, ", which is not below its prime ", q,
                              ": residues must be canonical"));
  }
}

KeyWords::KeyWords(const RnsContext& context, const KeySwitchKeyView& key,
                   std::span<const std::size_t> digits, std::size_t prime, std::size_t begin,
                   bool as_precomputed)
    : digits_(digits), prime_(prime), position_(begin) {
  if (key.precomputed != nullptr) {
    if (!as_precomputed) {
      restored_ = key.precomputed;
      return;
    }
    code_ = context.ntt(prime).kernels().key_code;
    for (std::size_t half = 0; half < 2; ++half) {
      following_[half].reserve(digits.size());
      for (const std::size_t digit : digits) {
        following_[half].push_back(key.precomputed->limb(digit, half, prime, begin));
      }
    }
    return;
  }
  for (const std::size_t digit : digits) {
    for (std::size_t half = 0; half < key.halves(); ++half) {
      following_[half].push_back(&key.half(digit, half)[key.row(prime) * context.degree() + begin]);
    }
    if (key.seed != nullptr) {
      streams_.emplace_back(*key.seed, digit, prime, begin / kSeededBlock,
                            context.ntt(prime).modulus().value());
    }
  }
}

const KeyWords::Pointers& KeyWords::next(std::size_t words, std::span<u64> buffer) {
  block_ = following_;
  for (auto& half : following_) {
    for (const u64*& word : half) {
      word += simd::precomputed_size(code_, words);
    }
  }
  if (!streams_.empty()) {
    block_[1].resize(streams_.size());
    parallel_for(streams_.size(), kExpansionPasses * words, [&](std::size_t i) {
      const std::span<u64> limb = buffer.subspan(i * words, words);
      streams_[i].next(limb);
      block_[1][i] = limb.data();
    });
  }
  if (restored_ != nullptr) {
    for (std::size_t half = 0; half < 2; ++half) {
      block_[half].resize(digits_.size());
      for (std::size_t i = 0; i < digits_.size(); ++i) {
        const std::span<u64> limb = buffer.subspan((2 * i + half) * words, words);
        restored_->restore(digits_[i], half, prime_, position_, limb);
        block_[half][i] = limb.data();
      }
    }
  }
  position_ += words;
  return block_;
}

void key_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits, const KeySwitchKeyView& key,
                       std::span<const std::size_t> numbers, std::size_t half, std::span<u64> out) {
  const std::size_t degree = context.degree();
  const bool stored = half < key.halves();
  const std::size_t passes = stored ? 2 : kExpansionPasses;
  parallel_for(base.size(), passes * digits.size() * degree, [&](std::size_t limb) {
    ScratchWords expanded(stored ? 0 : digits.size() * degree);
    std::vector<const u64*> digit_limbs(digits.size());
    std::vector<const u64*> key_limbs(digits.size());
    const NttTables& tables = context.ntt(base[limb]);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      digit_limbs[i] = &digits[i][limb * degree];
      if (stored) {
        key_limbs[i] = limb_of(key.half(numbers[i], half), key.row(base[limb]), degree).data();
        continue;
      }
      const std::span<u64> words = expanded.words().subspan(i * degree, degree);
      if (key.precomputed != nullptr) {
        key.precomputed->restore(numbers[i], half, base[limb], 0, words);
      } else {
        expand_key_half(*key.seed, numbers[i], base[limb], tables.modulus(), words);
      }
      key_limbs[i] = words.data();
    }
    tables.kernels().inner_product(tables.plan().prime, digits.size(), digit_limbs.data(),
                                   key_limbs.data(), nullptr, &out[limb * degree], nullptr, degree);
  });
}

}  // namespace ringsmith::kernels
