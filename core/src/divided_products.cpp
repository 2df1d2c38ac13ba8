#include "divided_products.h"

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
    parallel_for(drop.size(), products_.words_at_prime(), [&](std::size_t position) {
      std::vector<LimbPair> sums;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        sums.push_back(
            {limb_of(dropped(i, 0), position, degree_), limb_of(dropped(i, 1), position, degree_)});
      }
      sums_at(keep_ + position, sums);
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
    parallel_for(keep_, products_.words_at_prime(), [&](std::size_t position) {
      std::vector<LimbPair> sums;
      for (const DividedPair& pair : pairs_) {
        sums.push_back(
            {limb_of(pair.out[0], position, degree_), limb_of(pair.out[1], position, degree_)});
      }
      sums_at(position, sums);
      const std::size_t prime = base_[position];
      parallel_for(dividers.size(), kTransformPasses * degree_, [&](std::size_t i) {
        const std::span<u64> limb = sums[i / 2][i % 2];
        if (form == Form::kCoeff) {
          context_.ntt(prime).inverse(limb);
        }
        const DividedPair& pair = pairs_[i / 2];
        std::span<const u64> added = pair.added[i % 2];
        ScratchWords moved(degree_);
        if (!added.empty()) {
          added = limb_of(added, position, degree_);
          if (automorphisms[i / 2]) {
            automorphisms[i / 2]->apply(prime, added, moved.words());
            added = moved.words();
          }
        }
        dividers[i]->divide(prime, form, limb, limb, added);
      });
    });
  }

 private:
  // The limbs of a sum at the dropped primes.
  [[nodiscard]] std::span<u64> dropped(std::size_t pair, std::size_t half) {
    const std::size_t words = dropped_.words().size() / (2 * pairs_.size());
    return dropped_.words().subspan((2 * pair + half) * words, words);
  }

  void sums_at(std::size_t position, std::span<const LimbPair> out) const {
    products_.at(base_[position], out);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const std::size_t limbs = pairs_[i].raised[0].size() / degree_;
      if (position >= limbs) {  // P is zero there
        continue;
      }
      const NttTables& tables = context_.ntt(base_[position]);
      const ShoupFactor factor(product(context_, base_.subspan(limbs), tables.modulus()),
                               tables.modulus());
      ScratchWords scaled(degree_);
      for (std::size_t half = 0; half < 2; ++half) {
        const std::span<const u64> limb = limb_of(pairs_[i].raised[half], position, degree_);
        tables.kernels().scale(tables.plan().prime, limb.data(), {factor.factor, factor.quotient},
                               scaled.words().data(), degree_);
        add(context_, base_.subspan(position, 1), out[i][half], scaled.words(), out[i][half]);
      }
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
