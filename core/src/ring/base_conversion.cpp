// The kernels that change a polynomial's base: ModUp and ModDown by fast base conversion.
#include "base_conversion.h"

#include <algorithm>
#include <iterator>

#include "limb_divider.h"
#include "platform/parallel.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

bool contains(BaseView base, std::size_t prime) {
  return std::find(base.begin(), base.end(), prime) != base.end();
}

// Words of a limb that are converted at a time: those of several limbs fit the first cache.
constexpr std::size_t kPart = 512;

// out = in * factor. May be in place.
void scale(const NttTables& tables, const ShoupFactor& factor, std::span<const u64> in,
           std::span<u64> out) {
  tables.kernels().scale(tables.plan().prime, in.data(), {factor.factor, factor.quotient},
                         out.data(), out.size());
}

}  // namespace

u64 product(const RnsContext& context, BaseView base, const Modulus& modulus, std::size_t skip) {
  u64 total = 1;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (i != skip) {
      total = modulus.multiply(total, context.modulus(base[i]).value());
    }
  }
  return total;
}

std::vector<u64> complements(const RnsContext& context, BaseView base, const Modulus& modulus) {
  std::vector<u64> factors;
  for (std::size_t i = 0; i < base.size(); ++i) {
    factors.push_back(product(context, base, modulus, i));
  }
  return factors;
}

int widest(const RnsContext& context, BaseView base) {
  int bits = 0;
  for (const std::size_t prime : base) {
    bits = std::max(bits, context.modulus(prime).bits());
  }
  return bits;
}

void divide_by_complements(const RnsContext& context, BaseView base, std::span<const u64> in,
                           u64 factor, std::span<u64> out) {
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = context.modulus(base[i]);
    const u64 inverse = modulus.inverse(product(context, base, modulus, i));
    scale(context.ntt(base[i]),
          ShoupFactor(modulus.multiply(modulus.reduce(factor), inverse), modulus),
          limb_of(in, i, context.degree()), limb_of(out, i, context.degree()));
  }
}

void divide_by_complements(const RnsContext& context, BaseView base, std::span<u64> words) {
  divide_by_complements(context, base, words, 1, words);
}

void sum_limbs(const Modulus& target, std::span<const u64> words, int word_bits,
               std::span<const u64> factors, u64 offset, const ExtraLimb& extra,
               std::span<u64> out) {
  std::vector<const u64*> limbs;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    limbs.push_back(limb_of(words, i, out.size()).data());
  }
  const ShoupFactor extra_factor(extra.factor, target);
  simd::kernels_for(target.value())
      .combine(simd::constants_of(target),
               {
                   .terms = limbs.size(),
                   .words = limbs.data(),
                   .word_bits = word_bits,
                   .factors = factors.data(),
                   .offset = offset,
                   .extra = extra.words.empty() ? nullptr : extra.words.data(),
                   .extra_factor = {extra_factor.factor, extra_factor.quotient},
               },
               out.data(), out.size());
}

void combine(const RnsContext& context, BaseView base, std::span<const u64> words,
             std::span<const Target> targets) {
  const std::size_t degree = context.degree();
  const int word_bits = widest(context, base);
  std::vector<const u64*> limbs(base.size());
  std::vector<const simd::PrimeKernels*> kernels;
  std::vector<simd::PrimeConstants> primes;
  std::vector<std::vector<u64>> factors;
  std::vector<simd::Combination> sums;
  std::vector<u64*> outs;
  for (const auto& [modulus, offset, out] : targets) {
    kernels.push_back(&simd::kernels_for(modulus.value()));
    primes.push_back(simd::constants_of(modulus));
    factors.push_back(complements(context, base, modulus));
    sums.push_back({
        .terms = limbs.size(),
        .words = limbs.data(),
        .word_bits = word_bits,
        .factors = factors.back().data(),
        .offset = offset,
        .extra = nullptr,
        .extra_factor = {},
    });
    outs.push_back(out.data());
  }
  const bool four = targets.size() == simd::kTargets && kernels[0]->combine_four != nullptr &&
                    std::ranges::count(kernels, kernels[0]->combine_four,
                                       &simd::PrimeKernels::combine_four) == simd::kTargets;
  const std::size_t count = four || targets.size() == 1 ? degree : std::min(kPart, degree);
  for (std::size_t begin = 0; begin < degree; begin += count) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      limbs[i] = &limb_of(words, i, degree)[begin];
    }
    if (four) {
      kernels[0]->combine_four(primes.data(), sums.data(), outs.data(), count);
      continue;
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      kernels[i]->combine(primes[i], sums[i], outs[i] + begin, count);
    }
  }
}

void combine(const RnsContext& context, BaseView base, std::span<const u64> words,
             const Target& target) {
  combine(context, base, words, {&target, 1});
}

void mod_up(const RnsContext& context, BaseView digit, BaseView base, std::span<const u64> in,
            std::span<u64> out) {
  if (digit.empty()) {
    throw ParameterError("a digit has at least one prime");
  }
  context.check_size(in.size(), digit.size(), "the digit");
  context.check_size(out.size(), base.size(), "the result");
  std::vector<u64> words(in.begin(), in.end());
  divide_by_complements(context, digit, words);
  std::vector<Target> targets;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const std::span<u64> to = limb_of(out, i, context.degree());
    const auto own = std::find(digit.begin(), digit.end(), base[i]);
    if (own != digit.end()) {
      const auto position = static_cast<std::size_t>(own - digit.begin());
      std::ranges::copy(limb_of(in, position, context.degree()), to.begin());
    } else {
      targets.push_back({context.modulus(base[i]), 0, to});
    }
  }
  combine(context, digit, words, targets);
}

void mod_up_scaled(const RnsContext& context, BaseView from, BaseView base, std::span<const u64> in,
                   std::span<u64> out) {
  context.check_size(in.size(), from.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  Base added;
  std::copy_if(base.begin(), base.end(), std::back_inserter(added),
               [from](std::size_t prime) { return !contains(from, prime); });
  if (added.size() + from.size() != base.size()) {
    throw ParameterError("the larger base must have every prime of the operand's");
  }
  parallel_for(base.size(), context.degree(), [&](std::size_t i) {
    const std::span<u64> to = limb_of(out, i, context.degree());
    const auto own = std::find(from.begin(), from.end(), base[i]);
    if (own == from.end()) {
      std::ranges::fill(to, 0);
      return;
    }
    const Modulus& modulus = context.modulus(base[i]);
    const ShoupFactor factor(product(context, added, modulus), modulus);
    const auto position = static_cast<std::size_t>(own - from.begin());
    scale(context.ntt(base[i]), factor, limb_of(in, position, context.degree()), to);
  });
}

void mod_down(const RnsContext& context, BaseView base, BaseView drop, Form form,
              std::span<const u64> in, std::span<u64> out) {
  const std::size_t degree = context.degree();
  context.check_size(in.size(), base.size(), "the operand");
  std::vector<u64> dropped;
  for (const std::size_t prime : drop) {
    const auto found = std::find(base.begin(), base.end(), prime);
    if (found == base.end()) {
      throw ParameterError(text("cannot divide by prime ", prime, ": it is not one of the base's ",
                                base.size(), " primes"));
    }
    const auto limb = limb_of(in, static_cast<std::size_t>(found - base.begin()), degree);
    dropped.insert(dropped.end(), limb.begin(), limb.end());
  }
  if (drop.empty() || drop.size() >= base.size()) {
    throw ParameterError(text("cannot divide by ", drop.size(), " of the base's ", base.size(),
                              " primes: name at least one, and leave another"));
  }
  context.check_size(out.size(), base.size() - drop.size(), "the result");
  Base kept;                    // primes
  std::vector<Dividend> limbs;  // at them
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (!contains(drop, base[i])) {
      limbs.push_back({limb_of(in, i, degree), limb_of(out, kept.size(), degree)});
      kept.push_back(base[i]);
    }
  }
  const LimbDivider divider(context, drop, kept);
  divider.prepare(form, dropped);
  divider.divide(dropped, form, 0, limbs);
}

}  // namespace ringsmith::kernels
