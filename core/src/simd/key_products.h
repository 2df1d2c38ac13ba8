// Digits times keys. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

/// PrimeKernels::key_products with the accumulators of `Sum`. All streams advance together, so that
/// the processor fetches every key ahead.
template <typename Sum, bool moved>
bool key_sums(const PrimeConstants& prime, const KeyTerms& terms, u64* const* out,
              std::size_t count) {
  using A = typename Sum::Arithmetic;
  const A arithmetic(prime);
  const auto q = A::set(prime.q);
  const std::size_t run = Sum::terms(prime.bits);
  CanonicalCheck<A> check(q);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    Sum sums[2];
    for (Sum& sum : sums) {
      sum.start(A::set(0));
    }
    for (std::size_t begin = 0; begin < terms.count; begin += run) {
      const std::size_t end = terms.count - begin < run ? terms.count : begin + run;
      for (std::size_t term = begin; term < end; ++term) {
        const u64* const values = terms.values[term];
        auto value = A::load(values + i);
        if constexpr (moved) {
          value = load_permuted<A>(values, *terms.permutation, i);
          if (terms.addends[term] != nullptr) {
            value = A::reduce_once(A::add(value, A::load(terms.addends[term] + i)), q);
          }
        }
        const auto factor = Sum::split(value);
        for (int half = 0; half < 2; ++half) {
          const auto key = check.load(terms.keys[half][term] + i);
          sums[half].add(factor, Sum::split(key));
        }
      }
      for (Sum& sum : sums) {
        sum.start(sum.fold(arithmetic, prime));
      }
    }
    for (int half = 0; half < 2; ++half) {
      A::store(out[half] + i, sums[half].low);
    }
  }
  return check.passed();
}

template <typename Sum>
bool key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                  std::size_t count) {
  u64* const out[] = {out_0, out_1};
  return terms.permutation == nullptr ? key_sums<Sum, false>(prime, terms, out, count)
                                      : key_sums<Sum, true>(prime, terms, out, count);
}

}  // namespace
}  // namespace ringsmith::simd
