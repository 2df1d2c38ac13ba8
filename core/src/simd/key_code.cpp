// Precomputes keys' residues for the modulus-size kernels.
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

// Whether all residues that it is shown are below q < 2^62: neither they nor q - 1 less them are
// negative.
class Canonical {
 public:
  explicit Canonical(u64 q) : most_(q - 1) {}
  void show(u64 residue) { signs_ |= residue | (most_ - residue); }
  [[nodiscard]] bool all() const { return signs_ >> 63 == 0; }

 private:
  u64 most_;
  u64 signs_ = 0;
};

u64 halves(u64 residue) { return (residue >> kLowBits << 32) + (residue & kLow); }
u64 from_halves(u64 word) { return (word >> 32 << kLowBits) + (word & kLow); }

constexpr auto kAsItIs = [](u64 residue) { return residue; };

// out[i] = word(residues[i]); whether all are canonical.
template <typename Word>
bool write_words(u64 q, const u64* residues, u64* out, std::size_t count, Word word) {
  Canonical canonical(q);
  for (std::size_t i = 0; i < count; ++i) {
    canonical.show(residues[i]);
    out[i] = word(residues[i]);
  }
  return canonical.all();
}

constexpr std::size_t kPairs = 4;  // of KeyCode::kPairs32

// Words of two residues, `distance` apart; whether all are canonical.
template <std::size_t distance>
bool write_pairs(u64 q, const u64* residues, u64* out, std::size_t count) {
  Canonical canonical(q);
  for (std::size_t i = 0; i < count; i += 2 * distance) {
    for (std::size_t j = i; j < i + distance; ++j) {
      const u64 other = residues[j + distance];
      canonical.show(residues[j]);
      canonical.show(other);
      *out++ = residues[j] + (other << 32);
    }
  }
  return canonical.all();
}

// out[i] = residue(precomputed[i]).
template <typename Residue>
void read_words(const u64* precomputed, u64* out, std::size_t count, Residue residue) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = residue(precomputed[i]);
  }
}

// The same of words of two.
template <std::size_t distance>
void read_pairs(const u64* precomputed, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 2 * distance) {
    for (std::size_t j = i; j < i + distance; ++j) {
      const u64 word = *precomputed++;
      out[j] = word & 0xffffffff;
      out[j + distance] = word >> 32;
    }
  }
}

}  // namespace

std::size_t precomputed_size(KeyCode code, std::size_t count) {
  return count / residues_in_word(code);
}

bool precompute_residues(u64 q, KeyCode code, const u64* residues, u64* out, std::size_t count) {
  switch (code) {
    case KeyCode::kResidue:
      return write_words(q, residues, out, count, kAsItIs);
    case KeyCode::kResidue32:  // the first one below
      return write_pairs<1>(q, residues, out, count);
    case KeyCode::kPairs32:
      return write_pairs<kPairs>(q, residues, out, count);
    case KeyCode::kHalves:
      return write_words(q, residues, out, count, halves);
    case KeyCode::kReal:
      return write_words(q, residues, out, count, [q](u64 residue) {
        return std::bit_cast<u64>(static_cast<double>(centred(residue, q)));
      });
  }
  return false;  // not reached
}

void restore_residues(u64 q, KeyCode code, const u64* precomputed, u64* out, std::size_t count) {
  switch (code) {
    case KeyCode::kResidue:
      return read_words(precomputed, out, count, kAsItIs);
    case KeyCode::kResidue32:
      return read_pairs<1>(precomputed, out, count);
    case KeyCode::kPairs32:
      return read_pairs<kPairs>(precomputed, out, count);
    case KeyCode::kHalves:
      return read_words(precomputed, out, count, from_halves);
    case KeyCode::kReal:
      return read_words(precomputed, out, count, [q](u64 word) {
        return from_centred(static_cast<std::int64_t>(std::bit_cast<double>(word)), q);
      });
  }
}

}  // namespace ringsmith::simd
