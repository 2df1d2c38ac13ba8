// The lists of a cluster as arrays: what ``ringsmith.backends.vector.isa.instructions`` describes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ringsmith::vector {

using i64 = std::int64_t;

/// A mistake of the caller, or tasks for which there is no place.
struct AllocatorError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What instructions read: a slot's code, a stream's number, a constant, or x again.
enum class Read : i64 { kNone, kSlot, kStream, kConstant, kSame };

struct Source {
  Read kind = Read::kNone;
  i64 value = 0;
};

/// A slot's code: its bank above its index.
inline constexpr int kBankShift = 20;
inline constexpr i64 slot_code(i64 bank, i64 index) { return bank << kBankShift | index; }
inline constexpr i64 bank_of(i64 slot) { return slot >> kBankShift; }
inline constexpr i64 index_of(i64 slot) { return slot & ((i64{1} << kBankShift) - 1); }
inline constexpr i64 kNoSlot = -1;

enum class Kind : i64 { kTransform, kPoint, kAutomorph };

/// A limb of a transform, a result of a point instruction, or the one limb of an automorphism.
struct Entry {
  i64 prime = 0;
  Source y;  ///< of transforms and automorphisms the source
  Source z;
  i64 subtract = 0;  ///< of transforms: whether words are reduced
  i64 target = kNoSlot;
  i64 store = 0;
  i64 table = 0;  ///< of transforms
};

/// An instruction of the list ``computing``; its entries are a part of the list's.
struct Operation {
  Kind kind = Kind::kPoint;
  i64 extra = 0;  ///< whether a transform is inverse; an automorphism's element
  Source x;       ///< of point instructions
  i64 first = 0, count = 0;
  i64 gap = 0, tables = 0, origin = -1;
};

/// Whose limb is loaded or stored.
enum class Where : i64 { kLimb, kSpilled, kTable };

struct Load {
  Where where = Where::kLimb;
  i64 limb = 0;  ///< a limb's or a value's number; a table's prime and direction
  i64 rows = 0;
  i64 stream = -1;  ///< -1: the twiddle memory
  i64 row = 0;
  i64 after_cluster = -1, after_count = 0;  ///< a store that it waits for; cluster -1: none
  i64 after_computing = 0;
};

struct Store {
  Where where = Where::kLimb;
  i64 limb = 0, rows = 0, stream = 0;
};

struct Lists {
  std::vector<Load> loads;
  std::vector<Operation> computing;
  std::vector<Entry> entries;
  std::vector<Store> stores;
};

/// The numbers of a design, in one ring, that places and times follow from; cycles, rows and beats.
struct Machine {
  i64 clusters, banks, results, slots;  ///< slots: limbs of a bank
  i64 rows, passes;
  i64 stream_rows;
  i64 tables, rows_of_table;  ///< tables that the twiddle memory holds; rows of each
  i64 streams, factor_streams, x_stream, bank_operands, max_entries;
  i64 row_beats, burst_beats, interval, read_pause, write_pause, latency;
  i64 notice, row_notice, stored_notice, freed_notice, store_lead;
  i64 pass_delay, turn;
  std::vector<i64> summand, factor, written;      ///< by stage
  std::vector<i64> forward_turns, inverse_turns;  ///< of the passes

  /// Cycles in which memory hands out rows, with its pauses, on average.
  [[nodiscard]] i64 read_cycles(i64 count) const {
    const i64 beats = count * row_beats * interval, work = interval - read_pause;
    return (beats + work - 1) / work;
  }
  /// From the first row of a transform's pass to that of the next one.
  [[nodiscard]] i64 period(const Operation& operation) const {
    return std::max(operation.count * rows, rows + pass_delay);
  }
  /// Cycles in which an instruction issues rows.
  [[nodiscard]] i64 occupied(const Operation& operation) const {
    if (operation.kind != Kind::kTransform) return rows;
    return (passes - 1) * period(operation) + operation.count * rows;
  }
};

}  // namespace ringsmith::vector
