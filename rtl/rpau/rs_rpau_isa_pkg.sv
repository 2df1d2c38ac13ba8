// Generated from python/ringsmith/backends/rpau/isa/isa.yaml by `python -m
// ringsmith.backends.rpau.isa.generate`; do not edit.
//
// An instruction word carries all its fields: get_<field>() takes out one that every instruction
// has, and decode() says what the instruction does with them: by its opcode, by what it computes if
// it is pointwise, and by a flag uses_X for each operand X that names no polynomial.
package rs_rpau_isa_pkg;

  parameter int unsigned WordBits = 64;
  typedef logic [WordBits-1:0] word_t;

  // Operation.
  parameter int unsigned OpcodeLsb = 0;
  parameter int unsigned OpcodeWidth = 6;
  // Issue only when the main unit is idle in every RPAU of the mask.
  parameter int unsigned WaitMainLsb = 6;
  parameter int unsigned WaitMainWidth = 1;
  // Issue only when the dyadic unit is idle in every RPAU of the mask.
  parameter int unsigned WaitDyadicLsb = 7;
  parameter int unsigned WaitDyadicWidth = 1;
  // Issue only when the link unit is idle in every RPAU of the mask.
  parameter int unsigned WaitLinkLsb = 8;
  parameter int unsigned WaitLinkWidth = 1;
  // Issue only when the coefficient unit is idle in every RPAU of the mask.
  parameter int unsigned WaitCoefficientLsb = 63;
  parameter int unsigned WaitCoefficientWidth = 1;
  // Which of an RPAU's modulus banks (modulus, twiddle factors, constants) it computes with.
  parameter int unsigned PrimeLsb = 9;
  parameter int unsigned PrimeWidth = 3;
  // One bit an RPAU that takes part.
  parameter int unsigned MaskLsb = 12;
  parameter int unsigned MaskWidth = 16;
  // Destination work polynomial.
  parameter int unsigned DstLsb = 28;
  parameter int unsigned DstWidth = 7;
  // First source work polynomial.
  parameter int unsigned ALsb = 35;
  parameter int unsigned AWidth = 7;
  // Second source work polynomial.
  parameter int unsigned BLsb = 42;
  parameter int unsigned BWidth = 7;
  // Second source, a polynomial of the key store.
  parameter int unsigned BKeyLsb = 42;
  parameter int unsigned BKeyWidth = 12;
  // Constant file index: the factor.
  parameter int unsigned K1Lsb = 49;
  parameter int unsigned K1Width = 7;
  // Constant file index: the addend.
  parameter int unsigned K2Lsb = 56;
  parameter int unsigned K2Width = 7;
  // RPAU that sends.
  parameter int unsigned SrcLsb = 42;
  parameter int unsigned SrcWidth = 4;
  // Prime set that the sender computes with.
  parameter int unsigned SrcPrimeLsb = 46;
  parameter int unsigned SrcPrimeWidth = 3;
  // Entry of the seed store: a key's seed and the limb that this RPAU expands.
  parameter int unsigned SeedLsb = 42;
  parameter int unsigned SeedWidth = 12;
  // Digit of the seeded key.
  parameter int unsigned DigitLsb = 54;
  parameter int unsigned DigitWidth = 7;
  // Galois element, odd, below twice the ring's degree.
  parameter int unsigned ElementLsb = 42;
  parameter int unsigned ElementWidth = 17;
  // Sub-polynomial of a polynomial of a larger ring.
  parameter int unsigned SubPolyLsb = 61;
  parameter int unsigned SubPolyWidth = 2;
  // First RPAU whose words a conversion takes.
  parameter int unsigned FirstLsb = 49;
  parameter int unsigned FirstWidth = 4;
  // Last RPAU whose words a conversion takes.
  parameter int unsigned LastLsb = 53;
  parameter int unsigned LastWidth = 4;
  // Key polynomials that have arrived since the start.
  parameter int unsigned ArrivedLsb = 28;
  parameter int unsigned ArrivedWidth = 16;
  // Which of the loaded conversions.
  parameter int unsigned ConversionLsb = 57;
  parameter int unsigned ConversionWidth = 5;

  typedef enum logic [5:0] {
    // Nothing; takes one issue slot.
    OpNop = 6'd0,
    // Waits until every unit of every RPAU is idle, then ends the program.
    OpHalt = 6'd1,
    // Waits until as many polynomials have arrived in the key stores, of all RPAUs together, since
    // the program started. Where the host wrote all keys before the start, and said so, it waits
    // for nothing.
    OpAwait = 6'd56,
    // dst = forward negacyclic NTT of a, natural order in, bit-reversed order out. In place where
    // dst is a; otherwise the first stage reads a, and a stays as it is. In a larger ring a is what
    // split has made of a polynomial, and dst that sub_poly of its transform.
    OpNtt = 6'd2,
    // dst = inverse negacyclic NTT of a, bit-reversed order in, natural order out, scaled by 1/N.
    // As ntt.
    OpIntt = 6'd3,
    // NTT form: dst becomes a under X -> X^element. In a larger ring dst is that sub_poly of the
    // result, and a the sub_poly of the source that all of its words come from.
    OpAutomorph = 6'd4,
    // RPAU src reads a, computes a*const[k1] + const[k2] in its prime set src_prime and sends the
    // words to the others. Every other RPAU of the mask reduces each word w modulo its own prime,
    // and writes w*const[k1] + const[k2] to dst, with its own constants. src must be in the mask;
    // it reads a and writes nothing, the others write dst and read nothing.
    OpBroadcast = 6'd5,
    // A larger ring's stage of the forward transform, on two sub_polys: dst = u + const[k1]*t and b
    // = u - const[k1]*t, where u was dst and t was b.
    OpSplit = 6'd6,
    // A larger ring's stage of the inverse transform: dst = (u + t)/2 and b = const[k1]*(t - u)/2,
    // where u was dst and t was b. It undoes split where const[k1] is minus the inverse of split's.
    OpJoin = 6'd7,
    // dst = a*b.
    OpMul = 6'd8,
    // dst = dst + a*b.
    OpMac = 6'd9,
    // dst = a + b.
    OpAdd = 6'd10,
    // dst = a - b.
    OpSub = 6'd11,
    // dst = a*const[k1] + const[k2]; copies, negates, scales and adds a constant.
    OpAffine = 6'd12,
    // dst = a*const[k1] + b.
    OpScaleAdd = 6'd13,
    // dst = a*const[k1] - b.
    OpScaleSub = 6'd14,
    // dst = (a mod q)*const[k1] + const[k2]. As affine, but a may hold any words, those of another
    // prime set of the RPAU for instance.
    OpReduce = 6'd15,
    // dst = a*key.
    OpMulKey = 6'd16,
    // dst = dst + a*key.
    OpMacKey = 6'd17,
    // dst = a*b on the dyadic cores.
    OpDmul = 6'd24,
    // dst = dst + a*b on the dyadic cores.
    OpDmac = 6'd25,
    // dst = a*key on the dyadic cores.
    OpDmulKey = 6'd26,
    // dst = dst + a*key on the dyadic cores.
    OpDmacKey = 6'd27,
    // dst = a*half on the dyadic cores, where half is the uniform half of a seeded key, expanded
    // from the seed store's entry and the digit, modulo the prime set's prime. In a larger ring
    // that is as many residues as a sub_poly has words, from residue sub_poly*max(N, 2^14) on.
    OpDmulSeed = 6'd28,
    // dst = dst + a*half on the dyadic cores, as dmul_seed.
    OpDmacSeed = 6'd29,
    // dst = (a mod q)*const[k1] + const[k2] on the dyadic cores. As reduce, a may hold any words.
    OpDaffine = 6'd30,
    // dst = a*const[k1] + b on the dyadic cores.
    OpDscaleAdd = 6'd31,
    // dst = a*const[k1] - b on the dyadic cores.
    OpDscaleSub = 6'd32,
    // dst = a + b on the dyadic cores.
    OpDadd = 6'd33,
    // dst = a - b on the dyadic cores.
    OpDsub = 6'd34,
    // RPAU src reads a and sends its words to the others of the mask, which write them to dst as
    // they are. src must be in the mask; it reads a and writes nothing, the others write dst and
    // read nothing. The words are residues of no prime in particular: reduce or daffine makes them
    // the receiver's.
    OpSend = 6'd40,
    // Base conversion. RPAUs first to last read a, and every RPAU writes to dst, for each
    // coefficient, the output of the loaded conversion that has its number; a word of RPAU r is
    // input r. Where the conversion has no input of an RPAU, a may hold anything. The polynomials
    // are in coefficient form, and the conversion's primes are those that it was loaded with.
    OpConvert = 6'd48,
    // As convert, of a conversion whose outputs have inputs of their own, which every RPAU reads
    // from b. Its last RPAU is no input. Where it has no output of an RPAU, b may hold anything.
    OpConvertOwn = 6'd49,
    // Coefficient form: dst becomes a under X -> X^element, in rings of degree up to N.
    // Coefficients that pass X^N change their sign.
    OpPermute = 6'd50
  } opcode_e;

  // Units that an RPAU may have, numbered from 0 on.
  parameter int unsigned Units = 4;
  typedef enum logic [1:0] {
    // The butterfly cores: 2*cores lanes a cycle.
    UnitMain = 2'd0,
    // The dyadic cores: coefficient-wise operations, in parallel with the main unit.
    UnitDyadic = 2'd1,
    // Sends polynomials to other RPAUs, a row a cycle, in parallel with main and dyadic unit.
    UnitLink = 2'd2,
    // What takes polynomials word by word: to the converter that all RPAUs share, and back; or
    // permuted.
    UnitCoefficient = 2'd3
  } unit_e;

  // Features of a design that some instructions need, numbered from 0 on.
  parameter int unsigned Features = 3;
  typedef enum logic [1:0] {
    // Parameter key_stream of the design is not 0.
    NeedsKeyStream = 2'd0,
    // Parameter larger_rings of the design is not 0.
    NeedsLargerRings = 2'd1,
    // Parameter seeds of the design is not 0.
    NeedsSeeds = 2'd2
  } feature_e;

  // What a pointwise instruction multiplies operand a by.
  typedef enum logic [2:0] {
    // By 1.
    FactorNone = 3'd0,
    // Operand b.
    FactorB = 3'd1,
    // Operand b_key.
    FactorBKey = 3'd2,
    // Operand seed.
    FactorSeed = 3'd3,
    // Operand k1.
    FactorK1 = 3'd4
  } factor_e;

  // What it adds to the product, or subtracts from it.
  typedef enum logic [1:0] {
    // 0.
    AddendNone = 2'd0,
    // Operand dst.
    AddendDst = 2'd1,
    // Operand b.
    AddendB = 2'd2,
    // Operand k2.
    AddendK2 = 2'd3
  } addend_e;

  typedef struct packed {
    logic                valid;   // the opcode exists; else nothing else means anything
    opcode_e             opcode;
    logic [Units-1:0]    unit;    // the one that carries it out, by number; else none
    logic [Units-1:0]    waits;   // for other units, by their number
    logic [Features-1:0] needs;   // features of the design, by their number
    factor_e             factor;  // pointwise: dst = a * factor + addend
    addend_e             addend;
    logic                minus;   // the addend is subtracted
    logic                uses_arrived;
    logic                uses_conversion;
    logic                uses_digit;
    logic                uses_element;
    logic                uses_first;
    logic                uses_k1;
    logic                uses_k2;
    logic                uses_last;
    logic                uses_seed;
    logic                uses_src;
    logic                uses_src_prime;
    logic                uses_sub_poly;
  } decoded_t;

  function automatic logic [OpcodeWidth-1:0] get_opcode(word_t word);
    return OpcodeWidth'(word >> OpcodeLsb);
  endfunction

  function automatic logic [WaitMainWidth-1:0] get_wait_main(word_t word);
    return WaitMainWidth'(word >> WaitMainLsb);
  endfunction

  function automatic logic [WaitDyadicWidth-1:0] get_wait_dyadic(word_t word);
    return WaitDyadicWidth'(word >> WaitDyadicLsb);
  endfunction

  function automatic logic [WaitLinkWidth-1:0] get_wait_link(word_t word);
    return WaitLinkWidth'(word >> WaitLinkLsb);
  endfunction

  function automatic logic [WaitCoefficientWidth-1:0] get_wait_coefficient(word_t word);
    return WaitCoefficientWidth'(word >> WaitCoefficientLsb);
  endfunction

  function automatic logic [PrimeWidth-1:0] get_prime(word_t word);
    return PrimeWidth'(word >> PrimeLsb);
  endfunction

  function automatic logic [MaskWidth-1:0] get_mask(word_t word);
    return MaskWidth'(word >> MaskLsb);
  endfunction

  function automatic decoded_t decode(word_t word);
    decoded_t decoded;
    decoded = '0;
    decoded.valid = 1'b1;
    decoded.waits[UnitMain] = get_wait_main(word);
    decoded.waits[UnitDyadic] = get_wait_dyadic(word);
    decoded.waits[UnitLink] = get_wait_link(word);
    decoded.waits[UnitCoefficient] = get_wait_coefficient(word);
    decoded.opcode = opcode_e'(get_opcode(word));
    case (decoded.opcode)
      OpNop: begin
      end
      OpHalt: begin
      end
      OpAwait: begin
        decoded.needs[NeedsKeyStream] = 1'b1;
        decoded.uses_arrived = 1'b1;
      end
      OpNtt: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.uses_sub_poly = 1'b1;
      end
      OpIntt: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.uses_sub_poly = 1'b1;
      end
      OpAutomorph: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.uses_element = 1'b1;
        decoded.uses_sub_poly = 1'b1;
      end
      OpBroadcast: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.uses_k1 = 1'b1;
        decoded.uses_k2 = 1'b1;
        decoded.uses_src = 1'b1;
        decoded.uses_src_prime = 1'b1;
      end
      OpSplit: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.needs[NeedsLargerRings] = 1'b1;
        decoded.uses_k1 = 1'b1;
      end
      OpJoin: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.needs[NeedsLargerRings] = 1'b1;
        decoded.uses_k1 = 1'b1;
      end
      OpMul: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorB;
      end
      OpMac: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorB;
        decoded.addend = AddendDst;
      end
      OpAdd: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.addend = AddendB;
      end
      OpSub: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.addend = AddendB;
        decoded.minus = 1'b1;
      end
      OpAffine: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendK2;
        decoded.uses_k1 = 1'b1;
        decoded.uses_k2 = 1'b1;
      end
      OpScaleAdd: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendB;
        decoded.uses_k1 = 1'b1;
      end
      OpScaleSub: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendB;
        decoded.minus = 1'b1;
        decoded.uses_k1 = 1'b1;
      end
      OpReduce: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendK2;
        decoded.uses_k1 = 1'b1;
        decoded.uses_k2 = 1'b1;
      end
      OpMulKey: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorBKey;
      end
      OpMacKey: begin
        decoded.unit[UnitMain] = 1'b1;
        decoded.factor = FactorBKey;
        decoded.addend = AddendDst;
      end
      OpDmul: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorB;
      end
      OpDmac: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorB;
        decoded.addend = AddendDst;
      end
      OpDmulKey: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorBKey;
      end
      OpDmacKey: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorBKey;
        decoded.addend = AddendDst;
      end
      OpDmulSeed: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.needs[NeedsSeeds] = 1'b1;
        decoded.factor = FactorSeed;
        decoded.uses_digit = 1'b1;
        decoded.uses_seed = 1'b1;
        decoded.uses_sub_poly = 1'b1;
      end
      OpDmacSeed: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.needs[NeedsSeeds] = 1'b1;
        decoded.factor = FactorSeed;
        decoded.addend = AddendDst;
        decoded.uses_digit = 1'b1;
        decoded.uses_seed = 1'b1;
        decoded.uses_sub_poly = 1'b1;
      end
      OpDaffine: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendK2;
        decoded.uses_k1 = 1'b1;
        decoded.uses_k2 = 1'b1;
      end
      OpDscaleAdd: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendB;
        decoded.uses_k1 = 1'b1;
      end
      OpDscaleSub: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.factor = FactorK1;
        decoded.addend = AddendB;
        decoded.minus = 1'b1;
        decoded.uses_k1 = 1'b1;
      end
      OpDadd: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.addend = AddendB;
      end
      OpDsub: begin
        decoded.unit[UnitDyadic] = 1'b1;
        decoded.addend = AddendB;
        decoded.minus = 1'b1;
      end
      OpSend: begin
        decoded.unit[UnitLink] = 1'b1;
        decoded.uses_src = 1'b1;
      end
      OpConvert: begin
        decoded.unit[UnitCoefficient] = 1'b1;
        decoded.uses_conversion = 1'b1;
        decoded.uses_first = 1'b1;
        decoded.uses_last = 1'b1;
      end
      OpConvertOwn: begin
        decoded.unit[UnitCoefficient] = 1'b1;
        decoded.uses_conversion = 1'b1;
        decoded.uses_first = 1'b1;
        decoded.uses_last = 1'b1;
      end
      OpPermute: begin
        decoded.unit[UnitCoefficient] = 1'b1;
        decoded.uses_element = 1'b1;
      end
      default: decoded.valid = 1'b0;
    endcase
    return decoded;
  endfunction

endpackage
