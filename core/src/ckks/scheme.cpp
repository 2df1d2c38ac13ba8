#include "ringsmith/scheme.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/evaluator.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/keys.h"

namespace ringsmith::ckks {
namespace {

// Scales that differ by less than a few roundings of a double count as equal, as in SEAL.
void check_scales(double a, double b) {
  if (std::fabs(a - b) > 0x1p-50 * std::max(a, b)) {
    throw ParameterError(text("the operands have the scales ", a, " and ", b,
                              ": rescale one, or set the scale where they are near enough"));
  }
}

}  // namespace

Context make_context(std::size_t degree, std::span<const u64> primes, std::size_t special,
                     std::size_t dnum) {
  return std::make_shared<const RlweContext>(degree, primes, special, dnum);
}

Plaintext Encoder::encode(std::span<const double> values, double scale) const {
  const std::vector<std::complex<double>> complex(values.begin(), values.end());
  return encode(complex, scale, encoder_.context().max_limbs());
}

Plaintext Encoder::encode(std::span<const std::complex<double>> values, double scale,
                          std::size_t limbs) const {
  return {encoder_.encode(values, scale, limbs), limbs, scale};
}

std::vector<std::complex<double>> Encoder::decode(const Plaintext& plain) const {
  return encoder_.decode(plain.data, plain.scale);
}

Ciphertext Encryptor::encrypt(const Plaintext& plain) const {
  SystemRandom random;
  return {ringsmith::encrypt(*context_, Form::kNtt, key_.data, plain.data, random), plain.scale};
}

Plaintext Decryptor::decrypt(const Ciphertext& ciphertext) const {
  return {ringsmith::decrypt(*context_, Form::kNtt, key_.data, ciphertext.words.view()),
          ciphertext.limbs(), ciphertext.scale};
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
  const KeySwitchKeyView key = keys.view(*context_);
  return {ringsmith::relinearize(*context_, Form::kNtt, a.words.view(), key), a.scale};
}

Ciphertext Evaluator::relinearize_rescale(const Ciphertext& a, const RelinKeys& keys) const {
  const KeySwitchKeyView key = keys.view(*context_);
  return {ringsmith::relinearize_rescale(*context_, a.words.view(), key), scale_after_rescale(a)};
}

Ciphertext Evaluator::rescale_to_next(const Ciphertext& a) const {
  return {rescale(*context_, Form::kNtt, a.words.view()), scale_after_rescale(a)};
}

Ciphertext Evaluator::mod_switch_to_next(const Ciphertext& a) const {
  return {mod_switch(*context_, a.words.view()), a.scale};
}

Ciphertext Evaluator::rotate_vector(const Ciphertext& a, i64 steps, const GaloisKeys& keys) const {
  return apply_galois(a, galois_element(context_->degree(), steps), keys);
}

std::vector<Ciphertext> Evaluator::rotate_vector_many(const Ciphertext& a,
                                                      std::span<const i64> steps,
                                                      const GaloisKeys& keys) const {
  std::vector<Ciphertext> results;
  for (auto& words :
       apply_galois_many(*context_, Form::kNtt, a.words.view(), keys.rotations(*context_, steps))) {
    results.push_back({std::move(words), a.scale});
  }
  return results;
}

Ciphertext Evaluator::complex_conjugate(const Ciphertext& a, const GaloisKeys& keys) const {
  return apply_galois(a, 2 * context_->degree() - 1, keys);
}

Ciphertext Evaluator::apply_galois(const Ciphertext& a, u64 element, const GaloisKeys& keys) const {
  const KeySwitchKeyView key = keys.view(*context_, element);
  return {ringsmith::apply_galois(*context_, Form::kNtt, a.words.view(), element, key), a.scale};
}

double Evaluator::scale_after_rescale(const Ciphertext& a) const {
  const Base base = context_->data_base(a.limbs());
  return a.scale / static_cast<double>(context_->rns().modulus(base.back()).value());
}

}  // namespace ringsmith::ckks
