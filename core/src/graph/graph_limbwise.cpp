#include "graph_limbwise.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "platform/parallel.h"
#include "platform/scratch.h"
#include "ring/multiples.h"
#include "ringsmith/ntt.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

// Words of a run: few enough for a cache to keep those of dozens of polynomials, and enough to read
// keys and plaintexts from memory without waiting often.
constexpr std::size_t kRunWords = 2048;

}  // namespace

Place Limbwise::take_slot() {
  if (free_.empty()) {
    return {.slot = slots_++};
  }
  const std::size_t slot = free_.back();
  free_.pop_back();
  return {.slot = slot};
}

void Limbwise::give_back(const Place& place) {
  if (place.read == nullptr) {
    free_.push_back(place.slot);
  }
}

void Limbwise::add_check(std::span<const u64> input, const std::string& what) {
  work_.emplace_back([this, input, what](const Run& run) {
    const NttTables& tables = rns_.ntt(run.prime);
    if (!tables.kernels().is_canonical(tables.plan().prime, run.at(Place::of(input)), run.words)) {
      rns_.check_canonical(input, base_, what);
    }
  });
}

void Limbwise::add_shortened(std::span<const u64> words, std::size_t repeats, const Place& out) {
  work_.emplace_back([words, repeats, out](const Run& run) {
    const u64* const limb = words.data() + run.limb * (run.degree / repeats);
    u64* const to = run.to(out);
    if (repeats >= run.words) {
      std::fill_n(to, run.words, limb[run.begin / repeats]);
      return;
    }
    for (std::size_t i = 0; i < run.words / repeats; ++i) {
      std::fill_n(to + i * repeats, repeats, limb[run.begin / repeats + i]);
    }
  });
}

void Limbwise::add_node(const Node& node, const std::vector<Place>& operands, const Place& out) {
  work_.emplace_back([this, &node, operands, out](const Run& run) {
    const NttTables& tables = rns_.ntt(run.prime);
    const simd::PrimeKernels& kernels = tables.kernels();
    const simd::PrimeConstants& prime = tables.plan().prime;
    const std::vector<const u64*> in = run.at(operands);
    u64* const to = run.to(out);
    if (node.op == Op::kAdd) {
      kernels.add(prime, in[0], in[1], to, run.words);
    } else if (node.op == Op::kSub) {
      kernels.subtract(prime, in[0], in[1], to, run.words);
    } else if (node.op == Op::kNeg) {
      kernels.negate(prime, in[0], to, run.words);
    } else if (node.op == Op::kMul) {
      kernels.multiply(prime, in[0], in[1], to, run.words);
    } else {
      const ShoupFactor factor(node.scalars[run.limb], tables.modulus());
      kernels.scale(prime, in[0], {factor.factor, factor.quotient}, to, run.words);
    }
  });
}

void Limbwise::add_raised(const Base& from, std::span<const u64> polynomial, const Place& out) {
  const auto raised = std::make_shared<const kernels::Raised>(rns_, base_, from, 1);
  work_.emplace_back([raised, polynomial, out](const Run& run) {
    u64* const to = run.to(out);
    std::fill_n(to, run.words, 0);
    raised->add_to(run.prime, run.begin, polynomial, {to, run.words});
  });
}

void Limbwise::add_products(std::vector<Place> factors, std::vector<std::vector<Place>> values,
                            std::vector<Place> outs) {
  work_.emplace_back([this, factors = std::move(factors), values = std::move(values),
                      outs = std::move(outs)](const Run& run) {
    const NttTables& tables = rns_.ntt(run.prime);
    const bool pair = outs.size() == 2;
    tables.kernels().inner_product(tables.plan().prime, factors.size(), run.at(factors).data(),
                                   run.at(values[0]).data(),
                                   pair ? run.at(values[1]).data() : nullptr, run.to(outs[0]),
                                   pair ? run.to(outs[1]) : nullptr, run.words);
  });
}

void Limbwise::add_multiples(std::vector<Multiple> terms, const Place& out) {
  if (terms.empty()) {
    return;
  }
  work_.emplace_back([this, terms = std::move(terms), out](const Run& run) {
    std::vector<const u64*> words;
    std::vector<u64> factors;
    for (const Multiple& term : terms) {
      words.push_back(run.at(term.place));
      factors.push_back(term.scalars.empty() ? 1 : term.scalars[run.limb]);
    }
    kernels::sum_of_multiples(rns_, run.prime, words, factors, run.to(out), run.words);
  });
}

void Limbwise::add_products(const ValueType& type, std::span<const u64> digits,
                            std::vector<KeyUse> uses, std::vector<std::array<Place, 2>> outs) {
  const auto products = std::make_shared<const ProductRuns>(rns_, type, digits, std::move(uses));
  whole_limbs_ = whole_limbs_ || !products->takes_runs();
  work_.emplace_back([products, outs = std::move(outs)](const Run& run) {
    std::vector<kernels::LimbPair> sums;
    for (const std::array<Place, 2>& out : outs) {
      sums.push_back({std::span(run.to(out[0]), run.words), std::span(run.to(out[1]), run.words)});
    }
    products->at(run.prime, run.begin, sums);
  });
}

void Limbwise::run() const {
  const std::size_t degree = rns_.degree();
  const std::size_t words = whole_limbs_ ? degree : std::min(degree, kRunWords);
  const std::size_t runs = degree / words;
  parallel_for(base_.size() * runs, kTransformPasses * words * work_.size(), [&](std::size_t i) {
    ScratchWords slots(slots_ * words);
    const std::size_t limb = i / runs;
    const Run run{limb, base_[limb], i % runs * words, words, degree, slots.words().data()};
    for (const auto& work : work_) {
      work(run);
    }
  });
}

}  // namespace ringsmith
