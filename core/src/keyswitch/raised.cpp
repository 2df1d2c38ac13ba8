#include "raised.h"

#include <algorithm>
#include <iterator>

#include "platform/scratch.h"
#include "ring/base_conversion.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {

Raised::Raised(const RnsContext& context, BaseView base, BaseView from, u64 element)
    : context_(context), from_(from.begin(), from.end()), scales_(from.size() < base.size()) {
  Base others;
  std::ranges::copy_if(base, std::back_inserter(others), [from](std::size_t prime) {
    return std::ranges::find(from, prime) == from.end();
  });
  for (const std::size_t prime : from_) {
    const Modulus& modulus = context.modulus(prime);
    factors_.emplace_back(product(context, others, modulus), modulus);
  }
  if (element != 1 && !from.empty()) {
    permutation_.emplace(context.log_degree(), element);
  }
}

void Raised::add_to(std::size_t prime, std::size_t begin, std::span<const u64> polynomial,
                    std::span<u64> sums) const {
  const auto position = static_cast<std::size_t>(std::ranges::find(from_, prime) - from_.begin());
  if (polynomial.empty() || position == from_.size()) {  // P * b is zero there
    return;
  }
  const NttTables& tables = context_.ntt(prime);
  const simd::PrimeKernels& kernels = tables.kernels();
  const std::span<const u64> limb = limb_of(polynomial, position, context_.degree());
  ScratchWords scratch(sums.size());
  u64* const words = scratch.words().data();
  const u64* added = &limb[begin];
  if (permutation_) {
    simd::kernel_set().permute(limb.data(), permutation_->from(begin), words, sums.size());
    added = words;
  }
  if (scales_) {
    const ShoupFactor& factor = factors_[position];
    kernels.scale(tables.plan().prime, added, {factor.factor, factor.quotient}, words, sums.size());
    added = words;
  }
  kernels.add(tables.plan().prime, sums.data(), added, sums.data(), sums.size());
}

}  // namespace ringsmith::kernels
