// Size of an accelerator's address space: its indices, and the words of each.
//
// whole_rows_o: words lie in rows of the host port, rs_rpau_pkg::host_words() a row, and are
// written in whole rows of the memory, of 2*Cores words. In the other address spaces a row is one
// word. An address space that the design does not have has no words.
module rs_host_space
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg
) (
  input  logic [7:0]  space_i,
  output logic [16:0] indices_o,
  output logic [16:0] words_o,
  output logic        whole_rows_o
);
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings;
  localparam int unsigned LoBits = twiddle_lo_bits(MaxLogN);
  always_comb begin
    indices_o = 17'(Cfg.ModulusBanks);
    words_o   = '0;
    case (space_i)
      8'(SpacePoly): begin
        indices_o = 17'(Cfg.WorkPolys);
        words_o   = 17'd1 << Cfg.LogN;
      end
      8'(SpaceKey): begin
        indices_o = 17'(Cfg.KeyPolys);
        words_o   = 17'd1 << Cfg.LogN;
      end
      8'(SpaceConstant):  words_o = 17'(Cfg.Constants);
      8'(SpaceModulus):   words_o = 17'(ModulusWords);
      8'(SpaceTwiddleLo): if (Cfg.Twiddles == TwiddlesGenerated) words_o = 17'd1 << LoBits;
      8'(SpaceTwiddleHi):
      if (Cfg.Twiddles == TwiddlesGenerated) words_o = 17'd1 << (MaxLogN - LoBits);
      8'(SpaceTwiddle):   if (Cfg.Twiddles == TwiddlesStored) words_o = 17'd1 << MaxLogN;
      8'(SpaceSeed): begin
        indices_o = 17'(Cfg.Seeds);
        words_o   = 17'(SeedWords);
      end
      8'(SpaceConversion): begin
        indices_o = 17'(Cfg.Conversions);
        words_o   = 17'(ConversionWords);
      end
      default: ;
    endcase
  end
  assign whole_rows_o = space_i == 8'(SpacePoly) || space_i == 8'(SpaceKey);
endmodule
