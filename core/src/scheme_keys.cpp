#include "ringsmith/scheme_keys.h"

#include <algorithm>
#include <utility>

#include "ringsmith/error.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/keys.h"
#include "ringsmith/primes.h"
#include "text.h"

namespace ringsmith {
namespace {

KeySwitchKeyView view_of(const RlweContext& context, const std::vector<u64>& key,
                         std::size_t word_bits) {
  return {key, key.size() / (2 * context.rns().size() * context.degree()), word_bits};
}

u64 element_of(const RlweContext& context, i64 steps) {
  return steps == 0 ? 2 * context.degree() - 1 : galois_element(context.degree(), steps);
}

}  // namespace

std::vector<u64> create_primes(std::size_t degree, std::span<const int> bit_sizes) {
  std::map<int, std::vector<u64>> found;  // of each size, largest first
  for (const int bits : bit_sizes) {
    if (!found.contains(bits)) {
      const auto count = std::count(bit_sizes.begin(), bit_sizes.end(), bits);
      found[bits] = prime_search(bits, degree, static_cast<std::size_t>(count));
    }
  }
  std::vector<u64> primes;
  for (const int bits : bit_sizes) {
    primes.push_back(found[bits].back());
    found[bits].pop_back();
  }
  return primes;
}

KeySwitchKeyView RelinKeys::view(const RlweContext& context) const {
  return view_of(context, data, word_bits);
}

KeySwitchKeyView GaloisKeys::view(const RlweContext& context, u64 element) const {
  const auto found = data.find(element);
  if (found == data.end()) {
    throw ParameterError(text("there is no key for Galois element ", element, " among ",
                              data.size(), ": name its step in create_galois_keys"));
  }
  return view_of(context, found->second, word_bits);
}

std::vector<GaloisSwitch> GaloisKeys::rotations(const RlweContext& context,
                                                std::span<const i64> steps) const {
  std::vector<GaloisSwitch> switches;
  for (const i64 step : steps) {
    const u64 element = galois_element(context.degree(), step);
    switches.push_back({element, view(context, element)});
  }
  return switches;
}

KeyGenerator::KeyGenerator(std::shared_ptr<const RlweContext> context, std::size_t word_bits)
    : context_(std::move(context)), word_bits_(word_bits) {
  SystemRandom random;
  secret_key_.data = generate_secret_key(*context_, random);
}

PublicKey KeyGenerator::create_public_key() const {
  SystemRandom random;
  return {generate_public_key(*context_, secret_key_.data, random)};
}

RelinKeys KeyGenerator::create_relin_keys() const {
  SystemRandom random;
  return {generate_relin_key(*context_, secret_key_.data, random, word_bits_), word_bits_};
}

GaloisKeys KeyGenerator::create_galois_keys(std::span<const i64> steps) const {
  SystemRandom random;
  GaloisKeys keys{{}, word_bits_};
  for (const i64 step : steps) {
    const u64 element = element_of(*context_, step);
    keys.data[element] =
        generate_galois_key(*context_, secret_key_.data, element, random, word_bits_);
  }
  return keys;
}

}  // namespace ringsmith
