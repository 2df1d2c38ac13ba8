// Key-switching keys kept as this process's kernels multiply by them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A whole key-switching key for many uses: found canonical once, aligned, and each residue in the
/// form that the kernels of its prime read fastest. It takes as much memory as the key's words;
/// kernels that pack the residues of narrow primes take half of it.
///
/// The same words are computed as by the key itself. The form depends on the kernel set, and so is
/// for this process alone: save the key, not this. It does not refer to what it was made from, and
/// may be read by several threads.
class PreparedKey {
 public:
  /// @param key whole, in digits of primes
  /// @throws ParameterError if the key is compact, in digits of words or prepared already, does not
  ///         fit the context, or has a residue that is not below its prime
  PreparedKey(const RlweContext& context, const KeySwitchKeyView& key);
  PreparedKey(const PreparedKey&) = delete;
  PreparedKey& operator=(const PreparedKey&) = delete;
  ~PreparedKey() = default;

  /// What stands for the key in operations; good while this object is.
  [[nodiscard]] KeySwitchKeyView view() const;
  /// Memory that the key takes.
  [[nodiscard]] std::size_t bytes() const { return words_.size() * sizeof(u64); }
  /// Whether it is of this degree, and of the first `primes` primes.
  [[nodiscard]] bool is_of(const RnsContext& rns, std::size_t primes) const;

  /// Where the residues from `position` on, an even number, of a limb are, in the form of
  /// simd::PrimeKernels::key_code.
  [[nodiscard]] const u64* limb(std::size_t digit, std::size_t half, std::size_t prime,
                                std::size_t position = 0) const;
  /// The residues of a limb as the key had them: N words.
  void restore(std::size_t digit, std::size_t half, std::size_t prime, std::span<u64> out) const;

 private:
  // Words from one limb of a prime to the next.
  [[nodiscard]] std::size_t stride(std::size_t prime) const;

  RnsContext rns_;
  std::size_t digits_;
  std::vector<std::size_t> begins_;  // of each prime's limbs, and where the last one's end
  Words words_;
};

}  // namespace ringsmith
