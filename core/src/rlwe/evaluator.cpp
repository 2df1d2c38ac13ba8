#include "ringsmith/evaluator.h"

#include <algorithm>
#include <atomic>

#include "platform/parallel.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

using simd::PrimeConstants;
using simd::PrimeKernels;

Base checked_base(const RlweContext& context, const CiphertextView& ciphertext) {
  check(context, ciphertext);
  return context.data_base(ciphertext.limbs);
}

Base common_base(const RlweContext& context, const CiphertextView& a, const CiphertextView& b) {
  check(context, b);
  if (a.limbs != b.limbs) {
    throw ParameterError(text("the operands have ", a.limbs, " and ", b.limbs,
                              " limbs: bring both to one level with mod_switch or rescale"));
  }
  return checked_base(context, a);
}

// Words of a product that are worked on at a time: those of all polynomials fit the first cache.
constexpr std::size_t kPart = 512;

// Calls operation(kernels, prime, begin, count) for all words of a polynomial over `base`, in parts
// of at most `part` words of a limb. The operation returns whether its operands are canonical; the
// answer, whether all were.
template <typename Operation>
[[nodiscard]] bool for_each_part(const RnsContext& context, BaseView base, std::size_t part,
                                 Operation operation) {
  const std::size_t count = std::min(part, context.degree());
  std::atomic<bool> canonical = true;
  parallel_for(base.size(), 4 * context.degree(), [&](std::size_t limb) {
    const NttTables& tables = context.ntt(base[limb]);
    for (std::size_t begin = 0; begin < context.degree(); begin += count) {
      if (!operation(tables.kernels(), tables.plan().prime, limb * context.degree() + begin,
                     count)) {
        canonical = false;
      }
    }
  });
  return canonical;
}

// What an operation reads is checked while it is read; this finds the culprit.
void require_canonical(bool canonical, const RnsContext& context, BaseView base,
                       std::span<const u64> ciphertext, std::span<const u64> other,
                       const char* name_of_other) {
  if (!canonical) {
    context.check_canonical(ciphertext, base, "the ciphertext");
    context.check_canonical(other, base, name_of_other);
  }
}

// One of the kernels of two operands.
using Pointwise = decltype(PrimeKernels::add) PrimeKernels::*;

bool pointwise(Pointwise kernel, const RnsContext& context, BaseView base, std::span<const u64> a,
               std::span<const u64> b, std::span<u64> out) {
  return for_each_part(context, base, context.degree(),
                       [&](const PrimeKernels& kernels, const PrimeConstants& prime,
                           std::size_t begin, std::size_t count) {
                         return (kernels.*kernel)(prime, &a[begin], &b[begin], &out[begin], count);
                       });
}

// The kernel for a result of this many words: `streamed` from 1 MiB on, where the operands, twice
// as many, do not leave it in the caches.
Pointwise for_result(std::size_t words, Pointwise kernel, Pointwise streamed) {
  constexpr std::size_t kStreamed = (std::size_t{1} << 20) / sizeof(u64);
  return words < kStreamed ? kernel : streamed;
}

bool negated(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<u64> out) {
  return for_each_part(
      context, base, context.degree(),
      [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t begin,
          std::size_t count) { return kernels.negate(prime, &a[begin], &out[begin], count); });
}

// The sum or difference with a plaintext, which has only the first polynomial.
Ciphertext with_plain(Pointwise kernel, const RlweContext& context, CiphertextView a,
                      std::span<const u64> plain) {
  const RnsContext& rns = context.rns();
  const Base base = checked_base(context, a);
  rns.check_size(plain.size(), base.size(), "the plaintext");
  Ciphertext result(a.size, a.limbs, context.degree());
  const bool canonical = pointwise(kernel, rns, base, a.polynomial(0), plain, result.polynomial(0));
  require_canonical(canonical, rns, base, a.data, plain, "the plaintext");
  for (std::size_t i = 1; i < a.size; ++i) {
    rns.check_canonical(a.polynomial(i), base, "the ciphertext");
    std::ranges::copy(a.polynomial(i), result.polynomial(i).begin());
  }
  return result;
}

}  // namespace

Ciphertext add(const RlweContext& context, CiphertextView a, CiphertextView b) {
  const RnsContext& rns = context.rns();
  const Base base = common_base(context, a, b);
  const CiphertextView& shorter = a.size < b.size ? a : b;
  const CiphertextView& longer = a.size < b.size ? b : a;
  Ciphertext sum(longer.size, a.limbs, context.degree());
  const Pointwise kernel =
      for_result(sum.data.size(), &PrimeKernels::add, &PrimeKernels::add_streamed);
  bool canonical = true;
  for (std::size_t i = 0; i < longer.size; ++i) {
    if (i < shorter.size) {
      canonical &=
          pointwise(kernel, rns, base, a.polynomial(i), b.polynomial(i), sum.polynomial(i));
    } else {
      rns.check_canonical(longer.polynomial(i), base, "the ciphertext");
      std::ranges::copy(longer.polynomial(i), sum.polynomial(i).begin());
    }
  }
  require_canonical(canonical, rns, base, a.data, b.data, "the ciphertext");
  return sum;
}

Ciphertext subtract(const RlweContext& context, CiphertextView a, CiphertextView b) {
  const RnsContext& rns = context.rns();
  const Base base = common_base(context, a, b);
  Ciphertext difference(std::max(a.size, b.size), a.limbs, context.degree());
  const Pointwise kernel =
      for_result(difference.data.size(), &PrimeKernels::subtract, &PrimeKernels::subtract_streamed);
  bool canonical = true;
  for (std::size_t i = 0; i < difference.size; ++i) {
    const std::span<u64> out = difference.polynomial(i);
    if (i >= a.size) {
      canonical &= negated(rns, base, b.polynomial(i), out);
    } else if (i >= b.size) {
      rns.check_canonical(a.polynomial(i), base, "the ciphertext");
      std::ranges::copy(a.polynomial(i), out.begin());
    } else {
      canonical &= pointwise(kernel, rns, base, a.polynomial(i), b.polynomial(i), out);
    }
  }
  require_canonical(canonical, rns, base, a.data, b.data, "the ciphertext");
  return difference;
}

Ciphertext negate(const RlweContext& context, CiphertextView a) {
  const Base base = checked_base(context, a);
  Ciphertext result(a.size, a.limbs, context.degree());
  bool canonical = true;
  for (std::size_t i = 0; i < a.size; ++i) {
    canonical &= negated(context.rns(), base, a.polynomial(i), result.polynomial(i));
  }
  require_canonical(canonical, context.rns(), base, a.data, {}, "");
  return result;
}

Ciphertext add_plain(const RlweContext& context, CiphertextView a, std::span<const u64> plain) {
  return with_plain(&PrimeKernels::add, context, a, plain);
}

Ciphertext subtract_plain(const RlweContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  return with_plain(&PrimeKernels::subtract, context, a, plain);
}

Ciphertext multiply_plain(const RlweContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  const RnsContext& rns = context.rns();
  const Base base = checked_base(context, a);
  rns.check_size(plain.size(), base.size(), "the plaintext");
  Ciphertext product(a.size, a.limbs, context.degree());
  const std::size_t words = plain.size();
  const Pointwise kernel =
      for_result(product.data.size(), &PrimeKernels::multiply, &PrimeKernels::multiply_streamed);
  const bool canonical = for_each_part(
      rns, base, context.degree(),
      [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t begin,
          std::size_t count) {
        bool all = true;
        for (std::size_t i = 0; i < a.size; ++i) {
          const std::size_t at = i * words + begin;
          all &= (kernels.*kernel)(prime, &a.data[at], &plain[begin], &product.data[at], count);
        }
        return all;
      });
  require_canonical(canonical, rns, base, a.data, plain, "the plaintext");
  return product;
}

Ciphertext tensor_product(const RnsContext& context, BaseView base, CiphertextView a,
                          CiphertextView b) {
  const std::size_t words = base.size() * context.degree();
  context.check_size(a.data.size(), a.size * base.size(), "the ciphertext");
  context.check_size(b.data.size(), b.size * base.size(), "the ciphertext");
  Ciphertext product(a.size + b.size - 1, base.size(), context.degree());
  const bool canonical =
      for_each_part(context, base, kPart,
                    [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t begin,
                        std::size_t count) {
                      std::vector<const u64*> factors_a;
                      std::vector<const u64*> factors_b;
                      bool all = true;
                      for (std::size_t sum = 0; sum < product.size; ++sum) {
                        const std::size_t first = sum < b.size ? 0 : sum - b.size + 1;
                        const std::size_t last = std::min(sum, a.size - 1);
                        factors_a.clear();
                        factors_b.clear();
                        for (std::size_t i = first; i <= last; ++i) {
                          factors_a.push_back(&a.data[i * words + begin]);
                          factors_b.push_back(&b.data[(sum - i) * words + begin]);
                        }
                        u64* const out = &product.data[sum * words + begin];
                        if (first == last) {
                          all &= kernels.multiply(prime, factors_a[0], factors_b[0], out, count);
                        } else {
                          kernels.inner_product(prime, factors_a.size(), factors_a.data(),
                                                factors_b.data(), nullptr, out, nullptr, count);
                        }
                      }
                      return all;
                    });
  require_canonical(canonical, context, base, a.data, b.data, "the ciphertext");
  for (const CiphertextView& factor : {a, b}) {  // the first and the last stand alone in a product
    for (std::size_t i = 1; i + 1 < factor.size; ++i) {
      context.check_canonical(factor.polynomial(i), base, "the ciphertext");
    }
  }
  return product;
}

Ciphertext multiply(const RlweContext& context, CiphertextView a, CiphertextView b) {
  return tensor_product(context.rns(), common_base(context, a, b), a, b);
}

Ciphertext square(const RlweContext& context, CiphertextView a) { return multiply(context, a, a); }

Ciphertext rescale(const RlweContext& context, Form form, CiphertextView a) {
  const Base base = checked_base(context, a);
  if (a.limbs < 2) {
    throw ParameterError(
        "rescale needs two limbs or more: the last level has no prime to divide by");
  }
  Ciphertext result(a.size, a.limbs - 1, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::mod_down(context.rns(), base, BaseView(base).last(1), form, a.polynomial(i),
                      result.polynomial(i));
  }
  return result;
}

Ciphertext mod_switch(const RlweContext& context, CiphertextView a) {
  check(context, a);
  if (a.limbs < 2) {
    throw ParameterError("mod_switch needs two limbs or more: the last level has none to drop");
  }
  Ciphertext result(a.size, a.limbs - 1, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::span<u64> kept = result.polynomial(i);
    std::copy_n(a.polynomial(i).begin(), kept.size(), kept.begin());
  }
  return result;
}

}  // namespace ringsmith
