#include "ringsmith/ciphertext.h"

#include "ringsmith/error.h"
#include "text.h"

namespace ringsmith {

void check(const CkksContext& context, const CiphertextView& ciphertext) {
  if (ciphertext.size == 0) {
    throw ParameterError("a ciphertext has at least one polynomial");
  }
  const Base base = context.data_base(ciphertext.limbs);
  context.rns().check_size(ciphertext.data.size(), ciphertext.size * base.size(), "the ciphertext");
}

void check(const CkksContext& context, const KeySwitchKeyView& key) {
  if (key.digits != context.dnum()) {
    throw ParameterError(text("the key-switching key has ", key.digits,
                              " digits, but the parameters", " have dnum = ", context.dnum(),
                              ": make the key for them"));
  }
  context.rns().check_size(key.data.size(), key.digits * 2 * context.rns().size(),
                           "the key-switching key");
}

}  // namespace ringsmith
