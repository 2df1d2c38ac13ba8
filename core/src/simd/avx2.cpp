// The kernels for AVX2.
#include "kernel_set.h"

#if defined(__AVX2__)

#include "combine.h"
#include "expand.h"
#include "multiplications.h"
#include "vector_avx2.h"

namespace ringsmith::simd {
namespace {

using V = Vector256;

constexpr PrimeKernels kClasses[] = {word_class<V, Word56<V>>(56), word_class<V, Word64<V>>(61)};
constexpr KernelSet kSet{"avx2",
                         kClasses,
                         2,
                         permute_words<V>,
                         automorph_words<V>,
                         expand_streams<SeedReduction<V>>,
                         multiplications<V, V::multiply_halves>};

}  // namespace

const KernelSet* avx2_kernels() { return &kSet; }

}  // namespace ringsmith::simd

#else

namespace ringsmith::simd {
const KernelSet* avx2_kernels() { return nullptr; }
}  // namespace ringsmith::simd

#endif
