#include "ringsmith/keys.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "text.h"

namespace ringsmith {
namespace {

SecretVector<u64> small_in_ntt_form(const RnsContext& rns, BaseView base,
                                    const SmallPolynomial& small) {
  SecretVector<u64> residues = to_residues(rns, base, small);
  kernels::ntt(rns, base, residues);
  return residues;
}

// (-(a s + e), a) over `base`, which starts with the secret key's first primes: words of both.
std::vector<u64> encrypt_zero_symmetric(const RnsContext& rns, BaseView base,
                                        std::span<const u64> secret_key, RandomSource& random) {
  const std::size_t words = base.size() * rns.degree();
  const std::span<const u64> secret = secret_key.first(words);
  const std::vector<u64> uniform = sample_uniform(rns, base, random);
  const SecretVector<u64> error = small_in_ntt_form(rns, base, sample_error(rns.degree(), random));

  std::vector<u64> zero(2 * words);
  const std::span<u64> body = std::span<u64>(zero).first(words);
  kernels::multiply(rns, base, uniform, secret, body);
  kernels::add(rns, base, body, error, body);
  kernels::negate(rns, base, body, body);
  std::copy(uniform.begin(), uniform.end(), zero.begin() + static_cast<std::ptrdiff_t>(words));
  return zero;
}

// Digit J encrypts zero at the key level, with P * s' added to its first half in the limbs of digit
// J's primes only; P is the product of the special primes.
std::vector<u64> switching_key(const CkksContext& context, std::span<const u64> secret_key,
                               std::span<const u64> old_secret, RandomSource& random) {
  const RnsContext& rns = context.rns();
  const std::size_t degree = context.degree();
  const Base base = context.key_base();
  std::vector<u64> key;
  key.reserve(context.dnum() * 2 * base.size() * degree);
  for (std::size_t digit = 0; digit < context.dnum(); ++digit) {
    std::vector<u64> zero = encrypt_zero_symmetric(rns, base, secret_key, random);
    for (const std::size_t prime : context.digit(digit, context.max_limbs())) {
      const Modulus& modulus = rns.modulus(prime);
      u64 product = 1;
      for (const std::size_t special : context.special_base()) {
        product = modulus.multiply(product, rns.modulus(special).value());
      }
      const ShoupFactor factor(product, modulus);
      const std::span<u64> limb = limb_of(std::span<u64>(zero), prime, degree);
      const std::span<const u64> old_limb = limb_of(old_secret, prime, degree);
      for (std::size_t i = 0; i < degree; ++i) {
        limb[i] = modulus.add(limb[i], factor.multiply(old_limb[i], modulus.value()));
      }
    }
    key.insert(key.end(), zero.begin(), zero.end());
  }
  return key;
}

void check_secret_key(const CkksContext& context, std::span<const u64> secret_key) {
  context.rns().check_size(secret_key.size(), context.rns().size(), "the secret key");
}

// The level of a plaintext, from its number of words.
std::size_t checked_limbs(const CkksContext& context, std::span<const u64> plain) {
  const std::size_t limbs = plain.size() / context.degree();
  const Base base = context.data_base(limbs);
  context.rns().check_size(plain.size(), base.size(), "the plaintext");
  return limbs;
}

}  // namespace

SecretVector<u64> generate_secret_key(const CkksContext& context, RandomSource& random) {
  return small_in_ntt_form(context.rns(), context.key_base(),
                           sample_ternary(context.degree(), random));
}

std::vector<u64> generate_public_key(const CkksContext& context, std::span<const u64> secret_key,
                                     RandomSource& random) {
  check_secret_key(context, secret_key);
  return encrypt_zero_symmetric(context.rns(), context.key_base(), secret_key, random);
}

std::vector<u64> generate_relin_key(const CkksContext& context, std::span<const u64> secret_key,
                                    RandomSource& random) {
  check_secret_key(context, secret_key);
  SecretVector<u64> squared(secret_key.size());
  kernels::multiply(context.rns(), context.key_base(), secret_key, secret_key, squared);
  return switching_key(context, secret_key, squared, random);
}

std::vector<u64> generate_galois_key(const CkksContext& context, std::span<const u64> secret_key,
                                     u64 element, RandomSource& random) {
  check_secret_key(context, secret_key);
  SecretVector<u64> moved(secret_key.size());
  kernels::automorph(context.rns(), context.key_base(), Form::kNtt, element, secret_key, moved);
  return switching_key(context, secret_key, moved, random);
}

Ciphertext encrypt(const CkksContext& context, std::span<const u64> public_key,
                   std::span<const u64> plain, RandomSource& random) {
  const RnsContext& rns = context.rns();
  const std::size_t limbs = checked_limbs(context, plain);
  const std::size_t key_words = rns.size() * context.degree();
  rns.check_size(public_key.size(), 2 * rns.size(), "the public key");

  // One prime above `limbs` data primes: the next data prime, or at the top the first special
  // prime.
  const Base base = consecutive_base(limbs + 1);
  const std::size_t words = base.size() * context.degree();
  const SecretVector<u64> ephemeral =
      small_in_ntt_form(rns, base, sample_ternary(context.degree(), random));
  SecretVector<u64> zero(words);
  Ciphertext result(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    const SecretVector<u64> error =
        small_in_ntt_form(rns, base, sample_error(context.degree(), random));
    kernels::multiply(rns, base, public_key.subspan(half * key_words, words), ephemeral, zero);
    kernels::add(rns, base, zero, error, zero);
    kernels::mod_down(rns, base, BaseView(base).last(1), Form::kNtt, zero, result.polynomial(half));
  }
  const std::span<u64> body = result.polynomial(0);
  kernels::add(rns, context.data_base(limbs), body, plain, body);
  return result;
}

Ciphertext encrypt_symmetric(const CkksContext& context, std::span<const u64> secret_key,
                             std::span<const u64> plain, RandomSource& random) {
  check_secret_key(context, secret_key);
  const std::size_t limbs = checked_limbs(context, plain);
  const Base base = context.data_base(limbs);
  Ciphertext result(2, limbs, context.degree());
  result.data = encrypt_zero_symmetric(context.rns(), base, secret_key, random);
  const std::span<u64> body = result.polynomial(0);
  kernels::add(context.rns(), base, body, plain, body);
  return result;
}

std::vector<u64> decrypt(const CkksContext& context, std::span<const u64> secret_key,
                         CiphertextView ciphertext) {
  check_secret_key(context, secret_key);
  check(context, ciphertext);
  const RnsContext& rns = context.rns();
  const Base base = context.data_base(ciphertext.limbs);
  const std::span<const u64> secret = secret_key.first(ciphertext.limbs * context.degree());
  // Horner's rule: (... (c_n s + c_{n-1}) s + ...) + c_0.
  const std::span<const u64> highest = ciphertext.polynomial(ciphertext.size - 1);
  std::vector<u64> plain(highest.begin(), highest.end());
  for (std::size_t i = ciphertext.size - 1; i-- > 0;) {
    kernels::multiply(rns, base, plain, secret, plain);
    kernels::add(rns, base, plain, ciphertext.polynomial(i), plain);
  }
  return plain;
}

}  // namespace ringsmith
