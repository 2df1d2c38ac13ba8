#include "divided_products.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "automorphism.h"
#include "base_conversion.h"
#include "parallel.h"
#include "ringsmith/kernels.h"
#include "scratch.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

class DividedProducts {
 public:
  DividedProducts(const RnsContext& context, const DigitProducts& products, BaseView base,
                  std::size_t keep, std::span<const DividedPair> pairs)
      : context_(context),
        products_(products),
        base_(base),
        keep_(keep),
        pairs_(pairs),
        degree_(context.degree()),
        dropped_(2 * pairs.size() * (base.size() - keep) * context.degree()) {}

  void compute(Form form) {
    const BaseView drop = base_.subspan(keep_);
    for_each_group(keep_, base_.size(), [&](std::size_t first, std::size_t count) {
      std::vector<LimbPair> sums;
      for (std::size_t position = first; position < first + count; ++position) {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
          sums.push_back({limb_of(dropped(i, 0), position - keep_, degree_),
                          limb_of(dropped(i, 1), position - keep_, degree_)});
        }
      }
      sums_at(first, count, sums);
    });
    std::vector<std::optional<LimbDivider>> dividers(2 * pairs_.size());
    parallel_for(dividers.size(), kTransformPasses * drop.size() * degree_, [&](std::size_t i) {
      dividers[i].emplace(context_, drop, Form::kNtt, dropped(i / 2, i % 2));
    });
    std::vector<std::optional<Automorphism>> automorphisms(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].element != 1) {
        automorphisms[i].emplace(context_, form, pairs_[i].element);
      }
    }
    for_each_group(0, keep_, [&](std::size_t first, std::size_t count) {
      std::vector<LimbPair> sums;
      for (std::size_t position = first; position < first + count; ++position) {
        for (const DividedPair& pair : pairs_) {
          sums.push_back(
              {limb_of(pair.out[0], position, degree_), limb_of(pair.out[1], position, degree_)});
        }
      }
      sums_at(first, count, sums);
      parallel_for(dividers.size(), kTransformPasses * count * degree_, [&](std::size_t i) {
        ScratchWords corrections(count * degree_);
        dividers[i]->corrections(base_.subspan(first, count), form, corrections.words());
        for (std::size_t at = 0; at < count; ++at) {
          const std::size_t prime = base_[first + at];
          const std::span<u64> limb = sums[at * pairs_.size() + i / 2][i % 2];
          if (form == Form::kCoeff) {
            context_.ntt(prime).inverse(limb);
          }
          const DividedPair& pair = pairs_[i / 2];
          std::span<const u64> added = pair.added[i % 2];
          ScratchWords moved(degree_);
          if (!added.empty()) {
            added = limb_of(added, first + at, degree_);
            if (automorphisms[i / 2]) {
              automorphisms[i / 2]->apply(prime, added, moved.words());
              added = moved.words();
            }
          }
          dividers[i]->divide(prime, limb, limb_of(corrections.words(), at, degree_), limb, added);
        }
      });
    });
  }

 private:
  // The limbs of a sum at the dropped primes.
  [[nodiscard]] std::span<u64> dropped(std::size_t pair, std::size_t half) {
    const std::size_t words = dropped_.words().size() / (2 * pairs_.size());
    return dropped_.words().subspan((2 * pair + half) * words, words);
  }

  // Calls body(first, count) for all positions of the base from `begin` to `end`, as many at a time
  // as conversions pay for.
  template <typename Body>
  void for_each_group(std::size_t begin, std::size_t end, Body body) const {
    const std::size_t most = primes_at_once(base_.size() - keep_);
    const std::size_t groups = (end - begin + most - 1) / most;
    parallel_for(groups, most * products_.words_at_prime(), [&](std::size_t group) {
      const std::size_t first = begin + group * most;
      body(first, std::min(most, end - first));
    });
  }

  // At each of `count` positions the sums of all pairs.
  void sums_at(std::size_t first, std::size_t count, std::span<const LimbPair> out) const {
    products_.at(base_.subspan(first, count), out);
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        add_raised(first + at, i, out[at * pairs_.size() + i]);
      }
    }
  }

  // Adds P * raised to the sums of a pair.
  void add_raised(std::size_t position, std::size_t pair, const LimbPair& sums) const {
    const std::size_t limbs = pairs_[pair].raised[0].size() / degree_;
    if (position >= limbs) {  // P is zero there
      return;
    }
    const NttTables& tables = context_.ntt(base_[position]);
    const ShoupFactor factor(product(context_, base_.subspan(limbs), tables.modulus()),
                             tables.modulus());
    ScratchWords scaled(degree_);
    for (std::size_t half = 0; half < 2; ++half) {
      const std::span<const u64> limb = limb_of(pairs_[pair].raised[half], position, degree_);
      tables.kernels().scale(tables.plan().prime, limb.data(), {factor.factor, factor.quotient},
                             scaled.words().data(), degree_);
      add(context_, base_.subspan(position, 1), sums[half], scaled.words(), sums[half]);
    }
  }

  const RnsContext& context_;
  const DigitProducts& products_;
  BaseView base_;
  std::size_t keep_;
  std::span<const DividedPair> pairs_;
  std::size_t degree_;
  ScratchWords dropped_;
};

}  // namespace

void divided_products(const RnsContext& context, const DigitProducts& products, BaseView base,
                      std::size_t keep, Form form, std::span<const DividedPair> pairs) {
  DividedProducts(context, products, base, keep, pairs).compute(form);
}

}  // namespace ringsmith::kernels
