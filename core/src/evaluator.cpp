#include "ringsmith/evaluator.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "text.h"

namespace ringsmith {
namespace {

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

Ciphertext copy_of(const RlweContext& context, CiphertextView a) {
  Ciphertext copy(a.size, a.limbs, context.degree());
  std::copy(a.data.begin(), a.data.end(), copy.data.begin());
  return copy;
}

}  // namespace

Ciphertext add(const RlweContext& context, CiphertextView a, CiphertextView b) {
  const Base base = common_base(context, a, b);
  const CiphertextView& shorter = a.size < b.size ? a : b;
  const CiphertextView& longer = a.size < b.size ? b : a;
  Ciphertext sum(longer.size, a.limbs, context.degree());
  for (std::size_t i = 0; i < shorter.size; ++i) {
    kernels::add(context.rns(), base, a.polynomial(i), b.polynomial(i), sum.polynomial(i));
  }
  for (std::size_t i = shorter.size; i < longer.size; ++i) {
    std::ranges::copy(longer.polynomial(i), sum.polynomial(i).begin());
  }
  return sum;
}

Ciphertext subtract(const RlweContext& context, CiphertextView a, CiphertextView b) {
  const Base base = common_base(context, a, b);
  Ciphertext difference(std::max(a.size, b.size), a.limbs, context.degree());
  for (std::size_t i = 0; i < difference.size; ++i) {
    const std::span<u64> out = difference.polynomial(i);
    if (i >= a.size) {
      kernels::negate(context.rns(), base, b.polynomial(i), out);
    } else if (i >= b.size) {
      std::ranges::copy(a.polynomial(i), out.begin());
    } else {
      kernels::subtract(context.rns(), base, a.polynomial(i), b.polynomial(i), out);
    }
  }
  return difference;
}

Ciphertext negate(const RlweContext& context, CiphertextView a) {
  const Base base = checked_base(context, a);
  Ciphertext negated(a.size, a.limbs, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::negate(context.rns(), base, a.polynomial(i), negated.polynomial(i));
  }
  return negated;
}

Ciphertext add_plain(const RlweContext& context, CiphertextView a, std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext sum = copy_of(context, a);
  kernels::add(context.rns(), base, a.polynomial(0), plain, sum.polynomial(0));
  return sum;
}

Ciphertext subtract_plain(const RlweContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext difference = copy_of(context, a);
  kernels::subtract(context.rns(), base, a.polynomial(0), plain, difference.polynomial(0));
  return difference;
}

Ciphertext multiply_plain(const RlweContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext product(a.size, a.limbs, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::multiply(context.rns(), base, a.polynomial(i), plain, product.polynomial(i));
  }
  return product;
}

Ciphertext tensor_product(const RnsContext& context, BaseView base, CiphertextView a,
                          CiphertextView b) {
  Ciphertext product(a.size + b.size - 1, base.size(), context.degree());
  for (std::size_t sum = 0; sum < product.size; ++sum) {
    const std::size_t first = sum < b.size ? 0 : sum - b.size + 1;
    const std::size_t last = std::min(sum, a.size - 1);
    if (first == last) {
      kernels::multiply(context, base, a.polynomial(first), b.polynomial(sum - first),
                        product.polynomial(sum));
      continue;
    }
    std::vector<std::span<const u64>> factors_a;
    std::vector<std::span<const u64>> factors_b;
    for (std::size_t i = first; i <= last; ++i) {
      factors_a.push_back(a.polynomial(i));
      factors_b.push_back(b.polynomial(sum - i));
    }
    kernels::sum_of_products(context, base, factors_a, factors_b, product.polynomial(sum));
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
