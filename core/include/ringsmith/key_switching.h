// Key switching, relinearization and rotation.
//
// A ciphertext is in NTT form in CKKS and in coefficient form in BFV; `form` says which, for
// operands and results. With one prime a digit and one special prime all results equal Microsoft
// SEAL's bit for bit. All functions throw ParameterError when shapes, levels or keys do not fit.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// @throws ParameterError unless the key has the context's number of digits and the words fit. RNS
///         digits need a special prime, unless they are residue digits. A precomputed key must have
///         the same primes, one of them special. A truncated key is refused: only graphs take one
void check(const RlweContext& context, const KeySwitchKeyView& key);

/// The same, and a truncated key may have fewer digits.
/// @throws ParameterError also if its primes are not ascending, or not the context's
void check_shape(const RlweContext& context, const KeySwitchKeyView& key);

/// Switches the key of one polynomial: returns two polynomials that, added to a ciphertext under s,
/// contribute target * s'. The key determines the decomposition. RNS digits end in a division by
/// the special primes. Digits of `key.word_bits` bits, or residue digits if the context has them
/// (kernels::lift_digit), need no division.
///
/// @param target  limbs * N words
/// Hybrid key switching: Gentry, Halevi, Smart 2012; Han, Ki 2020, section 3; SEAL's
/// Evaluator::switch_key_inplace. By words: Fan, Vercauteren 2012, version 1 of relinearization. By
/// residue digits: Halevi, Polyakov, Shoup 2019, section 3.
[[nodiscard]] Ciphertext switch_key(const RlweContext& context, Form form,
                                    std::span<const u64> target, std::size_t limbs,
                                    KeySwitchKeyView key);

/// Reduces three polynomials to two: switches the last one from s^2 to s.
[[nodiscard]] Ciphertext relinearize(const RlweContext& context, Form form, CiphertextView a,
                                     KeySwitchKeyView key);

/// CKKS's relinearize and rescale with one division, by the special primes and the last data prime.
/// This saves one forward transform for each limb and polynomial. The bits differ from those of the
/// two operations in sequence.
///
/// With k special primes the division's error is at most (k + 1) / 2 for each coefficient and
/// polynomial; that of rescale alone is 1 / 2. SEAL has no such operation. Kim, Polyakov, Zucca
/// 2021, section 4.
[[nodiscard]] Ciphertext relinearize_rescale(const RlweContext& context, CiphertextView a,
                                             KeySwitchKeyView key);

/// Applies x -> x^element to two polynomials and switches back to s with that element's key.
[[nodiscard]] Ciphertext apply_galois(const RlweContext& context, Form form, CiphertextView a,
                                      u64 element, KeySwitchKeyView key);

/// One automorphism of a ciphertext, and its key.
struct GaloisSwitch {
  u64 element = 1;
  KeySwitchKeyView key;
};

/// apply_galois for each of `switches`: same bits, less work. The ciphertext is decomposed and its
/// digits are transformed only once (hoisting). Keys of bit digits or residue digits are used one
/// by one. The memory needed is that of the results. Halevi, Shoup 2018, eprint 2018/244, section
/// 5; src/keyswitch/digit_products.h says why the bits are SEAL's.
[[nodiscard]] std::vector<Ciphertext> apply_galois_many(const RlweContext& context, Form form,
                                                        CiphertextView a,
                                                        std::span<const GaloisSwitch> switches);

/// Returns the Galois element that rotates the slots left by `steps`: 3^steps mod 2N; negative
/// steps rotate right. SEAL's GaloisTool::get_elt_from_step, except that 0 is an error here:
/// conjugation in CKKS and the row swap in BFV are 2N - 1.
/// @throws ParameterError unless 0 < |steps| < N / 2
[[nodiscard]] u64 galois_element(std::size_t degree, i64 steps);

}  // namespace ringsmith
