#include "model/converter.h"

#include <bit>
#include <string>

#include "model/modulus_bank.h"
#include "ringsmith/lift_scale.h"

namespace ringsmith::sim {
namespace {

using kernels::kFractionBits;
constexpr int kLowBits = 45;  // of a fraction: products with either part sum up in 128 bits

u64 power_of_two(const Modulus& modulus, int exponent) {
  return modulus.power(modulus.reduce(2), static_cast<u64>(exponent));
}

}  // namespace

Converter::Converter(const Design& design)
    : rpaus_(design.rpaus), word_bits_(design.word_bits), conversions_(design.conversions) {}

std::vector<std::optional<Converter::Term>> Converter::terms(std::span<const u64> moduli,
                                                             std::span<const u64> factors,
                                                             int power) const {
  std::vector<std::optional<Term>> found(rpaus_);
  for (std::size_t i = 0; i < rpaus_; ++i) {
    if (moduli[i] != 0) {
      const Modulus modulus(moduli[i]);
      const u64 inverse = modulus.inverse(power_of_two(modulus, power));
      found[i] = Term{modulus, modulus.multiply(factors[i], inverse)};
    }
  }
  return found;
}

void Converter::write(int index, std::span<const u64> words) {
  const int columns = (kFractionBits + word_bits_ - 1) / word_bits_;
  expect_size(words, 1 + (4 + columns + rpaus_) * rpaus_);
  const int bits = std::bit_width(rpaus_ - 1);                           // of a term's number
  const int reduced_bits = word_bits_ + std::bit_width(2 * rpaus_ - 1);  // E
  std::size_t next = 1;
  const auto take = [&](std::size_t count) {
    next += count;
    return words.subspan(next - count, count);
  };
  Conversion made;
  made.has_own = (words[0] >> (2 * bits) & 1) != 0;
  const auto input_moduli = take(rpaus_);
  made.inputs = terms(input_moduli, take(rpaus_), word_bits_);
  made.fractions.assign(rpaus_, 0);
  for (int column = 0; column < columns; ++column) {
    const auto parts = take(rpaus_);
    for (std::size_t i = 0; i < rpaus_; ++i) {
      made.fractions[i] |= static_cast<u128>(parts[i]) << (column * word_bits_);
    }
  }
  const auto weights = take(rpaus_ * rpaus_);
  const auto output_moduli = take(rpaus_);
  made.outputs = terms(output_moduli, take(rpaus_), reduced_bits);
  made.weights.assign(rpaus_ * rpaus_, 0);
  for (std::size_t j = 0; j < rpaus_; ++j) {
    if (made.outputs[j]) {
      const auto row = terms(std::vector<u64>(rpaus_, output_moduli[j]),
                             weights.subspan(j * rpaus_, rpaus_), reduced_bits);
      for (std::size_t i = 0; i < rpaus_; ++i) {
        made.weights[j * rpaus_ + i] = row[i]->factor;
      }
    }
  }
  conversions_.at(index) = std::move(made);
}

u64 Converter::quotient(const Conversion& conversion, std::span<const u64> y) {
  constexpr u128 kLow = (u128{1} << kLowBits) - 1;
  u128 low = u128{1} << (kFractionBits - 1);
  u128 high = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    low += y[i] * (conversion.fractions[i] & kLow);
    high += y[i] * (conversion.fractions[i] >> kLowBits);
  }
  return static_cast<u64>((high + (low >> kLowBits)) >> (kFractionBits - kLowBits));
}

bool Converter::has_input(int index, int rpau) const {
  const auto& inputs = conversions_.at(index).inputs;
  return !inputs.empty() && inputs.at(rpau).has_value();
}

bool Converter::has_output(int index, int rpau) const {
  const auto& outputs = conversions_.at(index).outputs;
  return !outputs.empty() && outputs.at(rpau).has_value();
}

std::vector<std::vector<u64>> Converter::convert(int index,
                                                 std::span<const std::span<const u64>> inputs,
                                                 std::span<const std::span<const u64>> own) const {
  const Conversion& conversion = conversions_.at(index);
  if (conversion.inputs.empty()) {
    throw ModelError("conversion " + std::to_string(index) + " was never written: write it first");
  }
  if (conversion.has_own == own.empty()) {
    throw ModelError("conversion " + std::to_string(index) + " has " +
                     (conversion.has_own ? "inputs" : "no inputs") + " of its outputs' own: use " +
                     (conversion.has_own ? "convert_own" : "convert"));
  }
  std::size_t degree = 0;
  for (const auto& words : inputs) {
    degree = std::max(degree, words.size());
  }
  std::vector<std::vector<u64>> outputs(rpaus_, std::vector<u64>(degree));
  std::vector<u64> y(rpaus_);
  for (std::size_t k = 0; k < degree; ++k) {
    for (std::size_t i = 0; i < rpaus_; ++i) {
      const auto& term = conversion.inputs[i];
      y[i] = term && !inputs[i].empty() ? term->modulus.multiply(inputs[i][k], term->factor) : 0;
    }
    const u64 v = quotient(conversion, y);
    for (std::size_t j = 0; j < rpaus_; ++j) {
      if (const auto& output = conversion.outputs[j]; output) {
        const u64* const weights = &conversion.weights[j * rpaus_];
        u128 sum = static_cast<u128>(v) * output->factor;
        for (std::size_t i = 0; i < rpaus_; ++i) {
          sum += static_cast<u128>(y[i]) * weights[i];
        }
        if (!own.empty()) {
          sum += static_cast<u128>(own[j][k]) * weights[rpaus_ - 1];
        }
        outputs[j][k] = output->modulus.reduce_wide(sum);
      }
    }
  }
  return outputs;
}

}  // namespace ringsmith::sim
