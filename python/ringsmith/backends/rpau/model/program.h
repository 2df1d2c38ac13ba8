// Instructions of the RPAU architecture, decoded from their words by the generated table of isa.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/isa.h"
#include "ringsmith/types.h"

namespace ringsmith::sim {

/// The word mu of a modulus 2^b - s in designs that fold: s above s * 2^(width - b), each in two's
/// complement. Bits of either without its sign, of `backends/rpau/design/folded.py`.
struct FoldedWord {
  int tail_bits;    ///< of s
  int scaled_bits;  ///< of s * 2^(width - b)
};

/// What the model must know of a design point; `python/ringsmith/backends/rpau/design/design.py`
/// checks it.
struct Design {
  int log_n;                       ///< log2 of the ring degree N
  int larger_rings;                ///< doublings of N that the device runs
  int smaller_rings;               ///< halvings of N that the device runs
  int word_bits;                   ///< width of a residue word
  int narrow_bits;                 ///< width of one in the last RPAUs
  int narrow_rpaus;                ///< how many RPAUs those are
  int rpaus;                       ///< number of RPAUs
  std::vector<int> banks;          ///< bank of each work polynomial of an RPAU
  int key_polys;                   ///< polynomials in the key store of an RPAU
  int constants;                   ///< words in the constant file of a modulus bank
  int modulus_banks;               ///< primes that each RPAU can be switched to
  bool dyadic;                     ///< whether there is a dyadic unit
  bool link;                       ///< whether there is a link unit
  int seeds;                       ///< entries in the seed store of an RPAU; 0: no PRNG
  int conversions;                 ///< conversions that are loaded at once; 0: no converter
  bool key_stream;                 ///< whether keys may come while a program runs
  bool stored_twiddles;            ///< whether all NTT factors come from one table of N words
  std::vector<u64> sparse_primes;  ///< by index; empty where primes are loaded
  /// Where reduction folds at a power of two near the prime, in wide words and in narrow ones.
  std::optional<FoldedWord> folded;
  std::optional<FoldedWord> narrow_folded;

  [[nodiscard]] bool is_narrow(int rpau) const { return rpau >= rpaus - narrow_rpaus; }
  /// Width of a word in an RPAU.
  [[nodiscard]] int bits_of(int rpau) const { return is_narrow(rpau) ? narrow_bits : word_bits; }
  [[nodiscard]] const std::optional<FoldedWord>& folded_of(int rpau) const {
    return is_narrow(rpau) ? narrow_folded : folded;
  }
  /// Work polynomials an RPAU.
  [[nodiscard]] int work_polys() const { return static_cast<int>(banks.size()); }
  [[nodiscard]] int bank_count() const { return 1 + *std::max_element(banks.begin(), banks.end()); }
  [[nodiscard]] int max_log_n() const { return log_n + larger_rings; }
  [[nodiscard]] int min_log_n() const { return log_n - smaller_rings; }
  /// Bits of a twiddle exponent that the low twiddle table resolves.
  [[nodiscard]] int twiddle_lo_bits() const { return (max_log_n() + 1) / 2; }
};

/// The ring that a program runs in: Z_q[x] / (x^(2^log_degree) + 1).
///
/// Its polynomials are split into sub-polynomials of n() words, one work polynomial each.
struct Ring {
  int log_degree;
  int log_n;  ///< log2 of a sub-polynomial's words

  [[nodiscard]] std::size_t n() const { return std::size_t{1} << log_n; }
  [[nodiscard]] int log_sub_polys() const { return log_degree - log_n; }
  [[nodiscard]] int sub_polys() const { return 1 << log_sub_polys(); }
};

/// An error of the model: a program or contents for which the hardware's result is meaningless. The
/// text says what is wrong and what to change; `index` is the instruction at fault.
class ModelError : public std::runtime_error {
 public:
  explicit ModelError(const std::string& what, std::optional<std::size_t> index = std::nullopt)
      : std::runtime_error(what), index_(index) {}

  [[nodiscard]] std::optional<std::size_t> index() const { return index_; }

 private:
  std::optional<std::size_t> index_;
};

/// The design's ring of degree 2^log_degree. @throws ModelError if the device does not run it
[[nodiscard]] Ring ring_of(const Design& design, int log_degree);

/// One decoded instruction.
struct Instruction {
  const isa::Operation* operation;
  std::vector<int> rpaus;        ///< RPAUs of the mask, ascending
  std::vector<isa::Unit> waits;  ///< units that must be idle in addition to the instruction's own
  std::array<int, isa::kMaxOperands> values;
  int prime;  ///< modulus bank that every RPAU of the mask computes with

  /// The value of the operand in `field`, which the operation must have.
  [[nodiscard]] int operator[](const isa::Field& field) const;
};

/// The RPAU that sends, where the operation has one.
[[nodiscard]] std::optional<int> source_of(const Instruction& instruction);

/// Whether an RPAU of its mask accesses an operand of an instruction.
[[nodiscard]] bool is_accessed(const Instruction& instruction, const isa::Operand& operand,
                               int rpau);

/// What an instruction keeps for itself in an RPAU.
enum class Resource : std::uint8_t {
  kPoly,       ///< a work polynomial
  kKeyPort,    ///< the key store's only read port
  kOperandC,   ///< the selector of the main unit's operand c
  kReadPort,   ///< a bank's
  kWritePort,  ///< a bank's
};

/// One of them: index counts work polynomials or banks; it is 0 of what there is one of.
struct Held {
  Resource resource;
  int index;
};

/// What the instruction keeps for itself in one RPAU of its mask.
[[nodiscard]] std::vector<Held> held(const Instruction& instruction, int rpau,
                                     const Design& design);

/// Decodes a word and checks that everything it names exists in the design. The assembler
/// (`backends/rpau/isa/assembler.py`) checks what else makes an instruction legal.
///
/// @throws ModelError if the opcode does not exist, the design lacks the unit, or an operand or the
///         mask is out of range
[[nodiscard]] Instruction decode(u64 word, const Design& design);

}  // namespace ringsmith::sim
