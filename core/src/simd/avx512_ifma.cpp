// The kernels for AVX-512 with IFMA and VBMI2 (shifts of double words).
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
  const Ifma<Room::kNone> arithmetic(prime);
  const auto twiddle = Ifma<Room::kNone>::from_shift64(factor);
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    const auto product = arithmetic.multiply_once(V::load(a + i), twiddle);
    V::store(out + i, V::reduce_once(product, arithmetic.q));
  }
}

void subtract_scale_ifma(const PrimeConstants& prime, const u64* a, const u64* b, Factor factor,
                         const u64* addend, u64* out, std::size_t count) {
  const Ifma<Room::kNone> arithmetic(prime);
  const auto twiddle = Ifma<Room::kNone>::from_shift64(factor);
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    const auto difference = V::add(V::sub(V::load(a + i), V::load(b + i)), arithmetic.q);
    const auto product =
        V::reduce_once(arithmetic.multiply_once(difference, twiddle), arithmetic.q);
    V::store(out + i, plus_addend<V>(product, addend, i, arithmetic.q));
  }
}

// Words of wider primes do not fit 52-bit factors.
void combine_ifma(const PrimeConstants& prime, const Combination& sum, u64* out,
                  std::size_t count) {
  if (sum.word_bits <= 50) {
    combine_sums<IfmaSum>(prime, sum, out, count);
  } else {
    combine_words<V>(prime, sum, out, count);
  }
}

V::Vec multiply_low(V::Vec a, V::Vec b) { return IfmaSum::Arithmetic::low(a, a, b); }

/// SeedReduction for primes of up to 50 bits, the lowest 68 bits by 52 and 16: products of 52-bit
/// words read no more of a word than that.
class SeedReductionIfma {
 public:
  using Vector = Vector512Ifma;
  using Vec = V::Vec;

  explicit SeedReductionIfma(const PrimeConstants& prime)
      : q_(V::set(prime.q)),
        inverse_(V::set(inverse_of_odd(prime.q))),
        last_inverse_(V::set(inverse_of_odd(prime.q) << 36)),
        used_(V::set((u64{1} << (prime.bits - 1)) - 1)),
        rest_(V::set(0xffff)) {}

  [[nodiscard]] RINGSMITH_INLINE Vec reduce(Vec low, Vec high) const {
    const Vec middle = V::bit_and(Vector::funnel<52>(low, high), rest_);
    const Vec x = divide(middle, low, inverse_);  // at most q + 2^16
    const Vec t = V::bit_and(V::shift_right<4>(high), used_);
    const Vec sum = divide(V::add(V::shift_right<16>(x), t), x, last_inverse_);
    return V::reduce_once(V::reduce_once(sum, q_), q_);
  }

 private:
  // As SeedReduction's, with words of 52 bits in place of 32.
  [[nodiscard]] RINGSMITH_INLINE Vec divide(Vec quotient, Vec x, Vec inverse) const {
    const Vec zero = V::set(0);
    const Vec y = Vector::low(zero, x, inverse);
    return V::sub(V::add(quotient, q_), Vector::high(zero, y, q_));
  }

  Vec q_;
  Vec inverse_;
  Vec last_inverse_;
  Vec used_;
  Vec rest_;
};

void expand_ifma(const PrimeConstants& prime, SeedStreams& streams, u64* out, std::size_t count) {
  if (prime.bits <= 50) {
    expand_streams<SeedReductionIfma>(prime, streams, out, count);
  } else {
    expand_streams<SeedReduction<Vector512Ifma>>(prime, streams, out, count);
  }
}

constexpr PrimeKernels ifma_class(int bits, decltype(PrimeKernels::forward) forward,
                                  decltype(PrimeKernels::inverse) inverse) {
  return {bits,
          TwiddleCode::kShift52,
          V::kLanes,
          false,
          IfmaSum::kScales,
          forward,
          inverse,
          is_canonical<V>,
          pointwise<Plus<V>>,
          pointwise<Minus<V>>,
          pointwise<Times<Ifma<Room::kNone>>>,
          streamed<Plus<V>>,
          streamed<Minus<V>>,
          streamed<Times<Ifma<Room::kNone>>>,
          negate_words<V>,
          scale_ifma,
          subtract_scale_ifma,
          inner_products<IfmaSum>,
          combine_ifma,
          key_products<IfmaSum>};
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

void inverse_split(const NttPlan& plan, const u64* in, u64* out) {
  if (plan.backward.nodes != nullptr) {
    inverse_ntt<Word64<Vector512Ifma>>(plan, in, out);
  } else {
    inverse_ntt<Word64<V>>(plan, in, out);
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

void subtract_scale_split(const PrimeConstants& prime, const u64* a, const u64* b, Factor factor,
                          const u64* addend, u64* out, std::size_t count) {
  if (can_split(prime.q)) {
    const auto split = Split::broadcast(split_factor_of(factor.factor, prime.q));
    subtract_scale_by<Split>(prime, a, b, split, addend, out, count);
  } else {
    subtract_scale_words<V>(prime, a, b, factor, addend, out, count);
  }
}

bool wide_key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                       std::size_t count) {
  const auto products =
      prime.bits < WideSum::kMinBits ? key_products<WordSum<V>> : key_products<WideSum>;
  return products(prime, terms, out_0, out_1, count);
}

template <template <typename> typename A>
constexpr PrimeKernels split_class(int bits) {
  PrimeKernels kernels = word_class<V, A<V>>(bits);
  kernels.splits = true;
  kernels.forward = forward_split<A>;
  kernels.inverse = inverse_split;
  kernels.scale = scale_split;
  kernels.subtract_scale = subtract_scale_split;
  kernels.key_products = wide_key_products;
  return kernels;
}

constexpr PrimeKernels kClasses[] = {
    ifma_class(33, forward_ntt<Ifma<Room::kBoth>>, inverse_ntt<Ifma<Room::kBoth>>),
    ifma_class(46, forward_ntt<Ifma<Room::kForward>>, inverse_ntt<Ifma<Room::kForward>>),
    ifma_class(50, forward_ntt<Ifma<Room::kNone>>, inverse_ntt<Ifma<Room::kNone>>),
    split_class<Word56>(56),
    split_class<Word64>(61),
};
constexpr KernelSet kSet{"avx512ifma",     kClasses,    5,
                         permute_words<V>, expand_ifma, multiplications<V, multiply_low>};

}  // namespace

const KernelSet* avx512_ifma_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx512_ifma_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
