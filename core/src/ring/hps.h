// The steps of Lift and Scale after Halevi, Polyakov, Shoup 2019, "An improved RNS variant of the
// BFV homomorphic encryption scheme", in integers as HEAWS has them. lift_scale.h has the formulas.
#pragma once

#include <span>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// The centred integer over `from` to every prime of `to`.
void hps_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                 std::span<u64> out);

/// round(t x / q) over `extension`.
/// @param in limbs over `base`, then over `extension`
[[nodiscard]] Words hps_divide(const RnsContext& context, BaseView base, BaseView extension,
                               u64 plain_modulus, std::span<const u64> in);

}  // namespace ringsmith::kernels
