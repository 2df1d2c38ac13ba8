// Division by a product of primes, limb by limb.
#pragma once

#include <span>
#include <vector>

#include "ntt_permutation.h"
#include "ringsmith/modulus.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// A limb that is divided, and what is added to the quotient.
struct Dividend {
  std::span<const u64> in;
  std::span<u64> out;                           ///< may be `in`
  std::span<const u64> added{};                 ///< canonical, or of no words: nothing
  const NttPermutation* permutation = nullptr;  ///< what is done to `added` first, in NTT form
};

/// Division by the product D of some primes d_i, a few of the remaining limbs at a time: what
/// mod_down does (kernels.h has r_i, h_i and c_j). One divider serves all polynomials of a base.
class LimbDivider {
 public:
  /// @param drop the primes d_i; must outlive the divider
  /// @param kept the other primes of the base; must outlive the divider
  LimbDivider(const RnsContext& context, BaseView drop, BaseView kept);

  /// Limbs of the dropped primes become r_i.
  /// @param form of the limbs
  void prepare(Form form, std::span<u64> dropped) const;

  /// (in - c) * D^-1 + added for limbs at neighbouring kept primes. For many dropped primes
  /// conversions are to primes_at_once() at a time.
  /// @param dropped r_i
  /// @param form    of the limbs
  /// @param first   the position of their first prime among the kept ones
  void divide(std::span<const u64> dropped, Form form, std::size_t first,
              std::span<const Dividend> limbs) const;

 private:
  struct KeptPrime {
    u64 offset;           // -(sum of h_i D / d_i)
    ShoupFactor inverse;  // of D
  };

  // divide() of as many limbs as are converted at a time.
  void divide_group(std::span<const u64> dropped, Form form, std::size_t first,
                    std::span<const Dividend> limbs) const;

  const RnsContext& context_;
  BaseView drop_;
  BaseView kept_;
  std::vector<u64> scales_;    // (D / d_i)^-1 modulo d_i
  std::vector<KeptPrime> at_;  // each kept prime
};

}  // namespace ringsmith::kernels
