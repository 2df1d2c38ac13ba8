// The kernels for AVX-512 with IFMA.
#include "kernel_set.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512IFMA__)

#include "ifma.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

using V = Vector512;

void scale_ifma(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                std::size_t count) {
  const Ifma<false> arithmetic(prime);
  const auto twiddle = Ifma<false>::broadcast({factor.factor, factor.quotient >> 12});
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, V::reduce_once(
                          V::bit_and(arithmetic.multiply(V::load(a + i), twiddle), arithmetic.mask),
                          arithmetic.q));
  }
}

void subtract_scale_ifma(const PrimeConstants& prime, const u64* a, const u64* b, Factor factor,
                         u64* out, std::size_t count) {
  const Ifma<false> arithmetic(prime);
  const auto twiddle = Ifma<false>::broadcast({factor.factor, factor.quotient >> 12});
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    const auto difference = V::add(V::sub(V::load(a + i), V::load(b + i)), arithmetic.q);
    V::store(out + i,
             V::reduce_once(V::bit_and(arithmetic.multiply(difference, twiddle), arithmetic.mask),
                            arithmetic.q));
  }
}

// Words of wider primes do not fit 52-bit factors.
void combine_ifma(const PrimeConstants& prime, std::size_t terms, const u64* const* words,
                  const u64* factors, u64 offset, int word_bits, u64* out, std::size_t count) {
  if (word_bits <= 50) {
    combine_words<IfmaSum>(prime, terms, words, factors, offset, word_bits, out, count);
  } else {
    combine_words<WordSum<V>>(prime, terms, words, factors, offset, word_bits, out, count);
  }
}

constexpr PrimeKernels ifma_class(int bits, decltype(PrimeKernels::forward) forward,
                                  decltype(PrimeKernels::inverse) inverse) {
  return {bits,
          TwiddleCode::kShift52,
          V::kLanes,
          forward,
          inverse,
          is_canonical<V>,
          add_words<V>,
          subtract_words<V>,
          negate_words<V>,
          multiply_words<Ifma<false>>,
          scale_ifma,
          subtract_scale_ifma,
          inner_products<IfmaSum>,
          combine_ifma};
}

constexpr PrimeKernels kClasses[] = {
    ifma_class(46, forward_ntt<Ifma<true>>, inverse_ntt<Ifma<true>>),
    ifma_class(50, forward_ntt<Ifma<false>>, inverse_ntt<Ifma<false>>),
    word_class<V>(),
};
constexpr KernelSet kSet{"avx512ifma", kClasses, 3};

}  // namespace

const KernelSet* avx512_ifma_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx512_ifma_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
