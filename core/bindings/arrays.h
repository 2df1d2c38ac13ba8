// NumPy arrays in and out of the bindings: checked when they enter, owned by NumPy when they leave.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/variant.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ringsmith/bfv.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/rns.h"
#include "ringsmith/trivium.h"

namespace ringsmith::bindings {

namespace nb = nanobind;

/// Any array in main memory; the functions below check type, order and shape and name the culprit.
using InputArray = nb::ndarray<nb::ro, nb::device::cpu>;
using OutputArray = nb::ndarray<nb::numpy, u64>;

/// Refuses memory that does not begin at a multiple of 8 bytes.
/// @throws nb::type_error
void check_alignment(const void* data, std::string_view what);

/// The words of a C-contiguous, aligned array of uint64, or of another type of 64 bits.
/// @throws nb::type_error for another type, order or alignment
[[nodiscard]] std::span<const u64> words_of(const InputArray& array, std::string_view what,
                                            nb::dlpack::dtype type = nb::dtype<u64>());

/// @throws ParameterError unless the array has `dimensions` dimensions, the last of N words
void check_shape(const RnsContext& rns, const InputArray& array, std::size_t dimensions,
                 std::string_view what);

/// A (limbs, N) array over the first `limbs` primes, as many as it has rows; its residues are the
/// operation's to check.
/// @throws nb::type_error, ParameterError
[[nodiscard]] std::span<const u64> limbs_of(const RnsContext& rns, const InputArray& array,
                                            std::string_view what);

/// A (limbs, N) array of canonical residues over the first `limbs` primes, as many as it has rows.
/// @throws nb::type_error, ParameterError
[[nodiscard]] std::span<const u64> residues_of(const RnsContext& rns, const InputArray& array,
                                               std::string_view what);

/// A (size, limbs, N) array as a ciphertext; its residues are the operation's to check.
/// @throws nb::type_error, ParameterError
[[nodiscard]] CiphertextView ciphertext_shape_of(const RlweContext& context,
                                                 const InputArray& array);

/// A (size, limbs, N) array as a ciphertext with canonical residues.
/// @throws nb::type_error, ParameterError
[[nodiscard]] CiphertextView ciphertext_of(const RlweContext& context, const InputArray& array);

/// Ten bytes: a Trivium key or IV.
/// @throws ParameterError for another number
[[nodiscard]] Trivium::Bytes80 bytes80_of(const nb::bytes& bytes, std::string_view what);

/// A (2, K, N) array as a public key with canonical residues.
/// @throws nb::type_error, ParameterError
[[nodiscard]] std::span<const u64> public_key_of(const RlweContext& context,
                                                 const InputArray& array);

/// A (N,) array as a BFV plaintext; whether its words are below t is the operation's to check.
/// @throws nb::type_error, ParameterError
[[nodiscard]] std::span<const u64> plain_of(const BfvContext& context, const InputArray& array,
                                            std::string_view what);

/// "behz" or "hps".
/// @throws ParameterError for another name
[[nodiscard]] Multiplication multiplication_of(std::string_view name);

/// A seed-compressed key-switching key: the b part, (digits, limbs, N), and the seed of the a part.
struct OnTheFlyKey {
  InputArray half;
  KeySeed seed;
  Base base;  ///< the primes of its limbs; empty: all
};

/// A key-switching key (digits, 2, limbs, N) over some primes only.
struct TruncatedKey {
  InputArray data;
  Base base;  ///< the primes of its limbs
};

/// A key-switching key in the kernels' form; copies share it.
struct SharedPrecomputedKey {
  std::shared_ptr<const PrecomputedKey> key;
};

/// A key-switching key: a (digits, 2, K, N) array, or a truncated, seed-compressed or precomputed
/// key.
using KeyArgument = std::variant<InputArray, TruncatedKey, OnTheFlyKey, SharedPrecomputedKey>;

/// The ten-byte seed of a key-switching key's a part.
/// @throws ParameterError for another number
[[nodiscard]] KeySeed key_seed_of(const nb::bytes& bytes);

/// A key-switching key over K primes or some of them. Its residues are looked at where they are
/// multiplied, since full keys are read from memory.
/// @param key must outlive the view
/// @throws nb::type_error, ParameterError
[[nodiscard]] KeySwitchKeyView key_shape_of(const RnsContext& rns, std::size_t primes,
                                            const KeyArgument& key);

/// The same of all primes.
/// @throws nb::type_error, ParameterError
[[nodiscard]] KeySwitchKeyView key_of(const RnsContext& rns, const KeyArgument& key);

/// Elements and keys of the same number, as apply_galois_many takes them.
/// @throws nb::type_error, ParameterError
[[nodiscard]] std::vector<GaloisSwitch> switches_of(const RnsContext& rns,
                                                    const std::vector<u64>& elements,
                                                    const std::vector<KeyArgument>& keys,
                                                    std::size_t word_bits = 0);

/// Hands a vector's memory to NumPy without a copy; its allocator frees it, wiped where it is
/// secret.
template <typename Vector>
[[nodiscard]] OutputArray to_numpy(Vector&& words, const std::vector<std::size_t>& shape) {
  using Owned = std::remove_cvref_t<Vector>;
  auto owned = std::make_unique<Owned>(std::forward<Vector>(words));
  u64* const data = owned->data();
  nb::capsule owner(owned.get(), [](void* memory) noexcept { delete static_cast<Owned*>(memory); });
  static_cast<void>(owned.release());
  return OutputArray(data, shape.size(), shape.data(), owner);
}

/// A ciphertext as a (size, limbs, N) array.
[[nodiscard]] OutputArray to_numpy(Ciphertext ciphertext);
/// Each as such an array.
[[nodiscard]] std::vector<OutputArray> to_numpy(std::vector<Ciphertext> ciphertexts);

/// Runs a long computation that touches no Python object while other Python threads go on.
template <typename Function>
[[nodiscard]] auto without_gil(Function&& function) {
  nb::gil_scoped_release release;
  return function();
}

}  // namespace ringsmith::bindings
