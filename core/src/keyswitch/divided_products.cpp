#include "divided_products.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "platform/parallel.h"
#include "platform/scratch.h"
#include "raised.h"
#include "ring/automorphism.h"
#include "ring/base_conversion.h"
#include "ring/limb_divider.h"
#include "ringsmith/kernels.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

class DividedProducts {
 public:
  DividedProducts(const RnsContext& context, const Products& products, BaseView base,
                  std::size_t keep, Form form, std::span<const DividedPair> pairs)
      : context_(context),
        products_(products),
        base_(base),
        keep_(keep),
        form_(form),
        pairs_(pairs),
        degree_(context.degree()),
        dropped_(2 * pairs.size() * (base.size() - keep) * context.degree()),
        automorphisms_(pairs.size()),
        divider_(context, base.subspan(keep), base.first(keep)) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].element != 1) {
        automorphisms_[i].emplace(context, form, pairs[i].element);
      }
      raised_.emplace_back(context, base, pairs[i].raised_base, pairs[i].element);
    }
  }

  void compute() {
    for_each_group(keep_, base_.size(),
                   [&](std::size_t first, std::size_t count) { sums_at(first, count); });
    const std::size_t halves = 2 * pairs_.size();
    const bool divides = keep_ < base_.size();
    parallel_for(divides ? halves : 0, kTransformPasses * (base_.size() - keep_) * degree_,
                 [&](std::size_t i) { divider_.prepare(Form::kNtt, dropped(i / 2, i % 2)); });
    for_each_group(0, keep_, [&](std::size_t first, std::size_t count) {
      sums_at(first, count);
      parallel_for(halves, kTransformPasses * count * degree_,
                   [&](std::size_t i) { divide(i / 2, i % 2, first, count); });
    });
  }

 private:
  // The limbs of a sum at the dropped primes.
  [[nodiscard]] std::span<u64> dropped(std::size_t pair, std::size_t half) {
    const std::size_t words = dropped_.words().size() / (2 * pairs_.size());
    return dropped_.words().subspan((2 * pair + half) * words, words);
  }

  // The limb of a sum at a position of the base; a kept one is where the result will be.
  [[nodiscard]] std::span<u64> sum(std::size_t pair, std::size_t half, std::size_t position) {
    return position < keep_ ? limb_of(pairs_[pair].out[half], position, degree_)
                            : limb_of(dropped(pair, half), position - keep_, degree_);
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
  void sums_at(std::size_t first, std::size_t count) {
    std::vector<LimbPair> sums;
    for (std::size_t position = first; position < first + count; ++position) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        sums.push_back({sum(i, 0, position), sum(i, 1, position)});
      }
    }
    products_.at(base_.subspan(first, count), sums);
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        for (std::size_t half = 0; half < 2; ++half) {
          raised_[i].add_to(base_[first + at], 0, pairs_[i].raised[half],
                            sums[at * pairs_.size() + i][half]);
        }
      }
    }
  }

  // One polynomial's limbs at `count` kept positions: sums to results.
  void divide(std::size_t pair, std::size_t half, std::size_t first, std::size_t count) {
    const std::optional<Automorphism>& automorphism = automorphisms_[pair];
    const std::span<const u64> added = pairs_[pair].added[half];
    const bool moves = !added.empty() && automorphism && automorphism->permutation() == nullptr;
    ScratchWords moved(moves ? count * degree_ : 0);
    std::vector<Dividend> limbs;
    for (std::size_t at = 0; at < count; ++at) {
      const std::size_t prime = base_[first + at];
      const std::span<u64> limb = sum(pair, half, first + at);
      Dividend& dividend = limbs.emplace_back(Dividend{.in = limb, .out = limb});
      if (form_ == Form::kCoeff) {
        context_.ntt(prime).inverse(limb);
      }
      if (added.empty()) {
        continue;
      }
      dividend.added = limb_of(added, first + at, degree_);
      if (moves) {
        const std::span<u64> to = limb_of(moved.words(), at, degree_);
        automorphism->apply(prime, dividend.added, to);
        dividend.added = to;
      } else if (automorphism) {
        dividend.permutation = automorphism->permutation();
      }
    }
    if (keep_ < base_.size()) {
      divider_.divide(dropped(pair, half), form_, first, limbs);
      return;
    }
    for (std::size_t at = 0; at < count; ++at) {
      add_to(base_[first + at], limbs[at]);
    }
  }

  // What divide() adds, where nothing is divided.
  void add_to(std::size_t prime, const Dividend& limb) const {
    if (limb.added.empty()) {
      return;
    }
    ScratchWords moved(limb.permutation == nullptr ? 0 : degree_);
    if (limb.permutation != nullptr) {
      limb.permutation->apply(limb.added, moved.words());
    }
    const std::span<const u64> added =
        limb.permutation == nullptr ? limb.added : std::span<const u64>(moved.words());
    add(context_, {&prime, 1}, limb.out, added, limb.out);
  }

  const RnsContext& context_;
  const Products& products_;
  BaseView base_;
  std::size_t keep_;
  Form form_;
  std::span<const DividedPair> pairs_;
  std::size_t degree_;
  ScratchWords dropped_;
  std::vector<std::optional<Automorphism>> automorphisms_;  // of each pair that has one
  std::vector<Raised> raised_;                              // of each pair
  LimbDivider divider_;
};

}  // namespace

void divided_products(const RnsContext& context, const Products& products, BaseView base,
                      std::size_t keep, Form form, std::span<const DividedPair> pairs) {
  DividedProducts(context, products, base, keep, form, pairs).compute();
}

}  // namespace ringsmith::kernels
