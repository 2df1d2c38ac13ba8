// Key switching's digits, and their products with keys, one prime at a time.
#pragma once

#include <span>
#include <vector>

#include "key_multiplier.h"
#include "platform/scratch.h"
#include "ringsmith/aligned_memory.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// mod_up, ntt and ksk_inner_product fused into one pass. Only a few primes' limbs of all digits
/// are in memory. Each digit is reduced while its transform first reads it.
///
/// Several switchings of one polynomial's automorphisms share the decomposition and its transforms
/// (hoisting: Halevi, Shoup 2018, eprint 2018/244, section 5). The words equal those of each
/// switching alone. An automorphism g permutes coefficients and negates some, and the digit's words
/// of -x are not those of x negated: with y in [0, d) they are d - y, so the ModUp result sum_i y_i
/// (D / d_i) of a digit of k primes turns into k D minus it. After k D / 2 is subtracted, negation
/// only changes its sign. With c = k D modulo the prime at hand, 0 for one of the digit's own, and
/// u the sign-correction polynomial, whose coefficients are all 1 / 2,
///
///   ModUp(digit of g(x)) = g(ModUp(digit of x) - c u) + c u,
///
/// where transforms turn g into a permutation. If a word y is zero, its negative is zero and not d.
/// Such digits are rare; their ModUp is repeated for each automorphism.
///
/// A key precomputed for g has the inverse of g applied. The c u correction of its sums is known
/// (PrecomputedKey::shift). So all switchings read the same unpermuted digits, and g is applied to
/// the sums. For a single switching by another key, g is applied to the polynomial first. For a
/// single switching by a key precomputed for g, with digits of one prime of up to 60 bits, d is
/// subtracted from the words y > 0 that g negates: this gives the digit of g(x) with the inverse of
/// g applied.
class DigitProducts final : public Products {
 public:
  /// @param base       of `polynomial`
  /// @param form       of `polynomial`
  /// @param polynomial must outlive this object
  /// @param digits     each of primes that follow each other in `base`
  /// @param switchings of automorphisms of the polynomial, before it is cut into digits
  /// @throws ParameterError if there is no digit, one is not in the base, an element is no Galois
  /// element, or
  ///         numbers or sizes differ
  DigitProducts(const RnsContext& context, BaseView base, Form form,
                std::span<const u64> polynomial, std::span<const Base> digits,
                std::vector<Switching> switchings);

  /// ModUp of the digits covers all given primes at once: primes_at_once() is the most that is
  /// efficient.
  void at(BaseView primes, std::span<const LimbPair> out) const override;
  [[nodiscard]] std::size_t words_at_prime() const override;

  /// Writes a digit of the polynomial itself at primes, as Factors has values; only without
  /// switchings.
  /// @param limbs N words for each prime
  void raise_to(std::size_t index, BaseView primes, std::span<const std::span<u64>> limbs) const;

  struct Digit {
    Base primes;
    std::span<const u64> own;           // its limbs as they are
    std::span<const u64> coefficients;  // input of ModUp; of several primes: [x_i (D / d_i)^-1]
    std::span<u64> copy;                // the same, where it is not `own`
    bool has_zero = false;              // among `coefficients`; known only if hoisted
  };

 private:
  void cut(BaseView base, std::span<const u64> polynomial, std::span<const Base> digits);
  // Subtracts d where the only switching negates, and adds d everywhere.
  void mask_signs();
  // k D modulo the prime; 0 for one of the digit's own.
  [[nodiscard]] u64 negation(const Digit& digit, std::size_t prime) const;
  // Offset added to the coefficients so that the ModUp result is reduced by c u or, with a sign
  // mask, by d where negated.
  [[nodiscard]] u64 offset(const Digit& digit, std::size_t prime) const;
  // The correction of a switching by a precomputed key: c u of all digits, times their keys.
  [[nodiscard]] PrecomputedKey::Shift shift(std::size_t prime, std::size_t index) const;

  // Requests a digit's value at a prime that is not its own, plus an offset.
  struct Raised {
    std::size_t prime;
    u64 offset;
    std::span<u64> words;
  };

  // A digit of the polynomial at primes, in NTT form, less c u if hoisted: in `limbs`, or where it
  // is known already. Notes it as a value of each prime's factors.
  void raise(std::size_t index, BaseView primes, std::span<const std::span<u64>> limbs,
             std::span<Factors> factors) const;
  // The digit whose `coefficients` are given, in NTT form.
  void convert(const Digit& digit, std::span<const u64> coefficients,
               std::span<const Raised> wanted) const;
  // at() for a prime at which the ModUp of all digits is complete.
  void multiply_raised(std::size_t prime, Factors factors, std::span<const LimbPair> out) const;
  // Of a hoisted switching: digits whose ModUp it repeats, and the c u correction of the sums.
  [[nodiscard]] OwnFactors own_factors(std::size_t prime, const Factors& factors,
                                       std::size_t index) const;
  // The digit of the switching's automorphism of the polynomial, moved back.
  [[nodiscard]] Words raised_again(std::size_t prime, const Digit& digit, std::size_t index) const;

  const RnsContext& context_;
  Form form_;
  bool sign_masks_ = false;  // mask_signs() has been called
  ScratchVector moved_;      // what is cut in place of the polynomial, if anything
  KeyMultiplier multiplier_;
  ScratchVector coefficients_;
  std::vector<Digit> digits_;
  std::vector<PrecomputedKey::Level> levels_;  // of each switching; none if not hoisted
};

}  // namespace ringsmith::kernels
