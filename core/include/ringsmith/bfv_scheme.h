// BFV for applications: exact arithmetic modulo t on encrypted vectors or polynomials. Names follow
// Microsoft SEAL's where the operation is SEAL's, and so do the bits. The keys are in
// scheme_keys.h, as for CKKS.
//
// This is a thin layer over bfv_evaluator.h and bfv_client.h, which work on plain words. All
// functions throw ParameterError when levels, sizes or keys do not fit. The security of parameters
// is not checked: the HE standard's bounds are in the Python package's `params`.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ringsmith/bfv.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/scheme_keys.h"
#include "ringsmith/types.h"

namespace ringsmith::bfv {

using ringsmith::create_primes;
using ringsmith::GaloisKeys;
using ringsmith::KeyForm;
using ringsmith::Multiplication;
using ringsmith::PublicKey;
using ringsmith::RelinKeys;
using ringsmith::SecretKey;

/// Shared by all objects made from it. BfvContext states the requirements.
using Context = std::shared_ptr<const BfvContext>;

/// @param primes        data primes, then `special` special primes
/// @param plain_modulus t; slots need a prime that is 1 mod 2N, for example from create_primes
/// @param dnum          digits of key switching; 0: one data prime a digit (SEAL's case). Without
///                      special primes, 0 gives no residue digits and a number gives that many
/// @return a context with SEAL's extension primes, which serve both multiplication variants
[[nodiscard]] Context make_context(std::size_t degree, std::span<const u64> primes,
                                   u64 plain_modulus, std::size_t special = 1,
                                   std::size_t dnum = 0);

/// N coefficients in [0, t).
struct Plaintext {
  std::vector<u64> data;
};

/// An encrypted message, in coefficient form.
struct Ciphertext {
  ringsmith::Ciphertext words;

  [[nodiscard]] std::size_t size() const { return words.size; }
  [[nodiscard]] std::size_t limbs() const { return words.limbs; }
};

/// ringsmith::KeyGenerator for a BFV context.
class KeyGenerator : public ringsmith::KeyGenerator {
 public:
  /// @param word_bits 0: key-switching keys of RNS digits; else of digits of this many bits
  explicit KeyGenerator(const Context& context, std::size_t word_bits = 0)
      : ringsmith::KeyGenerator(context->shared_rlwe(), word_bits) {}
};

/// Encodes vectors of up to N integers modulo t as plaintexts, and back: two rows of N / 2 slots.
/// SEAL's BatchEncoder.
class Encoder {
 public:
  /// @throws ParameterError where t does not batch
  explicit Encoder(Context context);

  [[nodiscard]] std::size_t slot_count() const { return context_->degree(); }
  /// Missing values are zero; t is added to negative ones.
  /// @throws ParameterError for a value outside -t/2 ... t - 1
  [[nodiscard]] Plaintext encode(std::span<const i64> values) const;
  /// All N values in [0, t): row 0, then row 1.
  [[nodiscard]] std::vector<u64> decode(const Plaintext& plain) const;
  /// All N values in -t/2 ... t/2.
  [[nodiscard]] std::vector<i64> decode_signed(const Plaintext& plain) const;

 private:
  Context context_;
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

  /// The result is right while invariant_noise_budget is above 0. Do not reveal to the sender
  /// whether their ciphertext decrypts as expected: that leaks information about the secret key.
  [[nodiscard]] Plaintext decrypt(const Ciphertext& ciphertext) const;
  /// Returns the bits that the noise may still grow by; 0: none are left.
  [[nodiscard]] std::size_t invariant_noise_budget(const Ciphertext& ciphertext) const;

 private:
  Context context_;
  SecretKey key_;
};

/// Computes on ciphertexts. Operands of two-operand functions are at one level.
class Evaluator {
 public:
  /// @param variant how products are computed; only kBehz equals SEAL bit for bit
  explicit Evaluator(Context context, Multiplication variant = Multiplication::kBehz)
      : context_(std::move(context)), variant_(variant) {}

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
  /// Divides by the last data prime: a smaller ciphertext of the same message.
  [[nodiscard]] Ciphertext mod_switch_to_next(const Ciphertext& a) const;
  /// Rotates both rows left by `steps`, right if negative. `keys` must have a key for this step.
  /// @throws ParameterError if t does not batch (there are no rows then); so does `rotate_columns`
  [[nodiscard]] Ciphertext rotate_rows(const Ciphertext& a, i64 steps,
                                       const GaloisKeys& keys) const;
  /// rotate_rows by each of `steps`: same bits, less work (key_switching.h).
  [[nodiscard]] std::vector<Ciphertext> rotate_rows_many(const Ciphertext& a,
                                                         std::span<const i64> steps,
                                                         const GaloisKeys& keys) const;
  /// Swaps the rows.
  [[nodiscard]] Ciphertext rotate_columns(const Ciphertext& a, const GaloisKeys& keys) const;

 private:
  [[nodiscard]] Ciphertext apply_galois(const Ciphertext& a, u64 element,
                                        const GaloisKeys& keys) const;

  Context context_;
  Multiplication variant_;
};

}  // namespace ringsmith::bfv
