#include "wide.h"

#include <algorithm>
#include <bit>

namespace ringsmith {
namespace {

constexpr std::size_t kWordBits = 64;

}  // namespace

WideInteger::WideInteger(u64 value) {
  if (value != 0) {
    words_.push_back(value);
  }
}

void WideInteger::trim() {
  while (!words_.empty() && words_.back() == 0) {
    words_.pop_back();
  }
}

void WideInteger::multiply_add(u64 factor, u64 addend) {
  u64 carry = addend;
  for (u64& word : words_) {
    const u128 product = static_cast<u128>(word) * factor + carry;
    word = static_cast<u64>(product);
    carry = static_cast<u64>(product >> kWordBits);
  }
  if (carry != 0) {
    words_.push_back(carry);
  }
  trim();
}

void WideInteger::subtract(const WideInteger& other) {
  u64 borrow = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const u64 taken = i < other.words_.size() ? other.words_[i] : 0;
    const u128 difference = static_cast<u128>(words_[i]) - taken - borrow;
    words_[i] = static_cast<u64>(difference);
    borrow = static_cast<u64>(difference >> kWordBits) & 1;
  }
  trim();
}

std::size_t WideInteger::bits() const {
  return words_.empty() ? 0
                        : (words_.size() - 1) * kWordBits +
                              static_cast<std::size_t>(std::bit_width(words_.back()));
}

u64 WideInteger::slice(std::size_t first, std::size_t count) const {
  const std::size_t index = first / kWordBits;
  const std::size_t shift = first % kWordBits;
  u64 value = index < words_.size() ? words_[index] >> shift : 0;
  if (shift != 0 && index + 1 < words_.size()) {
    value |= words_[index + 1] << (kWordBits - shift);
  }
  return count < kWordBits ? value & ((u64{1} << count) - 1) : value;
}

u64 WideInteger::modulo(const Modulus& modulus) const {
  u64 remainder = 0;
  for (std::size_t i = words_.size(); i-- > 0;) {
    remainder = modulus.reduce_wide((static_cast<u128>(remainder) << kWordBits) + words_[i]);
  }
  return remainder;
}

WideInteger WideInteger::half() const {
  WideInteger result;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    result.words_.push_back(slice(i * kWordBits + 1, kWordBits));
  }
  result.trim();
  return result;
}

std::strong_ordering WideInteger::operator<=>(const WideInteger& other) const {
  if (words_.size() != other.words_.size()) {
    return words_.size() <=> other.words_.size();
  }
  for (std::size_t i = words_.size(); i-- > 0;) {
    if (words_[i] != other.words_[i]) {
      return words_[i] <=> other.words_[i];
    }
  }
  return std::strong_ordering::equal;
}

WideInteger product_of(const RnsContext& context, BaseView base) {
  WideInteger product(1);
  for (const std::size_t prime : base) {
    product.multiply_add(context.modulus(prime).value(), 0);
  }
  return product;
}

Composer::Composer(const RnsContext& context, BaseView base) {
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = moduli_.emplace_back(context.modulus(base[i]));
    for (std::size_t j = 0; j < i; ++j) {
      inverses_.push_back(modulus.inverse(moduli_[j].value()));
    }
  }
  digits_.resize(base.size());
}

const std::vector<u64>& Composer::digits(std::span<const u64> residues, bool negated) {
  std::size_t inverse = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const Modulus& modulus = moduli_[i];
    u64 digit = negated ? modulus.negate(residues[i]) : residues[i];
    for (std::size_t j = 0; j < i; ++j) {
      digit = modulus.multiply(modulus.subtract(digit, modulus.reduce(digits_[j])),
                               inverses_[inverse++]);
    }
    digits_[i] = digit;
  }
  return digits_;
}

bool Composer::above_half() const {
  // The digits of Q - 1 are q_i - 1, all even, so those of (Q - 1) / 2 are (q_i - 1) / 2.
  for (std::size_t i = digits_.size(); i-- > 0;) {
    const u64 half = (moduli_[i].value() - 1) / 2;
    if (digits_[i] != half) {
      return digits_[i] > half;
    }
  }
  return false;
}

WideInteger Composer::integer() const {
  WideInteger value;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    value.multiply_add(moduli_[i].value(), digits_[i]);
  }
  return value;
}

}  // namespace ringsmith
