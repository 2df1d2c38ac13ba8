// Generated from python/ringsmith/backends/rpau/isa/isa.yaml by `python -m
// ringsmith.backends.rpau.isa.generate`; do not edit.
#pragma once

#include <array>
#include <cstdint>

namespace ringsmith::sim::isa {

enum class Opcode : std::uint8_t {
  /// Nothing; takes one issue slot.
  kNop = 0,
  /// Waits until every unit of every RPAU is idle, then ends the program.
  kHalt = 1,
  /// Waits until as many polynomials have arrived in the key stores, of all RPAUs together, since
  /// the program started. Where the host wrote all keys before the start, and said so, it waits for
  /// nothing.
  kAwait = 56,
  /// dst = forward negacyclic NTT of a, natural order in, bit-reversed order out. In place where
  /// dst is a; otherwise the first stage reads a, and a stays as it is. In a larger ring a is what
  /// split has made of a polynomial, and dst that sub_poly of its transform.
  kNtt = 2,
  /// dst = inverse negacyclic NTT of a, bit-reversed order in, natural order out, scaled by 1/N. As
  /// ntt.
  kIntt = 3,
  /// NTT form: dst becomes a under X -> X^element. In a larger ring dst is that sub_poly of the
  /// result, and a the sub_poly of the source that all of its words come from.
  kAutomorph = 4,
  /// RPAU src reads a, computes a*const[k1] + const[k2] in its prime set src_prime and sends the
  /// words to the others. Every other RPAU of the mask reduces each word w modulo its own prime,
  /// and writes w*const[k1] + const[k2] to dst, with its own constants. src must be in the mask; it
  /// reads a and writes nothing, the others write dst and read nothing.
  kBroadcast = 5,
  /// A larger ring's stage of the forward transform, on two sub_polys: dst = u + const[k1]*t and b
  /// = u - const[k1]*t, where u was dst and t was b.
  kSplit = 6,
  /// A larger ring's stage of the inverse transform: dst = (u + t)/2 and b = const[k1]*(t - u)/2,
  /// where u was dst and t was b. It undoes split where const[k1] is minus the inverse of split's.
  kJoin = 7,
  /// dst = a*b.
  kMul = 8,
  /// dst = dst + a*b.
  kMac = 9,
  /// dst = a + b.
  kAdd = 10,
  /// dst = a - b.
  kSub = 11,
  /// dst = a*const[k1] + const[k2]; copies, negates, scales and adds a constant.
  kAffine = 12,
  /// dst = a*const[k1] + b.
  kScaleAdd = 13,
  /// dst = a*const[k1] - b.
  kScaleSub = 14,
  /// dst = (a mod q)*const[k1] + const[k2]. As affine, but a may hold any words, those of another
  /// prime set of the RPAU for instance.
  kReduce = 15,
  /// dst = a*key.
  kMulKey = 16,
  /// dst = dst + a*key.
  kMacKey = 17,
  /// dst = a*b on the dyadic cores.
  kDmul = 24,
  /// dst = dst + a*b on the dyadic cores.
  kDmac = 25,
  /// dst = a*key on the dyadic cores.
  kDmulKey = 26,
  /// dst = dst + a*key on the dyadic cores.
  kDmacKey = 27,
  /// dst = a*half on the dyadic cores, where half is the uniform half of a seeded key, expanded
  /// from the seed store's entry and the digit, modulo the prime set's prime. In a larger ring that
  /// is as many residues as a sub_poly has words, from residue sub_poly*max(N, 2^14) on.
  kDmulSeed = 28,
  /// dst = dst + a*half on the dyadic cores, as dmul_seed.
  kDmacSeed = 29,
  /// dst = (a mod q)*const[k1] + const[k2] on the dyadic cores. As reduce, a may hold any words.
  kDaffine = 30,
  /// dst = a*const[k1] + b on the dyadic cores.
  kDscaleAdd = 31,
  /// dst = a*const[k1] - b on the dyadic cores.
  kDscaleSub = 32,
  /// dst = a + b on the dyadic cores.
  kDadd = 33,
  /// dst = a - b on the dyadic cores.
  kDsub = 34,
  /// RPAU src reads a and sends its words to the others of the mask, which write them to dst as
  /// they are. src must be in the mask; it reads a and writes nothing, the others write dst and
  /// read nothing. The words are residues of no prime in particular: reduce or daffine makes them
  /// the receiver's.
  kSend = 40,
  /// Base conversion. RPAUs first to last read a, and every RPAU writes to dst, for each
  /// coefficient, the output of the loaded conversion that has its number; a word of RPAU r is
  /// input r. Where the conversion has no input of an RPAU, a may hold anything. The polynomials
  /// are in coefficient form, and the conversion's primes are those that it was loaded with.
  kConvert = 48,
  /// As convert, of a conversion whose outputs have inputs of their own, which every RPAU reads
  /// from b. Its last RPAU is no input. Where it has no output of an RPAU, b may hold anything.
  kConvertOwn = 49,
  /// Coefficient form: dst becomes a under X -> X^element, in rings of degree up to N. Coefficients
  /// that pass X^N change their sign.
  kPermute = 50,
};

enum class Unit : std::uint8_t { kControl, kMain, kDyadic, kLink, kCoefficient };
inline constexpr int kUnits = 5;

/// What the value in an operand field counts.
enum class Kind : std::uint8_t {
  kPoly,
  kKeyPoly,
  kConstant,
  kRpau,
  kModulusBank,
  kSeed,
  kDigit,
  kGaloisElement,
  kSubPoly,
  kConverted,
  kConversion,
  kArrivals
};

/// In which RPAUs of the mask a polynomial is accessed.
enum class Where : std::uint8_t { kAll, kSource, kOthers, kSources };

/// Bits lsb to lsb + width - 1 of an instruction word.
struct Field {
  int lsb;
  int width;
  [[nodiscard]] constexpr std::uint64_t extract(std::uint64_t word) const {
    return (word >> lsb) & ((std::uint64_t{1} << width) - 1);
  }
  [[nodiscard]] constexpr bool operator==(const Field&) const = default;
};

/// Operation.
inline constexpr Field kOpcode{0, 6};
/// Issue only when the main unit is idle in every RPAU of the mask.
inline constexpr Field kWaitMain{6, 1};
/// Issue only when the dyadic unit is idle in every RPAU of the mask.
inline constexpr Field kWaitDyadic{7, 1};
/// Issue only when the link unit is idle in every RPAU of the mask.
inline constexpr Field kWaitLink{8, 1};
/// Issue only when the coefficient unit is idle in every RPAU of the mask.
inline constexpr Field kWaitCoefficient{63, 1};
/// Which of an RPAU's modulus banks (modulus, twiddle factors, constants) it computes with.
inline constexpr Field kPrime{9, 3};
/// One bit an RPAU that takes part.
inline constexpr Field kMask{12, 16};
/// Destination work polynomial.
inline constexpr Field kDst{28, 7};
/// First source work polynomial.
inline constexpr Field kA{35, 7};
/// Second source work polynomial.
inline constexpr Field kB{42, 7};
/// Second source, a polynomial of the key store.
inline constexpr Field kBKey{42, 12};
/// Constant file index: the factor.
inline constexpr Field kK1{49, 7};
/// Constant file index: the addend.
inline constexpr Field kK2{56, 7};
/// RPAU that sends.
inline constexpr Field kSrc{42, 4};
/// Prime set that the sender computes with.
inline constexpr Field kSrcPrime{46, 3};
/// Entry of the seed store: a key's seed and the limb that this RPAU expands.
inline constexpr Field kSeed{42, 12};
/// Digit of the seeded key.
inline constexpr Field kDigit{54, 7};
/// Galois element, odd, below twice the ring's degree.
inline constexpr Field kElement{42, 17};
/// Sub-polynomial of a polynomial of a larger ring.
inline constexpr Field kSubPoly{61, 2};
/// First RPAU whose words a conversion takes.
inline constexpr Field kFirst{49, 4};
/// Last RPAU whose words a conversion takes.
inline constexpr Field kLast{53, 4};
/// Key polynomials that have arrived since the start.
inline constexpr Field kArrived{28, 16};
/// Which of the loaded conversions.
inline constexpr Field kConversion{57, 5};

/// Wait bit of each unit, by Unit; of width 0 for the controller, which has none.
inline constexpr std::array<Field, kUnits> kWaits{Field{0, 0}, kWaitMain, kWaitDyadic, kWaitLink,
                                                  kWaitCoefficient};

struct Operand {
  Field field;
  Kind kind;
  bool reads;
  bool writes;
  bool takes_read_port;  // reads it, or reads back what it has written there
  Where where;
};

inline constexpr int kMaxOperands = 6;

/// An operand of a pointwise instruction's formula.
enum class Term : std::uint8_t { kNone, kB, kBKey, kSeed, kK1, kDst, kK2 };

/// dst = a * times + addend, or minus it; a may hold any words where it says so.
struct Formula {
  bool pointwise;
  Term times;
  Term addend;
  bool minus;
  bool any_words;
};

struct Operation {
  Opcode opcode;
  const char* name;
  Unit unit;
  Formula formula;
  int operand_count;
  std::array<Operand, kMaxOperands> operands;

  /// Whether it takes the main unit's selector of operand c: for an addend there, and,
  /// where the link unit sends, for what it reads.
  [[nodiscard]] constexpr bool takes_operand_c() const {
    const bool adds = formula.addend == Term::kB || formula.addend == Term::kDst;
    return unit == Unit::kLink || (unit == Unit::kMain && adds);
  }
};

// clang-format off: one line an operand
inline constexpr std::array<Operation, 34> kOperations{{
    {Opcode::kNop, "nop", Unit::kControl, {false, Term::kNone, Term::kNone, false, false}, 0, {{
    }}},
    {Opcode::kHalt, "halt", Unit::kControl, {false, Term::kNone, Term::kNone, false, false}, 0, {{
    }}},
    {Opcode::kAwait, "await", Unit::kControl, {false, Term::kNone, Term::kNone, false, false}, 1, {{
        {kArrived, Kind::kArrivals, false, false, false, Where::kAll},
    }}},
    {Opcode::kNtt, "ntt", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kSubPoly, Kind::kSubPoly, false, false, false, Where::kAll},
    }}},
    {Opcode::kIntt, "intt", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kSubPoly, Kind::kSubPoly, false, false, false, Where::kAll},
    }}},
    {Opcode::kAutomorph, "automorph", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kElement, Kind::kGaloisElement, false, false, false, Where::kAll},
        {kSubPoly, Kind::kSubPoly, false, false, false, Where::kAll},
    }}},
    {Opcode::kBroadcast, "broadcast", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 6, {{
        {kDst, Kind::kPoly, false, true, false, Where::kOthers},
        {kA, Kind::kPoly, true, false, true, Where::kSource},
        {kSrc, Kind::kRpau, false, false, false, Where::kAll},
        {kSrcPrime, Kind::kModulusBank, false, false, false, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
        {kK2, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kSplit, "split", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kB, Kind::kPoly, true, true, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kJoin, "join", Unit::kMain, {false, Term::kNone, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kB, Kind::kPoly, true, true, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kMul, "mul", Unit::kMain, {true, Term::kB, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kMac, "mac", Unit::kMain, {true, Term::kB, Term::kDst, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kAdd, "add", Unit::kMain, {true, Term::kNone, Term::kB, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kSub, "sub", Unit::kMain, {true, Term::kNone, Term::kB, true, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kAffine, "affine", Unit::kMain, {true, Term::kK1, Term::kK2, false, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
        {kK2, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kScaleAdd, "scale_add", Unit::kMain, {true, Term::kK1, Term::kB, false, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kScaleSub, "scale_sub", Unit::kMain, {true, Term::kK1, Term::kB, true, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kReduce, "reduce", Unit::kMain, {true, Term::kK1, Term::kK2, false, true}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
        {kK2, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kMulKey, "mul_key", Unit::kMain, {true, Term::kBKey, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kBKey, Kind::kKeyPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kMacKey, "mac_key", Unit::kMain, {true, Term::kBKey, Term::kDst, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kBKey, Kind::kKeyPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDmul, "dmul", Unit::kDyadic, {true, Term::kB, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDmac, "dmac", Unit::kDyadic, {true, Term::kB, Term::kDst, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDmulKey, "dmul_key", Unit::kDyadic, {true, Term::kBKey, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kBKey, Kind::kKeyPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDmacKey, "dmac_key", Unit::kDyadic, {true, Term::kBKey, Term::kDst, false, false}, 3, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kBKey, Kind::kKeyPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDmulSeed, "dmul_seed", Unit::kDyadic, {true, Term::kSeed, Term::kNone, false, false}, 5, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kSeed, Kind::kSeed, false, false, false, Where::kAll},
        {kDigit, Kind::kDigit, false, false, false, Where::kAll},
        {kSubPoly, Kind::kSubPoly, false, false, false, Where::kAll},
    }}},
    {Opcode::kDmacSeed, "dmac_seed", Unit::kDyadic, {true, Term::kSeed, Term::kDst, false, false}, 5, {{
        {kDst, Kind::kPoly, true, true, true, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kSeed, Kind::kSeed, false, false, false, Where::kAll},
        {kDigit, Kind::kDigit, false, false, false, Where::kAll},
        {kSubPoly, Kind::kSubPoly, false, false, false, Where::kAll},
    }}},
    {Opcode::kDaffine, "daffine", Unit::kDyadic, {true, Term::kK1, Term::kK2, false, true}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
        {kK2, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kDscaleAdd, "dscale_add", Unit::kDyadic, {true, Term::kK1, Term::kB, false, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kDscaleSub, "dscale_sub", Unit::kDyadic, {true, Term::kK1, Term::kB, true, false}, 4, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
        {kK1, Kind::kConstant, false, false, false, Where::kAll},
    }}},
    {Opcode::kDadd, "dadd", Unit::kDyadic, {true, Term::kNone, Term::kB, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kDsub, "dsub", Unit::kDyadic, {true, Term::kNone, Term::kB, true, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
    }}},
    {Opcode::kSend, "send", Unit::kLink, {false, Term::kNone, Term::kNone, false, true}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kOthers},
        {kA, Kind::kPoly, true, false, true, Where::kSource},
        {kSrc, Kind::kRpau, false, false, false, Where::kAll},
    }}},
    {Opcode::kConvert, "convert", Unit::kCoefficient, {false, Term::kNone, Term::kNone, false, true}, 5, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kSources},
        {kFirst, Kind::kConverted, false, false, false, Where::kAll},
        {kLast, Kind::kConverted, false, false, false, Where::kAll},
        {kConversion, Kind::kConversion, false, false, false, Where::kAll},
    }}},
    {Opcode::kConvertOwn, "convert_own", Unit::kCoefficient, {false, Term::kNone, Term::kNone, false, true}, 6, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kSources},
        {kB, Kind::kPoly, true, false, true, Where::kAll},
        {kFirst, Kind::kConverted, false, false, false, Where::kAll},
        {kLast, Kind::kConverted, false, false, false, Where::kAll},
        {kConversion, Kind::kConversion, false, false, false, Where::kAll},
    }}},
    {Opcode::kPermute, "permute", Unit::kCoefficient, {false, Term::kNone, Term::kNone, false, false}, 3, {{
        {kDst, Kind::kPoly, false, true, false, Where::kAll},
        {kA, Kind::kPoly, true, false, true, Where::kAll},
        {kElement, Kind::kGaloisElement, false, false, false, Where::kAll},
    }}},
}};
// clang-format on

}  // namespace ringsmith::sim::isa
