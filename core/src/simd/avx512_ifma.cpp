// The kernels for AVX-512 with IFMA and VBMI2 (shifts of double words).
#include <algorithm>
#include <vector>

#include "kernel_set.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512IFMA__) && \
    defined(__AVX512VBMI2__)

#include "combine.h"
#include "expand.h"
#include "ifma.h"
#include "key_products.h"
#include "multiplications.h"
#include "wide_sum.h"

namespace ringsmith::simd {
namespace {

using V = Vector512;

void scale_ifma(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                std::size_t count) {
  const Ifma<Headroom::kNone> arithmetic(prime);
  const auto twiddle = Ifma<Headroom::kNone>::from_shift64(factor, prime.q);
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    const auto product = arithmetic.multiply_once(V::load(a + i), twiddle);
    V::store(out + i, V::reduce_once(product, arithmetic.q));
  }
}

// Words of wider primes do not fit 52-bit factors, and are cut in two where nothing else, which
// would be cut as well, is added.
void combine_ifma(const PrimeConstants& prime, const Combination& sum, u64* out,
                  std::size_t count) {
  if (sum.word_bits <= 50) {
    combine_sums<IfmaSum>(prime, sum, out, count);
  } else if (prime.bits <= WideWordSum::kMaxBits && sum.extra == nullptr) {
    combine_sums<WideWordSum>(prime, sum, out, count);
  } else {
    combine_words<V>(prime, sum, out, count);
  }
}

void combine_four_ifma(const PrimeConstants* primes, const Combination* sums, u64* const* outs,
                       std::size_t count) {
  if (sums[0].word_bits <= 50) {
    combine_four_sums<IfmaSum>(primes, sums, outs, count);
    return;
  }
  constexpr std::size_t kPart = 512;  // words that a cache keeps for all targets
  std::vector<const u64*> words(sums[0].words, sums[0].words + sums[0].terms);
  for (std::size_t begin = 0; begin < count; begin += kPart) {
    const std::size_t part = std::min(kPart, count - begin);
    for (int target = 0; target < kTargets; ++target) {
      Combination sum = sums[target];
      sum.words = words.data();
      combine_ifma(primes[target], sum, outs[target] + begin, part);
    }
    for (const u64*& word : words) {
      word += part;
    }
  }
}

V::Vec multiply_low(V::Vec a, V::Vec b) { return IfmaSum::Arithmetic::low(a, a, b); }

template <typename A, typename Sum = IfmaSum>
constexpr PrimeKernels ifma_class(int bits) {
  return {bits,
          0,
          TwiddleCode::kShift52,
          V::kLanes,
          false,
          Sum::kScales,
          Sum::kKeyCode,
          forward_ntt<A>,
          forward_digit<A, !A::kLazy>,
          nullptr,
          forward_divide<A>,
          inverse_ntt<A>,
          is_canonical<V>,
          pointwise<Plus<V>>,
          pointwise<Minus<V>>,
          pointwise<Times<Ifma<Headroom::kNone>>>,
          streamed<Plus<V>>,
          streamed<Minus<V>>,
          streamed<Times<Ifma<Headroom::kNone>>>,
          negate_words<V>,
          scale_ifma,
          divide_words<Ifma<Headroom::kNone>>,
          inner_products<IfmaSum>,
          combine_ifma,
          combine_four_ifma,
          key_products<Sum>};
}

// Wider primes: where they allow it, products of 52-bit words in all but the last layers, whose
// factors, read once each, would be twice as many words.
template <template <typename> typename A>
void forward_split(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  if (plan.forward.nodes != nullptr) {
    forward_ntt<A<Vector512Ifma>>(plan, in, bound, offset, out);
  } else {
    forward_ntt<A<V>>(plan, in, bound, offset, out);
  }
}

template <template <typename> typename A, bool canonical>
void forward_digit_split(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  const auto forward = plan.forward.nodes != nullptr ? forward_digit<A<Vector512Ifma>, canonical>
                                                     : forward_digit<A<V>, canonical>;
  forward(plan, in, bound, offset, out);
}

template <template <typename> typename A>
void forward_divide_split(const NttPlan& plan, const u64* in, u64 bound, u64 offset,
                          const Division& division, u64* scratch) {
  const auto divide =
      plan.forward.nodes != nullptr ? forward_divide<A<Vector512Ifma>> : forward_divide<A<V>>;
  divide(plan, in, bound, offset, division, scratch);
}

void inverse_split(const NttPlan& plan, const u64* in, u64 offset, u64* out) {
  if (plan.backward.nodes != nullptr) {
    inverse_ntt<Word64<Vector512Ifma>>(plan, in, offset, out);
  } else {
    inverse_ntt<Word64<V>>(plan, in, offset, out);
  }
}

void combine_wide(const PrimeConstants& prime, const Combination& sum, u64* out,
                  std::size_t count) {
  if (prime.bits >= WideSum::kMinBits && prime.q % 2 != 0) {
    const bool narrow = sum.word_bits <= WideFactorSum::kMaxWordBits;
    (narrow ? combine_sums<WideFactorSum> : combine_sums<WideSum>)(prime, sum, out, count);
  } else {
    combine_words<V>(prime, sum, out, count);
  }
}

using Split = Word64<Vector512Ifma>;

void scale_split(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                 std::size_t count) {
  if (can_split(prime.q)) {
    const auto split = Split::broadcast(split_factor_of(factor.factor, prime.q));
    scale_by<Split>(prime, a, split, out, count);
  } else {
    scale_words<V>(prime, a, factor, out, count);
  }
}

void divide_split(const PrimeConstants& prime, const u64* correction, u64 lift,
                  const Division& division, std::size_t count) {
  const auto divide = can_split(prime.q) ? divide_words<Split> : divide_words<Word64<V>>;
  divide(prime, correction, lift, division, count);
}

bool wide_key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                       std::size_t count) {
  const auto products =
      prime.bits < WideSum::kMinBits ? key_products<WordSum<V>> : key_products<WideSum>;
  return products(prime, terms, out_0, out_1, count);
}

void wide_inner_products(const PrimeConstants& prime, std::size_t terms, const u64* const* a,
                         const u64* const* b_0, const u64* const* b_1, u64* out_0, u64* out_1,
                         std::size_t count) {
  const auto products =
      prime.bits < WideSum::kMinBits ? inner_products<WordSum<V>> : inner_products<WideSum>;
  products(prime, terms, a, b_0, b_1, out_0, out_1, count);
}

template <int bits, template <typename> typename A>
constexpr PrimeKernels split_class() {
  PrimeKernels kernels = word_class<bits, V, A<V>>();
  kernels.splits = true;
  kernels.forward = forward_split<A>;
  kernels.forward_digit = forward_digit_split<A, (bits > WideSum::kLazyBits)>;
  kernels.forward_divide = forward_divide_split<A>;
  kernels.inverse = inverse_split;
  kernels.scale = scale_split;
  kernels.divide = divide_split;
  kernels.inner_product = wide_inner_products;
  kernels.combine = combine_wide;
  kernels.key_products = wide_key_products;
  return kernels;
}

constexpr PrimeKernels kClasses[] = {
    ifma_class<Ifma<Headroom::kBoth>, PackedIfmaSum>(32),
    ifma_class<Ifma<Headroom::kBoth>>(33),
    ifma_class<Ifma<Headroom::kForward>>(46),
    ifma_class<Ifma<Headroom::kNone>>(50),
    split_class<56, Word56>(),
    split_class<61, Word64>(),
};
constexpr KernelSet kSet{"avx512ifma",
                         kClasses,
                         6,
                         permute_words<V>,
                         automorph_gathered<V>,
                         mask_signs_of_words<V>,
                         expand_streams<Vector512Ifma>,
                         multiplications<V, multiply_low>};

}  // namespace

const KernelSet* avx512_ifma_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx512_ifma_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
