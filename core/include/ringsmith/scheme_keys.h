// Keys for applications, the same for CKKS (scheme.h) and BFV (bfv_scheme.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/secret_memory.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Returns distinct primes of the given sizes for a ring degree, as SEAL's CoeffModulus::Create.
/// Among primes of one size, the smallest comes first.
[[nodiscard]] std::vector<u64> create_primes(std::size_t degree, std::span<const int> bit_sizes);

/// Wiped from memory when it goes out of scope.
struct SecretKey {
  SecretVector<u64> data;
};

struct PublicKey {
  std::vector<u64> data;
};

/// How a key-switching key is stored: full, or seed-compressed. Both compute the same words.
enum class KeyForm {
  kWhole,
  kOnTheFly,  ///< b part and seed; a part expanded on the fly: half the memory, slower
};

/// `data` and `seed` as in KeySwitchKeyView. A precomputed key does not follow changes of `data`.
struct RelinKeys {
  std::vector<u64> data;
  std::size_t word_bits = 0;    ///< 0: RNS digits; else digits of this many bits
  std::optional<KeySeed> seed;  ///< of a seed-compressed key
  std::shared_ptr<const PrecomputedKey> precomputed = nullptr;  ///< used by operations if set

  /// Precomputes the key for many uses. `data` stays, for saving; it may be cleared.
  /// @throws ParameterError as PrecomputedKey does
  void precompute(const RlweContext& context);
  /// Returns the memory that the key takes in all its forms.
  [[nodiscard]] std::size_t bytes() const;
  /// Good while this object is.
  [[nodiscard]] KeySwitchKeyView view(const RlweContext& context) const;
};

/// One key for each Galois element.
struct GaloisKeys {
  std::map<u64, std::vector<u64>> data;
  std::size_t word_bits = 0;     ///< as for RelinKeys
  std::map<u64, KeySeed> seeds;  ///< of seed-compressed ones
  std::map<u64, std::shared_ptr<const PrecomputedKey>> precomputed = {};  ///< as for RelinKeys

  /// Precomputes all keys of `data`, as for RelinKeys. Keys precomputed earlier stay if their words
  /// were cleared.
  /// @throws ParameterError as PrecomputedKey does
  void precompute(const RlweContext& context);
  /// Returns the memory that all keys take in all their forms.
  [[nodiscard]] std::size_t bytes() const;
  /// Good while this object is.
  /// @throws ParameterError if there is no key for the element
  [[nodiscard]] KeySwitchKeyView view(const RlweContext& context, u64 element) const;
  /// Returns the elements and keys of rotations by each of `steps`.
  /// @throws ParameterError as `view` and galois_element do
  [[nodiscard]] std::vector<GaloisSwitch> rotations(const RlweContext& context,
                                                    std::span<const i64> steps) const;
};

/// Generates a secret key from the operating system's randomness, and the keys that belong to it.
class KeyGenerator {
 public:
  /// @param word_bits 0: key-switching keys of RNS digits, with the special primes; else of digits
  ///                  of this many bits, without them
  explicit KeyGenerator(std::shared_ptr<const RlweContext> context, std::size_t word_bits = 0);

  [[nodiscard]] const SecretKey& secret_key() const { return secret_key_; }
  [[nodiscard]] PublicKey create_public_key() const;
  [[nodiscard]] RelinKeys create_relin_keys(KeyForm form = KeyForm::kWhole) const;
  /// Creates one key for each entry of `steps`; 0 stands for CKKS's complex conjugation and BFV's
  /// row swap.
  [[nodiscard]] GaloisKeys create_galois_keys(std::span<const i64> steps,
                                              KeyForm form = KeyForm::kWhole) const;

 private:
  std::shared_ptr<const RlweContext> context_;
  std::size_t word_bits_;
  SecretKey secret_key_;
};

}  // namespace ringsmith
