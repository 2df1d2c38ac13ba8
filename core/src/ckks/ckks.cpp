#include "ringsmith/ckks.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/primes.h"

namespace ringsmith {
namespace {

using Complex = std::complex<double>;

// std::complex's own product also repairs infinities; finite values need only this.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(2 * pi * i * index / order) from angles of at most an eighth turn, as SEAL's ComplexRoots.
Complex root_of_unity(u64 index, u64 order) {
  if (index <= order / 8) {
    return std::polar(
        1.0, 2.0 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(order));
  }
  if (index <= order / 4) {
    const Complex mirrored = root_of_unity(order / 4 - index, order);
    return {mirrored.imag(), mirrored.real()};
  }
  return -std::conj(root_of_unity(order / 2 - index, order));  // callers stay below order / 2
}

double log2_of_base(const RlweContext& context, BaseView base) {
  double bits = 0;
  for (const std::size_t prime : base) {
    bits += std::log2(static_cast<double>(context.rns().modulus(prime).value()));
  }
  return bits;
}

void check_scale(double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    throw ParameterError(text("scale ", scale, " must be a positive finite number"));
  }
}

// A double that is an integer, modulo q: its 53-bit significand times a power of two.
u64 integer_residue(double value, const Modulus& modulus) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [1/2, 1)
  const int shift = std::max(exponent - 53, 0);
  const auto significand = static_cast<u64>(std::ldexp(fraction, exponent - shift));
  const u64 residue = modulus.multiply(significand, modulus.power(2, static_cast<u64>(shift)));
  return std::signbit(value) ? modulus.negate(residue) : residue;
}

// The integer in (-Q/2, Q/2) behind one coefficient's residues, rounded to a double.
double centred_double(Composer& composer, const RnsContext& rns, std::span<const u64> residues) {
  const std::vector<u64>& digits = composer.digits(residues);
  const bool negative = composer.above_half();
  if (negative) {
    composer.digits(residues, true);  // into the same memory
  }
  long double value = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    value = value * static_cast<long double>(rns.modulus(i).value()) +
            static_cast<long double>(digits[i]);
  }
  return static_cast<double>(negative ? -value : value);
}

}  // namespace

FourierTables::FourierTables(std::size_t degree) {
  const int log_degree = log2_degree(degree);
  for (std::size_t i = 0; i < degree; ++i) {
    roots_.push_back(root_of_unity(reverse_bits(i, log_degree), 2 * degree));
  }
}

void FourierTables::forward(std::span<Complex> values) const {
  for (std::size_t groups = 1, half = values.size() / 2; half > 0; groups *= 2, half /= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const Complex root = roots_[groups + group];
      Complex* upper = &values[2 * half * group];
      Complex* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const Complex u = upper[i];
        const Complex v = product(lower[i], root);
        upper[i] = u + v;
        lower[i] = u - v;
      }
    }
  }
}

void FourierTables::inverse(std::span<Complex> values, double factor) const {
  std::size_t half = 1;
  for (std::size_t groups = values.size() / 2; groups > 1; groups /= 2, half *= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const Complex root = std::conj(roots_[groups + group]);
      Complex* upper = &values[2 * half * group];
      Complex* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const Complex u = upper[i];
        const Complex v = lower[i];
        upper[i] = u + v;
        lower[i] = product(u - v, root);
      }
    }
  }
  const Complex scaled_root = std::conj(roots_[1]) * factor;
  for (std::size_t i = 0; i < half; ++i) {
    const Complex u = values[i];
    const Complex v = values[half + i];
    values[i] = (u + v) * factor;
    values[half + i] = product(u - v, scaled_root);
  }
}

CkksEncoder::CkksEncoder(std::shared_ptr<const RlweContext> context)
    : context_(std::move(context)),
      fourier_(context_->degree()),
      positions_(slot_positions(context_->degree())) {}

std::vector<u64> CkksEncoder::encode(std::span<const Complex> values, double scale,
                                     std::size_t limbs, bool extended) const {
  const RlweContext& context = *context_;
  const Base data = context.data_base(limbs);
  check_scale(scale);
  if (values.size() > slots()) {
    throw ParameterError(text(values.size(), " values do not fit the ", slots(),
                              " slots of N = ", context.degree()));
  }
  std::vector<Complex> coefficients(context.degree());
  for (std::size_t i = 0; i < values.size(); ++i) {
    coefficients[positions_[i].value] = values[i];
    coefficients[positions_[i].partner] = std::conj(values[i]);
  }
  fourier_.inverse(coefficients, scale / static_cast<double>(context.degree()));

  double largest = 1;
  for (const Complex& coefficient : coefficients) {
    if (!std::isfinite(coefficient.real())) {
      throw ParameterError("a value to encode, or it times the scale, is not a finite number");
    }
    largest = std::max(largest, std::fabs(coefficient.real()));
  }
  const double bits = log2_of_base(context, data);
  if (std::log2(largest) + 1 >= bits) {
    throw ParameterError(text("the encoded coefficients need ", std::log2(largest) + 1,
                              " bits with their sign, but the ", limbs, " data primes have only ",
                              bits, ": lower the scale or the values, or take more limbs"));
  }

  const Base base = extended ? context.switching_base(limbs) : data;
  std::vector<u64> plain(base.size() * context.degree());
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    const Modulus& modulus = context.rns().modulus(base[limb]);
    std::transform(coefficients.begin(), coefficients.end(),
                   limb_of(std::span<u64>(plain), limb, context.degree()).begin(),
                   [&modulus](const Complex& coefficient) {
                     return integer_residue(std::round(coefficient.real()), modulus);
                   });
  }
  kernels::ntt(context.rns(), base, plain);
  return plain;
}

std::vector<Complex> CkksEncoder::decode(std::span<const u64> plain, double scale) const {
  const RlweContext& context = *context_;
  const std::size_t degree = context.degree();
  const std::size_t limbs = plain.size() / degree;
  const Base base = context.data_base(limbs);
  context.rns().check_size(plain.size(), limbs, "the plaintext");
  check_scale(scale);
  std::vector<u64> residues(plain.begin(), plain.end());
  kernels::intt(context.rns(), base, residues);

  Composer composer(context.rns(), base);
  std::vector<Complex> values(degree);
  std::vector<u64> coefficient(limbs);
  for (std::size_t i = 0; i < degree; ++i) {
    for (std::size_t limb = 0; limb < limbs; ++limb) {
      coefficient[limb] = residues[limb * degree + i];
    }
    values[i] = centred_double(composer, context.rns(), coefficient) / scale;
  }
  fourier_.forward(values);

  std::vector<Complex> decoded;
  decoded.reserve(slots());
  for (const SlotPositions& position : positions_) {
    decoded.push_back(values[position.value]);
  }
  return decoded;
}

}  // namespace ringsmith
