#include "ringsmith/precomputed_key.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "key_words.h"
#include "platform/parallel.h"
#include "platform/process_mutex.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ring/ntt_permutation.h"
#include "ringsmith/error.h"
#include "ringsmith/key_switching.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

// Words between limbs, so that the same words of all digits and halves, which are read alternately
// and would be powers of two apart, are not in one set of a cache: five lines, since sums read one
// and fetch four ahead. All limbs begin at a line.
constexpr std::size_t kGap = 40;

// Levels for which a key of few digits keeps what hoisting adds.
constexpr std::size_t kLeastLevels = 8;

void check_precomputable(const RlweContext& context, const KeySwitchKeyView& key) {
  if (key.precomputed != nullptr) {
    throw ParameterError("the key-switching key is precomputed already: use it as it is");
  }
  if (key.seed != nullptr) {
    throw ParameterError(
        "a key expanded on the fly cannot be precomputed, since half of it is not in memory: "
        "precompute the full key, or use this one as it is");
  }
  if (key.word_bits != 0) {
    throw ParameterError(
        "a key-switching key in digits of words cannot be precomputed: use it as it is, or make "
        "one in digits of primes");
  }
  if (context.residue_digits()) {
    throw ParameterError(
        "a key-switching key in residue digits cannot be precomputed: use it as it is, or make one "
        "with a special prime");
  }
  check_shape(context, key);
}

// What precomputed residues are times.
u64 key_scale(const NttTables& tables) {
  return tables.modulus().reduce(u64{1} << tables.kernels().key_shift);
}

}  // namespace

// The automorphism, and what hoisting adds at the levels where it was wanted last.
class PrecomputedKey::Automorphism {
 public:
  /// @param most levels that are kept
  Automorphism(int log_degree, u64 element, std::size_t most)
      : there(log_degree, element),
        back(log_degree, inverse_element(element, std::size_t{1} << log_degree)),
        most_(most) {}

  /// The two limbs of a level and prime, which the first call has `write(limbs)` make.
  template <typename Write>
  std::shared_ptr<const Words> of(const Level& level, std::size_t primes, std::size_t prime,
                                  Write write) {
    const std::shared_ptr<Kept> kept = kept_at(level, primes);
    Limbs& limbs = kept->at[prime];
    std::call_once(limbs.written, [&] {
      write(limbs.words);
      kept->bytes += limbs.words.size() * sizeof(u64);
    });
    return {kept, &limbs.words};
  }
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard lock(process_mutex(Guarded::kKeyLevels));
    std::size_t all = 0;
    for (const auto& [level, kept] : levels_) {
      all += kept->bytes;
    }
    return all;
  }

  const NttPermutation there;
  const NttPermutation back;

 private:
  struct Limbs {
    std::once_flag written;
    Words words;
  };
  struct Kept {
    explicit Kept(std::size_t primes) : at(primes) {}

    std::vector<Limbs> at;  // each prime
    std::atomic<std::size_t> bytes = 0;
    u64 last_use = 0;
  };

  std::shared_ptr<Kept> kept_at(const Level& level, std::size_t primes) {
    std::shared_ptr<Kept> leaving;  // its words are freed without the lock
    const std::lock_guard lock(process_mutex(Guarded::kKeyLevels));
    auto found = levels_.find(level);
    if (found == levels_.end()) {
      found = levels_.emplace(level, std::make_shared<Kept>(primes)).first;
    }
    found->second->last_use = ++uses_;
    const std::shared_ptr<Kept> kept = found->second;
    if (levels_.size() > most_) {
      const auto oldest = std::ranges::min_element(
          levels_, {}, [](const auto& entry) { return entry.second->last_use; });
      leaving = std::move(oldest->second);
      levels_.erase(oldest);
    }
    return kept;
  }

  std::size_t most_;
  std::map<Level, std::shared_ptr<Kept>> levels_;
  u64 uses_ = 0;
};

PrecomputedKey::PrecomputedKey(const RlweContext& context, const KeySwitchKeyView& key, u64 element)
    : rns_(context.rns()),
      element_(element),
      digits_(key.digits),
      base_(key.base.empty() ? consecutive_base(rns_.size())
                             : Base(key.base.begin(), key.base.end())),
      automorphism_(std::make_unique<Automorphism>(rns_.log_degree(), element,
                                                   std::max(digits_, kLeastLevels))) {
  check_precomputable(context, key);
  begins_.push_back(0);
  for (std::size_t prime = 0; prime < rns_.size(); ++prime) {
    const bool own = std::ranges::binary_search(base_, prime);
    begins_.push_back(begins_.back() + (own ? 2 * digits_ * stride(prime) : 0));
  }
  words_.resize(begins_.back());
  const std::size_t degree = rns_.degree();
  parallel_for(2 * digits_ * base_.size(), 2 * degree, [&](std::size_t index) {
    const std::size_t prime = base_[index / (2 * digits_)];
    const std::size_t digit = index % (2 * digits_) / 2;
    const std::size_t half = index % 2;
    const std::span<const u64> residues = limb_of(key.half(digit, half), key.row(prime), degree);
    ScratchWords moved(element == 1 ? 0 : degree);
    if (element != 1) {
      automorphism_->back.apply(residues, moved.words());
    }
    if (!precompute(prime, element == 1 ? residues : moved.words(),
                    &words_[begins_[prime] + (2 * digit + half) * stride(prime)])) {
      kernels::check_key_limb(residues, prime, rns_.modulus(prime), "the key-switching key");
    }
  });
}

PrecomputedKey::~PrecomputedKey() = default;

KeySwitchKeyView PrecomputedKey::view() const {
  KeySwitchKeyView view;
  view.digits = digits_;
  view.precomputed = this;
  view.base = base_;
  return view;
}

std::size_t PrecomputedKey::bytes() const {
  return words_.size() * sizeof(u64) + automorphism_->bytes();
}

bool PrecomputedKey::is_of(const RnsContext& rns, std::size_t primes) const {
  if (rns.degree() != rns_.degree() || primes != rns_.size() || primes > rns.size()) {
    return false;
  }
  for (std::size_t prime = 0; prime < primes; ++prime) {
    if (rns.modulus(prime).value() != rns_.modulus(prime).value() ||
        rns.ntt(prime).root() != rns_.ntt(prime).root()) {
      return false;
    }
  }
  return true;
}

const u64* PrecomputedKey::limb(std::size_t digit, std::size_t half, std::size_t prime,
                                std::size_t position) const {
  return &words_[begins_[prime] + (2 * digit + half) * stride(prime) +
                 simd::precomputed_size(rns_.ntt(prime).kernels().key_code, position)];
}

void PrecomputedKey::restore(std::size_t digit, std::size_t half, std::size_t prime,
                             std::size_t begin, std::span<u64> out) const {
  const NttTables& tables = rns_.ntt(prime);
  const auto restored = [&](std::size_t from, std::span<u64> to) {
    simd::restore_residues(tables.modulus().value(), tables.kernels().key_code,
                           limb(digit, half, prime, from), to.data(), to.size());
    if (tables.kernels().key_shift != 0) {
      const Modulus& modulus = tables.modulus();
      const ShoupFactor factor(modulus.inverse(key_scale(tables)), modulus);
      tables.kernels().scale(tables.plan().prime, to.data(), {factor.factor, factor.quotient},
                             to.data(), to.size());
    }
  };
  if (element_ == 1) {
    restored(begin, out);
    return;
  }
  const std::size_t from = automorphism_->back.destination(begin, out.size());
  ScratchWords run(out.size());
  restored(from, run.words());
  automorphism_->there.apply_run(from, run.words(), out);
}

PrecomputedKey::Shift PrecomputedKey::shift(const Level& level, std::size_t prime,
                                            std::span<const u64> factors) const {
  auto limbs = automorphism_->of(level, rns_.size(), prime, [&](Words& words) {
    words.resize(2 * stride(prime));
    for (std::size_t half = 0; half < 2; ++half) {
      write_shift(level, prime, factors, half, &words[half * stride(prime)]);
    }
  });
  const u64* const first = limbs->data();
  return {std::move(limbs), {first, first + stride(prime)}};
}

void PrecomputedKey::write_shift(const Level& level, std::size_t prime,
                                 std::span<const u64> factors, std::size_t half, u64* out) const {
  const std::size_t degree = rns_.degree();
  const NttTables& tables = rns_.ntt(prime);
  const simd::PrimeKernels& kernels = tables.kernels();
  const simd::PrimeConstants& constants = tables.plan().prime;
  ScratchWords scratch(3 * degree);
  const std::span<u64> sum = limb_of(scratch.words(), 0, degree);
  const std::span<u64> term = limb_of(scratch.words(), 1, degree);
  const std::span<u64> product = limb_of(scratch.words(), 2, degree);
  std::ranges::fill(sum, u64{0});
  // Of residues scaled as key_shift wants, so that the result is.
  for (std::size_t i = 0; i < level.numbers.size(); ++i) {
    if (factors[i] == 0) {
      continue;
    }
    simd::restore_residues(tables.modulus().value(), kernels.key_code,
                           limb(level.numbers[i], half, prime), term.data(), degree);
    const ShoupFactor factor(factors[i], tables.modulus());
    kernels.scale(constants, term.data(), {factor.factor, factor.quotient}, product.data(), degree);
    kernels.add(constants, sum.data(), product.data(), sum.data(), degree);
  }
  automorphism_->back.apply(tables.halves(), term);
  kernels.multiply(constants, sum.data(), term.data(), product.data(), degree);
  pack(prime, product, out);
}

std::size_t PrecomputedKey::stride(std::size_t prime) const {
  return simd::precomputed_size(rns_.ntt(prime).kernels().key_code, rns_.degree()) + kGap;
}

bool PrecomputedKey::precompute(std::size_t prime, std::span<const u64> residues, u64* out) const {
  const NttTables& tables = rns_.ntt(prime);
  const simd::PrimeKernels& kernels = tables.kernels();
  if (kernels.key_shift == 0) {
    return pack(prime, residues, out);
  }
  const simd::PrimeConstants& constants = tables.plan().prime;
  ScratchWords scaled(residues.size());
  if (!kernels.is_canonical(constants, residues.data(), residues.size())) {
    return false;
  }
  const ShoupFactor factor(key_scale(tables), tables.modulus());
  kernels.scale(constants, residues.data(), {factor.factor, factor.quotient}, scaled.words().data(),
                residues.size());
  return pack(prime, scaled.words(), out);
}

bool PrecomputedKey::pack(std::size_t prime, std::span<const u64> scaled, u64* out) const {
  const NttTables& tables = rns_.ntt(prime);
  std::fill_n(out + stride(prime) - kGap, kGap, u64{0});
  return simd::precompute_residues(tables.modulus().value(), tables.kernels().key_code,
                                   scaled.data(), out, scaled.size());
}

}  // namespace ringsmith
