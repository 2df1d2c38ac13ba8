#include "automorphism.h"

namespace ringsmith::kernels {

Automorphism::Automorphism(const RnsContext& context, Form form, u64 element)
    : context_(context), element_(element) {
  check_element(element, context.degree());
  if (form == Form::kNtt) {
    permutation_.emplace(context.log_degree(), element);
  }
}

void Automorphism::apply(std::size_t prime, std::span<const u64> in, std::span<u64> out) const {
  if (permutation_) {
    permutation_->apply(in, out);
    return;
  }
  const u64 q = context_.modulus(prime).value();
  const u64 degree = in.size();
  u64 exponent = 0;  // i * element; its bit at N tells the sign
  for (const u64 word : in) {
    const u64 opposite = word == 0 ? 0 : q - word;
    const u64 negative = (exponent & degree) == 0 ? 0 : ~u64{0};  // no branch: signs look random
    out[exponent & (degree - 1)] = word ^ ((word ^ opposite) & negative);
    exponent += element_;
  }
}

}  // namespace ringsmith::kernels
