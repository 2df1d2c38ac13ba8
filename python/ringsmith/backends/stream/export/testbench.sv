// A host on the streams of $top: sends the descriptors and operands in program/ and compares the products.
//
// In the first half of the products nothing pauses: they must end $period clock cycles apart. In the other
// half every stream pauses at random. +program=FOLDER names another folder. Ends with "PASS" and status 0,
// or with "FAIL" and another status.
`timescale 1ns / 1ps
module $tb;
  localparam int unsigned NumProducts = $products;
  localparam int unsigned Degree = $degree;
  localparam int unsigned Lanes = $lanes;
  localparam int unsigned WordBits = $stream_word_bits;  // of a word in a stream
  localparam int unsigned Period = Degree / Lanes;
  localparam int unsigned DescriptorWords = 3 + Lanes;
  localparam int unsigned Smooth = NumProducts / 2;  // products before the first pause
  localparam int unsigned MostShown = 10;            // errors that are printed
  localparam int unsigned Patience = $patience;      // clock cycles until the last product

  logic [63:0] descriptors[NumProducts*DescriptorWords];
  logic [63:0] a[NumProducts*Degree];
  logic [63:0] b[NumProducts*Degree];
  logic [63:0] expected[NumProducts*Degree];

$declarations
  $top dut (
$connections
  );

  always #2.5 clk_i = ~clk_i;  // 200 MHz

  int unsigned errors = 0;
  longint unsigned cycles = 0;
  bit          ready = 1'b0;  // the reset is over
  bit          pausing = 1'b0;
  bit          ended = 1'b0;
  always @(posedge clk_i) begin
    cycles <= cycles + 1;
    if (cycles > Patience) stop("the device stalls");
    if (fault_o) stop("the device says that a tlast stood in the wrong beat");
  end

  task automatic fail(input string text);
    errors += 1;
    if (errors <= MostShown) $$display("ERROR: %s", text);
  endtask

  task automatic stop(input string text);
    $$display("FAIL: %s", text);
    $$fatal(1);
  endtask

  // One in four, once streams pause.
  function automatic bit pause();
    return pausing && ($$urandom_range(3) == 0);
  endfunction

  // ---- what is sent -----------------------------------------------------------------------------
  int unsigned sent_words = 0;
  always @(posedge clk_i) begin
    if (ready) begin
      if (!s_axis_d_tvalid || s_axis_d_tready) begin
        if (sent_words < NumProducts * DescriptorWords && !pause()) begin
          s_axis_d_tvalid <= 1'b1;
          s_axis_d_tdata <= WordBits'(descriptors[sent_words]);
          s_axis_d_tlast <= sent_words % DescriptorWords == DescriptorWords - 1;
          sent_words <= sent_words + 1;
        end else begin
          s_axis_d_tvalid <= 1'b0;
        end
      end
    end
  end

  int unsigned sent_a = 0;
  always @(posedge clk_i) begin
    if (ready) begin
      if (!s_axis_a_tvalid || s_axis_a_tready) begin
        if (sent_a < NumProducts * Period && !pause()) begin
          s_axis_a_tvalid <= 1'b1;
          for (int unsigned l = 0; l < Lanes; l++) begin
            s_axis_a_tdata[WordBits*l+:WordBits] <= WordBits'(a[Lanes*sent_a+l]);
          end
          s_axis_a_tlast <= sent_a % Period == Period - 1;
          sent_a <= sent_a + 1;
        end else begin
          s_axis_a_tvalid <= 1'b0;
        end
      end
    end
  end

  int unsigned sent_b = 0;
  always @(posedge clk_i) begin
    if (ready) begin
      if (!s_axis_b_tvalid || s_axis_b_tready) begin
        if (sent_b < NumProducts * Period && !pause()) begin
          s_axis_b_tvalid <= 1'b1;
          for (int unsigned l = 0; l < Lanes; l++) begin
            s_axis_b_tdata[WordBits*l+:WordBits] <= WordBits'(b[Lanes*sent_b+l]);
          end
          s_axis_b_tlast <= sent_b % Period == Period - 1;
          sent_b <= sent_b + 1;
        end else begin
          s_axis_b_tvalid <= 1'b0;
        end
      end
    end
  end

  // ---- what comes -------------------------------------------------------------------------------
  int unsigned answers = 0;
  always @(posedge clk_i) begin
    m_axis_s_tready <= !pause();
    if (m_axis_s_tvalid && m_axis_s_tready) begin
      if (m_axis_s_tdata != '0) begin
        fail($$sformatf("descriptor %0d is refused with %0d", answers, m_axis_s_tdata));
      end
      answers <= answers + 1;
    end
  end

  int unsigned     beats = 0;
  longint unsigned last_end = 0;
  always @(posedge clk_i) begin
    m_axis_p_tready <= !pause();
    if (m_axis_p_tvalid && m_axis_p_tready) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (64'(m_axis_p_tdata[WordBits*l+:WordBits]) !== expected[Lanes*beats+l]) begin
          fail($$sformatf("word %0d of product %0d is %0h and must be %0h", Lanes * (beats % Period) + l,
                         beats / Period, m_axis_p_tdata[WordBits*l+:WordBits], expected[Lanes*beats+l]));
        end
      end
      if (m_axis_p_tlast != (beats % Period == Period - 1)) fail("tlast stands in the wrong beat");
      if (m_axis_p_tlast) begin
        if (beats >= Period && beats < Smooth * Period && cycles - last_end != 64'(Period)) begin
          fail($$sformatf("product %0d ends %0d clock cycles after the one before it", beats / Period,
                         cycles - last_end));
        end
        last_end <= cycles;
      end
      if (beats + 1 >= Smooth * Period) pausing <= 1'b1;
      if (beats + 1 == NumProducts * Period) ended <= 1'b1;
      beats <= beats + 1;
    end
  end

  // ---- the test ---------------------------------------------------------------------------------
  string folder;
  initial begin
    if (!$$value$$plusargs("program=%s", folder)) folder = "program";
    $$readmemh({folder, "/descriptors.hex"}, descriptors);
    $$readmemh({folder, "/a.hex"}, a);
    $$readmemh({folder, "/b.hex"}, b);
    $$readmemh({folder, "/expected.hex"}, expected);
    repeat (8) @(posedge clk_i);
    rst_ni = 1'b1;
    repeat (128) @(posedge clk_i);
    $$display("$top: $title");
    ready = 1'b1;
    wait (ended);
    repeat (8) @(posedge clk_i);
    if (answers != NumProducts) fail($$sformatf("%0d answers to %0d descriptors", answers, NumProducts));
    if (errors != 0) stop($$sformatf("%0d errors", errors));
    $$display("PASS: %0d products as expected, %0d clock cycles of simulation", NumProducts, cycles);
    $$finish;
  end
endmodule
