#include "model/rpau.h"

#include <algorithm>
#include <string>

#include "ringsmith/error.h"

namespace ringsmith::sim {
namespace {

void expect_size(std::span<const u64> words, std::size_t size) {
  if (words.size() != size) {
    throw ModelError(std::to_string(words.size()) + " words were given and " +
                     std::to_string(size) + " are needed");
  }
}

std::vector<u64> copy_of(std::span<const u64> words) { return {words.begin(), words.end()}; }

/// Checks that `table` holds the powers base^0, base^1, ...
void expect_powers(const std::vector<u64>& table, u64 base, const Modulus& q, const char* name) {
  u64 power = 1;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] != power) {
      throw ModelError(std::string("word ") + std::to_string(i) + " of the " + name +
                       " twiddle table is " + std::to_string(table[i]) + " and must be " +
                       std::to_string(power) + ", a power of the low table's word 1 modulo " +
                       std::to_string(q.value()) + ": load both tables for this prime");
    }
    power = q.multiply(power, base);
  }
}

}  // namespace

Rpau::Rpau(const Design& design)
    : design_(design), work_(design.work_polys), keys_(design.key_polys) {}

void Rpau::write_poly(int index, std::span<const u64> words) {
  expect_size(words, design_.n());
  work_.at(index) = {copy_of(words), false};
}

void Rpau::write_key(int index, std::span<const u64> words) {
  expect_size(words, design_.n());
  keys_.at(index) = {copy_of(words), false};
}

void Rpau::write_constants(std::span<const u64> words) {
  expect_size(words, design_.constants);
  constants_ = copy_of(words);
}

void Rpau::write_modulus(std::span<const u64> words) {
  expect_size(words, 3);
  const Modulus q = [&] {
    try {
      return Modulus(words[0]);
    } catch (const ParameterError& error) {
      throw ModelError(error.what());
    }
  }();
  const int bits = q.bits();
  const u128 mu =
      (u128{1} << (design_.word_bits + bits)) / q.value() - (u128{1} << design_.word_bits);
  if (words[1] != mu || words[2] != static_cast<u64>(bits)) {
    throw ModelError("modulus " + std::to_string(q.value()) + " needs mu = " +
                     std::to_string(static_cast<u64>(mu)) + " and k = " + std::to_string(bits) +
                     ", not " + std::to_string(words[1]) + " and " + std::to_string(words[2]));
  }
  modulus_ = q;
  tables_.reset();
  for (Poly& poly : work_) {
    poly.checked = false;
  }
  for (Poly& poly : keys_) {
    poly.checked = false;
  }
}

void Rpau::write_twiddle_lo(std::span<const u64> words) {
  expect_size(words, std::size_t{1} << design_.twiddle_lo_bits());
  twiddle_lo_ = copy_of(words);
  tables_.reset();
}

void Rpau::write_twiddle_hi(std::span<const u64> words) {
  expect_size(words, design_.n() >> design_.twiddle_lo_bits());
  twiddle_hi_ = copy_of(words);
  tables_.reset();
}

std::span<const u64> Rpau::read_poly(int index) const {
  const Poly& poly = work_.at(index);
  if (poly.words.empty()) {
    throw ModelError("p" + std::to_string(index) + " was never written: write it first");
  }
  return poly.words;
}

const Modulus& Rpau::modulus() const {
  if (!modulus_) {
    throw ModelError("no modulus was loaded: write it first");
  }
  return *modulus_;
}

const NttTables& Rpau::tables() {
  if (!tables_) {
    const Modulus& q = modulus();
    if (twiddle_lo_.empty() || twiddle_hi_.empty()) {
      throw ModelError("a twiddle table was never loaded: write both first");
    }
    const u64 root = q.reduce(twiddle_lo_.at(1));
    expect_powers(twiddle_lo_, root, q, "low");
    expect_powers(twiddle_hi_, q.power(root, twiddle_lo_.size()), q, "high");
    try {
      tables_.emplace(q, design_.n(), root);
    } catch (const ParameterError& error) {
      throw ModelError(error.what());
    }
  }
  return *tables_;
}

Rpau::Residues Rpau::residues(Poly& poly, const char* letters, int index) {
  if (!poly.checked) {
    const u64 q = modulus().value();
    const std::string name = letters + std::to_string(index);
    if (poly.words.empty()) {
      throw ModelError("reads " + name + ", which was never written: write it first");
    }
    const auto wide =
        std::find_if(poly.words.begin(), poly.words.end(), [q](u64 word) { return word >= q; });
    if (wide != poly.words.end()) {
      throw ModelError("reads " + name + ", whose word " +
                       std::to_string(wide - poly.words.begin()) + " is " + std::to_string(*wide) +
                       " and must be below the modulus " + std::to_string(q) +
                       ": write canonical residues");
    }
    poly.checked = true;
  }
  return poly.words;
}

Rpau::Residues Rpau::work(int index) { return residues(work_.at(index), "p", index); }

Rpau::Residues Rpau::key(int index) { return residues(keys_.at(index), "key", index); }

u64 Rpau::constant(int index) const {
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

template <typename Value>
void Rpau::fill(int dst, const Value& value) {
  Poly& poly = work_.at(dst);
  poly.words.resize(design_.n());
  for (std::size_t i = 0; i < poly.words.size(); ++i) {
    poly.words[i] = value(i);
  }
  poly.checked = true;
}

void Rpau::ntt(int dst) {
  (void)work(dst);
  tables().forward(work_.at(dst).words);
}

void Rpau::intt(int dst) {
  (void)work(dst);
  tables().inverse(work_.at(dst).words);
}

void Rpau::automorph(int dst, int a, u64 element) {
  const std::vector<u64> in = copy_of(work(a));
  const u64 n = design_.n();
  const int log_n = design_.log_n;
  fill(dst, [&](std::size_t i) {
    const u64 exponent = element * reverse_bits(n + i, log_n + 1);
    return in[reverse_bits((exponent >> 1) & (n - 1), log_n)];
  });
}

std::vector<u64> Rpau::sent(int a, int k1, int k2) {
  const Residues in = work(a);
  const Modulus& q = modulus();
  const ShoupFactor factor(constant(k1), q);
  const u64 addend = constant(k2);
  std::vector<u64> words(in.size());
  std::transform(in.begin(), in.end(), words.begin(),
                 [&](u64 word) { return q.add(factor.multiply(word, q.value()), addend); });
  return words;
}

void Rpau::receive(int dst, std::span<const u64> words, int k1, int k2) {
  const Modulus& q = modulus();
  const ShoupFactor factor(constant(k1), q);
  const u64 addend = constant(k2);
  fill(dst, [&](std::size_t i) { return q.add(factor.multiply(words[i], q.value()), addend); });
}

void Rpau::multiply(int dst, int a, int b) {
  const Residues x = work(a);
  const Residues y = work(b);
  fill(dst, [&, q = modulus()](std::size_t i) { return q.multiply(x[i], y[i]); });
}

void Rpau::multiply_key(int dst, int a, int key_index) {
  const Residues x = work(a);
  const Residues y = key(key_index);
  fill(dst, [&, q = modulus()](std::size_t i) { return q.multiply(x[i], y[i]); });
}

void Rpau::accumulate(int dst, Residues a, Residues b) {
  const Residues sum = work(dst);
  fill(dst, [&, q = modulus()](std::size_t i) { return q.add(sum[i], q.multiply(a[i], b[i])); });
}

void Rpau::multiply_accumulate(int dst, int a, int b) {
  const Residues x = work(a);
  accumulate(dst, x, work(b));
}

void Rpau::multiply_accumulate_key(int dst, int a, int key_index) {
  const Residues x = work(a);
  accumulate(dst, x, key(key_index));
}

void Rpau::add(int dst, int a, int b) {
  const Residues x = work(a);
  const Residues y = work(b);
  fill(dst, [&, q = modulus()](std::size_t i) { return q.add(x[i], y[i]); });
}

void Rpau::subtract(int dst, int a, int b) {
  const Residues x = work(a);
  const Residues y = work(b);
  fill(dst, [&, q = modulus()](std::size_t i) { return q.subtract(x[i], y[i]); });
}

void Rpau::affine(int dst, int a, int k1, int k2) { receive(dst, work(a), k1, k2); }

void Rpau::scale_add(int dst, int a, int b, int k1) {
  const Residues x = work(a);
  const Residues y = work(b);
  const Modulus& q = modulus();
  const ShoupFactor factor(constant(k1), q);
  fill(dst, [&](std::size_t i) { return q.add(factor.multiply(x[i], q.value()), y[i]); });
}

void Rpau::scale_subtract(int dst, int a, int b, int k1) {
  const Residues x = work(a);
  const Residues y = work(b);
  const Modulus& q = modulus();
  const ShoupFactor factor(constant(k1), q);
  fill(dst, [&](std::size_t i) { return q.subtract(factor.multiply(x[i], q.value()), y[i]); });
}

}  // namespace ringsmith::sim
