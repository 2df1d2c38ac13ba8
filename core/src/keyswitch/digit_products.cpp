#include "digit_products.h"

#include <algorithm>
#include <utility>

#include "platform/parallel.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ring/base_conversion.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/threads.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

// Words between the ModUp results of digits: limbs are powers of two apart, and the same words of
// all digits would share one set of the caches. A page and a cache line of offset avoid that.
constexpr std::size_t kStagger = 4096 + 8;

// The transform of words below `bound`, plus the offset, as a digit of key_products.
void forward_digit(const NttTables& tables, std::span<const u64> in, u64 bound, u64 offset,
                   std::span<u64> out) {
  tables.kernels().forward_digit(tables.plan(), in.data(), bound, offset, out.data());
}

// The widest prime of a digit with a sign mask: its words, below 2q, and an offset are below 2^62.
constexpr int kSignMaskBits = 60;

// The automorphism of the polynomial, where a single switching by a key that is not precomputed for
// it has one: then the digits of this are switched by element 1. Else nothing.
ScratchVector moved_alone(const RnsContext& context, BaseView base, Form form,
                          std::span<const u64> polynomial, std::vector<Switching>& switchings) {
  context.check_size(polynomial.size(), base.size(), "the polynomial to switch");
  ScratchVector moved;
  if (switchings.size() == 1 && switchings[0].element != 1 && !is_precomputed(switchings[0])) {
    moved.resize(polynomial.size());
    automorph(context, base, form, switchings[0].element, polynomial, moved);
    switchings[0].element = 1;
  }
  return moved;
}

bool is_own(const DigitProducts::Digit& digit, std::size_t prime) {
  return std::ranges::find(digit.primes, prime) != digit.primes.end();
}

}  // namespace

DigitProducts::DigitProducts(const RnsContext& context, BaseView base, Form form,
                             std::span<const u64> polynomial, std::span<const Base> digits,
                             std::vector<Switching> switchings)
    : context_(context),
      form_(form),
      moved_(moved_alone(context, base, form, polynomial, switchings)),
      multiplier_(context, std::move(switchings)) {
  if (digits.empty()) {
    throw ParameterError("there is no digit to multiply with a key");
  }
  for (const Switching& switching : multiplier_.switchings()) {
    if (switching.digits.size() != digits.size()) {
      throw ParameterError(text("a key of ", switching.digits.size(),
                                " digits does not fit a polynomial of ", digits.size(), " digits"));
    }
  }
  if (!moved_.empty()) {
    polynomial = moved_;
  }
  const std::vector<Switching>& all = multiplier_.switchings();
  sign_masks_ = all.size() == 1 && multiplier_.moves() &&
                std::ranges::all_of(digits, [&](const Base& primes) {
                  return primes.size() == 1 && context.modulus(primes[0]).bits() <= kSignMaskBits;
                });
  cut(base, polynomial, digits);
  if (!multiplier_.moves()) {
    return;
  }
  for (const Switching& switching : all) {
    levels_.push_back({switching.digits, {digits.begin(), digits.end()}});
  }
  if (sign_masks_) {
    mask_signs();
    return;
  }
  parallel_for(digits_.size(), digits_[0].coefficients.size(), [&](std::size_t i) {
    digits_[i].has_zero = std::ranges::count(digits_[i].coefficients, u64{0}) != 0;
  });
}

void DigitProducts::cut(BaseView base, std::span<const u64> polynomial,
                        std::span<const Base> digits) {
  const std::size_t degree = context_.degree();
  const auto is_copied = [this](const Base& primes) {
    return form_ == Form::kNtt || sign_masks_ || primes.size() > 1;
  };
  const bool copies = std::ranges::any_of(digits, is_copied);
  coefficients_.resize(copies ? polynomial.size() : 0);
  for (const Base& primes : digits) {
    const auto found = std::search(base.begin(), base.end(), primes.begin(), primes.end());
    if (primes.empty() || found == base.end()) {
      throw ParameterError(
          "a digit has at least one prime, and they follow each other in the base");
    }
    const std::size_t begin = static_cast<std::size_t>(found - base.begin()) * degree;
    const std::span<const u64> own = polynomial.subspan(begin, primes.size() * degree);
    const bool copied = is_copied(primes);
    const std::span<u64> copy =
        std::span<u64>(coefficients_).subspan(begin * copied, own.size() * copied);
    digits_.push_back({primes, own, copied ? copy : own, copy});
  }
  parallel_for(digits_.size(), kTransformPasses * digits_[0].own.size(), [&](std::size_t index) {
    const Digit& digit = digits_[index];
    if (digit.copy.empty()) {
      return;
    }
    for (std::size_t i = 0; i < digit.primes.size(); ++i) {
      const std::span<const u64> own = limb_of(digit.own, i, degree);
      const std::span<u64> copy = limb_of(digit.copy, i, degree);
      if (form_ == Form::kNtt) {
        context_.ntt(digit.primes[i]).inverse(own, copy);
      } else {
        std::ranges::copy(own, copy.begin());
      }
    }
    if (digit.primes.size() > 1) {
      divide_by_complements(context_, digit.primes, digit.copy);
    }
  });
}

u64 DigitProducts::negation(const Digit& digit, std::size_t prime) const {
  const Modulus& modulus = context_.modulus(prime);
  return modulus.multiply(digit.primes.size(), product(context_, digit.primes, modulus));
}

void DigitProducts::convert(const Digit& digit, std::span<const u64> coefficients,
                            std::span<const Raised> wanted) const {
  if (digit.primes.size() == 1) {
    const u64 source = (sign_masks_ ? 2 : 1) * context_.modulus(digit.primes[0]).value();
    for (const auto& [prime, offset, words] : wanted) {
      forward_digit(context_.ntt(prime), coefficients, source + offset, offset, words);
    }
    return;
  }
  std::vector<Target> targets;
  for (const auto& [prime, offset, words] : wanted) {
    targets.push_back({context_.modulus(prime), offset, words});
  }
  combine(context_, digit.primes, coefficients, targets);
  for (const auto& [prime, offset, words] : wanted) {
    const NttTables& tables = context_.ntt(prime);
    forward_digit(tables, words, tables.modulus().value(), 0, words);
  }
}

void DigitProducts::raise(std::size_t index, BaseView primes, std::span<const std::span<u64>> limbs,
                          std::span<Factors> factors) const {
  const Digit& digit = digits_[index];
  std::vector<Raised> wanted;
  for (std::size_t i = 0; i < primes.size(); ++i) {
    const NttTables& tables = context_.ntt(primes[i]);
    const Modulus& modulus = tables.modulus();
    const std::span<u64> to = limbs[i];
    const auto own = std::ranges::find(digit.primes, primes[i]);
    factors[i].values[index] = to.data();
    if (own == digit.primes.end()) {
      wanted.push_back({primes[i], !multiplier_.moves() ? 0 : offset(digit, primes[i]), to});
      continue;
    }
    const auto position = static_cast<std::size_t>(own - digit.primes.begin());
    const std::span<const u64> limb = limb_of(digit.own, position, context_.degree());
    if (form_ != Form::kNtt) {
      forward_digit(tables, limb, modulus.value(), 0, to);
    } else if (tables.kernels().digit != nullptr) {  // NTT(INTT(x)) = x
      tables.kernels().digit(tables.plan().prime, limb.data(), to.data(), limb.size());
    } else {
      factors[i].values[index] = limb.data();
    }
  }
  convert(digit, digit.coefficients, wanted);
}

void DigitProducts::mask_signs() {
  parallel_for(digits_.size(), digits_[0].copy.size(), [&](std::size_t i) {
    const std::span<u64> words = digits_[i].copy;
    simd::kernel_set().mask_signs(context_.modulus(digits_[i].primes[0]).value(),
                                  multiplier_.switchings()[0].element, words.data(), words.data(),
                                  words.size());
  });
}

u64 DigitProducts::offset(const Digit& digit, std::size_t prime) const {
  const Modulus& modulus = context_.modulus(prime);
  if (sign_masks_) {
    return modulus.negate(negation(digit, prime));
  }
  return modulus.negate(modulus.multiply(modulus.inverse(2), negation(digit, prime)));
}

PrecomputedKey::Shift DigitProducts::shift(std::size_t prime, std::size_t index) const {
  std::vector<u64> factors(digits_.size());
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    factors[i] = negation(digits_[i], prime);
  }
  return multiplier_.switchings()[index].key.precomputed->shift(levels_[index], prime, factors);
}

std::size_t DigitProducts::words_at_prime() const {
  return kTransformPasses * digits_.size() * context_.degree();
}

void DigitProducts::at(BaseView primes, std::span<const LimbPair> out) const {
  const std::size_t words = primes.size() * context_.degree();
  const std::size_t stride = words + kStagger;
  ScratchWords raised(digits_.size() * stride);
  std::vector<Factors> factors(primes.size(), Factors(digits_.size()));
  parallel_for(digits_.size(), kTransformPasses * words, [&](std::size_t i) {
    const std::span<u64> own = raised.words().subspan(i * stride, words);
    std::vector<std::span<u64>> limbs;
    for (std::size_t position = 0; position < primes.size(); ++position) {
      limbs.push_back(limb_of(own, position, context_.degree()));
    }
    raise(i, primes, limbs, factors);
  });
  for (std::size_t position = 0; position < primes.size(); ++position) {
    multiply_raised(
        primes[position], std::move(factors[position]),
        out.subspan(position * multiplier_.switchings().size(), multiplier_.switchings().size()));
  }
}

void DigitProducts::raise_to(std::size_t index, BaseView primes,
                             std::span<const std::span<u64>> limbs) const {
  std::vector<Factors> factors(primes.size(), Factors(digits_.size()));
  raise(index, primes, limbs, factors);
  for (std::size_t i = 0; i < primes.size(); ++i) {
    const u64* const value = factors[i].values[index];
    if (value != limbs[i].data()) {
      std::copy_n(value, limbs[i].size(), limbs[i].data());
    }
  }
}

void DigitProducts::multiply_raised(std::size_t prime, Factors factors,
                                    std::span<const LimbPair> out) const {
  const std::size_t degree = context_.degree();
  const bool hoisted = multiplier_.moves() && !sign_masks_;
  const NttTables& tables = context_.ntt(prime);
  const bool scales = tables.kernels().scales;
  const bool shifts = hoisted && !std::ranges::all_of(multiplier_.switchings(), is_precomputed);
  const std::size_t stride = degree + kStagger;
  ScratchWords added(shifts && !scales ? digits_.size() * stride : 0);
  parallel_for(shifts ? digits_.size() : 0, degree, [&](std::size_t i) {
    if (digits_[i].has_zero || is_own(digits_[i], prime)) {
      return;
    }
    const ShoupFactor factor(negation(digits_[i], prime), tables.modulus());
    factors.scales[i] = {factor.factor, factor.quotient};
    if (!scales) {
      const std::span<u64> to = added.words().subspan(i * stride, degree);
      tables.kernels().scale(tables.plan().prime, tables.halves().data(), factors.scales[i],
                             to.data(), degree);
      if (tables.kernels().digit != nullptr) {
        tables.kernels().digit(tables.plan().prime, to.data(), to.data(), degree);
      }
      factors.addends[i] = to.data();
    }
  });
  std::vector<OwnFactors> own(multiplier_.switchings().size());
  if (hoisted) {
    parallel_for(multiplier_.switchings().size(), kTransformPasses * degree,
                 [&](std::size_t i) { own[i] = own_factors(prime, factors, i); });
  }
  multiplier_.multiply(prime, factors, own, out);
}

OwnFactors DigitProducts::own_factors(std::size_t prime, const Factors& factors,
                                      std::size_t index) const {
  OwnFactors own;
  if (is_precomputed(multiplier_.switchings()[index])) {
    own.shift = shift(prime, index);
  }
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    if (!digits_[i].has_zero || is_own(digits_[i], prime)) {
      continue;
    }
    if (own.values.empty()) {
      own.values = factors.values;
    }
    own.values[i] = own.words.emplace_back(raised_again(prime, digits_[i], index)).data();
  }
  return own;
}

Words DigitProducts::raised_again(std::size_t prime, const Digit& digit, std::size_t index) const {
  const std::size_t degree = context_.degree();
  const u64 element = multiplier_.switchings()[index].element;
  ScratchWords moved(digit.coefficients.size());
  automorph(context_, digit.primes, Form::kCoeff, element, digit.coefficients, moved.words());
  ScratchWords raised(degree);
  const bool shifted = is_precomputed(multiplier_.switchings()[index]);
  const Raised again{prime, shifted ? offset(digit, prime) : 0, raised.words()};
  convert(digit, moved.words(), {&again, 1});
  Words back(degree);  // since what is multiplied is moved again
  NttPermutation(context_.log_degree(), inverse_element(element, degree))
      .apply(raised.words(), back);
  return back;
}

}  // namespace ringsmith::kernels
