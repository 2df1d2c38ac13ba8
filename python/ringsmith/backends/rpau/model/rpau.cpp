#include "model/rpau.h"

#include <algorithm>
#include <string>

namespace ringsmith::sim {
namespace {

constexpr std::size_t kSeedWords = 4;      // of an entry of the seed store, before the limb
constexpr std::size_t kSeedWordBits = 20;  // four make a seed

std::vector<u64> copy_of(std::span<const u64> words) { return {words.begin(), words.end()}; }

}  // namespace

Rpau::Rpau(const Design& design, int index)
    : design_(design),
      index_(index),
      ring_(ring_of(design, design.log_n)),
      sets_(design.modulus_banks, ModulusBank(design, index)),
      work_(design.work_polys()),
      keys_(design.key_polys),
      seeds_(design.seeds) {}

void Rpau::set_ring(const Ring& ring) {
  ring_ = ring;
  for (ModulusBank& set : sets_) {
    set.set_ring(ring);
  }
  std::fill(work_.begin(), work_.end(), Poly{});
  std::fill(keys_.begin(), keys_.end(), Poly{});
}

void Rpau::write_poly(int index, std::span<const u64> words) {
  expect_size(words, ring_.n());
  store(index, words);
}

void Rpau::write_key(int index, std::span<const u64> words) {
  expect_size(words, ring_.n());
  keys_.at(index) = {copy_of(words), kUnchecked};
}

void Rpau::write_seed(int index, std::span<const u64> words) {
  expect_size(words, kSeedWords + 1);
  const u64 limb = words.back();
  if (limb >= kSeededIndices) {
    throw ModelError("limb " + std::to_string(limb) + " of seed " + std::to_string(index) +
                     " must be below " + std::to_string(kSeededIndices));
  }
  Seed seed{true, {}, limb};
  for (std::size_t bit = 0; bit < 8 * seed.key.size(); ++bit) {
    const u64 value = words[bit / kSeedWordBits] >> (bit % kSeedWordBits) & 1;
    seed.key[bit / 8] |= static_cast<std::uint8_t>(value << (bit % 8));
  }
  seeds_.at(index) = seed;
}

void Rpau::write_modulus(int set, std::span<const u64> words) {
  modulus_bank(set).write_modulus(words);
  const auto forget = [set](Poly& poly) {
    if (poly.checked == set) {
      poly.checked = kUnchecked;
    }
  };
  std::for_each(work_.begin(), work_.end(), forget);
  std::for_each(keys_.begin(), keys_.end(), forget);
}

ModulusBank& Rpau::modulus_bank(int set) { return sets_.at(set); }

void Rpau::compute_with(int set) {
  (void)sets_.at(set);
  current_ = set;
}

std::span<const u64> Rpau::read_poly(int index) const {
  const Poly& poly = work_.at(index);
  if (poly.words.empty()) {
    throw ModelError("p" + std::to_string(index) + " was never written: write it first");
  }
  return poly.words;
}

const Modulus& Rpau::modulus() const { return sets_.at(current_).modulus(); }

u64 Rpau::constant(int index) const { return sets_.at(current_).constant(index); }

Rpau::Residues Rpau::words(const Poly& poly, const char* letters, int index) {
  if (poly.words.empty()) {
    throw ModelError(std::string("reads ") + letters + std::to_string(index) +
                     ", which was never written: write it first");
  }
  return poly.words;
}

Rpau::Residues Rpau::residues(Poly& poly, const char* letters, int index) {
  if (poly.checked != current_) {
    const u64 q = modulus().value();
    const std::string name = letters + std::to_string(index);
    (void)words(poly, letters, index);
    const auto wide =
        std::find_if(poly.words.begin(), poly.words.end(), [q](u64 word) { return word >= q; });
    if (wide != poly.words.end()) {
      throw ModelError("reads " + name + ", whose word " +
                       std::to_string(wide - poly.words.begin()) + " is " + std::to_string(*wide) +
                       " and must be below the modulus " + std::to_string(q) +
                       ": write canonical residues");
    }
    poly.checked = current_;
  }
  return poly.words;
}

Rpau::Residues Rpau::work(int index) { return residues(work_.at(index), "p", index); }

Rpau::Residues Rpau::key(int index) { return residues(keys_.at(index), "key", index); }

template <typename Value>
void Rpau::fill(int dst, const Value& value) {
  Poly& poly = work_.at(dst);
  poly.words.resize(ring_.n());
  for (std::size_t i = 0; i < poly.words.size(); ++i) {
    poly.words[i] = value(i);
  }
  poly.checked = current_;
}

std::span<u64> Rpau::copied(int dst, int a) {
  const Residues in = work(a);
  if (dst != a) {
    fill(dst, [&](std::size_t i) { return in[i]; });
  }
  return work_.at(dst).words;
}

void Rpau::expect_sub_poly(int sub_poly) const {
  if (sub_poly >= ring_.sub_polys()) {
    throw ModelError("sub-polynomial " + std::to_string(sub_poly) +
                     " of a polynomial of degree 2^" + std::to_string(ring_.log_degree) +
                     ", which has " + std::to_string(ring_.sub_polys()) +
                     ": set the ring that the program is for");
  }
}

void Rpau::expect_sub_polys() const {
  if (ring_.sub_polys() == 1) {
    throw ModelError("polynomials of degree 2^" + std::to_string(ring_.log_degree) +
                     " do not lie in sub-polynomials: set the ring that the program is for");
  }
}

void Rpau::ntt(int dst, int a, int sub_poly) {
  expect_sub_poly(sub_poly);
  sets_.at(current_).forward(copied(dst, a), sub_poly);
}

void Rpau::intt(int dst, int a, int sub_poly) {
  expect_sub_poly(sub_poly);
  sets_.at(current_).inverse(copied(dst, a), sub_poly);
}

void Rpau::split(int dst, int b, int k1) {
  expect_sub_polys();
  const std::vector<u64> u = copy_of(work(dst));
  const std::vector<u64> t = copy_of(work(b));
  const Modulus& q = modulus();
  const u64 factor = constant(k1);
  fill(dst, [&](std::size_t i) { return q.add(u[i], q.multiply(factor, t[i])); });
  fill(b, [&](std::size_t i) { return q.subtract(u[i], q.multiply(factor, t[i])); });
}

void Rpau::join(int dst, int b, int k1) {
  expect_sub_polys();
  const std::vector<u64> u = copy_of(work(dst));
  const std::vector<u64> t = copy_of(work(b));
  const Modulus& q = modulus();
  const u64 half = q.inverse(2);
  const u64 factor = q.multiply(constant(k1), half);
  fill(dst, [&](std::size_t i) { return q.multiply(q.add(u[i], t[i]), half); });
  fill(b, [&](std::size_t i) { return q.multiply(q.subtract(t[i], u[i]), factor); });
}

void Rpau::automorph(int dst, int a, u64 element, int sub_poly) {
  expect_sub_poly(sub_poly);
  const int log_degree = ring_.log_degree;
  const u64 degree = u64{1} << log_degree;
  if (element >= 2 * degree) {
    throw ModelError("element " + std::to_string(element) + " must be below 2N = " +
                     std::to_string(2 * degree) + ": set the ring that the program is for");
  }
  const std::vector<u64> in = copy_of(work(a));
  const u64 first = sub_poly * ring_.n();
  fill(dst, [&](std::size_t i) {
    const u64 exponent = element * reverse_bits(degree + first + i, log_degree + 1);
    const u64 source = reverse_bits((exponent >> 1) & (degree - 1), log_degree);
    return in[source % ring_.n()];
  });
}

void Rpau::permute(int dst, int a, u64 element) {
  const u64 degree = ring_.n();
  if (ring_.sub_polys() != 1 || element >= 2 * degree) {
    throw ModelError("permutes by " + std::to_string(element) +
                     ", which must be below 2N = " + std::to_string(2 * degree) +
                     ", in a ring whose polynomials are of one sub-polynomial");
  }
  const std::vector<u64> in = copy_of(work(a));
  const Modulus& q = modulus();
  fill(dst, [&](std::size_t i) {
    const u64 number = i * element & (2 * degree - 1);
    return number < degree ? in[number] : q.negate(in[number - degree]);
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

void Rpau::store(int dst, std::span<const u64> words) {
  work_.at(dst) = {copy_of(words), kUnchecked};
}

void Rpau::store_shortened(int dst, std::span<const u64> words) {
  std::vector<u64> own = copy_of(words);
  for (u64& word : own) {
    if (word >> design_.bits_of(index_) != 0) {
      word = sets_.front().shortened(word);
    }
  }
  store(dst, own);
}

std::vector<u64> Rpau::expanded(int seed, int digit, int sub_poly) const {
  expect_sub_poly(sub_poly);
  const Seed& entry = seeds_.at(seed);
  if (!entry.written) {
    throw ModelError("expands seed " + std::to_string(seed) +
                     ", which was never written: write it first");
  }
  std::vector<u64> half(ring_.n());
  const std::size_t distance = std::max(std::size_t{1} << design_.log_n, kSeededBlock);
  const Modulus& q = modulus();
  expand_seed_words(entry.key, digit, entry.limb, q, half, sub_poly * (distance / kSeededBlock));
  for (u64& word : half) {
    word = q.reduce(word);  // as the multipliers take it
  }
  return half;
}

template <typename Product>
void Rpau::fill_with(const Instruction& instruction, const Product& product) {
  const isa::Formula& formula = instruction.operation->formula;
  const int dst = instruction[isa::kDst];
  const Modulus q = modulus();
  const auto combine = [&](const auto& addend) {
    if (formula.minus) {
      fill(dst, [&, q](std::size_t i) { return q.subtract(product(i), addend(i)); });
    } else {
      fill(dst, [&, q](std::size_t i) { return q.add(product(i), addend(i)); });
    }
  };
  switch (formula.addend) {
    case isa::Term::kDst:
    case isa::Term::kB: {
      const int index = formula.addend == isa::Term::kB ? instruction[isa::kB] : dst;
      combine([words = work(index)](std::size_t i) { return words[i]; });
      return;
    }
    case isa::Term::kK2:
      combine([word = constant(instruction[isa::kK2])](std::size_t) { return word; });
      return;
    default:
      fill(dst, product);
  }
}

void Rpau::pointwise(const Instruction& instruction) {
  const isa::Formula& formula = instruction.operation->formula;
  const int a = instruction[isa::kA];
  const Residues x = formula.any_words ? words(work_.at(a), "p", a) : work(a);
  const Modulus q = modulus();
  const auto times = [&](Residues y) {
    fill_with(instruction, [x, y, q](std::size_t i) { return q.multiply(x[i], y[i]); });
  };
  switch (formula.times) {
    case isa::Term::kB:
      return times(work(instruction[isa::kB]));
    case isa::Term::kBKey:
      return times(key(instruction[isa::kBKey]));
    case isa::Term::kSeed: {
      const std::vector<u64> half =
          expanded(instruction[isa::kSeed], instruction[isa::kDigit], instruction[isa::kSubPoly]);
      return times(half);
    }
    case isa::Term::kK1: {
      const ShoupFactor factor(constant(instruction[isa::kK1]), q);
      const u64 modulus_word = q.value();
      return fill_with(instruction,
                       [=](std::size_t i) { return factor.multiply(x[i], modulus_word); });
    }
    default:
      return fill_with(instruction, [x](std::size_t i) { return x[i]; });
  }
}

}  // namespace ringsmith::sim
