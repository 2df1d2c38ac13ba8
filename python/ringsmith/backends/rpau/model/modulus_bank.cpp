#include "model/modulus_bank.h"

#include <string>

#include "ringsmith/error.h"

namespace ringsmith::sim {
namespace {

[[noreturn]] void refuse_twiddle(const char* name, std::size_t index, u64 found, u64 expected,
                                 const Modulus& q) {
  throw ModelError("word " + std::to_string(index) + " of the " + name + " twiddle table is " +
                   std::to_string(found) + " and must be " + std::to_string(expected) +
                   ", a power of the root modulo " + std::to_string(q.value()) +
                   ": load the tables for this prime");
}

/// Checks that word i of `table` is root^((i << shift) >> ring).
void expect_powers(const std::vector<u64>& table, u64 root, int shift, int ring, const Modulus& q,
                   const char* name) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const u64 power = q.power(root, (i << shift) >> ring);
    if (table[i] != power) {
      refuse_twiddle(name, i, table[i], power, q);
    }
  }
}

/// Multiplies word i by factor^i.
void twist_by(std::span<u64> words, u64 factor, const Modulus& q) {
  u64 power = 1;
  for (u64& word : words) {
    word = q.multiply(word, power);
    power = q.multiply(power, factor);
  }
}

/// s of a modulus 2^b - s, in two's complement, and s * 2^(width - b).
struct Tail {
  u64 tail;
  u64 scaled;
};

Tail tail_of(const Modulus& modulus, int width) {
  const u64 q = modulus.value();
  const int bits = modulus.bits();
  const u64 above = (u64{1} << bits) - q;
  const u64 below = q - (u64{1} << (bits - 1));
  const bool negative = below < above;
  const int near = negative ? bits - 1 : bits;
  const u64 tail = negative ? ~below + 1 : above;
  return {tail, tail << (width - near)};
}

/// mu of a modulus 2^b - s in a design that folds.
u64 folded_mu(const Modulus& modulus, int width, const FoldedWord& folded) {
  const auto [tail, scaled] = tail_of(modulus, width);
  const auto low = [](u64 word, int count) { return word & ((u64{1} << count) - 1); };
  const int scaled_bits = folded.scaled_bits + 1;
  return low(tail, folded.tail_bits + 1) << scaled_bits | low(scaled, scaled_bits);
}

std::vector<u64> copy_of(std::span<const u64> words) { return {words.begin(), words.end()}; }

}  // namespace

void expect_size(std::span<const u64> words, std::size_t size) {
  if (words.size() != size) {
    throw ModelError(std::to_string(words.size()) + " words were given and " +
                     std::to_string(size) + " are needed");
  }
}

void ModulusBank::set_ring(const Ring& ring) {
  ring_ = ring;
  for (std::vector<u64>* table : {&constants_, &twiddle_lo_, &twiddle_hi_, &twiddles_}) {
    table->clear();
  }
  tables_.reset();
}

void ModulusBank::write_constants(std::span<const u64> words) {
  expect_size(words, design_.constants);
  constants_ = copy_of(words);
}

void ModulusBank::write_modulus(std::span<const u64> words) {
  expect_size(words, 4);
  const Modulus q = [&] {
    try {
      return Modulus(words[0]);
    } catch (const ParameterError& error) {
      throw ModelError(error.what());
    }
  }();
  const auto bits = static_cast<u64>(q.bits());
  if (design_.sparse_primes.empty()) {
    const int width = design_.bits_of(rpau_);
    const std::optional<FoldedWord>& folded = design_.folded_of(rpau_);
    const u128 mu = folded ? u128{folded_mu(q, width, *folded)}
                           : (u128{1} << (width + bits)) / q.value() - (u128{1} << width);
    if (words[1] != mu || words[2] != bits || words[3] != 0) {
      throw ModelError("modulus " + std::to_string(q.value()) + " needs mu = " +
                       std::to_string(static_cast<u64>(mu)) + ", k = " + std::to_string(bits) +
                       " and index 0, not " + std::to_string(words[1]) + ", " +
                       std::to_string(words[2]) + " and " + std::to_string(words[3]));
    }
  } else {
    const std::vector<u64>& family = design_.sparse_primes;
    if (words[1] != 0 || words[2] != bits || words[3] >= family.size() ||
        family[words[3]] != q.value()) {
      throw ModelError(
          "modulus " + std::to_string(q.value()) + " needs mu = 0, k = " + std::to_string(bits) +
          " and its index among the design's sparse primes, not " + std::to_string(words[1]) +
          ", " + std::to_string(words[2]) + " and " + std::to_string(words[3]));
    }
  }
  modulus_ = q;
  tables_.reset();
}

void ModulusBank::write_twiddle_lo(std::span<const u64> words) {
  expect_size(words, std::size_t{1} << design_.twiddle_lo_bits());
  twiddle_lo_ = copy_of(words);
  tables_.reset();
}

void ModulusBank::write_twiddle_hi(std::span<const u64> words) {
  expect_size(words, std::size_t{1} << (design_.max_log_n() - design_.twiddle_lo_bits()));
  twiddle_hi_ = copy_of(words);
  tables_.reset();
}

void ModulusBank::write_twiddles(std::span<const u64> words) {
  expect_size(words, std::size_t{1} << ring_.log_degree);
  twiddles_ = copy_of(words);
  tables_.reset();
}

const Modulus& ModulusBank::modulus() const {
  if (!modulus_) {
    throw ModelError("no modulus was loaded: write it first");
  }
  return *modulus_;
}

u64 ModulusBank::shortened(u64 word) const {
  const int width = design_.bits_of(rpau_);
  const u64 scaled = tail_of(modulus(), width).scaled;
  const bool negative = scaled >> 63 != 0;
  const u64 folded = (word & ((u64{1} << width) - 1)) + (word >> width) * scaled;
  if (folded >> width == 0) {
    return folded;
  }
  return negative ? folded + (u64{1} << (width - 1)) + (~scaled + 1) / 2
                  : folded - (u64{1} << width) + scaled;
}

void ModulusBank::forward(std::span<u64> words, int sub_poly) {
  const NttTables& tables = this->tables();
  if (ring_.sub_polys() > 1) {
    twist_by(words, twist(sub_poly), modulus());
  }
  tables.forward(words);
}

void ModulusBank::inverse(std::span<u64> words, int sub_poly) {
  tables().inverse(words);
  if (ring_.sub_polys() > 1) {
    twist_by(words, modulus().inverse(twist(sub_poly)), modulus());
  }
}

const NttTables& ModulusBank::tables() {
  if (!tables_) {
    root_ = checked_root();
    try {
      tables_.emplace(modulus(), ring_.n(), modulus().power(root_, ring_.sub_polys()));
    } catch (const ParameterError& error) {
      throw ModelError(error.what());
    }
  }
  return *tables_;
}

u64 ModulusBank::twist(int sub_poly) {
  // With P sub-polynomials and c = brev(sub-polynomial), value j of a sub-polynomial is at
  // psi^(2P*brev(j) + 2c + 1). That of N words by psi^P is at psi^(2P*brev(j) + P).
  const u64 order = u64{2} << ring_.log_degree;
  const u64 place = reverse_bits(sub_poly, ring_.log_sub_polys());
  return modulus().power(root_, (order + 2 * place + 1 - ring_.sub_polys()) % order);
}

u64 ModulusBank::checked_root() const {
  return design_.stored_twiddles ? stored_root() : generated_root();
}

u64 ModulusBank::generated_root() const {
  const Modulus& q = modulus();
  if (twiddle_lo_.empty() || twiddle_hi_.empty()) {
    throw ModelError("a twiddle table was never loaded: write both first");
  }
  // Exponents stand at the upper end of as many bits as the largest ring has.
  const int ring = design_.max_log_n() - ring_.log_degree;
  const int low = design_.twiddle_lo_bits();
  const u64 root = q.reduce(ring < low ? twiddle_lo_.at(std::size_t{1} << ring)
                                       : twiddle_hi_.at(std::size_t{1} << (ring - low)));
  expect_powers(twiddle_lo_, root, 0, ring, q, "low");
  expect_powers(twiddle_hi_, root, low, ring, q, "high");
  return root;
}

u64 ModulusBank::stored_root() const {
  const Modulus& q = modulus();
  if (twiddles_.empty()) {
    throw ModelError("a twiddle table was never loaded: write it first");
  }
  const u64 root = q.reduce(twiddles_.at(twiddles_.size() / 2));  // brev(N / 2) is 1
  u64 power = 1;
  for (std::size_t e = 0; e < twiddles_.size(); ++e) {
    const std::size_t place = reverse_bits(e, ring_.log_degree);
    if (twiddles_[place] != power) {
      refuse_twiddle("stored", place, twiddles_[place], power, q);
    }
    power = q.multiply(power, root);
  }
  return root;
}

u64 ModulusBank::constant(int index) const {
  if (constants_.empty()) {
    throw ModelError("reads c" + std::to_string(index) +
                     ", and the constant file was never loaded: write it first");
  }
  const u64 value = constants_.at(index);
  if (value >= modulus().value()) {
    throw ModelError("reads c" + std::to_string(index) + " = " + std::to_string(value) +
                     ", which must be below the modulus " + std::to_string(modulus().value()) +
                     ": write canonical residues");
  }
  return value;
}

}  // namespace ringsmith::sim
