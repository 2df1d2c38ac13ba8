// The kernels for any processor: one word at a time, 128-bit products.
#include <algorithm>

#include "expand.h"
#include "kernel_set.h"
#include "ringsmith/modulus.h"

namespace ringsmith::simd {
namespace {

u64 at_most_once(u64 x, u64 bound) { return x >= bound ? x - bound : x; }

u64 multiply_lazy(u64 x, u64 factor, u64 quotient, u64 q) {
  return x * factor - multiply_high(x, quotient) * q;
}

u64 multiply(u64 x, Factor factor, u64 q) {
  return at_most_once(multiply_lazy(x, factor.factor, factor.quotient, q), q);
}

void forward(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  const std::size_t degree = std::size_t{1} << plan.log_degree;
  const u64 q = plan.prime.q;
  const u64 twice_q = 2 * q;
  const bool wide = bound > 4 * q;
  for (std::size_t i = 0; i < degree; ++i) {
    const u64 word = in[i] + offset;
    out[i] = wide ? multiply_lazy(word, 1, plan.prime.ratio, q) : word;
  }
  // Invariant: every word is in [0, 4q) between the layers.
  for (std::size_t groups = 1, half = degree / 2; half > 0; groups *= 2, half /= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const u64 factor = plan.forward.factors[groups + group];
      const u64 quotient = plan.forward.quotients[groups + group];
      u64* upper = out + 2 * half * group;
      u64* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const u64 u = at_most_once(upper[i], twice_q);
        const u64 v = multiply_lazy(lower[i], factor, quotient, q);
        upper[i] = u + v;
        lower[i] = u + twice_q - v;
      }
    }
  }
  for (std::size_t i = 0; i < degree; ++i) {
    out[i] = at_most_once(at_most_once(out[i], twice_q), q);
  }
}

void inverse(const NttPlan& plan, const u64* in, u64 offset, u64* out) {
  const std::size_t degree = std::size_t{1} << plan.log_degree;
  const u64 q = plan.prime.q;
  const u64 twice_q = 2 * q;
  if (in != out) {
    std::copy_n(in, degree, out);
  }
  // Invariant: every word is in [0, 2q) between the layers.
  std::size_t half = 1;
  for (std::size_t groups = degree / 2; groups > 1; groups /= 2, half *= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const u64 factor = plan.backward.factors[groups + group];
      const u64 quotient = plan.backward.quotients[groups + group];
      u64* upper = out + 2 * half * group;
      u64* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const u64 u = upper[i];
        const u64 v = lower[i];
        upper[i] = at_most_once(u + v, twice_q);
        lower[i] = multiply_lazy(u + twice_q - v, factor, quotient, q);
      }
    }
  }
  // The last layer has one factor; the division by N is merged into it.
  u64* lower = out + half;
  for (std::size_t i = 0; i < half; ++i) {
    const u64 u = out[i];
    const u64 v = lower[i];
    out[i] = at_most_once(multiply(u + v, plan.inverse_degree, q) + offset, q);
    lower[i] = at_most_once(multiply(u + twice_q - v, plan.last_backward, q) + offset, q);
  }
}

bool is_canonical(const PrimeConstants& prime, const u64* words, std::size_t count) {
  return std::all_of(words, words + count, [&prime](u64 word) { return word < prime.q; });
}

bool add_words(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
               std::size_t count) {
  bool canonical = true;
  for (std::size_t i = 0; i < count; ++i) {
    canonical &= a[i] < prime.q && b[i] < prime.q;
    out[i] = at_most_once(a[i] + b[i], prime.q);
  }
  return canonical;
}

bool subtract_words(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                    std::size_t count) {
  bool canonical = true;
  for (std::size_t i = 0; i < count; ++i) {
    canonical &= a[i] < prime.q && b[i] < prime.q;
    out[i] = at_most_once(a[i] + prime.q - b[i], prime.q);
  }
  return canonical;
}

bool negate_words(const PrimeConstants& prime, const u64* a, u64* out, std::size_t count) {
  bool canonical = true;
  for (std::size_t i = 0; i < count; ++i) {
    canonical &= a[i] < prime.q;
    out[i] = at_most_once(prime.q - a[i], prime.q);
  }
  return canonical;
}

bool multiply_words(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                    std::size_t count) {
  const Modulus modulus(prime.q);
  bool canonical = true;
  for (std::size_t i = 0; i < count; ++i) {
    canonical &= a[i] < prime.q && b[i] < prime.q;
    out[i] = modulus.multiply(a[i], b[i]);
  }
  return canonical;
}

void scale_words(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = multiply(a[i], factor, prime.q);
  }
}

// start + a sum of products in double words, reduced before it could overflow; canonical.
template <typename FactorAt>
u64 sum_of_products(const Modulus& modulus, std::size_t terms, const u64* const* words,
                    FactorAt factor_at, u64 start, std::size_t i) {
  u128 sum = start;
  for (std::size_t term = 0; term < terms; ++term) {
    if (term % Modulus::kLazyProducts == Modulus::kLazyProducts - 1) {
      sum = modulus.reduce_wide(sum);
    }
    sum += static_cast<u128>(words[term][i]) * factor_at(term);
  }
  return modulus.reduce_wide(sum);
}

void inner_products(const PrimeConstants& prime, std::size_t terms, const u64* const* a,
                    const u64* const* b_0, const u64* const* b_1, u64* out_0, u64* out_1,
                    std::size_t count) {
  const Modulus modulus(prime.q);
  for (std::size_t i = 0; i < count; ++i) {
    out_0[i] = sum_of_products(
        modulus, terms, a, [b_0, i](std::size_t term) { return b_0[term][i]; }, 0, i);
    if (out_1 != nullptr) {
      out_1[i] = sum_of_products(
          modulus, terms, a, [b_1, i](std::size_t term) { return b_1[term][i]; }, 0, i);
    }
  }
}

void combine_words(const PrimeConstants& prime, const Combination& sum, u64* out,
                   std::size_t count) {
  const Modulus modulus(prime.q);
  for (std::size_t i = 0; i < count; ++i) {
    const u64 extra = sum.extra == nullptr ? 0 : multiply(sum.extra[i], sum.extra_factor, prime.q);
    out[i] = sum_of_products(
        modulus, sum.terms, sum.words, [&sum](std::size_t term) { return sum.factors[term]; },
        sum.offset + extra, i);
  }
}

u64 permuted_word(const u64* in, const Permutation& permutation, std::size_t i) {
  const std::uint32_t block = permutation.blocks[i / kPermutedWords];
  const u64 within = permutation.patterns[block % kPermutedWords][i % kPermutedWords];
  return in[(block & ~std::uint32_t{kPermutedWords - 1}) + within];
}

// The position of a sum, from KeyTerms::targets.
std::size_t target_of(const Permutation& targets, std::size_t i) {
  const std::uint32_t block = targets.blocks[i / kPermutedWords];
  const u64* const pattern = targets.patterns[block % kPermutedWords];
  const auto within = std::find(pattern, pattern + kPermutedWords, i % kPermutedWords) - pattern;
  return (block & ~std::uint32_t{kPermutedWords - 1}) + static_cast<std::size_t>(within);
}

void divide_words(const PrimeConstants& prime, const u64* correction, u64 lift,
                  const Division& division, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    u64 addend = 0;
    if (division.addend != nullptr) {
      addend = division.permutation == nullptr
                   ? division.addend[i]
                   : permuted_word(division.addend, *division.permutation, i);
    }
    const u64 product = multiply(division.in[i] + lift - correction[i], division.factor, prime.q);
    division.out[i] = at_most_once(product + addend, prime.q);
  }
}

void forward_divide(const NttPlan& plan, const u64* in, u64 bound, u64 offset,
                    const Division& division, u64* scratch) {
  forward(plan, in, bound, offset, scratch);
  divide_words(plan.prime, scratch, plan.prime.q, division, std::size_t{1} << plan.log_degree);
}

bool key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                  std::size_t count) {
  const Modulus modulus(prime.q);
  u64 largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    u128 sums[2] = {0, 0};
    if (terms.precomputed && terms.starts[0] != nullptr) {
      sums[0] = terms.starts[0][i];
      sums[1] = terms.starts[1][i];
    }
    for (std::size_t term = 0; term < terms.count; ++term) {
      u64 value = terms.values[term][i];
      if (terms.permutation != nullptr && !terms.precomputed) {
        value = permuted_word(terms.values[term], *terms.permutation, i);
        if (terms.addends[term] != nullptr) {
          value = modulus.add(value, terms.addends[term][i]);
        }
      }
      for (int half = 0; half < 2; ++half) {
        if (term % Modulus::kLazyProducts == Modulus::kLazyProducts - 1) {
          sums[half] = modulus.reduce_wide(sums[half]);
        }
        const u64 key = terms.keys[half][term][i];
        largest = std::max(largest, key);
        sums[half] += static_cast<u128>(value) * key;
      }
    }
    const std::size_t to =
        terms.precomputed && terms.targets != nullptr ? target_of(*terms.targets, i) : i;
    out_0[to] = modulus.reduce_wide(sums[0]);
    out_1[to] = modulus.reduce_wide(sums[1]);
  }
  return largest < prime.q;
}

void permute(const u64* in, const Permutation& permutation, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = permuted_word(in, permutation, i);
  }
}

void automorph(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
  u64 exponent = 0;  // its bit at N tells the sign
  for (std::size_t i = 0; i < degree; ++i) {
    const u64 word = in[exponent & (degree - 1)];
    out[i] = (exponent & degree) == 0 ? word : at_most_once(q - word, q);
    exponent += step;
  }
}

void mask_signs(u64 q, u64 g, const u64* in, u64* out, std::size_t degree) {
  u64 exponent = 0;  // its bit at N tells the sign
  for (std::size_t i = 0; i < degree; ++i) {
    const bool negated = (exponent & degree) != 0 && in[i] != 0;
    out[i] = in[i] + (negated ? 0 : q);
    exponent += g;
  }
}

// One word as a vector, for expand_streams.
struct Word {
  using Vec = u64;
  static constexpr std::size_t kLanes = 1;

  static u64 load(const u64* from) { return *from; }
  static void store(u64* to, u64 x) { *to = x; }
  static u64 set(u64 x) { return x; }
  static u64 sub(u64 a, u64 b) { return a - b; }
  static u64 bit_and(u64 a, u64 b) { return a & b; }
  static u64 bit_xor(u64 a, u64 b) { return a ^ b; }
  static u64 and_xor(u64 a, u64 b, u64 c) { return (a & b) ^ c; }
  template <int bits>
  static u64 funnel(u64 low, u64 high) {
    return low >> bits | high << (64 - bits);
  }
};

u64 multiplications(std::size_t count) {
  u64 values[] = {1, 3, 5, 7};
  for (std::size_t i = 0; i < count; i += 4) {
    for (u64& value : values) {
      value *= 0x123456789abcdef;
    }
  }
  return values[0] ^ values[1] ^ values[2] ^ values[3];
}

constexpr PrimeKernels kClasses[] = {
    {Modulus::kMaxBits,
     0,
     TwiddleCode::kShift64,
     1,
     false,
     false,
     KeyCode::kResidue,
     forward,
     forward,
     nullptr,
     forward_divide,
     inverse,
     is_canonical,
     add_words,
     subtract_words,
     multiply_words,
     add_words,
     subtract_words,
     multiply_words,
     negate_words,
     scale_words,
     divide_words,
     inner_products,
     combine_words,
     nullptr,
     key_products},
};
constexpr KernelSet kSet{
    "scalar", kClasses, 1, permute, automorph, mask_signs, expand_streams<Word>, multiplications};

}  // namespace

const KernelSet* scalar_kernels() { return &kSet; }

}  // namespace ringsmith::simd
