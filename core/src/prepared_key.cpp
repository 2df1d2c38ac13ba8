#include "ringsmith/prepared_key.h"

#include <algorithm>

#include "key_words.h"
#include "parallel.h"
#include "ringsmith/error.h"
#include "simd/kernel_set.h"
#include "text.h"

namespace ringsmith {
namespace {

// Words between limbs, so that the same words of all digits and halves, which are read in turn and
// would be powers of two apart, are not in one set of a cache: five lines, since sums read one and
// fetch four ahead. All limbs begin at a line.
constexpr std::size_t kGap = 40;

void check_preparable(const RlweContext& context, const KeySwitchKeyView& key) {
  if (key.prepared != nullptr) {
    throw ParameterError("the key-switching key is prepared already: use it as it is");
  }
  if (key.seed != nullptr) {
    throw ParameterError(
        "a compact key cannot be prepared, since half of it is not in memory: prepare the whole "
        "key, or use the compact one as it is");
  }
  if (key.word_bits != 0) {
    throw ParameterError(
        "a key-switching key in digits of words cannot be prepared: use it as it is, or make one "
        "in digits of primes");
  }
  check(context, key);
}

}  // namespace

PreparedKey::PreparedKey(const RlweContext& context, const KeySwitchKeyView& key)
    : rns_(context.rns()), digits_(key.digits) {
  check_preparable(context, key);
  begins_.push_back(0);
  for (std::size_t prime = 0; prime < rns_.size(); ++prime) {
    begins_.push_back(begins_.back() + 2 * digits_ * stride(prime));
  }
  words_.resize(begins_.back());
  const std::size_t degree = rns_.degree();
  parallel_for(2 * digits_ * rns_.size(), 2 * degree, [&](std::size_t index) {
    const std::size_t prime = index / (2 * digits_);
    const std::size_t digit = index % (2 * digits_) / 2;
    const std::size_t half = index % 2;
    const NttTables& tables = rns_.ntt(prime);
    const std::span<const u64> residues = limb_of(key.half(digit, half), prime, degree);
    u64* const out = &words_[begins_[prime] + (2 * digit + half) * stride(prime)];
    if (!simd::prepare_residues(tables.modulus().value(), tables.kernels().key_code,
                                residues.data(), out, degree)) {
      kernels::check_key_limb(residues, prime, tables.modulus(), "the key-switching key");
    }
    std::fill_n(out + stride(prime) - kGap, kGap, u64{0});
  });
}

KeySwitchKeyView PreparedKey::view() const {
  KeySwitchKeyView view;
  view.digits = digits_;
  view.prepared = this;
  return view;
}

bool PreparedKey::is_of(const RnsContext& rns, std::size_t primes) const {
  if (rns.degree() != rns_.degree() || primes != rns_.size() || primes > rns.size()) {
    return false;
  }
  for (std::size_t prime = 0; prime < primes; ++prime) {
    if (rns.modulus(prime).value() != rns_.modulus(prime).value()) {
      return false;
    }
  }
  return true;
}

const u64* PreparedKey::limb(std::size_t digit, std::size_t half, std::size_t prime,
                             std::size_t position) const {
  return &words_[begins_[prime] + (2 * digit + half) * stride(prime) +
                 simd::prepared_size(rns_.ntt(prime).kernels().key_code, position)];
}

void PreparedKey::restore(std::size_t digit, std::size_t half, std::size_t prime,
                          std::span<u64> out) const {
  const NttTables& tables = rns_.ntt(prime);
  simd::restore_residues(tables.modulus().value(), tables.kernels().key_code,
                         limb(digit, half, prime), out.data(), rns_.degree());
}

std::size_t PreparedKey::stride(std::size_t prime) const {
  return simd::prepared_size(rns_.ntt(prime).kernels().key_code, rns_.degree()) + kGap;
}

}  // namespace ringsmith
