#include "ringsmith/evaluator.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "text.h"

namespace ringsmith {
namespace {

Base checked_base(const CkksContext& context, const CiphertextView& ciphertext) {
  check(context, ciphertext);
  return context.data_base(ciphertext.limbs);
}

Base common_base(const CkksContext& context, const CiphertextView& a, const CiphertextView& b) {
  check(context, b);
  if (a.limbs != b.limbs) {
    throw ParameterError(text("the operands have ", a.limbs, " and ", b.limbs,
                              " limbs: bring both to one level with mod_switch or rescale"));
  }
  return checked_base(context, a);
}

Ciphertext copy_of(const CkksContext& context, CiphertextView a) {
  Ciphertext copy(a.size, a.limbs, context.degree());
  std::copy(a.data.begin(), a.data.end(), copy.data.begin());
  return copy;
}

// The sums over the digits of `target`, times the key, before the division by the special primes:
// two polynomials over the switching base.
Ciphertext key_products(const CkksContext& context, std::span<const u64> target, std::size_t limbs,
                        KeySwitchKeyView key) {
  const RnsContext& rns = context.rns();
  const std::size_t degree = context.degree();
  const Base switching_base = context.switching_base(limbs);
  rns.check_size(target.size(), limbs, "the polynomial to switch");
  check(context, key);

  std::vector<u64> coefficients(target.begin(), target.end());
  kernels::intt(rns, context.data_base(limbs), coefficients);

  // One prime of the switching base at a time: only that prime's limb of every digit is in memory.
  const std::size_t count = context.digits(limbs);
  std::vector<u64> digit_words(count * degree);
  std::vector<std::span<const u64>> digits(count);
  std::vector<std::span<const u64>> keys(count);
  Ciphertext sums(2, switching_base.size(), degree);
  for (std::size_t i = 0; i < switching_base.size(); ++i) {
    const Base prime = {switching_base[i]};
    for (std::size_t index = 0; index < count; ++index) {
      const Base digit = context.digit(index, limbs);
      if (digit.front() <= prime[0] && prime[0] <= digit.back()) {  // NTT(INTT(x)) = x
        digits[index] = limb_of(target, prime[0], degree);
        continue;
      }
      const std::span<u64> words = limb_of(std::span<u64>(digit_words), index, degree);
      kernels::mod_up(
          rns, digit, prime,
          std::span<const u64>(coefficients).subspan(digit.front() * degree, digit.size() * degree),
          words);
      kernels::ntt(rns, prime, words);
      digits[index] = words;
    }
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t index = 0; index < count; ++index) {
        keys[index] = key.half(index, half);
      }
      kernels::ksk_inner_product(rns, prime, digits, keys,
                                 limb_of(sums.polynomial(half), i, degree));
    }
  }
  return sums;
}

void check_product(const CiphertextView& a, const char* operation) {
  if (a.size != 3) {
    throw ParameterError(text(operation, " takes a ciphertext of 3 polynomials, this one has ",
                              a.size, ": relinearize after every multiplication"));
  }
}

}  // namespace

Ciphertext add(const CkksContext& context, CiphertextView a, CiphertextView b) {
  const Base base = common_base(context, a, b);
  const CiphertextView& shorter = a.size < b.size ? a : b;
  Ciphertext sum = copy_of(context, a.size < b.size ? b : a);
  for (std::size_t i = 0; i < shorter.size; ++i) {
    kernels::add(context.rns(), base, sum.polynomial(i), shorter.polynomial(i), sum.polynomial(i));
  }
  return sum;
}

Ciphertext subtract(const CkksContext& context, CiphertextView a, CiphertextView b) {
  return add(context, a, negate(context, b).view());
}

Ciphertext negate(const CkksContext& context, CiphertextView a) {
  const Base base = checked_base(context, a);
  Ciphertext negated(a.size, a.limbs, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::negate(context.rns(), base, a.polynomial(i), negated.polynomial(i));
  }
  return negated;
}

Ciphertext add_plain(const CkksContext& context, CiphertextView a, std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext sum = copy_of(context, a);
  kernels::add(context.rns(), base, a.polynomial(0), plain, sum.polynomial(0));
  return sum;
}

Ciphertext subtract_plain(const CkksContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext difference = copy_of(context, a);
  kernels::subtract(context.rns(), base, a.polynomial(0), plain, difference.polynomial(0));
  return difference;
}

Ciphertext multiply_plain(const CkksContext& context, CiphertextView a,
                          std::span<const u64> plain) {
  const Base base = checked_base(context, a);
  Ciphertext product(a.size, a.limbs, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::multiply(context.rns(), base, a.polynomial(i), plain, product.polynomial(i));
  }
  return product;
}

Ciphertext multiply(const CkksContext& context, CiphertextView a, CiphertextView b) {
  const Base base = common_base(context, a, b);
  Ciphertext product(a.size + b.size - 1, a.limbs, context.degree());
  std::vector<u64> term(a.limbs * context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    for (std::size_t j = 0; j < b.size; ++j) {
      const std::span<u64> sum = product.polynomial(i + j);
      kernels::multiply(context.rns(), base, a.polynomial(i), b.polynomial(j), term);
      kernels::add(context.rns(), base, sum, term, sum);
    }
  }
  return product;
}

Ciphertext square(const CkksContext& context, CiphertextView a) { return multiply(context, a, a); }

Ciphertext relinearize(const CkksContext& context, CiphertextView a, KeySwitchKeyView key) {
  const Base base = checked_base(context, a);
  check_product(a, "relinearize");
  Ciphertext result = switch_key(context, a.polynomial(2), a.limbs, key);
  for (std::size_t i = 0; i < result.size; ++i) {
    kernels::add(context.rns(), base, a.polynomial(i), result.polynomial(i), result.polynomial(i));
  }
  return result;
}

Ciphertext relinearize_rescale(const CkksContext& context, CiphertextView a, KeySwitchKeyView key) {
  const Base base = checked_base(context, a);
  check_product(a, "relinearize_rescale");
  if (a.limbs < 2) {
    throw ParameterError(
        "relinearize_rescale needs two limbs or more: the last level has no prime to divide by");
  }
  const Base switching_base = context.switching_base(a.limbs);
  const BaseView drop = BaseView(switching_base).subspan(a.limbs - 1);
  Ciphertext sums = key_products(context, a.polynomial(2), a.limbs, key);
  Ciphertext result(2, a.limbs - 1, context.degree());
  std::vector<u64> raised(switching_base.size() * context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    const std::span<u64> sum = sums.polynomial(half);
    kernels::mod_up_scaled(context.rns(), base, switching_base, a.polynomial(half), raised);
    kernels::add(context.rns(), switching_base, sum, raised, sum);
    kernels::mod_down(context.rns(), switching_base, drop, Form::kNtt, sum,
                      result.polynomial(half));
  }
  return result;
}

Ciphertext rescale(const CkksContext& context, CiphertextView a) {
  const Base base = checked_base(context, a);
  if (a.limbs < 2) {
    throw ParameterError(
        "rescale needs two limbs or more: the last level has no prime to divide by");
  }
  Ciphertext result(a.size, a.limbs - 1, context.degree());
  for (std::size_t i = 0; i < a.size; ++i) {
    kernels::mod_down(context.rns(), base, BaseView(base).last(1), Form::kNtt, a.polynomial(i),
                      result.polynomial(i));
  }
  return result;
}

Ciphertext mod_switch(const CkksContext& context, CiphertextView a) {
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

Ciphertext apply_galois(const CkksContext& context, CiphertextView a, u64 element,
                        KeySwitchKeyView key) {
  const Base base = checked_base(context, a);
  if (a.size != 2) {
    throw ParameterError(text("a rotation takes a ciphertext of 2 polynomials, this one has ",
                              a.size, ": relinearize it first"));
  }
  const std::size_t words = a.limbs * context.degree();
  std::vector<u64> moved(words);
  kernels::automorph(context.rns(), base, Form::kNtt, element, a.polynomial(1), moved);
  Ciphertext result = switch_key(context, moved, a.limbs, key);
  kernels::automorph(context.rns(), base, Form::kNtt, element, a.polynomial(0), moved);
  kernels::add(context.rns(), base, moved, result.polynomial(0), result.polynomial(0));
  return result;
}

u64 galois_element(std::size_t degree, i64 steps) {
  const i64 slots = static_cast<i64>(degree / 2);
  if (steps == 0 || steps <= -slots || steps >= slots) {
    throw ParameterError(text("cannot rotate by ", steps, " steps: with N = ", degree,
                              " a rotation is by 1 ... ", slots - 1, " steps, either way"));
  }
  u64 element = 1;
  for (i64 i = (steps + slots) % slots; i > 0; --i) {
    element = (element * 3) & (2 * degree - 1);
  }
  return element;
}

Ciphertext switch_key(const CkksContext& context, std::span<const u64> target, std::size_t limbs,
                      KeySwitchKeyView key) {
  const Base base = context.switching_base(limbs);
  const Ciphertext sums = key_products(context, target, limbs, key);
  Ciphertext result(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    kernels::mod_down(context.rns(), base, context.special_base(), Form::kNtt,
                      sums.view().polynomial(half), result.polynomial(half));
  }
  return result;
}

}  // namespace ringsmith
