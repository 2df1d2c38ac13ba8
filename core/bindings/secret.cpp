// Key generation, symmetric encryption and decryption: the submodule `secret`.
#include "arrays.h"
#include "module.h"
#include "random.h"
#include "ringsmith/keys.h"

namespace ringsmith::bindings {
namespace {

std::span<const u64> secret_key_of(const CkksContext& context, const InputArray& array) {
  return residues_of(context.rns(), array, "the secret key");
}

std::vector<std::size_t> key_shape(const CkksContext& context) {
  return {context.dnum(), 2, context.rns().size(), context.degree()};
}

OutputArray secret_key(RandomSource& random, const CkksContext& context) {
  return to_numpy(without_gil([&] { return generate_secret_key(context, random); }),
                  {context.rns().size(), context.degree()});
}

OutputArray public_key(RandomSource& random, const CkksContext& context, const InputArray& key) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(without_gil([&] { return generate_public_key(context, secret, random); }),
                  {2, context.rns().size(), context.degree()});
}

OutputArray relin_key(RandomSource& random, const CkksContext& context, const InputArray& key) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(without_gil([&] { return generate_relin_key(context, secret, random); }),
                  key_shape(context));
}

OutputArray galois_key(RandomSource& random, const CkksContext& context, const InputArray& key,
                       u64 element) {
  const std::span<const u64> secret = secret_key_of(context, key);
  return to_numpy(
      without_gil([&] { return generate_galois_key(context, secret, element, random); }),
      key_shape(context));
}

OutputArray encrypt_with_secret(RandomSource& random, const CkksContext& context,
                                const InputArray& key, const InputArray& plain) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const std::span<const u64> message = residues_of(context.rns(), plain, "the plaintext");
  return to_numpy(without_gil([&] { return encrypt_symmetric(context, secret, message, random); }));
}

OutputArray decrypt_array(const CkksContext& context, const InputArray& key,
                          const InputArray& ciphertext) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const CiphertextView view = ciphertext_of(context, ciphertext);
  return to_numpy(without_gil([&] { return decrypt(context, secret, view); }),
                  {view.limbs, context.degree()});
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
  def_random(module, "encrypt_symmetric", &encrypt_with_secret,
             "Secret-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N).",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("plain"));
  module.def("decrypt", &decrypt_array, nb::arg("ctx"), nb::arg("secret_key"),
             nb::arg("ciphertext"),
             "The plaintext (limbs, N), NTT form, of a ciphertext of any size.");
}

}  // namespace ringsmith::bindings
