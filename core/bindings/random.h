// Registers functions that need randomness: one that asks the operating system, one for tests.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "ringsmith/sampling.h"

namespace ringsmith::bindings {

namespace nb = nanobind;

/// A reproducible source: the seed's eight bytes, then zeros.
[[nodiscard]] inline SeededRandom random_for_test(u64 seed) {
  Seed bytes{};
  for (std::size_t i = 0; i < sizeof(seed); ++i) {
    bytes[i] = static_cast<std::uint8_t>(seed >> (8 * i));
  }
  return SeededRandom(bytes);
}

/// Defines `name`, which draws from the operating system, and `name`_for_test, which takes a seed
/// after the other arguments. `function` takes the source before them.
template <typename Result, typename... Arguments, typename... Annotations>
void def_random(nb::module_& module, const std::string& name,
                Result (*function)(RandomSource&, Arguments...), const char* doc,
                const Annotations&... annotations) {
  module.def(
      name.c_str(),
      [function](Arguments... arguments) {
        SystemRandom random;
        return function(random, arguments...);
      },
      annotations..., doc);
  const std::string test_doc = std::string(doc) + "\n\nFrom a fixed seed: never for real keys.";
  module.def((name + "_for_test").c_str(),
             [function](Arguments... arguments, u64 seed) {
               SeededRandom random = random_for_test(seed);
               return function(random, arguments...);
             },
             annotations..., nb::arg("seed"), test_doc.c_str());
}

}  // namespace ringsmith::bindings
