// Key generation, symmetric encryption and decryption: the submodule `secret`.
#include "arrays.h"
#include "module.h"
#include "random.h"
#include "ringsmith/bfv_client.h"
#include "ringsmith/error.h"
#include "ringsmith/keys.h"

namespace ringsmith::bindings {
namespace {

std::span<const u64> secret_key_of(const RlweContext& context, const InputArray& array) {
  return residues_of(context.rns(), array, "the secret key");
}

std::vector<std::size_t> key_shape(const RlweContext& context, std::size_t word_bits = 0) {
  const std::size_t digits =
      word_bits == 0 ? context.dnum() : context.words(context.max_limbs(), word_bits);
  return {digits, 2, context.rns().size(), context.degree()};
}

// 0 means digits of primes in C++; in Python that is another function.
std::size_t checked_word_bits(std::size_t word_bits) {
  if (word_bits == 0) {
    throw ParameterError("a word of 0 bits decomposes nothing: take at least 1");
  }
  return word_bits;
}

OutputArray secret_key(RandomSource& random, const RlweContext& context) {
  return to_numpy(without_gil([&] { return generate_secret_key(context, random); }),
                  {context.rns().size(), context.degree()});
}

OutputArray public_key(RandomSource& random, const RlweContext& context, const InputArray& key) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(without_gil([&] { return generate_public_key(context, secret, random); }),
                  {2, context.rns().size(), context.degree()});
}

OutputArray relin_key(RandomSource& random, const RlweContext& context, const InputArray& key) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(without_gil([&] { return generate_relin_key(context, secret, random); }),
                  key_shape(context));
}

OutputArray galois_key(RandomSource& random, const RlweContext& context, const InputArray& key,
                       u64 element) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(
      without_gil([&] { return generate_galois_key(context, secret, element, random); }),
      key_shape(context));
}

OutputArray word_relin_key(RandomSource& random, const RlweContext& context, const InputArray& key,
                           std::size_t word_bits) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const std::vector<std::size_t> shape = key_shape(context, checked_word_bits(word_bits));
  return to_numpy(
      without_gil([&] { return generate_relin_key(context, secret, random, word_bits); }), shape);
}

OutputArray word_galois_key(RandomSource& random, const RlweContext& context, const InputArray& key,
                            u64 element, std::size_t word_bits) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const std::vector<std::size_t> shape = key_shape(context, checked_word_bits(word_bits));
  return to_numpy(
      without_gil([&] { return generate_galois_key(context, secret, element, random, word_bits); }),
      shape);
}

OutputArray seeded_relin_key(RandomSource& random, const RlweContext& context,
                             const InputArray& key, const nb::bytes& key_seed,
                             std::size_t word_bits) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const KeySeed seed = key_seed_of(key_seed);
  return to_numpy(
      without_gil([&] { return generate_relin_key(context, secret, random, word_bits, &seed); }),
      key_shape(context, word_bits));
}

OutputArray seeded_galois_key(RandomSource& random, const RlweContext& context,
                              const InputArray& key, u64 element, const nb::bytes& key_seed,
                              std::size_t word_bits) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const KeySeed seed = key_seed_of(key_seed);
  return to_numpy(without_gil([&] {
                    return generate_galois_key(context, secret, element, random, word_bits, &seed);
                  }),
                  key_shape(context, word_bits));
}

OutputArray encrypt_with_secret(RandomSource& random, const RlweContext& context,
                                const InputArray& key, const InputArray& plain) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const std::span<const u64> message = residues_of(context.rns(), plain, "the plaintext");
  return to_numpy(
      without_gil([&] { return encrypt_symmetric(context, Form::kNtt, secret, message, random); }));
}

OutputArray decrypt_array(const RlweContext& context, const InputArray& key,
                          const InputArray& ciphertext) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const CiphertextView view = ciphertext_of(context, ciphertext);
  return to_numpy(without_gil([&] { return decrypt(context, Form::kNtt, secret, view); }),
                  {view.limbs, context.degree()});
}

OutputArray bfv_encrypt_with_secret(RandomSource& random, const BfvContext& context,
                                    const InputArray& key, const InputArray& plain) {
  const std::span<const u64> secret = secret_key_of(context.rlwe(), key);
  const std::span<const u64> message = plain_of(context, plain, "the plaintext");
  return to_numpy(
      without_gil([&] { return bfv_encrypt_symmetric(context, secret, message, random); }));
}

OutputArray bfv_decrypt_array(const BfvContext& context, const InputArray& key,
                              const InputArray& ciphertext) {
  const std::span<const u64> secret = secret_key_of(context.rlwe(), key);
  const CiphertextView view = ciphertext_of(context.rlwe(), ciphertext);
  return to_numpy(without_gil([&] { return bfv_decrypt(context, secret, view); }),
                  {context.degree()});
}

std::size_t bfv_noise_budget_of(const BfvContext& context, const InputArray& key,
                                const InputArray& ciphertext) {
  const std::span<const u64> secret = secret_key_of(context.rlwe(), key);
  const CiphertextView view = ciphertext_of(context.rlwe(), ciphertext);
  return without_gil([&] { return bfv_noise_budget(context, secret, view); });
}

}  // namespace

void register_secret(nb::module_& module) {
  def_random(module, "generate_secret_key", &secret_key,
             "A uniformly ternary secret key (K, N) over all primes, NTT form.", nb::arg("ctx"));
  def_random(module, "generate_public_key", &public_key,
             "The public key (2, K, N) of a secret key.", nb::arg("ctx"), nb::arg("secret_key"));
  def_random(module, "generate_relin_key", &relin_key,
             "The relinearization key (dnum, 2, K, N) of a secret key.", nb::arg("ctx"),
             nb::arg("secret_key"));
  def_random(module, "generate_galois_key", &galois_key,
             "The key (dnum, 2, K, N) that switches back after x -> x^element.", nb::arg("ctx"),
             nb::arg("secret_key"), nb::arg("element"));
  def_random(module, "generate_word_relin_key", &word_relin_key,
             "The relinearization key (words, 2, K, N) that is cut in words of `word_bits` bits.",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("word_bits"));
  def_random(module, "generate_word_galois_key", &word_galois_key,
             "The key (words, 2, K, N) that switches back after x -> x^element, cut in words.",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("element"), nb::arg("word_bits"));
  def_random(
      module, "generate_seeded_relin_key", &seeded_relin_key,
      "A relinearization key whose half 1 is expanded from `key_seed`, 10 fresh bytes; digits "
      "of primes for word_bits = 0.",
      nb::arg("ctx"), nb::arg("secret_key"), nb::arg("key_seed"), nb::arg("word_bits"));
  def_random(module, "generate_seeded_galois_key", &seeded_galois_key,
             "A Galois key whose half 1 is expanded from `key_seed`, 10 fresh bytes; digits of "
             "primes for word_bits = 0.",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("element"), nb::arg("key_seed"),
             nb::arg("word_bits"));
  def_random(module, "encrypt_symmetric", &encrypt_with_secret,
             "Secret-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N).",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("plain"));
  module.def("decrypt", &decrypt_array, nb::arg("ctx"), nb::arg("secret_key"),
             nb::arg("ciphertext"),
             "The plaintext (limbs, N), NTT form, of a ciphertext of any size.");
  def_random(module, "bfv_encrypt_symmetric", &bfv_encrypt_with_secret,
             "Secret-key encryption of a plaintext (N,): a ciphertext (2, max_limbs, N).",
             nb::arg("bctx"), nb::arg("secret_key"), nb::arg("plain"));
  module.def("bfv_decrypt", &bfv_decrypt_array, nb::arg("bctx"), nb::arg("secret_key"),
             nb::arg("ciphertext"), "The plaintext (N,) of a ciphertext of any size and level.");
  module.def("bfv_noise_budget", &bfv_noise_budget_of, nb::arg("bctx"), nb::arg("secret_key"),
             nb::arg("ciphertext"), "Bits that the noise may still grow by; 0: none are left.");
}

}  // namespace ringsmith::bindings
