#include "ringsmith/ciphertext.h"

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {

void check(const RlweContext& context, const CiphertextView& ciphertext) {
  if (ciphertext.size == 0) {
    throw ParameterError("a ciphertext has at least one polynomial");
  }
  const Base base = context.data_base(ciphertext.limbs);
  context.rns().check_size(ciphertext.data.size(), ciphertext.size * base.size(), "the ciphertext");
}

}  // namespace ringsmith
