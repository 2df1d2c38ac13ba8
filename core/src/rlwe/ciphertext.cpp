#include "ringsmith/ciphertext.h"

#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/prepared_key.h"

namespace ringsmith {

void check(const RlweContext& context, const CiphertextView& ciphertext) {
  if (ciphertext.size == 0) {
    throw ParameterError("a ciphertext has at least one polynomial");
  }
  const Base base = context.data_base(ciphertext.limbs);
  context.rns().check_size(ciphertext.data.size(), ciphertext.size * base.size(), "the ciphertext");
}

void check(const RlweContext& context, const KeySwitchKeyView& key) {
  if (key.prepared != nullptr && context.residue_digits()) {
    throw ParameterError(
        "a prepared key is divided by special primes, and the parameters have none: use the key as "
        "it is");
  }
  if (key.prepared != nullptr && key.word_bits != 0) {
    throw ParameterError(text("a prepared key is in digits of primes, and words of ", key.word_bits,
                              " bits were asked for: use a key in such words"));
  }
  if (key.prepared != nullptr && !key.prepared->is_of(context.rns(), context.rns().size())) {
    throw ParameterError(
        "the prepared key is of another degree or other primes: prepare the key with the context "
        "that it is used with");
  }
  if (key.word_bits != 0) {
    const std::size_t words = context.words(context.max_limbs(), key.word_bits);
    if (key.digits != words) {
      throw ParameterError(text("the key-switching key has ", key.digits, " digits, but words of ",
                                key.word_bits, " bits make ", words, ": make the key for them"));
    }
  } else if (context.special_base().empty() && !context.residue_digits()) {
    throw ParameterError(
        "key switching by digits of primes needs a special prime, and the parameters have none: "
        "use a key in words of word_bits bits, or name dnum for residue digits");
  } else if (key.digits != context.dnum()) {
    throw ParameterError(text("the key-switching key has ", key.digits,
                              " digits, but the parameters", " have dnum = ", context.dnum(),
                              ": make the key for them"));
  }
  context.rns().check_size(key.data.size(), key.digits * key.halves() * context.rns().size(),
                           "the key-switching key");
}

}  // namespace ringsmith
