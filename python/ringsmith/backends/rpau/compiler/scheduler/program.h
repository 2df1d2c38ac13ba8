// What the scheduler of the RPAU architecture works on: a design's numbers, instructions on virtual
// polynomials, and instructions placed in work memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/isa.h"
#include "ringsmith/types.h"

namespace ringsmith::scheduler {

namespace isa = sim::isa;

/// One bit an RPAU; a design has at most 16.
using Mask = std::uint32_t;
inline constexpr int kMaxRpaus = 16;

inline constexpr int kNone = -1;

/// What the caller handed in contradicts itself.
class SchedulerError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Calls `visit(rpau)` for every RPAU of a mask, lowest first.
template <typename Visit>
void for_each_rpau(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(std::countr_zero(mask));
  }
}

/// The operation of an opcode. @throws SchedulerError if no operation has it
[[nodiscard]] const isa::Operation& operation_of(int opcode);

/// The numbers of a design that scheduling depends on, in one of its rings.
/// `python/ringsmith/backends/rpau/design/design.py` checks a design, `cost.py` has the latencies.
struct Machine {
  int rpaus;
  std::vector<int> banks;  ///< bank of each work polynomial of an RPAU; banks count from 0
  int key_polys;           ///< polynomials in the key store of an RPAU
  int seeds;               ///< entries in the seed store of an RPAU
  int program_words;       ///< instructions in the program store
  u64 fetch_cycles;        ///< from one issue, or the start, to the next instruction's readiness
  std::vector<u64> latencies;  ///< by opcode: how long the unit is busy
  /// By opcode: the operation that does the same on the other of main and dyadic unit; kNone if
  /// the design has none.
  std::vector<int> equivalents;

  [[nodiscard]] u64 latency(const isa::Operation& operation) const {
    return latencies[static_cast<std::size_t>(operation.opcode)];
  }
  /// Work polynomials an RPAU.
  [[nodiscard]] int work_polys() const { return static_cast<int>(banks.size()); }
  [[nodiscard]] int bank_count() const { return 1 + *std::max_element(banks.begin(), banks.end()); }
  /// Whether any two work polynomials share a bank's ports.
  [[nodiscard]] bool shares_ports() const { return bank_count() < work_polys(); }
  /// @throws SchedulerError if a number is out of range or a table is too short
  void check() const;
};

/// Values of an instruction's operands, in the order of the operation.
using Values = std::array<int, isa::kMaxOperands>;

/// An instruction on work polynomials, with the units that it waits for.
struct Instruction {
  const isa::Operation* operation;
  Mask mask;
  Values values;
  unsigned waits;  ///< one bit a unit

  /// The RPAU that sends; kNone where none does.
  [[nodiscard]] int source() const;
  /// The RPAUs whose words are converted; none where nothing is.
  [[nodiscard]] Mask converted() const;
};

[[nodiscard]] constexpr unsigned bit_of(isa::Unit unit) {
  return 1U << static_cast<unsigned>(unit);
}

/// The RPAUs of an instruction's mask in which an operand of its is accessed.
[[nodiscard]] Mask accessed_in(const isa::Operand& operand, const Instruction& instruction);

/// What an instruction keeps while it runs, whichever work polynomials its operands are.
struct Outline {
  /// An operand in the RPAUs where it is accessed.
  struct Hold {
    int operand;      ///< kNone: the main unit's selector of operand c
    bool poly;        ///< it is a work polynomial; else it is in the key store
    bool reads_port;  ///< it takes its bank's read port
    bool writes_port;
    Mask mask;
  };

  int source;  ///< the RPAU that sends; kNone where none does
  int count = 0;
  std::array<Hold, isa::kMaxOperands + 1> holds{};

  explicit Outline(const Instruction& instruction);
};

/// A polynomial that an instruction accesses, with the RPAUs that read and that write it there.
struct Access {
  int poly;
  Mask reads;
  Mask writes;

  [[nodiscard]] Mask touched() const { return reads | writes; }
};

/// An instruction on virtual polynomials.
struct VirtualInstruction {
  Instruction instruction;           ///< its work-polynomial operands count virtual polynomials
  const isa::Operation* equivalent;  ///< the same on the other unit, or null
  std::vector<Access> accesses;      ///< each polynomial once: those read first, then the others
  Outline outline;
  Outline equivalent_outline;  ///< of the equivalent, if there is one
};

/// An instruction on virtual polynomials, from its opcode, mask and values.
/// @throws SchedulerError if the opcode does not exist, or the mask names RPAUs that do not
[[nodiscard]] VirtualInstruction virtual_instruction(const Machine& machine, int opcode, Mask mask,
                                                     const Values& values);

}  // namespace ringsmith::scheduler
