// The steps of Lift and Scale in SEAL's arithmetic: Bajard, Eynard, Hasan, Zucca 2016, "A full RNS
// variant of FV like somewhat homomorphic encryption schemes". lift_scale.h has the formulas.
#pragma once

#include <span>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// Conversion of x over `from` to every prime of `to`, with the multiple of q that fast conversion
/// leaves taken off by Montgomery reduction: section 3.2; SEAL's fastbconv_m_tilde, sm_mrq.
void behz_convert(const RnsContext& context, BaseView from, BaseView to, std::span<const u64> in,
                  std::span<u64> out);

/// (t x - c) / q over `extension`, c the fast conversion of t x over `base`: SEAL's fast_floor.
/// @param in limbs over `base`, then over `extension`
[[nodiscard]] Words behz_floor(const RnsContext& context, BaseView base, BaseView extension,
                               u64 plain_modulus, std::span<const u64> in);

/// The centred integer over `from`, whose first prime is the redundant m_sk, to every prime of
/// `to`: Shenoy, Kumaresan 1989; SEAL's fastbconv_sk.
void shenoy_kumaresan(const RnsContext& context, BaseView from, BaseView to,
                      std::span<const u64> in, std::span<u64> out);

}  // namespace ringsmith::kernels
