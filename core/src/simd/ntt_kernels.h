// The kernels of one limb's NTT. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// What becomes of a forward transform's values: canonical words in their place.
template <typename A>
struct Canonical {
  RINGSMITH_INLINE void operator()(const A& arithmetic, typename A::Vec x, u64* to) const {
    A::store(to, arithmetic.canonical(x));
  }
};

/// PrimeKernels::forward, ending in `finish`.
template <typename A, typename Finish>
void forward_ntt(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out,
                 const Finish& finish) {
  const Transform<A, Finish> transform(plan, plan.forward, offset, finish);
  if (bound > A::kPlain * plan.prime.q) {
    transform.template forward<Source::kWide>(in, out);
  } else if (offset != 0) {
    transform.template forward<Source::kShifted>(in, out);
  } else {
    transform.template forward<Source::kPlain>(in, out);
  }
}

template <typename A>
void forward_ntt(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  forward_ntt<A>(plan, in, bound, offset, out, Canonical<A>());
}

/// What becomes of them where key_products reads them.
template <typename A>
struct Digit {
  RINGSMITH_INLINE void operator()(const A& arithmetic, typename A::Vec x, u64* to) const {
    A::store(to, arithmetic.digit(x));
  }
};

/// PrimeKernels::forward_digit, canonical or not.
template <typename A, bool canonical>
void forward_digit(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  using Finish = std::conditional_t<canonical, Canonical<A>, Digit<A>>;
  forward_ntt<A>(plan, in, bound, offset, out, Finish());
}

/// PrimeKernels::inverse.
template <typename A>
void inverse_ntt(const NttPlan& plan, const u64* in, u64 offset, u64* out) {
  const Transform<A, Canonical<A>> transform(plan, plan.backward, offset);
  if (offset != 0) {
    transform.template inverse<Place::kShiftedTop>(in, out);
  } else {
    transform.template inverse<Place::kTop>(in, out);
  }
}

}  // namespace
}  // namespace ringsmith::simd
