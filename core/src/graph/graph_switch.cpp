#include "graph_switch.h"

#include <algorithm>
#include <utility>

#include "keyswitch/digit_products.h"
#include "keyswitch/divided_products.h"
#include "platform/parallel.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ring/base_conversion.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"

namespace ringsmith {
namespace {

// What the key switchings of one step have in common.
struct Sums {
  const Base& base;  // of digits and keys
  const Base& drop;  // what they are divided by; none if empty
  Form form;         // of the results
};

// The primes of each digit.
std::vector<Base> digit_bases(const Node& node, const Base& base) {
  std::vector<Base> digits;
  auto next = base.begin();
  for (const std::size_t size : node.sizes) {
    const auto begin = std::exchange(next, next + static_cast<std::ptrdiff_t>(size));
    digits.emplace_back(begin, next);
  }
  return digits;
}

// store_digits() of the variant that DigitProducts cuts.
void store_converted(const RnsContext& rns, const Node& node, const ValueType& operand,
                     std::span<const u64> polynomial, const kernels::StoredDigits& layout,
                     std::span<u64> out) {
  const std::vector<Base> bases = digit_bases(node, operand.base);
  const kernels::DigitProducts digits(rns, operand.base, operand.form, polynomial, bases, {});
  const Base& base = layout.base();
  parallel_for(bases.size(), kTransformPasses * base.size() * rns.degree(), [&](std::size_t i) {
    const std::size_t most = kernels::primes_at_once(bases[i].size());
    for (std::size_t first = 0; first < base.size(); first += most) {
      const std::size_t count = std::min(most, base.size() - first);
      std::vector<std::span<u64>> limbs;
      for (std::size_t position = first; position < first + count; ++position) {
        limbs.push_back(layout.limb(out, i, position));
      }
      digits.raise_to(i, BaseView(base).subspan(first, count), limbs);
    }
  });
}

// One digit of a polynomial in coefficient form over the base of the digits.
void cut_digit(const RnsContext& rns, const Node& node, const ValueType& operand,
               std::span<const u64> polynomial, const Base& base, std::size_t index,
               std::span<u64> out) {
  if (node.cut == DigitVariant::kWords) {
    kernels::decompose(rns, operand.base, base, index, node.sizes[index], polynomial, out);
    return;
  }
  const std::vector<Base> digits = digit_bases(node, operand.base);
  std::size_t first = 0;
  for (std::size_t i = 0; i < index; ++i) {
    first += digits[i].size();
  }
  kernels::lift_digit(rns, digits[index], base,
                      polynomial.subspan(first * rns.degree(), digits[index].size() * rns.degree()),
                      out);
}

ScratchVector moved(const RnsContext& rns, const ValueType& type, u64 element,
                    std::span<const u64> polynomial) {
  ScratchVector words(polynomial.size());
  kernels::automorph(rns, type.base, type.form, element, polynomial, words);
  return words;
}

ScratchVector in_ntt_form(const RnsContext& rns, const ValueType& type,
                          std::span<const u64> polynomial) {
  ScratchVector words(polynomial.begin(), polynomial.end());
  kernels::ntt(rns, type.base, words);
  return words;
}

kernels::Switching switching_of(const KeyUse& use, std::size_t digits, u64 element) {
  return {.element = element,
          .key = use.key,
          .digits = consecutive_base(digits),
          .name = key_name(*use.node)};
}

std::vector<kernels::Switching> switchings_of(std::span<const KeyUse> uses, std::size_t digits) {
  std::vector<kernels::Switching> switchings;
  for (const KeyUse& use : uses) {
    switchings.push_back(switching_of(use, digits, use.node->element));
  }
  return switchings;
}

// Whether the dropped primes are the last of the base.
bool drops_last(const Sums& sums) {
  const auto kept = static_cast<std::ptrdiff_t>(sums.base.size() - sums.drop.size());
  return std::all_of(sums.base.begin() + kept, sums.base.end(), [&](std::size_t prime) {
    return std::ranges::find(sums.drop, prime) != sums.drop.end();
  });
}

// Products, plus what is added, divided.
void divide(const RnsContext& rns, const kernels::Products& products, const Sums& sums,
            std::span<const KeyUse> uses) {
  const bool last = drops_last(sums);
  const std::size_t keep = sums.base.size() - (last ? sums.drop.size() : 0);
  const BaseView kept = BaseView(sums.base).first(keep);
  std::vector<ScratchVector> memory;  // of what is not in its form yet, and of sums
  memory.reserve(4 * uses.size());
  std::vector<kernels::DividedPair> pairs;
  for (const KeyUse& use : uses) {
    kernels::DividedPair& pair = pairs.emplace_back();
    pair.element = use.added[0].empty() ? 1 : use.node->element;
    // Adding P * b before a division by P is adding b after it.
    const bool adds_last = std::ranges::equal(use.added_type.base, kept);
    pair.raised_base = adds_last ? Base() : use.added_type.base;
    for (std::size_t half = 0; half < 2; ++half) {
      pair.out[half] = last ? use.out[half] : memory.emplace_back(sums.base.size() * rns.degree());
      const std::span<const u64> added = use.added[half];
      if (added.empty()) {
        continue;
      }
      if (adds_last) {
        pair.added[half] = added;
      } else if (use.added_type.form == Form::kNtt) {
        pair.raised[half] = added;
      } else {
        pair.raised[half] = memory.emplace_back(in_ntt_form(rns, use.added_type, added));
      }
    }
  }
  kernels::divided_products(rns, products, sums.base, keep, sums.form, pairs);
  for (std::size_t i = 0; !last && i < uses.size(); ++i) {
    for (std::size_t half = 0; half < 2; ++half) {
      kernels::mod_down(rns, sums.base, sums.drop, sums.form, pairs[i].out[half],
                        uses[i].out[half]);
    }
  }
}

}  // namespace

std::string key_name(const Node& node) { return text("key '", node.name, "'"); }

std::size_t words_of(const RnsContext& rns, const ValueType& type) {
  return type.kind == Kind::kDigits ? kernels::StoredDigits(rns, type.base, type.count).words()
                                    : type.base.size() * rns.degree();
}

void store_digits(const RnsContext& rns, const Node& node, const ValueType& operand,
                  std::span<const u64> polynomial, std::span<u64> out) {
  const Base& base = node.op == Op::kKeySwitch ? node.extended : node.type.base;
  const kernels::StoredDigits layout(rns, base, node.sizes.size());
  if (node.cut == DigitVariant::kFastBaseConv) {
    store_converted(rns, node, operand, polynomial, layout, out);
    return;
  }
  ScratchVector coefficients;
  if (operand.form == Form::kNtt) {
    coefficients.assign(polynomial.begin(), polynomial.end());
    kernels::intt(rns, operand.base, coefficients);
    polynomial = coefficients;
  }
  const std::size_t words = base.size() * rns.degree();
  parallel_for(node.sizes.size(), kTransformPasses * words, [&](std::size_t i) {
    ScratchWords digit(words);
    cut_digit(rns, node, operand, polynomial, base, i, digit.words());
    layout.store(rns, i, digit.words(), out);
  });
}

void multiply_digits(const RnsContext& rns, const ValueType& type, std::span<const u64> digits,
                     const Base& drop, std::span<const KeyUse> uses) {
  const kernels::StoredDigits layout(rns, type.base, type.count);
  const kernels::StoredProducts products(rns, layout, digits, switchings_of(uses, type.count));
  divide(rns, products, {type.base, drop, Form::kNtt}, uses);
}

ProductRuns::ProductRuns(const RnsContext& rns, const ValueType& type, std::span<const u64> digits,
                         std::vector<KeyUse> uses)
    : layout_(rns, type.base, type.count),
      uses_(std::move(uses)),
      products_(rns, layout_, digits, switchings_of(uses_, type.count)) {
  for (const KeyUse& use : uses_) {
    raised_.emplace_back(rns, type.base, use.added_type.base, use.node->element);
  }
}

void ProductRuns::at(std::size_t prime, std::size_t begin,
                     std::span<const kernels::LimbPair> out) const {
  products_.run_at(prime, begin, out);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    for (std::size_t half = 0; half < 2; ++half) {
      raised_[i].add_to(prime, begin, uses_[i].added[half], out[i][half]);
    }
  }
}

void switch_keys(const RnsContext& rns, const ValueType& operand, std::span<const u64> polynomial,
                 std::span<const KeyUse> uses) {
  const Node& node = *uses[0].node;
  const Sums sums{node.extended, node.primes, node.type.form};
  if (node.cut == DigitVariant::kFastBaseConv) {
    const kernels::DigitProducts products(rns, operand.base, operand.form, polynomial,
                                          digit_bases(node, operand.base),
                                          switchings_of(uses, node.sizes.size()));
    divide(rns, products, sums, uses);
    return;
  }
  const ScratchVector source = moved(rns, operand, node.element, polynomial);
  const kernels::StoredDigits layout(rns, node.extended, node.sizes.size());
  ScratchVector digits(layout.words());
  store_digits(rns, node, operand, source, digits);
  const kernels::StoredProducts products(rns, layout, digits,
                                         {switching_of(uses[0], node.sizes.size(), 1)});
  divide(rns, products, sums, uses);
}

}  // namespace ringsmith
