// Steps of a graph that need no other limb, computed a run of words at a time.
//
// Values that only these steps read are never stored: a run of each is in a cache while the steps
// go over it.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph_switch.h"
#include "ringsmith/graph.h"
#include "ringsmith/rns.h"

namespace ringsmith {

/// Where a polynomial is: in memory, or, a run at a time, in a slot.
struct Place {
  const u64* read = nullptr;  ///< its limbs; null: in a slot
  u64* written = nullptr;     ///< the same, of a result
  std::size_t slot = 0;

  [[nodiscard]] static Place of(std::span<const u64> words) { return {.read = words.data()}; }
  [[nodiscard]] static Place of_result(std::span<u64> words) {
    return {.read = words.data(), .written = words.data()};
  }
};

/// A value, or its multiple by a scalar for each limb.
struct Multiple {
  Place place;
  std::span<const u64> scalars;  ///< none: the value itself
};

/// The steps, over one base.
class Limbwise {
 public:
  Limbwise(const RnsContext& rns, const Base& base) : rns_(rns), base_(base) {}

  /// A slot that no value has, until it is given back. What is added later may take it again.
  [[nodiscard]] Place take_slot();
  void give_back(const Place& place);

  /// Checks an input, best after it is read: a step that multiplies reads ahead. Words that are not
  /// canonical do no harm before.
  /// @param what the error calls it
  void add_check(std::span<const u64> input, const std::string& what);
  /// A shortened polynomial (PolynomialView), word by word `repeats` times.
  void add_shortened(std::span<const u64> words, std::size_t repeats, const Place& out);
  /// An add, sub, neg, mul or mul_scalar of polynomials.
  void add_node(const Node& node, const std::vector<Place>& operands, const Place& out);
  /// A scaled mod_up of a polynomial over a part of the base.
  void add_raised(const Base& from, std::span<const u64> polynomial, const Place& out);
  /// The sum over i of factors[i] * values[h][i], for one or two h.
  void add_products(std::vector<Place> factors, std::vector<std::vector<Place>> values,
                    std::vector<Place> outs);
  /// The sum of the terms, of which the last may be `out`. Of no terms it does nothing.
  void add_multiples(std::vector<Multiple> terms, const Place& out);
  /// Undivided key_product nodes of the same digits.
  /// @param outs of each use both halves; those of `uses` are not read
  void add_products(const ValueType& type, std::span<const u64> digits, std::vector<KeyUse> uses,
                    std::vector<std::array<Place, 2>> outs);

  /// @throws ParameterError if a residue of an input or key is not below its prime
  void run() const;

 private:
  // The words that are worked on.
  struct Run {
    std::size_t limb;
    std::size_t prime;
    std::size_t begin;  // in the limb
    std::size_t words;
    std::size_t degree;
    u64* slots;

    [[nodiscard]] const u64* at(const Place& place) const {
      return place.read == nullptr ? slots + place.slot * words
                                   : place.read + limb * degree + begin;
    }
    [[nodiscard]] u64* to(const Place& place) const {
      return place.written == nullptr ? slots + place.slot * words
                                      : place.written + limb * degree + begin;
    }
    [[nodiscard]] std::vector<const u64*> at(const std::vector<Place>& places) const {
      std::vector<const u64*> words_of_each;
      for (const Place& place : places) {
        words_of_each.push_back(at(place));
      }
      return words_of_each;
    }
  };

  const RnsContext& rns_;
  const Base& base_;
  std::vector<std::function<void(const Run&)>> work_;
  std::vector<std::size_t> free_;
  std::size_t slots_ = 0;
  bool whole_limbs_ = false;  // some step needs them
};

}  // namespace ringsmith
