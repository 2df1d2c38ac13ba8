#include "ringsmith/ckks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ringsmith/error.h"
#include "ringsmith/kernels.h"
#include "ringsmith/primes.h"
#include "text.h"

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

// Positions in bit-reversed order of slot i and of its conjugate.
struct SlotPositions {
  std::size_t value;
  std::size_t conjugate;
};

std::vector<SlotPositions> slot_positions(const CkksContext& context) {
  const u64 order = 2 * context.degree();
  const int log_degree = context.rns().log_degree();
  std::vector<SlotPositions> positions;
  positions.reserve(context.slots());
  u64 exponent = 1;
  for (std::size_t i = 0; i < context.slots(); ++i) {
    positions.push_back({reverse_bits((exponent - 1) >> 1, log_degree),
                         reverse_bits((order - exponent - 1) >> 1, log_degree)});
    exponent = (exponent * 3) & (order - 1);
  }
  return positions;
}

double log2_of_base(const CkksContext& context, BaseView base) {
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

// The centred integers behind the residues of one coefficient, by mixed radix (Garner 1959).
class CentredComposer {
 public:
  explicit CentredComposer(const RnsContext& context, BaseView base) : context_(context) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Modulus& modulus = context.modulus(base[i]);
        inverses_.push_back(modulus.inverse(context.modulus(base[j]).value()));
      }
    }
    digits_.resize(base.size());
  }

  // `residues[i]` modulo prime i; the result is in (-Q/2, Q/2), rounded to a double.
  double compose(std::span<const u64> residues) {
    find_digits(residues, false);
    const bool negative = above_half();
    if (negative) {
      find_digits(residues, true);
    }
    long double value = 0;
    for (std::size_t i = digits_.size(); i-- > 0;) {
      value = value * static_cast<long double>(context_.modulus(i).value()) +
              static_cast<long double>(digits_[i]);
    }
    return static_cast<double>(negative ? -value : value);
  }

 private:
  // x = d_0 + d_1 q_0 + d_2 q_0 q_1 + ..., for x or Q - x.
  void find_digits(std::span<const u64> residues, bool negate) {
    std::size_t inverse = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      const Modulus& modulus = context_.modulus(i);
      u64 digit = negate ? modulus.negate(residues[i]) : residues[i];
      for (std::size_t j = 0; j < i; ++j) {
        digit = modulus.multiply(modulus.subtract(digit, modulus.reduce(digits_[j])),
                                 inverses_[inverse++]);
      }
      digits_[i] = digit;
    }
  }

  // The digits of Q - 1 are q_i - 1, all even, so those of (Q - 1) / 2 are (q_i - 1) / 2.
  [[nodiscard]] bool above_half() const {
    for (std::size_t i = digits_.size(); i-- > 0;) {
      const u64 half = (context_.modulus(i).value() - 1) / 2;
      if (digits_[i] != half) {
        return digits_[i] > half;
      }
    }
    return false;
  }

  const RnsContext& context_;
  std::vector<u64> inverses_;  // q_j^-1 mod q_i for j < i, row after row
  std::vector<u64> digits_;
};

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

CkksContext::CkksContext(std::size_t degree, std::span<const u64> primes, std::size_t special,
                         std::size_t dnum)
    : rns_(degree, primes), fourier_(degree), special_(special) {
  if (primes.size() < 2) {
    throw ParameterError("CKKS needs at least two primes: a data prime and the special prime");
  }
  if (special < 1 || special >= primes.size()) {
    throw ParameterError(text(special, " special primes of ", primes.size(),
                              " primes: take at least one, and leave a data prime"));
  }
  if (dnum == 0) {
    return;
  }
  digit_size_ = (max_limbs() + dnum - 1) / dnum;
  if (digits(max_limbs()) != dnum) {
    throw ParameterError(text("dnum = ", dnum, " does not cut ", max_limbs(),
                              " data primes: digits of ", digit_size_, " make ",
                              digits(max_limbs()), " digits: take that as dnum"));
  }
}

Base CkksContext::data_base(std::size_t limbs) const {
  if (limbs < 1 || limbs > max_limbs()) {
    throw ParameterError(text(limbs, " limbs are outside 1 ... ", max_limbs(),
                              ", the number of data primes of these parameters"));
  }
  return consecutive_base(limbs);
}

Base CkksContext::switching_base(std::size_t limbs) const {
  Base base = data_base(limbs);
  const Base special = special_base();
  base.insert(base.end(), special.begin(), special.end());
  return base;
}

std::vector<u64> encode(const CkksContext& context, std::span<const Complex> values, double scale,
                        std::size_t limbs) {
  const Base base = context.data_base(limbs);
  check_scale(scale);
  if (values.size() > context.slots()) {
    throw ParameterError(text(values.size(), " values do not fit the ", context.slots(),
                              " slots of N = ", context.degree()));
  }
  const std::vector<SlotPositions> positions = slot_positions(context);
  std::vector<Complex> coefficients(context.degree());
  for (std::size_t i = 0; i < values.size(); ++i) {
    coefficients[positions[i].value] = values[i];
    coefficients[positions[i].conjugate] = std::conj(values[i]);
  }
  context.fourier().inverse(coefficients, scale / static_cast<double>(context.degree()));

  double largest = 1;
  for (const Complex& coefficient : coefficients) {
    if (!std::isfinite(coefficient.real())) {
      throw ParameterError("a value to encode, or it times the scale, is not a finite number");
    }
    largest = std::max(largest, std::fabs(coefficient.real()));
  }
  const double bits = log2_of_base(context, base);
  if (std::log2(largest) + 1 >= bits) {
    throw ParameterError(text("the encoded coefficients need ", std::log2(largest) + 1,
                              " bits with their sign, but the ", limbs, " data primes have only ",
                              bits, ": lower the scale or the values, or take more limbs"));
  }

  std::vector<u64> plain(limbs * context.degree());
  for (std::size_t limb = 0; limb < limbs; ++limb) {
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

std::vector<Complex> decode(const CkksContext& context, std::span<const u64> plain, double scale) {
  const std::size_t degree = context.degree();
  const std::size_t limbs = plain.size() / degree;
  const Base base = context.data_base(limbs);
  context.rns().check_size(plain.size(), limbs, "the plaintext");
  check_scale(scale);
  std::vector<u64> residues(plain.begin(), plain.end());
  kernels::intt(context.rns(), base, residues);

  CentredComposer composer(context.rns(), base);
  std::vector<Complex> values(degree);
  std::vector<u64> coefficient(limbs);
  for (std::size_t i = 0; i < degree; ++i) {
    for (std::size_t limb = 0; limb < limbs; ++limb) {
      coefficient[limb] = residues[limb * degree + i];
    }
    values[i] = composer.compose(coefficient) / scale;
  }
  context.fourier().forward(values);

  std::vector<Complex> slots;
  slots.reserve(context.slots());
  for (const SlotPositions& position : slot_positions(context)) {
    slots.push_back(values[position.value]);
  }
  return slots;
}

}  // namespace ringsmith
