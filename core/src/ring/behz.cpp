#include "behz.h"

#include "base_conversion.h"
#include "platform/parallel.h"
#include "platform/scratch.h"

namespace ringsmith::kernels {
namespace {

// Every number times `factor`, modulo `modulus`.
std::vector<u64> times(const Modulus& modulus, std::vector<u64> numbers, u64 factor) {
  for (u64& number : numbers) {
    number = modulus.multiply(number, factor);
  }
  return numbers;
}

}  // namespace

void behz_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                  std::span<u64> out) {
  constexpr u64 kMontgomery = u64{1} << 32;  // m~
  const Modulus montgomery(kMontgomery);
  ScratchWords scaled(in.size());  // y
  const std::span<u64> words = scaled.words();
  divide_by_complements(context, from, in, kMontgomery, words);
  const int word_bits = widest(context, from);

  // r + m~/2, which is not negative: -c * q^-1 + m~/2 mod m~.
  ScratchWords multiples(context.degree());
  const u64 inverse = montgomery.inverse(product(context, from, montgomery));
  sum_limbs(montgomery, words, word_bits,
            times(montgomery, complements(context, from, montgomery), montgomery.negate(inverse)),
            kMontgomery / 2, {}, multiples.words());

  parallel_for(to.size(), words.size(), [&](std::size_t i) {
    const Modulus& modulus = context.modulus(to[i]);
    const u64 division = modulus.inverse(modulus.reduce(kMontgomery));
    const u64 factor = modulus.multiply(product(context, from, modulus), division);
    const u64 shift = modulus.multiply(modulus.reduce(kMontgomery / 2), factor);
    sum_limbs(modulus, words, word_bits,
              times(modulus, complements(context, from, modulus), division), modulus.negate(shift),
              {multiples.words(), factor}, limb_of(out, i, context.degree()));
  });
}

Words behz_floor(const RnsContext& context, BaseView base, BaseView extension, u64 plain_modulus,
                 std::span<const u64> in) {
  const std::size_t degree = context.degree();
  ScratchWords scaled(base.size() * degree);
  const std::span<u64> words = scaled.words();
  divide_by_complements(context, base, in.first(words.size()), plain_modulus, words);
  const int word_bits = widest(context, base);

  Words floor(extension.size() * degree);
  parallel_for(extension.size(), words.size(), [&](std::size_t i) {
    const Modulus& modulus = context.modulus(extension[i]);
    const u64 division = modulus.inverse(product(context, base, modulus));
    const u64 own = modulus.multiply(modulus.reduce(plain_modulus), division);
    sum_limbs(modulus, words, word_bits,
              times(modulus, complements(context, base, modulus), modulus.negate(division)), 0,
              {limb_of(in, base.size() + i, degree), own},
              limb_of(std::span<u64>(floor), i, degree));
  });
  return floor;
}

void shenoy_kumaresan(const RnsContext& context, BaseView from, BaseView to,
                      std::span<const u64> in, std::span<u64> out) {
  const std::size_t degree = context.degree();
  const BaseView auxiliary = from.subspan(1);  // B
  const Modulus& redundant = context.modulus(from[0]);
  const std::span<const u64> residue = in.first(degree);  // modulo m_sk
  ScratchWords scaled(auxiliary.size() * degree);
  const std::span<u64> words = scaled.words();
  divide_by_complements(context, auxiliary, in.subspan(degree), 1, words);
  const int word_bits = widest(context, from);

  // alpha + floor(m_sk / 2), which is not negative.
  ScratchWords excess(degree);
  const u64 half = redundant.value() / 2;
  const u64 division = redundant.inverse(product(context, auxiliary, redundant));
  sum_limbs(redundant, words, word_bits,
            times(redundant, complements(context, auxiliary, redundant), division), half,
            {residue, redundant.negate(division)}, excess.words());

  parallel_for(to.size(), words.size(), [&](std::size_t i) {
    const Modulus& modulus = context.modulus(to[i]);
    const u64 total = product(context, auxiliary, modulus);
    sum_limbs(modulus, words, word_bits, complements(context, auxiliary, modulus),
              modulus.multiply(modulus.reduce(half), total),
              {excess.words(), modulus.negate(total)}, limb_of(out, i, degree));
  });
}

}  // namespace ringsmith::kernels
