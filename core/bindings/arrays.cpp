#include "arrays.h"

#include <algorithm>
#include <cstdint>

#include "../src/platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith::bindings {
namespace {

// As NumPy defines it: strides of axes of length one, and of empty arrays, mean nothing.
bool is_c_contiguous(const InputArray& array) {
  if (array.size() == 0) {
    return true;
  }
  std::int64_t expected = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != expected) {
      return false;
    }
    expected *= static_cast<std::int64_t>(array.shape(i));
  }
  return true;
}

std::string shape_of(const InputArray& array) {
  std::string shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape += text(i == 0 ? "" : ", ", array.shape(i));
  }
  return shape;
}

}  // namespace

void check_alignment(const void* data, std::string_view what) {
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(u64) != 0) {
    const std::string message =
        text(what, " does not begin at a multiple of ", alignof(u64), " bytes: give array.copy()");
    throw nb::type_error(message.c_str());
  }
}

std::span<const u64> words_of(const InputArray& array, std::string_view what,
                              nb::dlpack::dtype type) {
  if (array.dtype() != type || !is_c_contiguous(array)) {
    const std::string message = text(what, " must be a C-contiguous numpy array of uint64: use ",
                                     "numpy.ascontiguousarray(..., dtype=numpy.uint64)");
    throw nb::type_error(message.c_str());
  }
  check_alignment(array.data(), what);
  return {static_cast<const u64*>(array.data()), array.size()};
}

void check_shape(const RnsContext& rns, const InputArray& array, std::size_t dimensions,
                 std::string_view what) {
  if (array.ndim() != dimensions || array.shape(dimensions - 1) != rns.degree()) {
    throw ParameterError(text(what, " has shape (", shape_of(array), "); expected are ", dimensions,
                              " dimensions, the last of N = ", rns.degree()));
  }
}

std::span<const u64> limbs_of(const RnsContext& rns, const InputArray& array,
                              std::string_view what) {
  const std::span<const u64> words = words_of(array, what);
  check_shape(rns, array, 2, what);
  if (array.shape(0) < 1 || array.shape(0) > rns.size()) {
    throw ParameterError(text(what, " has ", array.shape(0), " limbs; expected are 1 ... ",
                              rns.size(), ", the number of primes"));
  }
  return words;
}

std::span<const u64> residues_of(const RnsContext& rns, const InputArray& array,
                                 std::string_view what) {
  const std::span<const u64> words = limbs_of(rns, array, what);
  rns.check_canonical(words, consecutive_base(array.shape(0)), what);
  return words;
}

CiphertextView ciphertext_shape_of(const RlweContext& context, const InputArray& array) {
  const std::span<const u64> words = words_of(array, "the ciphertext");
  check_shape(context.rns(), array, 3, "the ciphertext");
  const CiphertextView view{words, array.shape(0), array.shape(1)};
  check(context, view);
  return view;
}

CiphertextView ciphertext_of(const RlweContext& context, const InputArray& array) {
  const CiphertextView view = ciphertext_shape_of(context, array);
  context.rns().check_canonical(view.data, context.data_base(view.limbs), "the ciphertext");
  return view;
}

std::span<const u64> public_key_of(const RlweContext& context, const InputArray& array) {
  const std::span<const u64> key = words_of(array, "the public key");
  check_shape(context.rns(), array, 3, "the public key");
  context.rns().check_canonical(key, context.key_base(), "the public key");
  return key;
}

std::span<const u64> plain_of(const BfvContext& context, const InputArray& array,
                              std::string_view what) {
  const std::span<const u64> words = words_of(array, what);
  check_shape(context.rns(), array, 1, what);
  return words;
}

Multiplication multiplication_of(std::string_view name) {
  if (name != "behz" && name != "hps") {
    throw ParameterError(text("variant '", name, "' is unknown: take 'behz' or 'hps'"));
  }
  return name == "hps" ? Multiplication::kHps : Multiplication::kBehz;
}

KeySeed key_seed_of(const nb::bytes& bytes) {
  return bytes80_of(bytes, "the seed of a key-switching key");
}

KeySwitchKeyView key_shape_of(const RnsContext& rns, std::size_t primes, const KeyArgument& key) {
  if (const auto* const precomputed = std::get_if<SharedPrecomputedKey>(&key)) {
    return precomputed->key->view();
  }
  const auto* const on_the_fly = std::get_if<OnTheFlyKey>(&key);
  const auto* const truncated = std::get_if<TruncatedKey>(&key);
  const InputArray& array = on_the_fly != nullptr  ? on_the_fly->half
                            : truncated != nullptr ? truncated->data
                                                   : std::get<InputArray>(key);
  BaseView base;
  if (truncated != nullptr || (on_the_fly != nullptr && !on_the_fly->base.empty())) {
    base = truncated != nullptr ? truncated->base : on_the_fly->base;
    primes = base.size();
  }
  const std::string_view what =
      on_the_fly == nullptr ? "the key-switching key" : "half 0 of the key-switching key";
  const std::span<const u64> words = words_of(array, what);
  check_shape(rns, array, on_the_fly == nullptr ? 4 : 3, what);
  const bool halves = on_the_fly != nullptr || array.shape(1) == 2;
  const std::size_t limbs = array.shape(array.ndim() - 2);
  if (array.shape(0) == 0 || !halves || limbs != primes) {
    throw ParameterError(text(what, " has shape (", shape_of(array), "); expected is (digits, ",
                              on_the_fly == nullptr ? "2, " : "", primes, ", ", rns.degree(), ")"));
  }
  const KeySeed* const seed = on_the_fly == nullptr ? nullptr : &on_the_fly->seed;
  return {.data = words, .digits = array.shape(0), .seed = seed, .base = base};
}

KeySwitchKeyView key_of(const RnsContext& rns, const KeyArgument& key) {
  return key_shape_of(rns, rns.size(), key);
}

std::vector<GaloisSwitch> switches_of(const RnsContext& rns, const std::vector<u64>& elements,
                                      const std::vector<KeyArgument>& keys, std::size_t word_bits) {
  if (elements.size() != keys.size()) {
    throw ParameterError(text(elements.size(), " Galois elements and ", keys.size(),
                              " keys: give each element its key"));
  }
  std::vector<GaloisSwitch> switches;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    switches.push_back({elements[i], key_of(rns, keys[i])});
    switches.back().key.word_bits = word_bits;
  }
  return switches;
}

Trivium::Bytes80 bytes80_of(const nb::bytes& bytes, std::string_view what) {
  Trivium::Bytes80 array{};
  if (bytes.size() != array.size()) {
    throw ParameterError(text(what, " has ", array.size(), " bytes, this one has ", bytes.size()));
  }
  std::copy_n(static_cast<const std::uint8_t*>(bytes.data()), array.size(), array.begin());
  return array;
}

OutputArray to_numpy(Ciphertext ciphertext) {
  const std::vector<std::size_t> shape = {
      ciphertext.size, ciphertext.limbs,
      ciphertext.data.size() / (ciphertext.size * ciphertext.limbs)};
  return to_numpy(std::move(ciphertext.data), shape);
}

std::vector<OutputArray> to_numpy(std::vector<Ciphertext> ciphertexts) {
  std::vector<OutputArray> arrays;
  for (Ciphertext& ciphertext : ciphertexts) {
    arrays.push_back(to_numpy(std::move(ciphertext)));
  }
  return arrays;
}

}  // namespace ringsmith::bindings
