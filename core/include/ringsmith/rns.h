// A ring with an ordered list of primes, to which every residue polynomial refers.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ringsmith/modulus.h"
#include "ringsmith/ntt.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// The primes of a residue polynomial, as indices into its RnsContext; one limb of N words each.
using Base = std::vector<std::size_t>;
using BaseView = std::span<const std::size_t>;

/// Whether limbs hold coefficients (natural order) or NTT values (bit-reversed order).
enum class Form { kCoeff, kNtt };

/// The indices first, first + 1, ... first + count - 1.
[[nodiscard]] Base consecutive_base(std::size_t count, std::size_t first = 0);

/// Z_Q[x] / (x^N + 1) with Q the product of distinct NTT primes. Immutable.
class RnsContext {
 public:
  /// Takes for every prime its smallest primitive 2N-th root, as SEAL does.
  /// @param degree N, a power of two in 2^8 ... 2^16
  /// @throws ParameterError if there is no prime, one repeats, or one is not 1 mod 2N
  RnsContext(std::size_t degree, std::span<const u64> primes);
  /// Takes the given primitive 2N-th roots, one for each prime.
  RnsContext(std::size_t degree, std::span<const u64> primes, std::span<const u64> roots);
  /// The same with more primes after these, and their smallest roots; shares the tables of these.
  [[nodiscard]] RnsContext extended_by(std::span<const u64> primes) const;

  /// N, the number of words in a limb.
  [[nodiscard]] std::size_t degree() const { return degree_; }
  [[nodiscard]] int log_degree() const { return log_degree_; }
  /// Number of primes.
  [[nodiscard]] std::size_t size() const { return tables_.size(); }
  [[nodiscard]] const Modulus& modulus(std::size_t prime) const {
    return tables_[prime]->modulus();
  }
  [[nodiscard]] const NttTables& ntt(std::size_t prime) const { return *tables_[prime]; }
  [[nodiscard]] std::vector<u64> primes() const;
  [[nodiscard]] std::vector<u64> roots() const;

  /// @throws ParameterError unless `words` is limbs * N; `what` names the polynomial in the text
  void check_size(std::size_t words, std::size_t limbs, std::string_view what) const;
  /// @param words any number of polynomials over `base`, one after the other
  /// @throws ParameterError unless every word is below its limb's prime
  void check_canonical(std::span<const u64> words, BaseView base, std::string_view what) const;

 private:
  std::size_t degree_;
  int log_degree_;
  std::vector<std::shared_ptr<const NttTables>> tables_;
};

/// Limb `position` of a polynomial whose limbs of N words follow each other.
template <typename Word>
[[nodiscard]] std::span<Word> limb_of(std::span<Word> polynomial, std::size_t position,
                                      std::size_t degree) {
  return polynomial.subspan(position * degree, degree);
}

}  // namespace ringsmith
