// The kernels for AVX-512 with DQ (64-bit low products), without IFMA.
#include "kernel_set.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)

#include "expand.h"
#include "fma_kernels.h"
#include "multiplications.h"
#include "vector_avx512.h"

namespace ringsmith::simd {
namespace {

using V = Vector512;

constexpr PrimeKernels kClasses[] = {
    fma_class<V, FmaHeadroom::kBoth>(34), fma_class<V, FmaHeadroom::kForward>(48),
    fma_class<V, FmaHeadroom::kPass>(50), word_class<54, V, Word56<V>>(),
    word_class<56, V, Word56<V>>(),       word_class<61, V, Word64<V>>(),
};
constexpr KernelSet kSet{"avx512",
                         kClasses,
                         6,
                         permute_words<V>,
                         automorph_gathered<V>,
                         mask_signs_of_words<V>,
                         expand_streams<V>,
                         multiplications<V, V::multiply_halves>};

}  // namespace

const KernelSet* avx512_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx512_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
