// Quotients (Division). Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "ntt_kernels.h"
#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

/// What a Division writes, from what a dividend is more than its correction.
template <typename A>
class Quotient {
 public:
  using Vec = typename A::Vec;

  Quotient(const PrimeConstants& prime, const Division& division)
      : division_(division), factor_(A::constant(division.factor, prime.q)) {}

  /// Words i ... of the dividend.
  [[nodiscard]] RINGSMITH_INLINE Vec dividend(std::size_t i) const {
    return A::load(division_.in + i);
  }
  /// Words i ... of the result.
  RINGSMITH_INLINE void store(const A& arithmetic, Vec difference, std::size_t i) const {
    const Vec product = arithmetic.multiply(difference, factor_);
    A::store(division_.out + i, arithmetic.canonical_sum(product, addend(i)));
  }

 private:
  [[nodiscard]] RINGSMITH_INLINE Vec addend(std::size_t i) const {
    if (division_.addend == nullptr) {
      return A::set(0);
    }
    return division_.permutation == nullptr
               ? A::load(division_.addend + i)
               : PermutedWords<A>(*division_.permutation, i).of(division_.addend);
  }

  Division division_;
  decltype(A::constant(Factor{}, 0)) factor_;
};

/// PrimeKernels::divide.
template <typename A>
void divide_words(const PrimeConstants& prime, const u64* correction, u64 lift,
                  const Division& division, std::size_t count) {
  const A arithmetic(prime);
  const Quotient<A> quotient(prime, division);
  const auto lifted = A::set(lift);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    const auto correction_lifted = A::sub(lifted, A::load(correction + i));
    const auto difference = A::add(quotient.dividend(i), correction_lifted);
    quotient.store(arithmetic, A::value(difference), i);
  }
}

/// A Transform's last step: its words are corrections, which stay in registers.
template <typename A>
struct Divided {
  static constexpr bool kWantsHeadroom = true;  ///< for differences

  RINGSMITH_INLINE void operator()(const A& arithmetic, typename A::Vec x, u64* to) const {
    const auto i = static_cast<std::size_t>(to - limb);
    quotient.store(arithmetic, arithmetic.difference(quotient.dividend(i), x), i);
  }

  Quotient<A> quotient;
  const u64* limb;  ///< that is transformed
};

/// PrimeKernels::forward_divide.
template <typename A>
void forward_divide(const NttPlan& plan, const u64* in, u64 bound, u64 offset,
                    const Division& division, u64* scratch) {
  const Divided<A> divided{Quotient<A>(plan.prime, division), scratch};
  forward_ntt<A>(plan, in, bound, offset, scratch, divided);
}

}  // namespace
}  // namespace ringsmith::simd
