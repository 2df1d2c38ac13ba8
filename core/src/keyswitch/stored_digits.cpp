#include "stored_digits.h"

#include <algorithm>
#include <utility>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {

void StoredDigits::store(const RnsContext& context, std::size_t digit,
                         std::span<const u64> coefficients, std::span<u64> words) const {
  for (std::size_t i = 0; i < base_.size(); ++i) {
    const NttTables& tables = context.ntt(base_[i]);
    tables.kernels().forward_digit(tables.plan(), limb_of(coefficients, i, degree_).data(),
                                   tables.modulus().value(), 0, limb(words, digit, i).data());
  }
}

StoredProducts::StoredProducts(const RnsContext& context, const StoredDigits& layout,
                               std::span<const u64> digits, std::vector<Switching> switchings)
    : context_(context),
      layout_(layout),
      digits_(digits),
      multiplier_(context, std::move(switchings)),
      positions_(context.size()) {
  for (const Switching& switching : multiplier_.switchings()) {
    if (switching.digits.size() != layout.count()) {
      throw ParameterError(text("a key of ", switching.digits.size(), " digits does not fit ",
                                layout.count(), " digits"));
    }
  }
  if (digits.size() != layout.words()) {
    throw ParameterError(text("stored digits have ", digits.size(), " words: they have ",
                              layout.words(), " with their gaps"));
  }
  for (std::size_t i = 0; i < layout.base().size(); ++i) {
    positions_[layout.base()[i]] = i;
  }
}

std::size_t StoredProducts::words_at_prime() const {
  return 3 * multiplier_.switchings().size() * layout_.count() * context_.degree();
}

void StoredProducts::at(BaseView primes, std::span<const LimbPair> out) const {
  const std::size_t switchings = multiplier_.switchings().size();
  for (std::size_t i = 0; i < primes.size(); ++i) {
    multiplier_.multiply(primes[i], factors_at(primes[i]), {},
                         out.subspan(i * switchings, switchings));
  }
}

void StoredProducts::run_at(std::size_t prime, std::size_t begin,
                            std::span<const LimbPair> out) const {
  if (out[0][0].size() == context_.degree()) {
    multiplier_.multiply(prime, factors_at(prime), {}, out);
  } else {
    multiplier_.multiply_run(prime, factors_at(prime), begin, out);
  }
}

Factors StoredProducts::factors_at(std::size_t prime) const {
  Factors factors(layout_.count());
  for (std::size_t digit = 0; digit < layout_.count(); ++digit) {
    factors.values[digit] = layout_.limb(digits_, digit, positions_[prime]).data();
  }
  return factors;
}

}  // namespace ringsmith::kernels
