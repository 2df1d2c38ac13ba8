// The kernels for AVX2.
#include "kernel_set.h"

#if defined(__AVX2__)

#include "expand.h"
#include "fma_kernels.h"
#include "montgomery.h"
#include "multiplications.h"
#include "narrow.h"
#include "near_power.h"
#include "product_sum.h"
#include "vector_avx2.h"

namespace ringsmith::simd {
namespace {

using V = Vector256;

constexpr PrimeKernels kClasses[] = {
    narrow_class<HalfWords256, 30>(),
    narrow_class<HalfWords256, 31>(),
    product_class<V, 32>(),
    fma_class<V, FmaHeadroom::kBoth>(34),
    fma_class<V, FmaHeadroom::kForward>(48),
    fma_class<V, FmaHeadroom::kPass>(50),
    // Forward two columns at a time are faster, back, with more constants in registers, one.
    word_class<54, V, NearPower54<V, 2>, NearPower54<V, 1>, MontgomerySum<V, 54, false>>(),
    word_class<54, V, Montgomery56<V, 2>, Montgomery56<V, 1>, MontgomerySum<V, 54>>(),
    word_class<56, V, Montgomery56<V, 2>, Montgomery56<V, 1>, MontgomerySum<V, 56>>(),
    word_class<60, V, NearPower<V>, NearPower<V>, MontgomerySum<V, 60>>(),
    word_class<60, V, Montgomery60<V>, Montgomery60<V>, MontgomerySum<V, 60>>(),
    word_class<61, V, NearPower<V, true>, NearPower<V, true>, WordSum<V>>(),
    word_class<61, V, Word64<V>>(),
};
constexpr KernelSet kSet{"avx2",
                         kClasses,
                         13,
                         permute_words<V>,
                         automorph_loaded<V>,
                         mask_signs_of_words<V>,
                         expand_streams<V>,
                         multiplications<V, V::multiply_halves>};

}  // namespace

const KernelSet* avx2_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx2_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
