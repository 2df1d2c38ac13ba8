// Keys as an application holds them, the same for CKKS (scheme.h) and BFV (bfv_scheme.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/prepared_key.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/secret_memory.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Distinct primes of the given sizes for a ring degree: SEAL's CoeffModulus::Create. Of one size,
/// the smallest found comes first.
[[nodiscard]] std::vector<u64> create_primes(std::size_t degree, std::span<const int> bit_sizes);

/// Wiped from memory when it goes out of scope.
struct SecretKey {
  SecretVector<u64> data;
};

struct PublicKey {
  std::vector<u64> data;
};

/// How a key-switching key is kept. Both compute the same words.
enum class KeyForm {
  kWhole,
  kCompact,  ///< half 0, and the seed that half 1 is expanded from while the key is used: half the
             ///< memory, and time for the expansion
};

/// `data` and `seed` as KeySwitchKeyView has them. What is prepared does not follow changes of
/// `data`.
struct RelinKeys {
  std::vector<u64> data;
  std::size_t word_bits = 0;    ///< 0: digits of primes; else of words of so many bits
  std::optional<KeySeed> seed;  ///< of a compact key
  std::shared_ptr<const PreparedKey> prepared = nullptr;  ///< what operations use if it is there

  /// Prepares the key for many uses. `data` stays, to be saved, and may be emptied.
  /// @throws ParameterError as PreparedKey does
  void prepare(const RlweContext& context);
  /// Memory that the key takes in all its forms.
  [[nodiscard]] std::size_t bytes() const;
  /// Good while this object is.
  [[nodiscard]] KeySwitchKeyView view(const RlweContext& context) const;
};

/// One key for each Galois element.
struct GaloisKeys {
  std::map<u64, std::vector<u64>> data;
  std::size_t word_bits = 0;                                        ///< as for RelinKeys
  std::map<u64, KeySeed> seeds;                                     ///< of the compact ones
  std::map<u64, std::shared_ptr<const PreparedKey>> prepared = {};  ///< as for RelinKeys

  /// Prepares all keys of `data`, as for RelinKeys; those that were prepared already stay if their
  /// words are gone.
  /// @throws ParameterError as PreparedKey does
  void prepare(const RlweContext& context);
  /// Memory that all keys take in all their forms.
  [[nodiscard]] std::size_t bytes() const;
  /// Good while this object is.
  /// @throws ParameterError if there is no key for the element
  [[nodiscard]] KeySwitchKeyView view(const RlweContext& context, u64 element) const;
  /// Elements and keys of rotations by each of `steps`.
  /// @throws ParameterError as `view` and galois_element do
  [[nodiscard]] std::vector<GaloisSwitch> rotations(const RlweContext& context,
                                                    std::span<const i64> steps) const;
};

/// Makes a fresh secret key, from the operating system's randomness, and the keys that belong to
/// it.
class KeyGenerator {
 public:
  /// @param word_bits 0: key-switching keys in digits of primes, with the special primes; else in
  ///                  words of so many bits, without
  explicit KeyGenerator(std::shared_ptr<const RlweContext> context, std::size_t word_bits = 0);

  [[nodiscard]] const SecretKey& secret_key() const { return secret_key_; }
  [[nodiscard]] PublicKey create_public_key() const;
  [[nodiscard]] RelinKeys create_relin_keys(KeyForm form = KeyForm::kWhole) const;
  /// One key for each rotation by so many steps; 0 stands for CKKS's complex conjugation, and for
  /// the swap of BFV's rows.
  [[nodiscard]] GaloisKeys create_galois_keys(std::span<const i64> steps,
                                              KeyForm form = KeyForm::kWhole) const;

 private:
  std::shared_ptr<const RlweContext> context_;
  std::size_t word_bits_;
  SecretKey secret_key_;
};

}  // namespace ringsmith
