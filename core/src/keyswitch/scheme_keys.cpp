#include "ringsmith/scheme_keys.h"

#include <algorithm>
#include <utility>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/keys.h"
#include "ringsmith/primes.h"

namespace ringsmith {
namespace {

KeySwitchKeyView view_of(const RlweContext& context, const std::vector<u64>& key,
                         std::size_t word_bits, const KeySeed* seed) {
  KeySwitchKeyView view{key, 0, word_bits, seed};
  view.digits = key.size() / (view.halves() * context.rns().size() * context.degree());
  return view;
}

std::size_t bytes_of(const std::vector<u64>& key, bool on_the_fly) {
  return key.size() * sizeof(u64) + (on_the_fly ? sizeof(KeySeed) : 0);
}

std::shared_ptr<const PrecomputedKey> precomputed_of(const RlweContext& context,
                                                     const KeySwitchKeyView& key, u64 element = 1) {
  return std::make_shared<const PrecomputedKey>(context, key, element);
}

// A seed that no other key has.
KeySeed fresh_seed(RandomSource& random) {
  KeySeed seed{};
  random.fill(seed);
  return seed;
}

// The b part of a full key.
std::vector<u64> half_of(const RlweContext& context, const std::vector<u64>& key) {
  const KeySwitchKeyView view = view_of(context, key, 0, nullptr);
  std::vector<u64> half;
  half.reserve(key.size() / 2);
  for (std::size_t digit = 0; digit < view.digits; ++digit) {
    const std::span<const u64> words = view.half(digit, 0);
    half.insert(half.end(), words.begin(), words.end());
  }
  return half;
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

void RelinKeys::precompute(const RlweContext& context) {
  precomputed = precomputed_of(context, view_of(context, data, word_bits, seed ? &*seed : nullptr));
}

std::size_t RelinKeys::bytes() const {
  return bytes_of(data, seed.has_value()) + (precomputed ? precomputed->bytes() : 0);
}

KeySwitchKeyView RelinKeys::view(const RlweContext& context) const {
  return precomputed ? precomputed->view()
                     : view_of(context, data, word_bits, seed ? &*seed : nullptr);
}

void GaloisKeys::precompute(const RlweContext& context) {
  auto all = precomputed;
  for (const auto& [element, key] : data) {
    const auto seed = seeds.find(element);
    all[element] = precomputed_of(
        context, view_of(context, key, word_bits, seed == seeds.end() ? nullptr : &seed->second),
        element);
  }
  precomputed = std::move(all);
}

std::size_t GaloisKeys::bytes() const {
  std::size_t all = 0;
  for (const auto& [element, key] : data) {
    all += bytes_of(key, seeds.contains(element));
  }
  for (const auto& [element, key] : precomputed) {
    all += key->bytes();
  }
  return all;
}

KeySwitchKeyView GaloisKeys::view(const RlweContext& context, u64 element) const {
  const auto ready = precomputed.find(element);
  if (ready != precomputed.end()) {
    return ready->second->view();
  }
  const auto found = data.find(element);
  if (found == data.end()) {
    throw ParameterError(text("there is no key for Galois element ", element, " among ",
                              data.size(), ": name its step in create_galois_keys"));
  }
  const auto seed = seeds.find(element);
  return view_of(context, found->second, word_bits, seed == seeds.end() ? nullptr : &seed->second);
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

RelinKeys KeyGenerator::create_relin_keys(KeyForm form) const {
  SystemRandom random;
  if (form == KeyForm::kWhole) {
    return {generate_relin_key(*context_, secret_key_.data, random, word_bits_), word_bits_, {}};
  }
  const KeySeed seed = fresh_seed(random);
  const auto key = generate_relin_key(*context_, secret_key_.data, random, word_bits_, &seed);
  return {half_of(*context_, key), word_bits_, seed};
}

GaloisKeys KeyGenerator::create_galois_keys(std::span<const i64> steps, KeyForm form) const {
  SystemRandom random;
  GaloisKeys keys{{}, word_bits_, {}};
  for (const i64 step : steps) {
    const u64 element = element_of(*context_, step);
    if (form == KeyForm::kWhole) {
      keys.data[element] =
          generate_galois_key(*context_, secret_key_.data, element, random, word_bits_);
      continue;
    }
    const KeySeed seed = fresh_seed(random);
    const auto key =
        generate_galois_key(*context_, secret_key_.data, element, random, word_bits_, &seed);
    keys.data[element] = half_of(*context_, key);
    keys.seeds[element] = seed;
  }
  return keys;
}

}  // namespace ringsmith
