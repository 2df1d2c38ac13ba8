#include "ringsmith/keys.h"

#include <algorithm>
#include <functional>

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"

namespace ringsmith {
namespace {

SecretVector<u64> small_in_ntt_form(const RnsContext& rns, BaseView base,
                                    const SmallPolynomial& small) {
  SecretVector<u64> residues = to_residues(rns, base, small);
  kernels::ntt(rns, base, residues);
  return residues;
}

// (-(a s + e), a) over `base`: words of both. `uniform` is a; `secret` and it are over `base`.
std::vector<u64> encrypt_zero(const RlweContext& context, BaseView base,
                              std::span<const u64> secret, std::span<const u64> uniform,
                              RandomSource& random) {
  const RnsContext& rns = context.rns();
  const std::size_t words = base.size() * rns.degree();
  const SecretVector<u64> error =
      small_in_ntt_form(rns, base, context.error().sample(rns.degree(), random));

  std::vector<u64> zero(2 * words);
  const std::span<u64> body = std::span<u64>(zero).first(words);
  kernels::multiply(rns, base, uniform, secret, body);
  kernels::add(rns, base, body, error, body);
  kernels::negate(rns, base, body, body);
  std::copy(uniform.begin(), uniform.end(), zero.begin() + static_cast<std::ptrdiff_t>(words));
  return zero;
}

// The same with an a of its own; `base` starts with the secret key's first primes.
std::vector<u64> encrypt_zero(const RlweContext& context, BaseView base,
                              std::span<const u64> secret_key, RandomSource& random) {
  const std::vector<u64> uniform = sample_uniform(context.rns(), base, random);
  const std::span<const u64> secret = secret_key.first(uniform.size());
  return encrypt_zero(context, base, secret, uniform, random);
}

// Half 1 of one digit of a key-switching key.
std::vector<u64> uniform_half(const RlweContext& context, BaseView base, std::size_t digit,
                              const KeySeed* seed, RandomSource& random) {
  const RnsContext& rns = context.rns();
  if (seed == nullptr) {
    return sample_uniform(rns, base, random);
  }
  std::vector<u64> half(base.size() * rns.degree());
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    expand_key_half(*seed, digit, base[limb], rns.modulus(base[limb]),
                    limb_of(std::span<u64>(half), limb, rns.degree()));
  }
  return half;
}

// What a digit of a key adds to an encryption of zero: `factor(modulus)` times the old secret,
// in the limbs of `primes`.
struct Digit {
  Base primes;
  std::function<u64(const Modulus&)> factor;
};

// P * s' in the limbs of each digit's primes only; P is the product of the special primes, 1 for
// residue digits.
std::vector<Digit> prime_digits(const RlweContext& context, std::size_t limbs) {
  if (context.special_base().empty() && !context.residue_digits()) {
    throw ParameterError(
        "a key in digits of primes needs a special prime, and the parameters have none: name one, "
        "or cut in words of word_bits bits, or name dnum for residue digits");
  }
  const auto special_product = [&context](const Modulus& modulus) {
    return context.residue_digits()
               ? 1
               : product_of(context.rns(), context.special_base()).modulo(modulus);
  };
  std::vector<Digit> digits;
  for (std::size_t i = 0; i < context.digits(limbs); ++i) {
    digits.push_back({context.digit(i, limbs), special_product});
  }
  return digits;
}

// 2^(w i) * s' in all data limbs.
std::vector<Digit> word_digits(const RlweContext& context, std::size_t limbs,
                               std::size_t word_bits) {
  std::vector<Digit> digits;
  for (std::size_t i = 0; i < context.words(limbs, word_bits); ++i) {
    digits.push_back({context.data_base(limbs), [shift = i * word_bits](const Modulus& modulus) {
                        return modulus.power(2, shift);
                      }});
  }
  return digits;
}

// What a key-switching key is made over, and what its digits add.
struct Layout {
  Base base;
  std::vector<Digit> digits;
};

Layout layout_of(const RlweContext& context, std::size_t word_bits, std::size_t limbs) {
  const std::size_t level = limbs == 0 ? context.max_limbs() : limbs;
  return {context.switching_base(level),
          word_bits == 0 ? prime_digits(context, level) : word_digits(context, level, word_bits)};
}

// The limbs of a secret (K * N words) over some primes.
SecretVector<u64> over(const RlweContext& context, std::span<const u64> secret, const Base& base) {
  const std::size_t degree = context.degree();
  SecretVector<u64> part(base.size() * degree);
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    std::ranges::copy(limb_of(secret, base[limb], degree),
                      limb_of(std::span<u64>(part), limb, degree).begin());
  }
  return part;
}

// The key that switches from `old_secret` to `new_secret`, both K * N words.
std::vector<u64> switching_key(const RlweContext& context, std::span<const u64> new_secret,
                               std::span<const u64> old_secret, const Layout& layout,
                               RandomSource& random, const KeySeed* key_seed) {
  const RnsContext& rns = context.rns();
  const std::size_t degree = context.degree();
  const Base& base = layout.base;
  const SecretVector<u64> secret = over(context, new_secret, base);
  std::vector<u64> key;
  key.reserve(layout.digits.size() * 2 * base.size() * degree);
  for (std::size_t d = 0; d < layout.digits.size(); ++d) {
    const Digit& digit = layout.digits[d];
    const std::vector<u64> uniform = uniform_half(context, base, d, key_seed, random);
    std::vector<u64> zero = encrypt_zero(context, base, secret, uniform, random);
    for (const std::size_t prime : digit.primes) {
      const Modulus& modulus = rns.modulus(prime);
      const ShoupFactor factor(digit.factor(modulus), modulus);
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

// The layout of a key to a sparse secret: one digit.
Layout sparse_layout(const RlweContext& context, const SparseSecret& sparse) {
  const RnsContext& rns = context.rns();
  const Base special = context.special_base();
  if (sparse.special == 0 || sparse.special > special.size()) {
    throw ParameterError(text("a key to a sparse secret over ", sparse.special,
                              " special primes, and there are ", special.size(),
                              ": name 1 up to all of them"));
  }
  Layout layout{context.data_base(sparse.limbs), {}};
  const Base some(special.begin(), special.begin() + static_cast<std::ptrdiff_t>(sparse.special));
  layout.digits.push_back({layout.base, [&rns, some](const Modulus& modulus) {
                             return product_of(rns, some).modulo(modulus);
                           }});
  layout.base.insert(layout.base.end(), some.begin(), some.end());
  const std::size_t bits = product_of(rns, layout.base).bits();
  if (bits > kMaxSparseBits) {
    throw ParameterError(text("a key to a sparse secret modulo ", bits, " bits: at most ",
                              kMaxSparseBits,
                              " are secure: take a smaller first prime, or fewer special primes"));
  }
  return layout;
}

void check_secret_key(const RlweContext& context, std::span<const u64> secret_key) {
  context.rns().check_size(secret_key.size(), context.rns().size(), "the secret key");
}

// The level of a message, from its number of words.
std::size_t checked_limbs(const RlweContext& context, std::span<const u64> message) {
  const std::size_t limbs = message.size() / context.degree();
  const Base base = context.data_base(limbs);
  context.rns().check_size(message.size(), base.size(), "the plaintext");
  return limbs;
}

void add_message(const RlweContext& context, std::span<const u64> message, Ciphertext& result) {
  const std::span<u64> body = result.polynomial(0);
  kernels::add(context.rns(), context.data_base(result.limbs), body, message, body);
}

}  // namespace

SecretVector<u64> generate_secret_key(const RlweContext& context, RandomSource& random) {
  return small_in_ntt_form(context.rns(), context.key_base(),
                           sample_ternary(context.degree(), random));
}

std::vector<u64> generate_public_key(const RlweContext& context, std::span<const u64> secret_key,
                                     RandomSource& random) {
  check_secret_key(context, secret_key);
  return encrypt_zero(context, context.key_base(), secret_key, random);
}

std::vector<u64> generate_relin_key(const RlweContext& context, std::span<const u64> secret_key,
                                    RandomSource& random, std::size_t word_bits,
                                    const KeySeed* key_seed, std::size_t limbs) {
  check_secret_key(context, secret_key);
  SecretVector<u64> squared(secret_key.size());
  kernels::multiply(context.rns(), context.key_base(), secret_key, secret_key, squared);
  return switching_key(context, secret_key, squared, layout_of(context, word_bits, limbs), random,
                       key_seed);
}

std::vector<u64> generate_galois_key(const RlweContext& context, std::span<const u64> secret_key,
                                     u64 element, RandomSource& random, std::size_t word_bits,
                                     const KeySeed* key_seed, std::size_t limbs) {
  check_secret_key(context, secret_key);
  SecretVector<u64> moved(secret_key.size());
  kernels::automorph(context.rns(), context.key_base(), Form::kNtt, element, secret_key, moved);
  return switching_key(context, secret_key, moved, layout_of(context, word_bits, limbs), random,
                       key_seed);
}

SparseKeys generate_sparse_keys(const RlweContext& context, std::span<const u64> secret_key,
                                const SparseSecret& sparse, RandomSource& random,
                                const std::array<KeySeed, 2>* seeds) {
  check_secret_key(context, secret_key);
  const Layout to = sparse_layout(context, sparse);
  const Layout from = layout_of(context, 0, sparse.raised);
  const SecretVector<u64> secret = small_in_ntt_form(
      context.rns(), context.key_base(), sample_sparse(context.degree(), sparse.weight, random));
  const auto seed = [seeds](std::size_t i) { return seeds == nullptr ? nullptr : &(*seeds)[i]; };
  return {switching_key(context, secret, secret_key, to, random, seed(0)),
          switching_key(context, secret_key, secret, from, random, seed(1))};
}

Ciphertext encrypt(const RlweContext& context, Form form, std::span<const u64> public_key,
                   std::span<const u64> message, RandomSource& random) {
  const RnsContext& rns = context.rns();
  const std::size_t limbs = checked_limbs(context, message);
  const std::size_t key_words = rns.size() * context.degree();
  rns.check_size(public_key.size(), 2 * rns.size(), "the public key");

  // One prime above `limbs` data primes: the next data prime, or at the top the first special
  // prime.
  const Base base = consecutive_base(std::min(limbs + 1, rns.size()));
  const std::size_t words = base.size() * context.degree();
  const SecretVector<u64> ephemeral =
      small_in_ntt_form(rns, base, sample_ternary(context.degree(), random));
  SecretVector<u64> zero(words);
  Ciphertext result(2, limbs, context.degree());
  for (std::size_t half = 0; half < 2; ++half) {
    const SecretVector<u64> error =
        small_in_ntt_form(rns, base, context.error().sample(context.degree(), random));
    kernels::multiply(rns, base, public_key.subspan(half * key_words, words), ephemeral, zero);
    kernels::add(rns, base, zero, error, zero);
    if (form == Form::kCoeff) {
      kernels::intt(rns, base, zero);
    }
    if (base.size() > limbs) {
      kernels::mod_down(rns, base, BaseView(base).last(1), form, zero, result.polynomial(half));
    } else {
      std::ranges::copy(zero, result.polynomial(half).begin());
    }
  }
  add_message(context, message, result);
  return result;
}

Ciphertext encrypt_symmetric(const RlweContext& context, Form form, std::span<const u64> secret_key,
                             std::span<const u64> message, RandomSource& random) {
  check_secret_key(context, secret_key);
  const std::size_t limbs = checked_limbs(context, message);
  const Base base = context.data_base(limbs);
  Ciphertext result(2, limbs, context.degree());
  std::ranges::copy(encrypt_zero(context, base, secret_key, random), result.data.begin());
  if (form == Form::kCoeff) {
    for (std::size_t half = 0; half < 2; ++half) {
      kernels::intt(context.rns(), base, result.polynomial(half));
    }
  }
  add_message(context, message, result);
  return result;
}

std::vector<u64> decrypt(const RlweContext& context, Form form, std::span<const u64> secret_key,
                         CiphertextView ciphertext) {
  check_secret_key(context, secret_key);
  check(context, ciphertext);
  const RnsContext& rns = context.rns();
  const Base base = context.data_base(ciphertext.limbs);
  const std::span<const u64> secret = secret_key.first(ciphertext.limbs * context.degree());
  const auto in_ntt_form = [&](std::size_t index) {
    const std::span<const u64> polynomial = ciphertext.polynomial(index);
    std::vector<u64> words(polynomial.begin(), polynomial.end());
    if (form == Form::kCoeff) {
      kernels::ntt(rns, base, words);
    }
    return words;
  };
  // Horner's rule: (... (c_n s + c_{n-1}) s + ...) + c_0.
  std::vector<u64> plain = in_ntt_form(ciphertext.size - 1);
  for (std::size_t i = ciphertext.size - 1; i-- > 0;) {
    kernels::multiply(rns, base, plain, secret, plain);
    kernels::add(rns, base, plain, in_ntt_form(i), plain);
  }
  if (form == Form::kCoeff) {
    kernels::intt(rns, base, plain);
  }
  return plain;
}

}  // namespace ringsmith
