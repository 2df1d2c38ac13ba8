#include "behz.h"

#include <algorithm>

#include "base_conversion.h"

namespace ringsmith::kernels {
namespace {

// Words of every limb times a factor, modulo the limb's prime.
void multiply_limbs(const RnsContext& context, BaseView base, u64 factor, std::span<u64> words) {
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = context.modulus(base[i]);
    const ShoupFactor constant(modulus.reduce(factor), modulus);
    for (u64& word : limb_of(words, i, context.degree())) {
      word = constant.multiply(word, modulus.value());
    }
  }
}

// word + factor * value modulo `modulus`, for a value of either sign and any magnitude below 2^63.
u64 add_signed_multiple(const Modulus& modulus, u64 word, const ShoupFactor& factor, i64 value) {
  const u64 q = modulus.value();
  return value < 0 ? modulus.subtract(word, factor.multiply(static_cast<u64>(-value), q))
                   : modulus.add(word, factor.multiply(static_cast<u64>(value), q));
}

}  // namespace

void behz_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                  std::span<u64> out) {
  constexpr u64 kMontgomery = u64{1} << 32;  // m~
  const Modulus montgomery(kMontgomery);
  const std::size_t degree = context.degree();
  std::vector<u64> words(in.begin(), in.end());
  multiply_limbs(context, from, kMontgomery, words);
  divide_by_complements(context, from, words);

  std::vector<u64> wide(degree);  // the conversion modulo m~
  combine(context, from, words, montgomery, 0, wide);
  const u64 inverse = montgomery.inverse(product(context, from, montgomery));
  std::vector<i64> multiples(degree);  // r
  for (std::size_t k = 0; k < degree; ++k) {
    const u64 multiple = montgomery.negate(montgomery.multiply(wide[k], inverse));
    multiples[k] = static_cast<i64>(multiple) -
                   (multiple >= kMontgomery / 2 ? static_cast<i64>(kMontgomery) : 0);
  }

  for (std::size_t i = 0; i < to.size(); ++i) {
    const Modulus& modulus = context.modulus(to[i]);
    const std::span<u64> limb = limb_of(out, i, degree);
    combine(context, from, words, modulus, 0, limb);
    const ShoupFactor q(product(context, from, modulus), modulus);
    const ShoupFactor division(modulus.inverse(kMontgomery), modulus);
    for (std::size_t k = 0; k < degree; ++k) {
      limb[k] = division.multiply(add_signed_multiple(modulus, limb[k], q, multiples[k]),
                                  modulus.value());
    }
  }
}

std::vector<u64> behz_floor(const RnsContext& context, BaseView base, BaseView extension,
                            u64 plain_modulus, std::span<const u64> in) {
  const std::size_t degree = context.degree();
  const std::size_t split = base.size() * degree;
  std::vector<u64> words(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(split));
  multiply_limbs(context, base, plain_modulus, words);
  divide_by_complements(context, base, words);
  std::vector<u64> floor(in.begin() + static_cast<std::ptrdiff_t>(split), in.end());
  multiply_limbs(context, extension, plain_modulus, floor);

  std::vector<u64> converted(degree);
  for (std::size_t i = 0; i < extension.size(); ++i) {
    const Modulus& modulus = context.modulus(extension[i]);
    combine(context, base, words, modulus, 0, converted);
    const ShoupFactor division(modulus.inverse(product(context, base, modulus)), modulus);
    const std::span<u64> limb = limb_of(std::span<u64>(floor), i, degree);
    for (std::size_t k = 0; k < degree; ++k) {
      limb[k] = division.multiply(modulus.subtract(limb[k], converted[k]), modulus.value());
    }
  }
  return floor;
}

void shenoy_kumaresan(const RnsContext& context, BaseView from, BaseView to,
                      std::span<const u64> in, std::span<u64> out) {
  const std::size_t degree = context.degree();
  const BaseView auxiliary = from.subspan(1);  // B
  const Modulus& redundant = context.modulus(from[0]);
  const std::span<const u64> residue = in.first(degree);  // modulo m_sk
  std::vector<u64> words(in.begin() + static_cast<std::ptrdiff_t>(degree), in.end());
  divide_by_complements(context, auxiliary, words);

  std::vector<u64> converted(degree);
  combine(context, auxiliary, words, redundant, 0, converted);
  const u64 sk = redundant.value();
  const ShoupFactor division(redundant.inverse(product(context, auxiliary, redundant)), redundant);
  std::vector<i64> excess(degree);  // -alpha
  for (std::size_t k = 0; k < degree; ++k) {
    const u64 alpha = division.multiply(redundant.subtract(converted[k], residue[k]), sk);
    excess[k] = alpha > sk / 2 ? static_cast<i64>(sk - alpha) : -static_cast<i64>(alpha);
  }

  for (std::size_t i = 0; i < to.size(); ++i) {
    const Modulus& modulus = context.modulus(to[i]);
    const std::span<u64> limb = limb_of(out, i, degree);
    combine(context, auxiliary, words, modulus, 0, limb);
    const ShoupFactor total(product(context, auxiliary, modulus), modulus);
    for (std::size_t k = 0; k < degree; ++k) {
      limb[k] = add_signed_multiple(modulus, limb[k], total, excess[k]);
    }
  }
}

}  // namespace ringsmith::kernels
