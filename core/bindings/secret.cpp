// Key generation, symmetric encryption and decryption: the submodule `secret`.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <array>
#include <optional>
#include <utility>

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

// The key-switching key of a Galois element, or, without one, of the secret key's square.
OutputArray key_switch_key(RandomSource& random, const RlweContext& context, const InputArray& key,
                           std::optional<u64> element, std::size_t word_bits,
                           const std::optional<nb::bytes>& key_seed, std::size_t limbs) {
  const std::span<const u64> secret = secret_key_of(context, key);
  const std::optional<KeySeed> seed =
      key_seed ? std::optional(key_seed_of(*key_seed)) : std::nullopt;
  const std::size_t level = limbs == 0 ? context.max_limbs() : limbs;
  const std::size_t digits =
      word_bits == 0 ? context.digits(level) : context.words(level, word_bits);
  const std::vector<std::size_t> shape = {digits, 2, context.switching_base(level).size(),
                                          context.degree()};
  const KeySeed* const given = seed ? &*seed : nullptr;
  return to_numpy(
      without_gil([&] {
        return element
                   ? generate_galois_key(context, secret, *element, random, word_bits, given, limbs)
                   : generate_relin_key(context, secret, random, word_bits, given, limbs);
      }),
      shape);
}

// The keys to and from an ephemeral sparse secret.
nb::tuple sparse_keys(RandomSource& random, const RlweContext& context, const InputArray& key,
                      std::size_t weight, std::size_t limbs, std::size_t special,
                      std::size_t raised,
                      const std::optional<std::pair<nb::bytes, nb::bytes>>& key_seeds) {
  const std::span<const u64> secret = secret_key_of(context, key);
  std::optional<std::array<KeySeed, 2>> seeds;
  if (key_seeds) {
    seeds = {key_seed_of(key_seeds->first), key_seed_of(key_seeds->second)};
  }
  SparseKeys keys = without_gil([&] {
    return generate_sparse_keys(context, secret, {weight, limbs, special, raised}, random,
                                seeds ? &*seeds : nullptr);
  });
  const std::size_t level = raised == 0 ? context.max_limbs() : raised;
  return nb::make_tuple(
      to_numpy(std::move(keys.to_sparse), {1, 2, limbs + special, context.degree()}),
      to_numpy(std::move(keys.from_sparse),
               {context.digits(level), 2, context.switching_base(level).size(), context.degree()}));
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
  def_random(module, "generate_key_switch_key", &key_switch_key,
             "The key (digits, 2, K, N) that switches back after x -> x^element, or, of element "
             "None, the relinearization key: of digits of primes, or of words of `word_bits` bits; "
             "half 1 expanded from `key_seed`, 10 fresh bytes, if given; for up to `limbs` limbs, "
             "over their primes and the special ones, if not 0.",
             nb::arg("ctx"), nb::arg("secret_key"), nb::arg("element").none(), nb::kw_only(),
             nb::arg("word_bits") = 0, nb::arg("key_seed") = nb::none(), nb::arg("limbs") = 0);
  def_random(module, "generate_sparse_keys", &sparse_keys,
             "The keys to and from an ephemeral sparse secret of `weight` coefficients, which is "
             "forgotten: (1, 2, limbs + special, N), over the first `limbs` data and `special` "
             "special primes, and (digits, 2, raised + all special, N), for `raised` limbs, or all "
             "if 0; half 1 expanded from `key_seeds`, twice 10 fresh bytes, if given.",
             nb::arg("ctx"), nb::arg("secret_key"), nb::kw_only(), nb::arg("weight"),
             nb::arg("limbs"), nb::arg("special"), nb::arg("raised") = 0,
             nb::arg("key_seeds") = nb::none());
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
