#include "automorphism.h"

#include "simd/kernel_set.h"

namespace ringsmith::kernels {

Automorphism::Automorphism(const RnsContext& context, Form form, u64 element)
    : context_(context), step_(inverse_element(element, context.degree())) {
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
  simd::kernel_set().automorph(context_.modulus(prime).value(), step_, in.data(), out.data(),
                               in.size());
}

}  // namespace ringsmith::kernels
