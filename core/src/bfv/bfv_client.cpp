#include "ringsmith/bfv_client.h"

#include <algorithm>

#include "ring/base_conversion.h"
#include "ring/wide.h"
#include "ringsmith/keys.h"

namespace ringsmith {

Ciphertext bfv_encrypt(const BfvContext& context, std::span<const u64> public_key,
                       std::span<const u64> plain, RandomSource& random) {
  const std::vector<u64> message = scale_plain(context, plain, context.rlwe().max_limbs());
  return encrypt(context.rlwe(), Form::kCoeff, public_key, message, random);
}

Ciphertext bfv_encrypt_symmetric(const BfvContext& context, std::span<const u64> secret_key,
                                 std::span<const u64> plain, RandomSource& random) {
  const std::vector<u64> message = scale_plain(context, plain, context.rlwe().max_limbs());
  return encrypt_symmetric(context.rlwe(), Form::kCoeff, secret_key, message, random);
}

std::vector<u64> bfv_decrypt(const BfvContext& context, std::span<const u64> secret_key,
                             CiphertextView ciphertext) {
  const RnsContext& rns = context.rns();
  const std::size_t degree = context.degree();
  const Base base = context.data_base(ciphertext.limbs);
  const Modulus& plain_modulus = context.plain_modulus();
  const Modulus& gamma = context.gamma();
  std::vector<u64> words = decrypt(context.rlwe(), Form::kCoeff, secret_key, ciphertext);
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = rns.modulus(base[i]);
    const u64 factor = modulus.multiply(plain_modulus.value(), gamma.value());
    for (u64& word : limb_of(std::span<u64>(words), i, degree)) {
      word = modulus.multiply(word, factor);
    }
  }
  kernels::divide_by_complements(rns, base, words);

  // With y = gamma * t * phase mod q, the conversion of y is y + u * q; times -1 / q that is the
  // rounded gamma * t * phase / q but for an error that is small compared with gamma, and modulo
  // gamma only the error is left. Bajard, Eynard, Hasan, Zucca 2016, section 3.1.
  const auto divided = [&](const Modulus& modulus) {
    std::vector<u64> limb(degree);
    kernels::combine(rns, base, words, {modulus, 0, limb});
    const u64 factor = modulus.negate(modulus.inverse(kernels::product(rns, base, modulus)));
    for (u64& word : limb) {
      word = modulus.multiply(word, factor);
    }
    return limb;
  };
  std::vector<u64> plain = divided(plain_modulus);
  const std::vector<u64> error = divided(gamma);
  const u64 inverse = plain_modulus.inverse(plain_modulus.reduce(gamma.value()));
  for (std::size_t k = 0; k < degree; ++k) {
    const u64 difference =
        error[k] > gamma.value() / 2
            ? plain_modulus.add(plain[k], plain_modulus.reduce(gamma.value() - error[k]))
            : plain_modulus.subtract(plain[k], plain_modulus.reduce(error[k]));
    plain[k] = plain_modulus.multiply(difference, inverse);
  }
  return plain;
}

std::size_t bfv_noise_budget(const BfvContext& context, std::span<const u64> secret_key,
                             CiphertextView ciphertext) {
  const RnsContext& rns = context.rns();
  const Base base = context.data_base(ciphertext.limbs);
  std::vector<u64> noise = decrypt(context.rlwe(), Form::kCoeff, secret_key, ciphertext);
  for (std::size_t i = 0; i < base.size(); ++i) {
    const Modulus& modulus = rns.modulus(base[i]);
    for (u64& word : limb_of(std::span<u64>(noise), i, context.degree())) {
      word = modulus.multiply(word, context.plain_modulus().value());
    }
  }
  Composer composer(rns, base);
  std::vector<u64> residues(base.size());
  WideInteger largest;
  for (std::size_t k = 0; k < context.degree(); ++k) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      residues[i] = noise[i * context.degree() + k];
    }
    composer.digits(residues);
    if (composer.above_half()) {
      composer.digits(residues, true);
    }
    largest = std::max(largest, composer.integer());
  }
  const std::size_t bits = product_of(rns, base).bits();
  return bits - std::min(bits, largest.bits() + 1);
}

}  // namespace ringsmith
