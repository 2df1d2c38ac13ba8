#include "ringsmith/bfv.h"

#include <algorithm>
#include <utility>

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/error.h"
#include "ringsmith/primes.h"

namespace ringsmith {
namespace {

constexpr int kAuxiliaryBits = 61;  // of m_sk, gamma and B

Modulus checked_plain_modulus(u64 value, const RlweContext& rlwe) {
  if (value < 2 || value >> BfvContext::kMaxPlainBits != 0) {
    throw ParameterError(text("plain modulus ", value, " is outside 2 ... 2^",
                              BfvContext::kMaxPlainBits, " - 1: choose one inside"));
  }
  for (const std::size_t prime : consecutive_base(rlwe.max_limbs())) {
    const Modulus& modulus = rlwe.rns().modulus(prime);
    if (modulus.bits() > BfvContext::kMaxPlainBits) {
      throw ParameterError(text("data prime ", modulus.value(), " has ", modulus.bits(),
                                " bits: BFV takes at most ", BfvContext::kMaxPlainBits,
                                ", since its auxiliary primes have 61"));
    }
    if (value % modulus.value() == 0) {
      throw ParameterError(text("plain modulus ", value, " is a multiple of the data prime ",
                                modulus.value(), ": t and q must be coprime"));
    }
  }
  return Modulus(value);
}

// Primes of B at a level: SEAL's RNSTool::initialize.
std::size_t behz_size(std::size_t limbs, std::size_t q_bits, int plain_bits) {
  constexpr std::size_t kReserved = 32;  // bits for the ring's expansion and the number of terms
  const std::size_t needed = kReserved + static_cast<std::size_t>(plain_bits) + q_bits;
  return needed >= kAuxiliaryBits * (limbs + 1) ? limbs + 1 : limbs;
}

void check_plain(const BfvContext& context, std::span<const u64> values, const char* what) {
  if (values.size() != context.degree()) {
    throw ParameterError(
        text(what, " has ", values.size(), " values; expected are N = ", context.degree()));
  }
  const u64 t = context.plain_modulus().value();
  const auto bad = std::ranges::find_if(values, [t](u64 value) { return value >= t; });
  if (bad != values.end()) {
    throw ParameterError(text(what, " has ", *bad, " at position ", bad - values.begin(),
                              ", which is not below the plain modulus ", t));
  }
}

const NttTables& batching_tables(const BfvContext& context) {
  require_batching(context);
  return *context.batching();
}

}  // namespace

BfvContext::BfvContext(std::shared_ptr<const RlweContext> rlwe, u64 plain_modulus,
                       std::span<const u64> extension_primes)
    : rlwe_(std::move(rlwe)),
      plain_modulus_(checked_plain_modulus(plain_modulus, *rlwe_)),
      gamma_(prime_search(kAuxiliaryBits, rlwe_->degree(), 2)[1]),
      rns_(rlwe_->rns().extended_by(extension_primes)) {
  if (is_prime(plain_modulus) && plain_modulus % (2 * degree()) == 1) {
    batching_.emplace(plain_modulus_, degree(), smallest_root(plain_modulus_, degree()));
  }
  const WideInteger t(plain_modulus);
  while (min_limbs_ <= rlwe_->max_limbs() && product_of(rns_, consecutive_base(min_limbs_)) <= t) {
    ++min_limbs_;
  }
  if (min_limbs_ > rlwe_->max_limbs()) {
    throw ParameterError(text("plain modulus ", plain_modulus, " is not below the product of the ",
                              rlwe_->max_limbs(), " data primes: lower it, or take more primes"));
  }
}

Base BfvContext::data_base(std::size_t limbs) const {
  Base base = rlwe_->data_base(limbs);
  if (limbs < min_limbs_) {
    throw ParameterError(text(limbs, " limbs make a q that is not above the plain modulus ",
                              plain_modulus_.value(), ": stay at ", min_limbs_, " limbs or more"));
  }
  return base;
}

Base BfvContext::extension_base(std::size_t limbs, Multiplication variant, std::size_t size) const {
  const std::size_t first = rlwe_->rns().size();
  const std::size_t available = rns_.size() - first;
  const WideInteger q = product_of(rns_, data_base(limbs));
  std::size_t count = 0;
  if (variant == Multiplication::kBehz) {
    count = 1 + behz_size(limbs, q.bits(), plain_modulus_.bits());
    for (const std::size_t prime : consecutive_base(std::min(count, available), first)) {
      if (rns_.modulus(prime).bits() != kAuxiliaryBits) {
        throw ParameterError(text("extension prime ", rns_.modulus(prime).value(), " has ",
                                  rns_.modulus(prime).bits(), " bits, and BEHZ needs 61: ",
                                  "behz_extension_primes finds SEAL's, or multiply by HPS"));
      }
    }
  } else {
    WideInteger bound = q;
    bound.multiply_add(plain_modulus_.value(), 0);
    bound.multiply_add(degree() * size, 0);
    for (WideInteger p(1); p < bound && count <= available; ++count) {
      if (count < available) {
        p.multiply_add(rns_.modulus(first + count).value(), 0);
      }
    }
  }
  if (count > available) {
    throw ParameterError(text("products at ", limbs, " limbs need more than the ", available,
                              " extension primes that there are: give more of them"));
  }
  return consecutive_base(count, first);
}

std::vector<u64> behz_extension_primes(std::size_t degree, std::span<const u64> primes,
                                       u64 plain_modulus) {
  WideInteger q(1);
  for (const u64 prime : primes) {
    q.multiply_add(prime, 0);
  }
  const std::size_t size = behz_size(primes.size(), q.bits(), Modulus(plain_modulus).bits());
  std::vector<u64> found = prime_search(kAuxiliaryBits, degree, size + 2);
  found.erase(found.begin() + 1);  // gamma
  return found;
}

void require_batching(const BfvContext& context) {
  if (!context.batching()) {
    const u64 t = context.plain_modulus().value();
    throw ParameterError(text("plain modulus ", t, " does not batch: slots need a prime that is 1 ",
                              "mod 2N = ", 2 * context.degree(), "; prime_search finds some"));
  }
}

std::vector<u64> residues_of_signed(const BfvContext& context, std::span<const i64> values) {
  const auto t = static_cast<i64>(context.plain_modulus().value());
  std::vector<u64> residues;
  residues.reserve(values.size());
  for (const i64 value : values) {
    if (value >= t || value < -(t / 2)) {
      throw ParameterError(text("the vector has ", value, ", which is outside ", -(t / 2), " ... ",
                                t - 1, " for the plain modulus ", t));
    }
    residues.push_back(static_cast<u64>(value < 0 ? value + t : value));
  }
  return residues;
}

std::vector<u64> bfv_encode(const BfvContext& context, std::span<const u64> values) {
  const NttTables& tables = batching_tables(context);
  check_plain(context, values, "the vector");
  const std::vector<SlotPositions> positions = slot_positions(context.degree());
  std::vector<u64> plain(context.degree());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    plain[positions[i].value] = values[i];
    plain[positions[i].partner] = values[positions.size() + i];
  }
  tables.inverse(plain);
  return plain;
}

std::vector<u64> bfv_decode(const BfvContext& context, std::span<const u64> plain) {
  const NttTables& tables = batching_tables(context);
  check_plain(context, plain, "the plaintext");
  std::vector<u64> slots(plain.begin(), plain.end());
  tables.forward(slots);
  const std::vector<SlotPositions> positions = slot_positions(context.degree());
  std::vector<u64> values(context.degree());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    values[i] = slots[positions[i].value];
    values[positions.size() + i] = slots[positions[i].partner];
  }
  return values;
}

std::vector<u64> scale_plain(const BfvContext& context, std::span<const u64> plain,
                             std::size_t limbs) {
  const Base base = context.data_base(limbs);
  check_plain(context, plain, "the plaintext");
  const Modulus& plain_modulus = context.plain_modulus();
  const u64 t = plain_modulus.value();
  const u64 q_mod_t = product_of(context.rns(), base).modulo(plain_modulus);
  // q = floor(q / t) * t + (q mod t): the result is floor(q / t) * m + floor(((q mod t) * m + h) /
  // t).
  std::vector<u64> remainders(plain.size());
  for (std::size_t k = 0; k < plain.size(); ++k) {
    remainders[k] = static_cast<u64>((static_cast<u128>(q_mod_t) * plain[k] + (t + 1) / 2) / t);
  }
  std::vector<u64> scaled(limbs * context.degree());
  for (std::size_t i = 0; i < limbs; ++i) {
    const Modulus& modulus = context.rns().modulus(base[i]);
    // q = 0 modulo q_i, so floor(q / t) = -(q mod t) / t there.
    const u64 quotient = modulus.negate(
        modulus.multiply(modulus.reduce(q_mod_t), modulus.inverse(modulus.reduce(t))));
    const std::span<u64> limb = limb_of(std::span<u64>(scaled), i, context.degree());
    for (std::size_t k = 0; k < limb.size(); ++k) {
      limb[k] = modulus.reduce_wide(static_cast<u128>(quotient) * plain[k] + remainders[k]);
    }
  }
  return scaled;
}

std::vector<u64> lift_plain(const BfvContext& context, std::span<const u64> plain,
                            std::size_t limbs) {
  const Base base = context.data_base(limbs);
  check_plain(context, plain, "the plaintext");
  const u64 t = context.plain_modulus().value();
  const bool below_all = std::ranges::all_of(
      base, [&](std::size_t prime) { return t < context.rns().modulus(prime).value(); });
  const bool one_term = std::ranges::count(plain, u64{0}) + 1 == static_cast<i64>(plain.size());
  const u64 threshold = below_all && one_term ? t : (t + 1) / 2;
  std::vector<u64> lifted;
  lifted.reserve(limbs * plain.size());
  for (const std::size_t prime : base) {
    const Modulus& modulus = context.rns().modulus(prime);
    const u64 t_residue = modulus.reduce(t);
    for (const u64 value : plain) {
      const u64 residue = modulus.reduce(value);
      lifted.push_back(value >= threshold ? modulus.subtract(residue, t_residue) : residue);
    }
  }
  return lifted;
}

}  // namespace ringsmith
