#include "hps.h"

#include <algorithm>
#include <bit>

#include "base_conversion.h"
#include "platform/parallel.h"
#include "platform/scratch.h"
#include "ringsmith/lift_scale.h"

namespace ringsmith::kernels {
namespace {

constexpr int kWordBits = 64;

// The integer nearest to 2^89 * numerator / q, for numerator < q < 2^61. No ties, since q is odd.
u128 fraction(u64 numerator, u64 q) {
  constexpr int kRest = kFractionBits - kWordBits;
  const u128 shifted = static_cast<u128>(numerator) << kWordBits;
  const u128 rest = ((shifted % q) << kRest) + q / 2;
  return ((shifted / q) << kRest) + rest / q;
}

// Sums products of a word and a fraction of 89 bits, 192 bits wide, and rounds the sum.
class FractionSum {
 public:
  void add(u64 word, u128 fraction) {
    const u128 low = static_cast<u128>(word) * static_cast<u64>(fraction);
    low_ += static_cast<u64>(low);
    high_ += static_cast<u128>(word) * static_cast<u64>(fraction >> kWordBits) +
             static_cast<u64>(low >> kWordBits);
  }

  // floor((sum + 2^88) / 2^89): the lowest word takes part by its carries alone.
  [[nodiscard]] u128 rounded() const {
    constexpr int kShift = kFractionBits - kWordBits;
    return (high_ + (low_ >> kWordBits) + (u64{1} << (kShift - 1))) >> kShift;
  }

 private:
  u128 low_ = 0;   // the lowest words' sum
  u128 high_ = 0;  // the sum of what is above them
};

constexpr int kPartBits = 30;

// floor((sum over limbs i of words_i * fractions_i + 2^88) / 2^89) for every coefficient: limbs of
// its parts of 30 bits, lowest first, as many as `parts` has.
void rounded_sums(std::span<const u64> words, const std::vector<u128>& fractions,
                  std::span<u64> parts) {
  const std::size_t degree = words.size() / fractions.size();
  for (std::size_t k = 0; k < degree; ++k) {
    FractionSum sum;
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      sum.add(words[i * degree + k], fractions[i]);
    }
    u128 rounded = sum.rounded();
    for (std::size_t at = k; at < parts.size(); at += degree, rounded >>= kPartBits) {
      parts[at] = static_cast<u64>(rounded) & ((u64{1} << kPartBits) - 1);
    }
  }
}

}  // namespace

void hps_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                 std::span<u64> out) {
  const std::size_t degree = context.degree();
  ScratchWords scaled(in.size());
  const std::span<u64> words = scaled.words();
  divide_by_complements(context, from, in, 1, words);
  std::vector<u128> reciprocals;
  for (const std::size_t prime : from) {
    reciprocals.push_back(fraction(1, context.modulus(prime).value()));
  }
  ScratchWords quotients(degree);  // at most from.size(): one part
  rounded_sums(words, reciprocals, quotients.words());

  const int word_bits = widest(context, from);
  parallel_for(to.size(), words.size(), [&](std::size_t i) {
    const Modulus& modulus = context.modulus(to[i]);
    sum_limbs(modulus, words, word_bits, complements(context, from, modulus), 0,
              {quotients.words(), modulus.negate(product(context, from, modulus))},
              limb_of(out, i, degree));
  });
}

Words hps_divide(const RnsContext& context, BaseView base, BaseView extension, u64 plain_modulus,
                 std::span<const u64> in) {
  const std::size_t degree = context.degree();
  std::vector<u64> numerators;  // u_i
  std::vector<u128> fractions;  // T_i
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = context.modulus(base[i]);
    const u64 inverse = modulus.inverse(product(context, base, modulus, i));
    numerators.push_back(modulus.multiply(modulus.reduce(plain_modulus), inverse));
    fractions.push_back(fraction(numerators.back(), modulus.value()));
  }

  // The limbs over the base, and the parts of v, which is at most the sum of the u_i.
  const int word_bits = std::max(widest(context, base), kPartBits);
  const int quotient_bits = word_bits + std::bit_width(base.size());
  const std::size_t parts = static_cast<std::size_t>((quotient_bits + kPartBits - 1) / kPartBits);
  ScratchWords terms((base.size() + parts) * degree);
  const std::span<u64> words = terms.words();
  const std::span<u64> lower = words.first(base.size() * degree);
  std::ranges::copy(in.first(lower.size()), lower.begin());
  rounded_sums(lower, fractions, words.subspan(lower.size()));

  Words scaled(extension.size() * degree);
  parallel_for(extension.size(), words.size(), [&](std::size_t j) {
    const Modulus& modulus = context.modulus(extension[j]);
    std::vector<u64> factors;  // -u_i * q_i^-1, then 2^30k
    for (std::size_t i = 0; i < base.size(); ++i) {
      const u64 prime = modulus.reduce(context.modulus(base[i]).value());
      factors.push_back(
          modulus.negate(modulus.multiply(modulus.reduce(numerators[i]), modulus.inverse(prime))));
    }
    for (u64 part = 0, weight = 1; part < parts; ++part) {
      factors.push_back(weight);
      weight = modulus.multiply(weight, modulus.reduce(u64{1} << kPartBits));
    }
    const u64 inverse = modulus.inverse(product(context, base, modulus));
    sum_limbs(modulus, words, word_bits, factors, 0,
              {limb_of(in, base.size() + j, degree),
               modulus.multiply(modulus.reduce(plain_modulus), inverse)},
              limb_of(std::span<u64>(scaled), j, degree));
  });
  return scaled;
}

}  // namespace ringsmith::kernels
