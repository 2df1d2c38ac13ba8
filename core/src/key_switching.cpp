#include "ringsmith/key_switching.h"

#include <optional>

#include "base_conversion.h"
#include "digit_products.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"
#include "scratch.h"
#include "text.h"

namespace ringsmith {
namespace {

// Key switching by primes, up to where the caller divides: the digits of one polynomial, and a key.
class PrimeSwitch {
 public:
  PrimeSwitch(const RlweContext& context, Form form, std::span<const u64> target, std::size_t limbs,
              const KeySwitchKeyView& key)
      : context_(context), coefficients_(form == Form::kNtt ? target.size() : 0) {
    std::span<const u64> coefficients = target;
    if (form == Form::kNtt) {
      for (std::size_t i = 0; i < limbs; ++i) {
        context.rns().ntt(i).inverse(limb_of(target, i, context.degree()),
                                     limb_of(coefficients_.words(), i, context.degree()));
      }
      coefficients = coefficients_.words();
    }
    std::vector<kernels::Digit> digits;
    for (std::size_t index = 0; index < context.digits(limbs); ++index) {
      const Base primes = context.digit(index, limbs);
      const std::size_t begin = primes.front() * context.degree();
      const std::size_t words = primes.size() * context.degree();
      digits.push_back(
          {primes, coefficients.subspan(begin, words),
           form == Form::kNtt ? target.subspan(begin, words) : std::span<const u64>()});
      keys_[0].push_back(key.half(index, 0));
      keys_[1].push_back(key.half(index, 1));
    }
    products_.emplace(context.rns(), std::move(digits));
  }

  // The two sums, plus the ciphertext `raised` times the special primes if one is given, at every
  // prime of the switching base of `limbs` limbs; divided by all those primes but the first `keep`.
  Ciphertext divide(std::size_t limbs, std::size_t keep, Form form,
                    const CiphertextView* raised) const {
    const RnsContext& rns = context_.rns();
    const std::size_t degree = context_.degree();
    const Base base = context_.switching_base(limbs);
    const BaseView drop = BaseView(base).subspan(keep);
    ScratchWords dropped(2 * drop.size() * degree);
    const std::span<u64> halves[] = {dropped.words().first(drop.size() * degree),
                                     dropped.words().last(drop.size() * degree)};
    for (std::size_t i = 0; i < drop.size(); ++i) {
      sums_at(drop[i], raised, limb_of(halves[0], i, degree), limb_of(halves[1], i, degree));
    }
    const kernels::LimbDivider dividers[] = {{rns, drop, Form::kNtt, halves[0]},
                                             {rns, drop, Form::kNtt, halves[1]}};
    Ciphertext result(2, keep, degree);
    for (std::size_t i = 0; i < keep; ++i) {
      const std::span<u64> limbs_out[] = {limb_of(result.polynomial(0), i, degree),
                                          limb_of(result.polynomial(1), i, degree)};
      sums_at(base[i], raised, limbs_out[0], limbs_out[1]);
      for (std::size_t half = 0; half < 2; ++half) {
        if (form == Form::kCoeff) {
          rns.ntt(base[i]).inverse(limbs_out[half]);
        }
        dividers[half].divide(base[i], form, limbs_out[half], limbs_out[half]);
      }
    }
    return result;
  }

 private:
  void sums_at(std::size_t prime, const CiphertextView* raised, std::span<u64> out_0,
               std::span<u64> out_1) const {
    products_->at(prime, keys_[0], keys_[1], out_0, out_1);
    if (raised == nullptr || prime >= raised->limbs) {  // special primes divide what is added
      return;
    }
    const Base base = {prime};
    Base larger = {prime};
    const Base special = context_.special_base();
    larger.insert(larger.end(), special.begin(), special.end());
    ScratchWords product(larger.size() * context_.degree());
    const std::span<u64> outs[] = {out_0, out_1};
    for (std::size_t half = 0; half < 2; ++half) {
      kernels::mod_up_scaled(context_.rns(), base, larger,
                             limb_of(raised->polynomial(half), prime, context_.degree()),
                             product.words());
      kernels::add(context_.rns(), base, outs[half], limb_of(product.words(), 0, context_.degree()),
                   outs[half]);
    }
  }

  const RlweContext& context_;
  ScratchWords coefficients_;
  std::vector<std::span<const u64>> keys_[2];
  std::optional<kernels::DigitProducts> products_;
};

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
  if (key.word_bits == 0) {
    return PrimeSwitch(context, form, target, limbs, key).divide(limbs, limbs, form, nullptr);
  }
  Ciphertext sums = word_products(context, form, target, limbs, key);
  if (form == Form::kCoeff) {
    kernels::intt(context.rns(), context.data_base(limbs), sums.polynomial(0));
    kernels::intt(context.rns(), context.data_base(limbs), sums.polynomial(1));
  }
  return sums;
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
  return PrimeSwitch(context, Form::kNtt, a.polynomial(2), a.limbs, key)
      .divide(a.limbs, a.limbs - 1, Form::kNtt, &a);
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
