#include "ringsmith/key_switching.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "digit_products.h"
#include "divided_products.h"
#include "key_words.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"
#include "ringsmith/precomputed_key.h"

namespace ringsmith {
namespace {

// 0 ... count - 1.
std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Key switching by primes of one polynomial over the data base of `limbs` limbs.
kernels::DigitProducts digit_products(const RlweContext& context, Form form,
                                      std::span<const u64> polynomial, std::size_t limbs,
                                      std::span<const GaloisSwitch> switches) {
  std::vector<Base> digits;
  for (std::size_t index = 0; index < context.digits(limbs); ++index) {
    digits.push_back(context.digit(index, limbs));
  }
  std::vector<kernels::Switching> switchings;
  for (const GaloisSwitch& wanted : switches) {
    kernels::Switching& switching = switchings.emplace_back();
    switching.element = wanted.element;
    switching.key = wanted.key;
    switching.digits = numbers(digits.size());
  }
  return {context.rns(), context.data_base(limbs), form, polynomial, digits, std::move(switchings)};
}

void check_target(const RlweContext& context, std::span<const u64> target, std::size_t limbs,
                  const KeySwitchKeyView& key) {
  const Base base = context.data_base(limbs);
  context.rns().check_size(target.size(), base.size(), "the polynomial to switch");
  check(context, key);
}

// The same, divided by all primes of the switching base but the first `keep`: a ciphertext for each
// switch. `pairs` say what is added to each.
std::vector<Ciphertext> switch_by_primes(const RlweContext& context, Form form,
                                         std::span<const u64> polynomial, std::size_t limbs,
                                         std::span<const GaloisSwitch> switches, std::size_t keep,
                                         std::vector<kernels::DividedPair> pairs) {
  const auto products = digit_products(context, form, polynomial, limbs, switches);
  std::vector<Ciphertext> results;
  for (kernels::DividedPair& pair : pairs) {
    Ciphertext& result = results.emplace_back(2, keep, context.degree());
    pair.out = {result.polynomial(0), result.polynomial(1)};
  }
  kernels::divided_products(context.rns(), products, context.switching_base(limbs), keep, form,
                            pairs);
  return results;
}

// With one key of digits of primes.
Ciphertext switch_by_primes(const RlweContext& context, Form form, std::span<const u64> polynomial,
                            std::size_t limbs, KeySwitchKeyView key, std::size_t keep,
                            const kernels::DividedPair& pair) {
  check_target(context, polynomial, limbs, key);
  const GaloisSwitch only{1, key};
  return std::move(switch_by_primes(context, form, polynomial, limbs, {&only, 1}, keep, {pair})[0]);
}

// apply_galois by keys in digits of primes.
std::vector<Ciphertext> apply_by_primes(const RlweContext& context, Form form, CiphertextView a,
                                        std::span<const GaloisSwitch> switches) {
  std::vector<kernels::DividedPair> pairs;
  for (const GaloisSwitch& wanted : switches) {
    pairs.push_back({.added = {a.polynomial(0)}, .element = wanted.element});
  }
  return switch_by_primes(context, form, a.polynomial(1), a.limbs, switches, a.limbs,
                          std::move(pairs));
}

// Whether a key's products are divided by no special prime: its digits are words or residue digits.
bool undivided(const RlweContext& context, const KeySwitchKeyView& key) {
  return key.word_bits != 0 || context.residue_digits();
}

// The word, or the residue digit, number `index` of coefficients over the data base.
void cut(const RlweContext& context, std::span<const u64> coefficients, BaseView base,
         std::size_t index, std::size_t word_bits, std::span<u64> out) {
  if (word_bits != 0) {
    kernels::decompose(context.rns(), base, base, index, word_bits, coefficients, out);
    return;
  }
  const Base digit = context.digit(index, base.size());
  const std::span<const u64> limbs =
      coefficients.subspan(digit.front() * context.degree(), digit.size() * context.degree());
  kernels::lift_digit(context.rns(), digit, base, limbs, out);
}

// The sums over the words or residue digits of `target`, times the key: two polynomials over the
// data base, in NTT form.
Ciphertext undivided_products(const RlweContext& context, Form form, std::span<const u64> target,
                              std::size_t limbs, KeySwitchKeyView key) {
  const RnsContext& rns = context.rns();
  const Base base = context.data_base(limbs);
  rns.check_canonical(key.data, context.key_base(), "the key-switching key");
  std::vector<u64> coefficients(target.begin(), target.end());
  if (form == Form::kNtt) {
    kernels::intt(rns, base, coefficients);
  }
  const std::size_t count =
      key.word_bits != 0 ? context.words(limbs, key.word_bits) : context.digits(limbs);
  std::vector<std::vector<u64>> digit_words(count, std::vector<u64>(target.size()));
  for (std::size_t index = 0; index < count; ++index) {
    cut(context, coefficients, base, index, key.word_bits, digit_words[index]);
    kernels::ntt(rns, base, digit_words[index]);
  }
  const std::vector<std::span<const u64>> digits(digit_words.begin(), digit_words.end());
  Ciphertext sums(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    kernels::key_inner_product(rns, base, digits, key, numbers(count), half, sums.polynomial(half));
  }
  return sums;
}

// Whether a key lacks primes, and so may lack digits.
bool is_truncated(const RlweContext& context, const KeySwitchKeyView& key) {
  return !key.base.empty() && key.base.size() != context.rns().size();
}

bool has_other_digits(const RlweContext& context, const KeySwitchKeyView& key, std::size_t full) {
  return is_truncated(context, key) ? key.digits < 1 || key.digits > full : key.digits != full;
}

void check_rotated(const RlweContext& context, const CiphertextView& a) {
  check(context, a);
  if (a.size != 2) {
    throw ParameterError(text("a rotation takes a ciphertext of 2 polynomials, this one has ",
                              a.size, ": relinearize it first"));
  }
}

void check_product(const RlweContext& context, const CiphertextView& a, const char* operation) {
  check(context, a);
  if (a.size != 3) {
    throw ParameterError(text(operation, " takes a ciphertext of 3 polynomials, this one has ",
                              a.size, ": relinearize after every multiplication"));
  }
}

}  // namespace

void check(const RlweContext& context, const KeySwitchKeyView& key) {
  check_shape(context, key);
  if (is_truncated(context, key)) {
    throw ParameterError(text("the key-switching key is truncated to ", key.base.size(), " of ",
                              context.rns().size(),
                              " primes, and only graphs take such keys: use the full key"));
  }
}

void check_shape(const RlweContext& context, const KeySwitchKeyView& key) {
  if (key.precomputed != nullptr && context.residue_digits()) {
    throw ParameterError(
        "a precomputed key is divided by special primes, and the parameters have none: use the key "
        "as "
        "it is");
  }
  if (key.precomputed != nullptr && key.word_bits != 0) {
    throw ParameterError(text("a precomputed key is in digits of primes, and words of ",
                              key.word_bits, " bits were asked for: use a key in such words"));
  }
  if (key.precomputed != nullptr && !key.precomputed->is_of(context.rns(), context.rns().size())) {
    throw ParameterError(
        "the precomputed key is of another degree or other primes: precompute the key with the "
        "context "
        "that it is used with");
  }
  if (key.word_bits != 0) {
    const std::size_t words = context.words(context.max_limbs(), key.word_bits);
    if (has_other_digits(context, key, words)) {
      throw ParameterError(text("the key-switching key has ", key.digits, " digits, but words of ",
                                key.word_bits, " bits make ", words, ": make the key for them"));
    }
  } else if (context.special_base().empty() && !context.residue_digits()) {
    throw ParameterError(
        "key switching by digits of primes needs a special prime, and the parameters have none: "
        "use a key in words of word_bits bits, or name dnum for residue digits");
  } else if (has_other_digits(context, key, context.dnum())) {
    throw ParameterError(text("the key-switching key has ", key.digits,
                              " digits, but the parameters", " have dnum = ", context.dnum(),
                              ": make the key for them"));
  }
  if (!key.base.empty() &&
      (std::ranges::adjacent_find(key.base, std::greater_equal()) != key.base.end() ||
       key.base.back() >= context.rns().size())) {
    throw ParameterError(text("the base of the key-switching key is not ascending indices of ",
                              context.rns().size(), " primes: name the primes of its limbs"));
  }
  const std::size_t limbs = key.base.empty() ? context.rns().size() : key.base.size();
  context.rns().check_size(key.data.size(), key.digits * key.halves() * limbs,
                           "the key-switching key");
}

Ciphertext switch_key(const RlweContext& context, Form form, std::span<const u64> target,
                      std::size_t limbs, KeySwitchKeyView key) {
  if (!undivided(context, key)) {
    return switch_by_primes(context, form, target, limbs, key, limbs, {});
  }
  check_target(context, target, limbs, key);
  Ciphertext sums = undivided_products(context, form, target, limbs, key);
  if (form == Form::kCoeff) {
    kernels::intt(context.rns(), context.data_base(limbs), sums.polynomial(0));
    kernels::intt(context.rns(), context.data_base(limbs), sums.polynomial(1));
  }
  return sums;
}

Ciphertext relinearize(const RlweContext& context, Form form, CiphertextView a,
                       KeySwitchKeyView key) {
  check_product(context, a, "relinearize");
  if (!undivided(context, key)) {
    const kernels::DividedPair pair{.added = {a.polynomial(0), a.polynomial(1)}};
    return switch_by_primes(context, form, a.polynomial(2), a.limbs, key, a.limbs, pair);
  }
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
  if (undivided(context, key)) {
    throw ParameterError(
        "relinearize_rescale needs a key with a special prime, in digits of primes");
  }
  const kernels::DividedPair pair{.raised = {a.polynomial(0), a.polynomial(1)},
                                  .raised_base = context.data_base(a.limbs)};
  return switch_by_primes(context, Form::kNtt, a.polynomial(2), a.limbs, key, a.limbs - 1, pair);
}

Ciphertext apply_galois(const RlweContext& context, Form form, CiphertextView a, u64 element,
                        KeySwitchKeyView key) {
  check_rotated(context, a);
  if (!undivided(context, key)) {
    check(context, key);
    const GaloisSwitch only{element, key};
    return std::move(apply_by_primes(context, form, a, {&only, 1})[0]);
  }
  const Base base = context.data_base(a.limbs);
  ScratchWords moved(a.limbs * context.degree());
  kernels::automorph(context.rns(), base, form, element, a.polynomial(1), moved.words());
  Ciphertext result = switch_key(context, form, moved.words(), a.limbs, key);
  kernels::automorph(context.rns(), base, form, element, a.polynomial(0), moved.words());
  kernels::add(context.rns(), base, moved.words(), result.polynomial(0), result.polynomial(0));
  return result;
}

std::vector<Ciphertext> apply_galois_many(const RlweContext& context, Form form, CiphertextView a,
                                          std::span<const GaloisSwitch> switches) {
  check_rotated(context, a);
  for (const GaloisSwitch& wanted : switches) {
    check(context, wanted.key);
  }
  if (switches.size() < 2 || std::ranges::any_of(switches, [&](const GaloisSwitch& wanted) {
        return undivided(context, wanted.key);  // the words of -x are no permutation of those of x
      })) {
    std::vector<Ciphertext> results;
    for (const GaloisSwitch& wanted : switches) {
      results.push_back(apply_galois(context, form, a, wanted.element, wanted.key));
    }
    return results;
  }
  return apply_by_primes(context, form, a, switches);
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
