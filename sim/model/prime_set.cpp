#include "model/prime_set.h"

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

/// Checks that `table` holds the powers base^0, base^1, ...
void expect_powers(const std::vector<u64>& table, u64 base, const Modulus& q, const char* name) {
  u64 power = 1;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] != power) {
      refuse_twiddle(name, i, table[i], power, q);
    }
    power = q.multiply(power, base);
  }
}

std::vector<u64> copy_of(std::span<const u64> words) { return {words.begin(), words.end()}; }

}  // namespace

void expect_size(std::span<const u64> words, std::size_t size) {
  if (words.size() != size) {
    throw ModelError(std::to_string(words.size()) + " words were given and " +
                     std::to_string(size) + " are needed");
  }
}

void PrimeSet::write_constants(std::span<const u64> words) {
  expect_size(words, design_.constants);
  constants_ = copy_of(words);
}

void PrimeSet::write_modulus(std::span<const u64> words) {
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
    const u128 mu =
        (u128{1} << (design_.word_bits + bits)) / q.value() - (u128{1} << design_.word_bits);
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

void PrimeSet::write_twiddle_lo(std::span<const u64> words) {
  expect_size(words, std::size_t{1} << design_.twiddle_lo_bits());
  twiddle_lo_ = copy_of(words);
  tables_.reset();
}

void PrimeSet::write_twiddle_hi(std::span<const u64> words) {
  expect_size(words, design_.n() >> design_.twiddle_lo_bits());
  twiddle_hi_ = copy_of(words);
  tables_.reset();
}

void PrimeSet::write_twiddles(std::span<const u64> words) {
  expect_size(words, design_.whole_twiddles);
  twiddles_ = copy_of(words);
  tables_.reset();
}

const Modulus& PrimeSet::modulus() const {
  if (!modulus_) {
    throw ModelError("no modulus was loaded: write it first");
  }
  return *modulus_;
}

const NttTables& PrimeSet::tables() {
  if (!tables_) {
    const u64 root = design_.stored_twiddles ? stored_root() : generated_root();
    try {
      tables_.emplace(modulus(), design_.n(), root);
    } catch (const ParameterError& error) {
      throw ModelError(error.what());
    }
  }
  return *tables_;
}

u64 PrimeSet::generated_root() const {
  const Modulus& q = modulus();
  if (twiddle_lo_.empty() || twiddle_hi_.empty() || twiddles_.empty()) {
    throw ModelError("a twiddle table was never loaded: write all three first");
  }
  const u64 root = q.reduce(twiddle_lo_.at(1));
  expect_powers(twiddle_lo_, root, q, "low");
  expect_powers(twiddle_hi_, q.power(root, twiddle_lo_.size()), q, "high");
  expect_first_twiddles(root);
  return root;
}

void PrimeSet::expect_first_twiddles(u64 root) const {
  const Modulus& q = modulus();
  const std::size_t half = design_.n() / 2;
  const auto cores = static_cast<std::size_t>(design_.cores);
  for (std::size_t i = 0; i < twiddles_.size(); ++i) {
    const std::size_t exponent =
        i < cores ? half : design_.n() - reverse_bits(half + i - cores, design_.log_n);
    const u64 factor = q.power(root, exponent);
    if (twiddles_[i] != factor) {
      refuse_twiddle("first", i, twiddles_[i], factor, q);
    }
  }
}

u64 PrimeSet::stored_root() const {
  const Modulus& q = modulus();
  if (twiddles_.empty()) {
    throw ModelError("a twiddle table was never loaded: write it first");
  }
  const u64 root = q.reduce(twiddles_.at(twiddles_.size() / 2));  // brev(N / 2) is 1
  u64 power = 1;
  for (std::size_t e = 0; e < twiddles_.size(); ++e) {
    const std::size_t place = reverse_bits(e, design_.log_n);
    if (twiddles_[place] != power) {
      refuse_twiddle("stored", place, twiddles_[place], power, q);
    }
    power = q.multiply(power, root);
  }
  return root;
}

u64 PrimeSet::constant(int index) const {
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
