// Size of an accelerator's address space: its indices, and the words of each.
//
// whole_rows_o: words lie in rows of the host port, rs_rpau_pkg::host_words() a row, and are
// written in whole rows of the memory, of 2*Cores words. In the other address spaces a row is one
// word. An address space that the design does not have has no words.
module rs_host_zone
  import rs_rpau_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned LargerRings = 0,
  parameter  int unsigned WorkPolys = 16,
  parameter  int unsigned KeyPolys = 48,
  parameter  int unsigned Constants = 64,
  parameter  int unsigned PrimeSets = 1,
  parameter  int unsigned Twiddles = TwiddlesGenerated,
  parameter  int unsigned Seeds = 0,
  parameter  int unsigned Conversions = 0
) (
  input  logic [7:0]  zone_i,
  output logic [16:0] indices_o,
  output logic [16:0] words_o,
  output logic        whole_rows_o
);
  localparam int unsigned MaxLogN = LogN + LargerRings;
  localparam int unsigned LoBits = twiddle_lo_bits(MaxLogN);
  always_comb begin
    indices_o = 17'(PrimeSets);
    words_o   = '0;
    case (zone_i)
      8'(ZonePoly): begin
        indices_o = 17'(WorkPolys);
        words_o   = 17'd1 << LogN;
      end
      8'(ZoneKey): begin
        indices_o = 17'(KeyPolys);
        words_o   = 17'd1 << LogN;
      end
      8'(ZoneConstant):  words_o = 17'(Constants);
      8'(ZoneModulus):   words_o = 17'(ModulusWords);
      8'(ZoneTwiddleLo): if (Twiddles == TwiddlesGenerated) words_o = 17'd1 << LoBits;
      8'(ZoneTwiddleHi): if (Twiddles == TwiddlesGenerated) words_o = 17'd1 << (MaxLogN - LoBits);
      8'(ZoneTwiddle):   if (Twiddles == TwiddlesStored) words_o = 17'd1 << MaxLogN;
      8'(ZoneSeed): begin
        indices_o = 17'(Seeds);
        words_o   = 17'(SeedWords);
      end
      8'(ZoneConversion): begin
        indices_o = 17'(Conversions);
        words_o   = 17'(ConversionWords);
      end
      default: ;
    endcase
  end
  assign whole_rows_o = zone_i == 8'(ZonePoly) || zone_i == 8'(ZoneKey);
endmodule
