// The memories of one RPAU and what each instruction does to them.
#pragma once

#include <span>
#include <vector>

#include "model/modulus_bank.h"
#include "model/program.h"
#include "ringsmith/modulus.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith::sim {

/// One residue-polynomial arithmetic unit, at the level of whole instructions.
///
/// Polynomials are N words in logical order; where a machine keeps them does not show here. They
/// are residues of no modulus bank in particular: words are compared with the modulus of the set
/// that an instruction computes with when one of that set first reads them, and again after another
/// modulus was written.
class Rpau {
 public:
  /// @param index its number among the device's RPAUs
  Rpau(const Design& design, int index);

  /// Chooses the ring of what follows: all contents but moduli and seeds are forgotten.
  void set_ring(const Ring& ring);

  // What the host writes. Lengths must be right; words must fit the design's word width.

  void write_poly(int index, std::span<const u64> words);
  void write_key(int index, std::span<const u64> words);
  /// @param words four of 20 bits, the seed, lowest first; then the limb
  /// @throws ModelError if the limb does not fit 16 bits
  void write_seed(int index, std::span<const u64> words);
  /// As ModulusBank::write_modulus().
  void write_modulus(int set, std::span<const u64> words);
  /// A modulus bank, for its other tables.
  [[nodiscard]] ModulusBank& modulus_bank(int set);

  /// The words of a work polynomial. @throws ModelError if it was never written
  [[nodiscard]] std::span<const u64> read_poly(int index) const;

  /// Chooses the modulus bank of the instructions that follow.
  void compute_with(int set);

  // Instructions. Each throws ModelError if it reads what was never written or is no residue.

  void ntt(int dst, int a, int sub_poly);
  void intt(int dst, int a, int sub_poly);
  /// dst, b = dst + const[k1] * b, dst - const[k1] * b
  void split(int dst, int b, int k1);
  /// dst, b = (dst + b) / 2, const[k1] * (b - dst) / 2
  void join(int dst, int b, int k1);
  /// NTT form: dst becomes a under X -> X^element; SEAL's permutation of bit-reversed values. Of a
  /// polynomial in sub-polynomials, dst is the result's sub-polynomial `sub-polynomial`, and a the
  /// source's.
  void automorph(int dst, int a, u64 element, int sub_poly);
  /// Coefficient form: coefficient i of dst is the one number i * element of a, where number N + j
  /// is coefficient j negated.
  void permute(int dst, int a, u64 element);
  /// What the RPAU sends in a broadcast: a * const[k1] + const[k2], canonical.
  [[nodiscard]] std::vector<u64> sent(int a, int k1, int k2);
  /// Receives words of any other prime, reduced modulo the own one: dst = w * const[k1] +
  /// const[k2].
  void receive(int dst, std::span<const u64> words, int k1, int k2);
  /// Receives words as they are: dst then holds residues of no modulus bank in particular.
  void store(int dst, std::span<const u64> words);
  /// The same for words from the interconnect, which become shorter ones of the same residue where
  /// they are wider than the RPAU's.
  void store_shortened(int dst, std::span<const u64> words);
  /// Carries out what the formula of the instruction's operation says. A half key is expanded from
  /// an entry of the seed store and a digit; the prime must then be 1 modulo what the expander's
  /// steps remove.
  void pointwise(const Instruction& instruction);

 private:
  static constexpr int kUnchecked = -1;
  /// A polynomial: no words before the first write; `checked` is the modulus bank whose residues
  /// they are known to be.
  struct Poly {
    std::vector<u64> words;
    int checked = kUnchecked;
  };
  /// An entry of the seed store, once written.
  struct Seed {
    bool written = false;
    KeySeed key{};
    std::size_t limb = 0;
  };
  using Residues = std::span<const u64>;

  [[nodiscard]] const Modulus& modulus() const;
  /// Contents for reading; throws ModelError if there are none.
  [[nodiscard]] static Residues words(const Poly& poly, const char* letters, int index);
  /// Contents for reading; throws ModelError unless they are residues.
  [[nodiscard]] Residues residues(Poly& poly, const char* letters, int index);
  [[nodiscard]] Residues work(int index);
  [[nodiscard]] Residues key(int index);
  [[nodiscard]] std::vector<u64> expanded(int seed, int digit, int sub_poly) const;
  [[nodiscard]] u64 constant(int index) const;
  /// Overwrites dst: word i becomes value(i). Operands may be dst itself, word for word.
  template <typename Value>
  void fill(int dst, const Value& value);
  /// Overwrites dst with products, to which the formula's addend is added.
  template <typename Product>
  void fill_with(const Instruction& instruction, const Product& product);
  /// Copies a to dst and hands out dst's words to be transformed in place.
  [[nodiscard]] std::span<u64> copied(int dst, int a);
  /// @throws ModelError unless polynomials of the ring have this sub-polynomial
  void expect_sub_poly(int sub_poly) const;
  /// @throws ModelError unless polynomials of the ring lie in sub-polynomials
  void expect_sub_polys() const;

  Design design_;
  int index_;
  Ring ring_;
  std::vector<ModulusBank> sets_;
  int current_ = 0;  // the modulus bank that instructions compute with
  std::vector<Poly> work_;
  std::vector<Poly> keys_;
  std::vector<Seed> seeds_;
};

}  // namespace ringsmith::sim
