#include "digit_products.h"

#include <algorithm>

#include "base_conversion.h"
#include "ringsmith/error.h"
#include "scratch.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {

DigitProducts::DigitProducts(const RnsContext& context, std::vector<Digit> digits)
    : context_(context), digits_(std::move(digits)), scaled_(digits_.size()) {
  if (digits_.empty()) {
    throw ParameterError("there is no digit to multiply with a key");
  }
  std::size_t words = 0;
  for (const Digit& digit : digits_) {
    if (digit.primes.empty()) {
      throw ParameterError("a digit has at least one prime");
    }
    context.check_size(digit.coefficients.size(), digit.primes.size(), "a digit");
    words += digit.primes.size() > 1 ? digit.coefficients.size() : 0;
  }
  complements_.resize(words);
  std::span<u64> free(complements_);
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    if (digit.primes.size() > 1) {
      scaled_[i] = free.first(digit.coefficients.size());
      free = free.subspan(digit.coefficients.size());
      std::ranges::copy(digit.coefficients, scaled_[i].begin());
      divide_by_complements(context, digit.primes, scaled_[i]);
    }
  }
}

const u64* DigitProducts::raise(std::size_t index, std::size_t prime, std::span<u64> words) const {
  const Digit& digit = digits_[index];
  const NttTables& tables = context_.ntt(prime);
  const auto own = std::find(digit.primes.begin(), digit.primes.end(), prime);
  if (own != digit.primes.end()) {
    const auto position = static_cast<std::size_t>(own - digit.primes.begin());
    if (!digit.values.empty()) {  // NTT(INTT(x)) = x
      return limb_of(digit.values, position, context_.degree()).data();
    }
    const auto limb = limb_of(digit.coefficients, position, context_.degree());
    tables.forward(limb, tables.modulus().value(), 0, words);
  } else if (digit.primes.size() == 1) {
    tables.forward(digit.coefficients, context_.modulus(digit.primes[0]).value(), 0, words);
  } else {
    combine(context_, digit.primes, scaled_[index], tables.modulus(), 0, words);
    tables.forward(words);
  }
  return words.data();
}

void DigitProducts::at(std::size_t prime, std::span<const std::span<const u64>> keys_0,
                       std::span<const std::span<const u64>> keys_1, std::span<u64> out_0,
                       std::span<u64> out_1) const {
  const std::size_t degree = context_.degree();
  ScratchWords scratch(digits_.size() * degree);
  std::vector<const u64*> factors;
  std::vector<const u64*> first;
  std::vector<const u64*> second;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    factors.push_back(raise(i, prime, limb_of(scratch.words(), i, degree)));
    first.push_back(limb_of(keys_0[i], prime, degree).data());
    second.push_back(limb_of(keys_1[i], prime, degree).data());
  }
  const NttTables& tables = context_.ntt(prime);
  tables.kernels().inner_product(tables.plan().prime, digits_.size(), factors.data(), first.data(),
                                 second.data(), out_0.data(), out_1.data(), degree);
}

}  // namespace ringsmith::kernels
