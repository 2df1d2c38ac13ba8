#include "ringsmith/bfv_evaluator.h"

#include <algorithm>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/evaluator.h"
#include "ringsmith/kernels.h"
#include "ringsmith/key_switching.h"

namespace ringsmith {
namespace {

// The data primes of a ciphertext's level.
Base checked_base(const BfvContext& context, const CiphertextView& ciphertext) {
  check(context.rlwe(), ciphertext);
  return context.data_base(ciphertext.limbs);
}

// Every polynomial lifted to `base` and transformed.
Ciphertext lifted(const BfvContext& context, BaseView base, Multiplication variant,
                  CiphertextView a) {
  Ciphertext result(a.size, base.size(), context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::span<u64> words = result.polynomial(i);
    kernels::lift(context.rns(), base.first(a.limbs), base, variant, a.polynomial(i), words);
    kernels::ntt(context.rns(), base, words);
  }
  return result;
}

// From NTT form over `base` to coefficients over its first `limbs` primes.
Ciphertext scaled(const BfvContext& context, BaseView base, Multiplication variant,
                  Ciphertext product, std::size_t limbs) {
  Ciphertext result(product.size, limbs, context.degree());
  for (std::size_t i = 0; i < product.size; ++i) {
    const std::span<u64> words = product.polynomial(i);
    kernels::intt(context.rns(), base, words);
    kernels::scale(context.rns(), base, base.first(limbs), context.plain_modulus().value(), variant,
                   words, result.polynomial(i));
  }
  return result;
}

// The data primes of a level and the extension: where operands with that number of polynomials are
// multiplied.
Base product_base(const BfvContext& context, std::size_t limbs, Multiplication variant,
                  std::size_t size) {
  Base base = context.data_base(limbs);
  const Base extension = context.extension_base(limbs, variant, size);
  base.insert(base.end(), extension.begin(), extension.end());
  return base;
}

}  // namespace

Ciphertext bfv_add_plain(const BfvContext& context, CiphertextView a, std::span<const u64> plain) {
  return add_plain(context.rlwe(), a, scale_plain(context, plain, a.limbs));
}

Ciphertext bfv_subtract_plain(const BfvContext& context, CiphertextView a,
                              std::span<const u64> plain) {
  return subtract_plain(context.rlwe(), a, scale_plain(context, plain, a.limbs));
}

Ciphertext bfv_multiply_plain(const BfvContext& context, CiphertextView a,
                              std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  std::vector<u64> factor = lift_plain(context, plain, a.limbs);
  kernels::ntt(context.rns(), base, factor);
  Ciphertext product(a.size, a.limbs, context.degree());
  std::ranges::copy(a.data, product.data.begin());
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::span<u64> words = product.polynomial(i);
    kernels::ntt(context.rns(), base, words);
    kernels::multiply(context.rns(), base, words, factor, words);
    kernels::intt(context.rns(), base, words);
  }
  return product;
}

Ciphertext bfv_multiply(const BfvContext& context, CiphertextView a, CiphertextView b,
                        Multiplication variant) {
  static_cast<void>(checked_base(context, a));
  static_cast<void>(checked_base(context, b));
  if (a.limbs != b.limbs) {
    throw ParameterError(text("the operands have ", a.limbs, " and ", b.limbs,
                              " limbs: bring both to one level with mod_switch"));
  }
  const Base base = product_base(context, a.limbs, variant, std::min(a.size, b.size));
  return scaled(context, base, variant,
                tensor_product(context.rns(), base, lifted(context, base, variant, a).view(),
                               lifted(context, base, variant, b).view()),
                a.limbs);
}

Ciphertext bfv_square(const BfvContext& context, CiphertextView a, Multiplication variant) {
  static_cast<void>(checked_base(context, a));
  const Base base = product_base(context, a.limbs, variant, a.size);
  const Ciphertext factor = lifted(context, base, variant, a);
  return scaled(context, base, variant,
                tensor_product(context.rns(), base, factor.view(), factor.view()), a.limbs);
}

Ciphertext bfv_mod_switch(const BfvContext& context, CiphertextView a) {
  check(context.rlwe(), a);
  if (a.limbs <= context.min_limbs()) {
    throw ParameterError(text("mod_switch needs more than ", context.min_limbs(),
                              " limbs: with fewer, q would not exceed the plain modulus"));
  }
  return rescale(context.rlwe(), Form::kCoeff, a);
}

}  // namespace ringsmith
