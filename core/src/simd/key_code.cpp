// Keys' residues as the word classes want them prepared.
#include <bit>
#include <cstdint>

#include "kernel_set.h"

namespace ringsmith::simd {
namespace {

constexpr int kLowBits = 30;  // of KeyCode::kHalves
constexpr u64 kLow = (u64{1} << kLowBits) - 1;

std::int64_t centred(u64 residue, u64 q) {
  const u64 above = -static_cast<u64>(residue > q / 2);  // no branch, which would be random
  return static_cast<std::int64_t>(residue - (q & above));
}

u64 from_centred(std::int64_t value, u64 q) {
  return static_cast<u64>(value) + (q & -static_cast<u64>(value < 0));
}

// out[i] = word(residues[i]); whether all are canonical.
template <typename Word>
bool write_words(u64 q, const u64* residues, u64* out, std::size_t count, Word word) {
  bool canonical = true;
  for (std::size_t i = 0; i < count; ++i) {
    canonical &= residues[i] < q;
    out[i] = word(residues[i]);
  }
  return canonical;
}

constexpr std::size_t kPairs = 4;  // of KeyCode::kPairs32

// Words of two residues, `distance` apart.
template <std::size_t distance>
bool write_pairs(u64 q, const u64* residues, u64* out, std::size_t count) {
  bool canonical = true;
  for (std::size_t i = 0; i < count; i += 2 * distance) {
    for (std::size_t j = i; j < i + distance; ++j) {
      const u64 other = residues[j + distance];
      canonical &= residues[j] < q && other < q;
      *out++ = residues[j] + (other << 32);
    }
  }
  return canonical;
}

}  // namespace

std::size_t prepared_size(KeyCode code, std::size_t count) {
  return code == KeyCode::kResidue32 || code == KeyCode::kPairs32 ? count / 2 : count;
}

bool prepare_residues(u64 q, KeyCode code, const u64* residues, u64* out, std::size_t count) {
  switch (code) {
    case KeyCode::kResidue:
      return write_words(q, residues, out, count, [](u64 residue) { return residue; });
    case KeyCode::kResidue32:  // the first one below
      return write_pairs<1>(q, residues, out, count);
    case KeyCode::kPairs32:
      return write_pairs<kPairs>(q, residues, out, count);
    case KeyCode::kHalves:
      return write_words(q, residues, out, count, [](u64 residue) {
        return (residue >> kLowBits << 32) + (residue & kLow);
      });
    case KeyCode::kReal:
      return write_words(q, residues, out, count, [q](u64 residue) {
        return std::bit_cast<u64>(static_cast<double>(centred(residue, q)));
      });
  }
  return false;  // not reached
}

void restore_residues(u64 q, KeyCode code, const u64* prepared, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    switch (code) {
      case KeyCode::kResidue:
        out[i] = prepared[i];
        break;
      case KeyCode::kResidue32:
        out[i] = prepared[i / 2] >> (32 * (i % 2)) & 0xffffffff;
        break;
      case KeyCode::kPairs32:
        out[i] = prepared[i / (2 * kPairs) * kPairs + i % kPairs] >> (32 * (i / kPairs % 2)) &
                 0xffffffff;
        break;
      case KeyCode::kHalves:
        out[i] = (prepared[i] >> 32 << kLowBits) + (prepared[i] & kLow);
        break;
      case KeyCode::kReal:
        out[i] = from_centred(static_cast<std::int64_t>(std::bit_cast<double>(prepared[i])), q);
        break;
    }
  }
}

}  // namespace ringsmith::simd
