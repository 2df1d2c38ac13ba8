#include "hps.h"

#include "base_conversion.h"
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

// floor((sum over limbs i of words_i * fractions_i + 2^88) / 2^89) for every coefficient.
std::vector<u128> rounded_sums(std::span<const u64> words, const std::vector<u128>& fractions) {
  const std::size_t degree = words.size() / fractions.size();
  std::vector<u128> sums(degree);
  for (std::size_t k = 0; k < degree; ++k) {
    FractionSum sum;
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      sum.add(words[i * degree + k], fractions[i]);
    }
    sums[k] = sum.rounded();
  }
  return sums;
}

}  // namespace

void hps_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                 std::span<u64> out) {
  const std::size_t degree = context.degree();
  std::vector<u64> words(in.begin(), in.end());
  divide_by_complements(context, from, words);
  std::vector<u128> reciprocals;
  for (const std::size_t prime : from) {
    reciprocals.push_back(fraction(1, context.modulus(prime).value()));
  }
  const std::vector<u128> quotients = rounded_sums(words, reciprocals);  // at most from.size()

  for (std::size_t i = 0; i < to.size(); ++i) {
    const Modulus& modulus = context.modulus(to[i]);
    const ShoupFactor total(product(context, from, modulus), modulus);
    const std::span<u64> limb = limb_of(out, i, degree);
    combine(context, from, words, modulus, 0, limb);
    for (std::size_t k = 0; k < degree; ++k) {
      const u64 excess = total.multiply(static_cast<u64>(quotients[k]), modulus.value());
      limb[k] = modulus.subtract(limb[k], excess);
    }
  }
}

std::vector<u64> hps_divide(const RnsContext& context, BaseView base, BaseView extension,
                            u64 plain_modulus, std::span<const u64> in) {
  const std::size_t degree = context.degree();
  std::vector<u64> numerators;  // u_i
  std::vector<u128> fractions;  // T_i
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = context.modulus(base[i]);
    const u64 inverse = modulus.inverse(product(context, base, modulus, i));
    numerators.push_back(modulus.multiply(plain_modulus, inverse));
    fractions.push_back(fraction(numerators.back(), modulus.value()));
  }
  const std::span<const u64> lower = in.first(base.size() * degree);
  const std::vector<u128> quotients = rounded_sums(lower, fractions);

  std::vector<u64> scaled(extension.size() * degree);
  for (std::size_t j = 0; j < extension.size(); ++j) {
    const Modulus modulus = context.modulus(extension[j]);
    std::vector<u64> factors;  // -u_i * q_i^-1, and last t * q^-1
    for (std::size_t i = 0; i < base.size(); ++i) {
      const u64 inverse = modulus.inverse(context.modulus(base[i]).value());
      factors.push_back(modulus.negate(modulus.multiply(numerators[i], inverse)));
    }
    const u64 q = product(context, base, modulus);
    factors.push_back(modulus.multiply(plain_modulus, modulus.inverse(q)));

    const std::span<const u64> own = limb_of(in, base.size() + j, degree);
    for (std::size_t k = 0; k < degree; ++k) {
      u128 sum = static_cast<u128>(factors.back()) * own[k] + modulus.reduce_wide(quotients[k]);
      for (std::size_t i = 0; i < base.size(); ++i) {
        if (i % Modulus::kLazyProducts == Modulus::kLazyProducts - 2) {
          sum = modulus.reduce_wide(sum);
        }
        sum += static_cast<u128>(factors[i]) * lower[i * degree + k];
      }
      scaled[j * degree + k] = modulus.reduce_wide(sum);
    }
  }
  return scaled;
}

}  // namespace ringsmith::kernels
