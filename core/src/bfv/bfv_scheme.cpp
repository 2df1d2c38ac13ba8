#include "ringsmith/bfv_scheme.h"

#include <algorithm>

#include "platform/text.h"
#include "ringsmith/bfv_client.h"
#include "ringsmith/bfv_evaluator.h"
#include "ringsmith/error.h"
#include "ringsmith/evaluator.h"
#include "ringsmith/key_switching.h"

namespace ringsmith::bfv {

Context make_context(std::size_t degree, std::span<const u64> primes, u64 plain_modulus,
                     std::size_t special, std::size_t dnum) {
  auto rlwe = std::make_shared<const RlweContext>(degree, primes, special, dnum);
  const std::vector<u64> extension =
      behz_extension_primes(degree, primes.first(rlwe->max_limbs()), plain_modulus);
  return std::make_shared<const BfvContext>(std::move(rlwe), plain_modulus, extension);
}

Encoder::Encoder(Context context) : context_(std::move(context)) { require_batching(*context_); }

Plaintext Encoder::encode(std::span<const i64> values) const {
  if (values.size() > slot_count()) {
    throw ParameterError(
        text(values.size(), " values do not fit the ", slot_count(), " slots of N"));
  }
  std::vector<u64> slots = residues_of_signed(*context_, values);
  slots.resize(slot_count());
  return {bfv_encode(*context_, slots)};
}

std::vector<u64> Encoder::decode(const Plaintext& plain) const {
  return bfv_decode(*context_, plain.data);
}

std::vector<i64> Encoder::decode_signed(const Plaintext& plain) const {
  const auto t = static_cast<i64>(context_->plain_modulus().value());
  std::vector<i64> values;
  values.reserve(slot_count());
  for (const u64 value : decode(plain)) {
    const auto slot = static_cast<i64>(value);
    values.push_back(slot > t / 2 ? slot - t : slot);
  }
  return values;
}

Ciphertext Encryptor::encrypt(const Plaintext& plain) const {
  SystemRandom random;
  return {bfv_encrypt(*context_, key_.data, plain.data, random)};
}

Plaintext Decryptor::decrypt(const Ciphertext& ciphertext) const {
  return {bfv_decrypt(*context_, key_.data, ciphertext.words.view())};
}

std::size_t Decryptor::invariant_noise_budget(const Ciphertext& ciphertext) const {
  return bfv_noise_budget(*context_, key_.data, ciphertext.words.view());
}

Ciphertext Evaluator::add(const Ciphertext& a, const Ciphertext& b) const {
  return {ringsmith::add(context_->rlwe(), a.words.view(), b.words.view())};
}

Ciphertext Evaluator::sub(const Ciphertext& a, const Ciphertext& b) const {
  return {subtract(context_->rlwe(), a.words.view(), b.words.view())};
}

Ciphertext Evaluator::negate(const Ciphertext& a) const {
  return {ringsmith::negate(context_->rlwe(), a.words.view())};
}

Ciphertext Evaluator::add_plain(const Ciphertext& a, const Plaintext& plain) const {
  return {bfv_add_plain(*context_, a.words.view(), plain.data)};
}

Ciphertext Evaluator::sub_plain(const Ciphertext& a, const Plaintext& plain) const {
  return {bfv_subtract_plain(*context_, a.words.view(), plain.data)};
}

Ciphertext Evaluator::multiply_plain(const Ciphertext& a, const Plaintext& plain) const {
  return {bfv_multiply_plain(*context_, a.words.view(), plain.data)};
}

Ciphertext Evaluator::multiply(const Ciphertext& a, const Ciphertext& b) const {
  return {bfv_multiply(*context_, a.words.view(), b.words.view(), variant_)};
}

Ciphertext Evaluator::square(const Ciphertext& a) const {
  return {bfv_square(*context_, a.words.view(), variant_)};
}

Ciphertext Evaluator::relinearize(const Ciphertext& a, const RelinKeys& keys) const {
  const RlweContext& rlwe = context_->rlwe();
  return {ringsmith::relinearize(rlwe, Form::kCoeff, a.words.view(), keys.view(rlwe))};
}

Ciphertext Evaluator::mod_switch_to_next(const Ciphertext& a) const {
  return {bfv_mod_switch(*context_, a.words.view())};
}

Ciphertext Evaluator::rotate_rows(const Ciphertext& a, i64 steps, const GaloisKeys& keys) const {
  require_batching(*context_);
  return apply_galois(a, galois_element(context_->degree(), steps), keys);
}

std::vector<Ciphertext> Evaluator::rotate_rows_many(const Ciphertext& a, std::span<const i64> steps,
                                                    const GaloisKeys& keys) const {
  require_batching(*context_);
  const RlweContext& rlwe = context_->rlwe();
  std::vector<Ciphertext> results;
  for (auto& words :
       apply_galois_many(rlwe, Form::kCoeff, a.words.view(), keys.rotations(rlwe, steps))) {
    results.push_back({std::move(words)});
  }
  return results;
}

Ciphertext Evaluator::rotate_columns(const Ciphertext& a, const GaloisKeys& keys) const {
  require_batching(*context_);
  return apply_galois(a, 2 * context_->degree() - 1, keys);
}

Ciphertext Evaluator::apply_galois(const Ciphertext& a, u64 element, const GaloisKeys& keys) const {
  const RlweContext& rlwe = context_->rlwe();
  const KeySwitchKeyView key = keys.view(rlwe, element);
  return {ringsmith::apply_galois(rlwe, Form::kCoeff, a.words.view(), element, key)};
}

}  // namespace ringsmith::bfv
