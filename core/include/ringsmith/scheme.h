// CKKS for applications: objects that carry their level and scale, as in Microsoft SEAL. Names
// follow SEAL's where the operation is SEAL's, and so do the bits.
//
// This is a thin layer over evaluator.h, key_switching.h and keys.h, which work on plain words. All
// functions throw ParameterError when levels, scales, sizes or keys do not fit. The security of
// parameters is not checked: the HE standard's bounds are in the Python package's `params`.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/ckks.h"
#include "ringsmith/scheme_keys.h"
#include "ringsmith/types.h"

namespace ringsmith::ckks {

using ringsmith::create_primes;
using ringsmith::GaloisKeys;
using ringsmith::KeyForm;
using ringsmith::KeyGenerator;
using ringsmith::PublicKey;
using ringsmith::RelinKeys;
using ringsmith::SecretKey;

/// Shared by all objects made from it. RlweContext states the requirements.
using Context = std::shared_ptr<const RlweContext>;

/// @param primes  data primes, then `special` special primes
/// @param dnum    digits of key switching; 0 for one data prime a digit (SEAL's case)
[[nodiscard]] Context make_context(std::size_t degree, std::span<const u64> primes,
                                   std::size_t special = 1, std::size_t dnum = 0);

/// An encoded message: `limbs` limbs of N words, NTT form.
struct Plaintext {
  std::vector<u64> data;
  std::size_t limbs = 0;
  double scale = 1;
};

/// An encrypted message. As in SEAL, an application may set the scale itself, for example after
/// rescaling by primes that are only near the scale.
struct Ciphertext {
  ringsmith::Ciphertext words;
  double scale = 1;

  [[nodiscard]] std::size_t size() const { return words.size; }
  [[nodiscard]] std::size_t limbs() const { return words.limbs; }
};

/// Encodes vectors of up to N / 2 values as plaintexts, and back.
class Encoder {
 public:
  explicit Encoder(Context context) : encoder_(std::move(context)) {}

  [[nodiscard]] std::size_t slot_count() const { return encoder_.slots(); }
  /// At the first level. Missing values are zero.
  [[nodiscard]] Plaintext encode(std::span<const double> values, double scale) const;
  /// At the level of `limbs` limbs.
  [[nodiscard]] Plaintext encode(std::span<const std::complex<double>> values, double scale,
                                 std::size_t limbs) const;
  /// All N / 2 values.
  [[nodiscard]] std::vector<std::complex<double>> decode(const Plaintext& plain) const;

 private:
  CkksEncoder encoder_;
};

class Encryptor {
 public:
  Encryptor(Context context, PublicKey key) : context_(std::move(context)), key_(std::move(key)) {}

  [[nodiscard]] Ciphertext encrypt(const Plaintext& plain) const;

 private:
  Context context_;
  PublicKey key_;
};

class Decryptor {
 public:
  Decryptor(Context context, SecretKey key) : context_(std::move(context)), key_(std::move(key)) {}

  /// The noise of a decryption leaks information about the secret key. Do not give the result to
  /// anyone who has the ciphertext, or round it first (Li, Micciancio 2021).
  [[nodiscard]] Plaintext decrypt(const Ciphertext& ciphertext) const;

 private:
  Context context_;
  SecretKey key_;
};

/// Computes on ciphertexts. Operands of two-operand functions are at one level; those of additions
/// have one scale, up to rounding.
class Evaluator {
 public:
  explicit Evaluator(Context context) : context_(std::move(context)) {}

  [[nodiscard]] Ciphertext add(const Ciphertext& a, const Ciphertext& b) const;
  [[nodiscard]] Ciphertext sub(const Ciphertext& a, const Ciphertext& b) const;
  [[nodiscard]] Ciphertext negate(const Ciphertext& a) const;
  [[nodiscard]] Ciphertext add_plain(const Ciphertext& a, const Plaintext& plain) const;
  [[nodiscard]] Ciphertext sub_plain(const Ciphertext& a, const Plaintext& plain) const;
  [[nodiscard]] Ciphertext multiply_plain(const Ciphertext& a, const Plaintext& plain) const;
  /// Not relinearized: three polynomials from two times two.
  [[nodiscard]] Ciphertext multiply(const Ciphertext& a, const Ciphertext& b) const;
  [[nodiscard]] Ciphertext square(const Ciphertext& a) const;
  /// Reduces three polynomials to two.
  [[nodiscard]] Ciphertext relinearize(const Ciphertext& a, const RelinKeys& keys) const;
  /// relinearize and rescale_to_next with one division: faster, but the bits differ.
  [[nodiscard]] Ciphertext relinearize_rescale(const Ciphertext& a, const RelinKeys& keys) const;
  /// Divides message and scale by the last data prime.
  [[nodiscard]] Ciphertext rescale_to_next(const Ciphertext& a) const;
  /// Drops the last data prime; the scale stays.
  [[nodiscard]] Ciphertext mod_switch_to_next(const Ciphertext& a) const;
  /// Rotates the slots left by `steps`, right if negative. `keys` must have a key for this step.
  [[nodiscard]] Ciphertext rotate_vector(const Ciphertext& a, i64 steps,
                                         const GaloisKeys& keys) const;
  /// rotate_vector by each of `steps`: same bits, less work (key_switching.h).
  [[nodiscard]] std::vector<Ciphertext> rotate_vector_many(const Ciphertext& a,
                                                           std::span<const i64> steps,
                                                           const GaloisKeys& keys) const;
  [[nodiscard]] Ciphertext complex_conjugate(const Ciphertext& a, const GaloisKeys& keys) const;

 private:
  [[nodiscard]] Ciphertext apply_galois(const Ciphertext& a, u64 element,
                                        const GaloisKeys& keys) const;
  [[nodiscard]] double scale_after_rescale(const Ciphertext& a) const;

  Context context_;
};

}  // namespace ringsmith::ckks
