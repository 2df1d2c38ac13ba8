// Keys' residues as the word classes want them prepared.
#include <bit>
#include <cstdint>

#include "kernel_set.h"

namespace ringsmith::simd {
namespace {

constexpr int kLowBits = 30;  // of KeyCode::kHalves
constexpr u64 kLow = (u64{1} << kLowBits) - 1;

std::int64_t centred(u64 residue, u64 q) {
  const auto value = static_cast<std::int64_t>(residue);
  return residue > q / 2 ? value - static_cast<std::int64_t>(q) : value;
}

u64 from_centred(std::int64_t value, u64 q) {
  return static_cast<u64>(value) + (value < 0 ? q : 0);
}

u64 prepared_word(u64 q, KeyCode code, u64 residue) {
  switch (code) {
    case KeyCode::kResidue:
    case KeyCode::kResidue32:
      return residue;
    case KeyCode::kHalves:
      return (residue >> kLowBits << 32) + (residue & kLow);
    case KeyCode::kReal:
      return std::bit_cast<u64>(static_cast<double>(centred(residue, q)));
  }
  return 0;  // not reached
}

u64 restored_word(u64 q, KeyCode code, u64 word) {
  switch (code) {
    case KeyCode::kResidue:
    case KeyCode::kResidue32:
      return word;
    case KeyCode::kHalves:
      return (word >> 32 << kLowBits) + (word & kLow);
    case KeyCode::kReal:
      return from_centred(static_cast<std::int64_t>(std::bit_cast<double>(word)), q);
  }
  return 0;  // not reached
}

// Words of 32 bits are two in one of 64, the first one below.
bool is_packed(KeyCode code) { return code == KeyCode::kResidue32; }

}  // namespace

std::size_t prepared_size(KeyCode code, std::size_t count) {
  return is_packed(code) ? count / 2 : count;
}

bool prepare_residues(u64 q, KeyCode code, const u64* residues, u64* out, std::size_t count) {
  bool canonical = true;
  const std::size_t each = is_packed(code) ? 2 : 1;
  for (std::size_t i = 0; i < count; i += each) {
    u64 word = 0;
    for (std::size_t part = 0; part < each; ++part) {
      const u64 residue = residues[i + part];
      canonical &= residue < q;
      word += prepared_word(q, code, residue) << (32 * part);
    }
    out[i / each] = word;
  }
  return canonical;
}

void restore_residues(u64 q, KeyCode code, const u64* prepared, u64* out, std::size_t count) {
  const std::size_t each = is_packed(code) ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const u64 word = prepared[i / each] >> (32 * (i % each));
    out[i] = restored_word(q, code, each == 1 ? word : static_cast<std::uint32_t>(word));
  }
}

}  // namespace ringsmith::simd
