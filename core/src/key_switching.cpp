#include "ringsmith/key_switching.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"
#include "text.h"

namespace ringsmith {
namespace {

// The sums over the digits of `target`, times the key, before the division by the special primes:
// two polynomials over the switching base, in NTT form.
Ciphertext prime_products(const RlweContext& context, Form form, std::span<const u64> target,
                          std::size_t limbs, KeySwitchKeyView key) {
  const RnsContext& rns = context.rns();
  const std::size_t degree = context.degree();
  const Base switching_base = context.switching_base(limbs);
  std::vector<u64> coefficients(target.begin(), target.end());
  if (form == Form::kNtt) {
    kernels::intt(rns, context.data_base(limbs), coefficients);
  }

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
      const bool own = digit.front() <= prime[0] && prime[0] <= digit.back();
      if (own && form == Form::kNtt) {  // NTT(INTT(x)) = x
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

// The sums over the words of `target`, times the key: two polynomials over the data base, in NTT
// form.
Ciphertext word_products(const RlweContext& context, Form form, std::span<const u64> target,
                         std::size_t limbs, KeySwitchKeyView key) {
  const RnsContext& rns = context.rns();
  const Base base = context.data_base(limbs);
  std::vector<u64> coefficients(target.begin(), target.end());
  if (form == Form::kNtt) {
    kernels::intt(rns, base, coefficients);
  }
  const std::size_t count = context.words(limbs, key.word_bits);
  std::vector<std::vector<u64>> digit_words(count, std::vector<u64>(target.size()));
  for (std::size_t index = 0; index < count; ++index) {
    kernels::decompose(rns, base, base, index, key.word_bits, coefficients, digit_words[index]);
    kernels::ntt(rns, base, digit_words[index]);
  }
  const std::vector<std::span<const u64>> digits(digit_words.begin(), digit_words.end());
  std::vector<std::span<const u64>> keys(count);
  Ciphertext sums(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t index = 0; index < count; ++index) {
      keys[index] = key.half(index, half);
    }
    kernels::ksk_inner_product(rns, base, digits, keys, sums.polynomial(half));
  }
  return sums;
}

void check_target(const RlweContext& context, std::span<const u64> target, std::size_t limbs,
                  const KeySwitchKeyView& key) {
  const Base base = context.data_base(limbs);
  context.rns().check_size(target.size(), base.size(), "the polynomial to switch");
  check(context, key);
}

void check_product(const RlweContext& context, const CiphertextView& a, const char* operation) {
  check(context, a);
  if (a.size != 3) {
    throw ParameterError(text(operation, " takes a ciphertext of 3 polynomials, this one has ",
                              a.size, ": relinearize after every multiplication"));
  }
}

}  // namespace

Ciphertext switch_key(const RlweContext& context, Form form, std::span<const u64> target,
                      std::size_t limbs, KeySwitchKeyView key) {
  check_target(context, target, limbs, key);
  const RnsContext& rns = context.rns();
  const bool by_words = key.word_bits != 0;
  Ciphertext sums = by_words ? word_products(context, form, target, limbs, key)
                             : prime_products(context, form, target, limbs, key);
  const Base base = by_words ? context.data_base(limbs) : context.switching_base(limbs);
  if (form == Form::kCoeff) {
    kernels::intt(rns, base, sums.polynomial(0));
    kernels::intt(rns, base, sums.polynomial(1));
  }
  if (by_words) {
    return sums;
  }
  Ciphertext result(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    kernels::mod_down(rns, base, context.special_base(), form, sums.polynomial(half),
                      result.polynomial(half));
  }
  return result;
}

Ciphertext relinearize(const RlweContext& context, Form form, CiphertextView a,
                       KeySwitchKeyView key) {
  check_product(context, a, "relinearize");
  Ciphertext result = switch_key(context, form, a.polynomial(2), a.limbs, key);
  for (std::size_t i = 0; i < result.size; ++i) {
    kernels::add(context.rns(), context.data_base(a.limbs), a.polynomial(i), result.polynomial(i),
                 result.polynomial(i));
  }
  return result;
}

Ciphertext relinearize_rescale(const RlweContext& context, CiphertextView a, KeySwitchKeyView key) {
  check_product(context, a, "relinearize_rescale");
  if (a.limbs < 2) {
    throw ParameterError(
        "relinearize_rescale needs two limbs or more: the last level has no prime to divide by");
  }
  if (key.word_bits != 0) {
    throw ParameterError("relinearize_rescale needs a key in digits of primes, not of words");
  }
  check_target(context, a.polynomial(2), a.limbs, key);
  const Base switching_base = context.switching_base(a.limbs);
  const BaseView drop = BaseView(switching_base).subspan(a.limbs - 1);
  Ciphertext sums = prime_products(context, Form::kNtt, a.polynomial(2), a.limbs, key);
  Ciphertext result(2, a.limbs - 1, context.degree());
  std::vector<u64> raised(switching_base.size() * context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    const std::span<u64> sum = sums.polynomial(half);
    kernels::mod_up_scaled(context.rns(), context.data_base(a.limbs), switching_base,
                           a.polynomial(half), raised);
    kernels::add(context.rns(), switching_base, sum, raised, sum);
    kernels::mod_down(context.rns(), switching_base, drop, Form::kNtt, sum,
                      result.polynomial(half));
  }
  return result;
}

Ciphertext apply_galois(const RlweContext& context, Form form, CiphertextView a, u64 element,
                        KeySwitchKeyView key) {
  check(context, a);
  if (a.size != 2) {
    throw ParameterError(text("a rotation takes a ciphertext of 2 polynomials, this one has ",
                              a.size, ": relinearize it first"));
  }
  const Base base = context.data_base(a.limbs);
  std::vector<u64> moved(a.limbs * context.degree());
  kernels::automorph(context.rns(), base, form, element, a.polynomial(1), moved);
  Ciphertext result = switch_key(context, form, moved, a.limbs, key);
  kernels::automorph(context.rns(), base, form, element, a.polynomial(0), moved);
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

}  // namespace ringsmith
