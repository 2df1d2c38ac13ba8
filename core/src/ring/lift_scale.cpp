// What Lift and Scale of both variants have in common, and the digits of keys without special
// primes.
#include "ringsmith/lift_scale.h"

#include <algorithm>

#include "behz.h"
#include "hps.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "wide.h"

namespace ringsmith::kernels {
namespace {

// `larger` must be `smaller` and `count` more primes, or more than that.
void check_bases(BaseView smaller, BaseView larger, std::size_t count) {
  if (smaller.empty() || larger.size() < smaller.size() + count ||
      !std::ranges::equal(smaller, larger.first(smaller.size()))) {
    throw ParameterError(text("a base of ", larger.size(), " primes does not extend one of ",
                              smaller.size(), " primes: it has those first, then ", count,
                              " or more of the extension"));
  }
}

}  // namespace

void lift(const RnsContext& context, BaseView from, BaseView base, Multiplication variant,
          std::span<const u64> in, std::span<u64> out) {
  check_bases(from, base, 1);
  context.check_size(in.size(), from.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  std::ranges::copy(in, out.begin());
  const BaseView extension = base.subspan(from.size());
  const std::span<u64> added = out.subspan(in.size());
  if (variant == Multiplication::kBehz) {
    behz_convert(context, from, extension, in, added);
  } else {
    hps_convert(context, from, extension, in, added);
  }
}

void lift_digit(const RnsContext& context, BaseView digit, BaseView base, std::span<const u64> in,
                std::span<u64> out) {
  if (digit.empty()) {
    throw ParameterError("a digit has at least one prime");
  }
  const std::size_t degree = context.degree();
  context.check_size(in.size(), digit.size(), "the digit");
  context.check_size(out.size(), base.size(), "the result");
  Base others;
  std::vector<std::span<u64>> limbs;  // of the others
  for (std::size_t i = 0; i < base.size(); ++i) {
    const std::span<u64> limb = limb_of(out, i, degree);
    const auto own = std::ranges::find(digit, base[i]);
    if (own != digit.end()) {
      const auto position = static_cast<std::size_t>(own - digit.begin());
      std::ranges::copy(limb_of(in, position, degree), limb.begin());
    } else {
      others.push_back(base[i]);
      limbs.push_back(limb);
    }
  }
  if (others.empty()) {
    return;
  }
  ScratchWords lifted(others.size() * degree);
  hps_convert(context, digit, others, in, lifted.words());
  for (std::size_t i = 0; i < others.size(); ++i) {
    std::ranges::copy(limb_of(std::span<const u64>(lifted.words()), i, degree), limbs[i].begin());
  }
}

void scale(const RnsContext& context, BaseView from, BaseView base, u64 plain_modulus,
           Multiplication variant, std::span<const u64> in, std::span<u64> out) {
  check_bases(base, from, variant == Multiplication::kBehz ? 2 : 1);
  context.check_size(in.size(), from.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  const BaseView extension = from.subspan(base.size());
  if (variant == Multiplication::kBehz) {
    const Words floor = behz_floor(context, base, extension, plain_modulus, in);
    shenoy_kumaresan(context, extension, base, floor, out);
  } else {
    const Words scaled = hps_divide(context, base, extension, plain_modulus, in);
    hps_convert(context, extension, base, scaled, out);
  }
}

void decompose(const RnsContext& context, BaseView from, BaseView base, std::size_t digit,
               std::size_t word_bits, std::span<const u64> in, std::span<u64> out) {
  constexpr std::size_t kChunk = 64;
  const std::size_t degree = context.degree();
  context.check_size(in.size(), from.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  const std::size_t bits = product_of(context, from).bits();
  if (word_bits < 1 || digit * word_bits >= bits) {
    throw ParameterError(text("there is no word ", digit, " of ", word_bits,
                              " bits in coefficients of ", bits, " bits"));
  }
  const std::size_t first = digit * word_bits;
  const std::size_t end = std::min(first + word_bits, bits);

  Composer composer(context, from);
  std::vector<u64> residues(from.size());
  std::vector<u64> chunks((end - first + kChunk - 1) / kChunk);  // the word, lowest bits first
  for (std::size_t i = 0; i < degree; ++i) {
    for (std::size_t limb = 0; limb < from.size(); ++limb) {
      residues[limb] = in[limb * degree + i];
    }
    composer.digits(residues);
    const WideInteger value = composer.integer();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      const std::size_t begin = first + c * kChunk;
      chunks[c] = value.slice(begin, std::min(kChunk, end - begin));
    }
    for (std::size_t limb = 0; limb < base.size(); ++limb) {
      const Modulus& modulus = context.modulus(base[limb]);
      u64 residue = 0;
      for (std::size_t c = chunks.size(); c-- > 0;) {
        residue = modulus.reduce_wide((static_cast<u128>(residue) << kChunk) + chunks[c]);
      }
      out[limb * degree + i] = residue;
    }
  }
}

}  // namespace ringsmith::kernels
