// What an RPAU knows of one of its primes: modulus, twiddle tables, constants.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/program.h"
#include "ringsmith/modulus.h"
#include "ringsmith/ntt.h"
#include "ringsmith/types.h"

namespace ringsmith::sim {

/// One modulus bank. Tables may be written in any order; they are held against the modulus when an
/// instruction first needs them, and again after one of them was written anew.
class ModulusBank {
 public:
  /// @param rpau number of its RPAU, which says how wide words are
  ModulusBank(const Design& design, int rpau)
      : design_(design), rpau_(rpau), ring_(ring_of(design, design.log_n)) {}

  /// Chooses the ring: tables and constants of another one are forgotten.
  void set_ring(const Ring& ring);

  // What the host writes. Lengths must be right; words must fit the design's word width.

  void write_constants(std::span<const u64> words);
  /// @param words q; mu; k, the bits of q; the index of q among the design's sparse primes, or 0.
  ///        mu is floor(2^(W+k) / q) - 2^W; 0 in a design of sparse primes; what FoldedWord says in
  ///        one that folds
  /// @throws ModelError if a word is not what q asks for, or q is no legal modulus
  void write_modulus(std::span<const u64> words);
  void write_twiddle_lo(std::span<const u64> words);
  void write_twiddle_hi(std::span<const u64> words);
  /// @param words psi^brev(j) for 0 <= j < the ring's degree, in a design that stores all factors
  void write_twiddles(std::span<const u64> words);

  // What instructions use. Each throws ModelError if it was never written or is not what it should
  // be.

  [[nodiscard]] const Modulus& modulus() const;
  /// A word of the RPAU's width that is the same residue as a wider one from the interconnect: what
  /// rs_mod_shorten makes of it.
  [[nodiscard]] u64 shortened(u64 word) const;
  /// Transforms a sub-polynomial of a polynomial in place, one of those that `split` makes; a whole
  /// polynomial is its sub-polynomial 0.
  void forward(std::span<u64> words, int sub_poly);
  /// The inverse of forward(), with the division by the number of words.
  void inverse(std::span<u64> words, int sub_poly);
  [[nodiscard]] u64 constant(int index) const;

 private:
  /// The transform of N words by the root's power; sub-polynomials use twists of it.
  [[nodiscard]] const NttTables& tables();
  /// The factor by which the words of a sub-polynomial are twisted, word i by its i-th power.
  [[nodiscard]] u64 twist(int sub_poly);
  [[nodiscard]] u64 checked_root() const;
  [[nodiscard]] u64 generated_root() const;
  [[nodiscard]] u64 stored_root() const;

  Design design_;
  int rpau_;
  Ring ring_;
  std::optional<Modulus> modulus_;
  std::optional<NttTables> tables_;
  u64 root_ = 0;  // of the tables
  std::vector<u64> constants_;
  std::vector<u64> twiddle_lo_;
  std::vector<u64> twiddle_hi_;
  std::vector<u64> twiddles_;
};

/// @throws ModelError unless there are `size` words
void expect_size(std::span<const u64> words, std::size_t size);

}  // namespace ringsmith::sim
