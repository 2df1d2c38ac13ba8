#include "limb_divider.h"

#include <algorithm>

#include "base_conversion.h"
#include "platform/parallel.h"
#include "platform/scratch.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

// What words of PrimeKernels::divide may reach.
u64 word_bound(simd::TwiddleCode code) {
  using enum simd::TwiddleCode;
  return u64{1} << (code == kReal || code == kShift32 || code == kShift52 ? 52 : 63);
}

}  // namespace

LimbDivider::LimbDivider(const RnsContext& context, BaseView drop, BaseView kept)
    : context_(context), drop_(drop), kept_(kept) {
  for (std::size_t i = 0; i < drop.size(); ++i) {
    const Modulus& modulus = context.modulus(drop[i]);
    scales_.push_back(modulus.inverse(product(context, drop, modulus, i)));
  }
  for (const std::size_t prime : kept) {
    const Modulus& modulus = context.modulus(prime);
    u64 centre = 0;
    for (std::size_t i = 0; i < drop.size(); ++i) {
      const u64 half = modulus.reduce(context.modulus(drop[i]).value() / 2);
      centre = modulus.add(centre, modulus.multiply(half, product(context, drop, modulus, i)));
    }
    at_.push_back({modulus.negate(centre),
                   ShoupFactor(modulus.inverse(product(context, drop, modulus)), modulus)});
  }
}

void LimbDivider::prepare(Form form, std::span<u64> dropped) const {
  const std::size_t degree = context_.degree();
  context_.check_size(dropped.size(), drop_.size(), "what is dropped");
  if (form == Form::kCoeff && drop_.size() > 1) {  // alone, a prime's complement is 1
    divide_by_complements(context_, drop_, dropped);
  }
  parallel_for(drop_.size(), kTransformPasses * degree, [&](std::size_t i) {
    const NttTables& tables = context_.ntt(drop_[i]);
    const u64 prime = tables.modulus().value();
    const std::span<u64> limb = limb_of(dropped, i, degree);
    if (form == Form::kNtt) {
      tables.inverse(limb, scales_[i], prime / 2, limb);
      return;
    }
    for (u64& word : limb) {
      word += prime / 2;
      word -= word >= prime ? prime : 0;
    }
  });
}

void LimbDivider::divide(std::span<const u64> dropped, Form form, std::size_t first,
                         std::span<const Dividend> limbs) const {
  const std::size_t most = primes_at_once(drop_.size());
  parallel_for((limbs.size() + most - 1) / most, most * kTransformPasses * context_.degree(),
               [&](std::size_t group) {
                 const std::size_t begin = group * most;
                 const std::size_t count = std::min(most, limbs.size() - begin);
                 divide_group(dropped, form, first + begin, limbs.subspan(begin, count));
               });
}

void LimbDivider::divide_group(std::span<const u64> dropped, Form form, std::size_t first,
                               std::span<const Dividend> limbs) const {
  const std::size_t degree = context_.degree();
  ScratchWords scratch(limbs.size() * degree);
  const u64 divisor = context_.modulus(drop_[0]).value();
  const NttTables& first_tables = context_.ntt(kept_[first]);
  // One prime's limb is converted where it is read.
  const bool converts =
      drop_.size() > 1 || (form == Form::kCoeff && 3 * first_tables.modulus().value() + divisor >
                                                       word_bound(first_tables.kernels().code));
  if (converts) {
    std::vector<Target> targets;
    for (std::size_t i = 0; i < limbs.size(); ++i) {
      targets.push_back({context_.modulus(kept_[first + i]), at_[first + i].offset,
                         limb_of(scratch.words(), i, degree)});
    }
    combine(context_, drop_, dropped, targets);
  }
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    const Dividend& limb = limbs[i];
    const NttTables& tables = context_.ntt(kept_[first + i]);
    const u64 q = tables.modulus().value();
    const auto& [centre, inverse] = at_[first + i];
    const std::span<u64> own = limb_of(scratch.words(), i, degree);
    const u64* const words = converts ? own.data() : dropped.data();
    const u64 offset = converts ? 0 : centre;
    const u64 bound = converts ? q : divisor;
    const simd::Permutation permutation =
        limb.permutation == nullptr ? simd::Permutation{} : limb.permutation->from(0);
    const simd::Division division{
        .in = limb.in.data(),
        .factor = {inverse.factor, inverse.quotient},
        .addend = limb.added.empty() ? nullptr : limb.added.data(),
        .permutation = limb.permutation == nullptr ? nullptr : &permutation,
        .out = limb.out.data()};
    if (form == Form::kNtt) {
      tables.kernels().forward_divide(tables.plan(), words, bound + offset, offset, division,
                                      own.data());
    } else {
      const u64 lift = (bound / q + 2) * q - offset;  // from `bound` to bound + 2q
      tables.kernels().divide(tables.plan().prime, words, lift, division, degree);
    }
  }
}

}  // namespace ringsmith::kernels
