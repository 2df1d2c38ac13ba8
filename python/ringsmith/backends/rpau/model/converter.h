// The base converters that the RPAUs of a device share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/program.h"
#include "ringsmith/modulus.h"
#include "ringsmith/types.h"

namespace ringsmith::sim {

/// The conversions that are loaded, and what they make of polynomials: docs/reference/baseconv.md.
///
/// Every conversion has a term and an output for each RPAU; what an RPAU has none of is 0.
class Converter {
 public:
  explicit Converter(const Design& design);

  /// @param words as `python/ringsmith/backends/rpau/design/conversions.py` lays them out
  void write(int index, std::span<const u64> words);

  /// Whether an RPAU has an input of a conversion, or an output. What it hands over counts for
  /// nothing where it has none.
  [[nodiscard]] bool has_input(int index, int rpau) const;
  [[nodiscard]] bool has_output(int index, int rpau) const;

  /// The polynomials that every RPAU is given.
  ///
  /// @param inputs  by RPAU: words of any width; empty where one is no input
  /// @param own  by RPAU, for a conversion whose outputs have inputs of their own; else empty.
  /// Where
  ///        an RPAU has no output, its own may be empty
  /// @throws ModelError if the conversion was never written, or if it has own inputs and `own` is
  ///         empty, or the other way round
  [[nodiscard]] std::vector<std::vector<u64>> convert(
      int index, std::span<const std::span<const u64>> inputs,
      std::span<const std::span<const u64>> own) const;

 private:
  /// What is multiplied in a prime; nothing where an RPAU has no input or output.
  struct Term {
    Modulus modulus;
    u64 factor;
  };
  /// A conversion without the factors that the hardware's reductions divide away.
  struct Conversion {
    bool has_own = false;
    std::vector<std::optional<Term>> inputs;   ///< with Y_i
    std::vector<std::optional<Term>> outputs;  ///< with D_j
    std::vector<u128> fractions;               ///< T_i
    std::vector<u64> weights;                  ///< C_ij and L_j: at index j * RPAUs + i
  };

  /// The terms with these moduli and factors, less a power of two each.
  [[nodiscard]] std::vector<std::optional<Term>> terms(std::span<const u64> moduli,
                                                       std::span<const u64> factors,
                                                       int power) const;
  /// v of a coefficient, from its y_i.
  [[nodiscard]] static u64 quotient(const Conversion& conversion, std::span<const u64> y);

  std::size_t rpaus_;
  int word_bits_;
  std::vector<Conversion> conversions_;
};

}  // namespace ringsmith::sim
