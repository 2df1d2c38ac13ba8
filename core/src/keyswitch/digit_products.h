// The inner loop of key switching: digits times keys, one prime at a time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "key_words.h"
#include "ring/ntt_permutation.h"
#include "ringsmith/aligned_memory.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// One use of a polynomial's digits.
struct Switching {
  u64 element = 1;  ///< the polynomial's automorphism x -> x^element is what is cut into digits
  KeySwitchKeyView key;             ///< over the context's first primes
  std::vector<std::size_t> digits;  ///< for each digit of the polynomial its number in the key
  std::string name = "the key-switching key";  ///< what errors call it
};

/// The two halves of a sum at one prime: N words each.
using LimbPair = std::array<std::span<u64>, 2>;

/// mod_up, ntt and ksk_inner_product fused into one pass. Only a few primes' limbs of all digits
/// are in memory. Each digit is reduced while its transform first reads it. Each key word is read
/// from memory or expanded once, a few thousand words of each digit at a time.
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
class DigitProducts {
 public:
  /// @param base       of `polynomial`
  /// @param form       of `polynomial`
  /// @param polynomial must outlive this object
  /// @param digits     each of primes that follow each other in `base`
  /// @throws ParameterError if there is no digit, one is not in the base, an element is no Galois
  /// element, or
  ///         numbers or sizes differ
  DigitProducts(const RnsContext& context, BaseView base, Form form,
                std::span<const u64> polynomial, std::span<const Base> digits,
                std::vector<Switching> switchings);

  /// For each prime and switching, out[h] = sum over d of ModUp(digit d) * key_h[d], NTT form.
  /// ModUp of the digits covers all given primes at once: primes_at_once() is the most that is
  /// efficient.
  /// @param out for each prime all switchings' sums
  /// @throws ParameterError if a residue of a key is not below its prime
  void at(BaseView primes, std::span<const LimbPair> out) const;
  /// About how many words at() goes over for each prime, for parallel_for.
  [[nodiscard]] std::size_t words_at_prime() const;

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

  // What is multiplied with keys: for each digit its value at a prime, which a hoisted switching
  // permutes, and what is added then: c u, or null or 0 where it is nothing. It is given as words
  // or, to kernels that scale, as c.
  struct Factors {
    explicit Factors(std::size_t digits) : values(digits), addends(digits), scales(digits) {}

    std::vector<const u64*> values;
    std::vector<const u64*> addends;
    std::vector<simd::Factor> scales;
  };

  // What only one hoisted switching has: values that replace those of digits whose ModUp it
  // repeats, if any, and their words. With a precomputed key, digits are multiplied unpermuted, the
  // sums start from the c u correction, and the sums are permuted.
  struct OwnFactors {
    std::vector<const u64*> values;
    std::vector<Words> words;
    PrecomputedKey::Shift shift;
  };

  // A digit of the polynomial at primes, in NTT form, less c u if hoisted: in limbs of `words`, or
  // where it is known already. Notes it as a value of each prime's factors.
  void raise(std::size_t index, BaseView primes, std::span<u64> words,
             std::span<Factors> factors) const;
  // The digit whose `coefficients` are given, in NTT form.
  void convert(const Digit& digit, std::span<const u64> coefficients,
               std::span<const Raised> wanted) const;
  // at() for a prime at which the ModUp of all digits is complete.
  void multiply_raised(std::size_t prime, Factors factors, std::span<const LimbPair> out) const;
  // Of a hoisted switching.
  [[nodiscard]] OwnFactors own_factors(std::size_t prime, const Factors& factors,
                                       std::size_t index) const;
  // The digit of the switching's automorphism of the polynomial, moved back.
  [[nodiscard]] Words raised_again(std::size_t prime, const Digit& digit, std::size_t index) const;
  // Says which residue of the switching's keys is not below the prime.
  void refuse_keys(std::size_t prime, const Switching& switching) const;
  // Words begin ... begin + words - 1 of the sums of switching `index`, with its keys' words there.
  void multiply(std::size_t prime, const Factors& factors, const OwnFactors& own, std::size_t index,
                const KeyWords::Pointers& keys, std::size_t begin, std::size_t words,
                const LimbPair& out) const;

  const RnsContext& context_;
  Form form_;
  bool sign_masks_ = false;  // mask_signs() has been called
  Words moved_;              // what is cut in place of the polynomial, if anything
  Words coefficients_;
  std::vector<Digit> digits_;
  std::vector<Switching> switchings_;
  std::vector<NttPermutation> permutations_;   // of each switching; none if not hoisted
  std::vector<PrecomputedKey::Level> levels_;  // likewise
};

}  // namespace ringsmith::kernels
