#include "ringsmith/scheme.h"

#include <algorithm>
#include <cmath>

#include "ringsmith/error.h"
#include "ringsmith/evaluator.h"
#include "ringsmith/keys.h"
#include "ringsmith/primes.h"
#include "text.h"

namespace ringsmith::ckks {
namespace {

// Scales that differ by less than a few roundings of a double count as equal, as in SEAL.
void check_scales(double a, double b) {
  if (std::fabs(a - b) > 0x1p-50 * std::max(a, b)) {
    throw ParameterError(text("the operands have the scales ", a, " and ", b,
                              ": rescale one, or set the scale where they are near enough"));
  }
}

KeySwitchKeyView view_of(const CkksContext& context, const std::vector<u64>& key) {
  return {key, key.size() / (2 * context.rns().size() * context.degree())};
}

u64 element_of(const CkksContext& context, i64 steps) {
  return steps == 0 ? 2 * context.degree() - 1 : galois_element(context.degree(), steps);
}

}  // namespace

std::vector<u64> create_primes(std::size_t degree, std::span<const int> bit_sizes) {
  std::map<int, std::vector<u64>> found;  // of each size, largest first
  for (const int bits : bit_sizes) {
    if (!found.contains(bits)) {
      const auto count = std::count(bit_sizes.begin(), bit_sizes.end(), bits);
      found[bits] = prime_search(bits, degree, static_cast<std::size_t>(count));
    }
  }
  std::vector<u64> primes;
  for (const int bits : bit_sizes) {
    primes.push_back(found[bits].back());
    found[bits].pop_back();
  }
  return primes;
}

Context make_context(std::size_t degree, std::span<const u64> primes, std::size_t special,
                     std::size_t dnum) {
  return std::make_shared<const CkksContext>(degree, primes, special, dnum);
}

Plaintext Encoder::encode(std::span<const double> values, double scale) const {
  const std::vector<std::complex<double>> complex(values.begin(), values.end());
  return encode(complex, scale, context_->max_limbs());
}

Plaintext Encoder::encode(std::span<const std::complex<double>> values, double scale,
                          std::size_t limbs) const {
  return {ringsmith::encode(*context_, values, scale, limbs), limbs, scale};
}

std::vector<std::complex<double>> Encoder::decode(const Plaintext& plain) const {
  return ringsmith::decode(*context_, plain.data, plain.scale);
}

KeyGenerator::KeyGenerator(Context context) : context_(std::move(context)) {
  SystemRandom random;
  secret_key_.data = generate_secret_key(*context_, random);
}

PublicKey KeyGenerator::create_public_key() const {
  SystemRandom random;
  return {generate_public_key(*context_, secret_key_.data, random)};
}

RelinKeys KeyGenerator::create_relin_keys() const {
  SystemRandom random;
  return {generate_relin_key(*context_, secret_key_.data, random)};
}

GaloisKeys KeyGenerator::create_galois_keys(std::span<const i64> steps) const {
  SystemRandom random;
  GaloisKeys keys;
  for (const i64 step : steps) {
    const u64 element = element_of(*context_, step);
    keys.data[element] = generate_galois_key(*context_, secret_key_.data, element, random);
  }
  return keys;
}

Ciphertext Encryptor::encrypt(const Plaintext& plain) const {
  SystemRandom random;
  return {ringsmith::encrypt(*context_, key_.data, plain.data, random), plain.scale};
}

Plaintext Decryptor::decrypt(const Ciphertext& ciphertext) const {
  return {ringsmith::decrypt(*context_, key_.data, ciphertext.words.view()), ciphertext.limbs(),
          ciphertext.scale};
}

Ciphertext Evaluator::add(const Ciphertext& a, const Ciphertext& b) const {
  check_scales(a.scale, b.scale);
  return {ringsmith::add(*context_, a.words.view(), b.words.view()), a.scale};
}

Ciphertext Evaluator::sub(const Ciphertext& a, const Ciphertext& b) const {
  check_scales(a.scale, b.scale);
  return {subtract(*context_, a.words.view(), b.words.view()), a.scale};
}

Ciphertext Evaluator::negate(const Ciphertext& a) const {
  return {ringsmith::negate(*context_, a.words.view()), a.scale};
}

Ciphertext Evaluator::add_plain(const Ciphertext& a, const Plaintext& plain) const {
  check_scales(a.scale, plain.scale);
  return {ringsmith::add_plain(*context_, a.words.view(), plain.data), a.scale};
}

Ciphertext Evaluator::sub_plain(const Ciphertext& a, const Plaintext& plain) const {
  check_scales(a.scale, plain.scale);
  return {subtract_plain(*context_, a.words.view(), plain.data), a.scale};
}

Ciphertext Evaluator::multiply_plain(const Ciphertext& a, const Plaintext& plain) const {
  return {ringsmith::multiply_plain(*context_, a.words.view(), plain.data), a.scale * plain.scale};
}

Ciphertext Evaluator::multiply(const Ciphertext& a, const Ciphertext& b) const {
  return {ringsmith::multiply(*context_, a.words.view(), b.words.view()), a.scale * b.scale};
}

Ciphertext Evaluator::square(const Ciphertext& a) const {
  return {ringsmith::square(*context_, a.words.view()), a.scale * a.scale};
}

Ciphertext Evaluator::relinearize(const Ciphertext& a, const RelinKeys& keys) const {
  const KeySwitchKeyView key = view_of(*context_, keys.data);
  return {ringsmith::relinearize(*context_, a.words.view(), key), a.scale};
}

Ciphertext Evaluator::relinearize_rescale(const Ciphertext& a, const RelinKeys& keys) const {
  const KeySwitchKeyView key = view_of(*context_, keys.data);
  return {ringsmith::relinearize_rescale(*context_, a.words.view(), key), scale_after_rescale(a)};
}

Ciphertext Evaluator::rescale_to_next(const Ciphertext& a) const {
  return {rescale(*context_, a.words.view()), scale_after_rescale(a)};
}

Ciphertext Evaluator::mod_switch_to_next(const Ciphertext& a) const {
  return {mod_switch(*context_, a.words.view()), a.scale};
}

Ciphertext Evaluator::rotate_vector(const Ciphertext& a, i64 steps, const GaloisKeys& keys) const {
  return apply_galois(a, galois_element(context_->degree(), steps), keys);
}

Ciphertext Evaluator::complex_conjugate(const Ciphertext& a, const GaloisKeys& keys) const {
  return apply_galois(a, 2 * context_->degree() - 1, keys);
}

Ciphertext Evaluator::apply_galois(const Ciphertext& a, u64 element, const GaloisKeys& keys) const {
  const auto found = keys.data.find(element);
  if (found == keys.data.end()) {
    throw ParameterError(text("there is no key for Galois element ", element, " among ",
                              keys.data.size(), ": name its step in create_galois_keys"));
  }
  const KeySwitchKeyView key = view_of(*context_, found->second);
  return {ringsmith::apply_galois(*context_, a.words.view(), element, key), a.scale};
}

double Evaluator::scale_after_rescale(const Ciphertext& a) const {
  const Base base = context_->data_base(a.limbs());
  return a.scale / static_cast<double>(context_->rns().modulus(base.back()).value());
}

}  // namespace ringsmith::ckks
