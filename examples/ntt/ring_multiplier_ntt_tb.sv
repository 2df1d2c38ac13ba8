// Transforms polynomials forward and back, and compares with sums that the definition says.
//
// Forward: word j is the sum over i of a_i * psi^(i * (2 * brev(j) + 1)) modulo q. Back: the
// polynomial again. +wrong_factors=1 loads wrong factors, to see that differences are found. This is
// for Verilator and Icarus Verilog.
module ring_multiplier_ntt_tb;
  localparam int LogN = 6;
  localparam int N = 64;
  localparam int Lanes = 4;
  localparam int ReadLatency = 4;  // rs_ntt_pkg::memory_read_latency()
  localparam int Cycles = 238;     // rs_ntt_pkg::transform_latency()
  localparam int Polynomials = 4;
  localparam logic [63:0] Q = 64'd998244353;
  localparam logic [63:0] Generator = 64'd3;  // of all residues but 0

  logic         clk = 1'b0, rst_n = 1'b0;
  logic         start = 1'b0, inverse = 1'b0, we = 1'b0, re = 1'b0, factor_we = 1'b0;
  logic [3:0]   row = '0;
  logic [5:0]   factor = '0;
  logic [29:0]  wdata = '0;
  logic [119:0] word = '0;
  wire          done;
  wire  [119:0] answer;
  always #5 clk = !clk;

  ring_multiplier_ntt dut (
    .clk_i(clk),
    .rst_ni(rst_n),
    .start_i(start),
    .inverse_i(inverse),
    .done_o(done),
    .we_i(we),
    .re_i(re),
    .row_i(row),
    .word_i(word),
    .word_o(answer),
    .factor_we_i(factor_we),
    .factor_i(factor),
    .wdata_i(wdata)
  );

  logic [63:0] psi;  // a root of X^N + 1
  logic [63:0] powers [2*N];
  logic [63:0] polynomial [N];
  logic [63:0] found [N];
  int          errors = 0, seed = 1;
  int          wrong;

  function automatic logic [63:0] power(input logic [63:0] base, input logic [63:0] exponent);
    logic [63:0] result, square;
    result = 64'd1;
    square = base;
    for (int bit_number = 0; bit_number < 30; bit_number++) begin
      if (exponent[bit_number]) result = (result * square) % Q;
      square = (square * square) % Q;
    end
    return result;
  endfunction

  function automatic int reversed(input int number);
    int result;
    result = 0;
    for (int b = 0; b < LogN; b++) result = result * 2 + ((number >> b) & 1);
    return result;
  endfunction

  function automatic logic [63:0] value(input int number);
    logic [63:0] sum;
    int          step;
    step = 2 * reversed(number) + 1;
    sum  = 64'd0;
    for (int i = 0; i < N; i++) sum = (sum + polynomial[i] * powers[(i*step)%(2*N)]) % Q;
    return sum;
  endfunction

  task automatic load_factors;
    for (int j = 0; j < N; j++) begin
      factor_we = 1'b1;
      factor    = j[5:0];
      wdata     = powers[reversed(j ^ wrong)][29:0];
      @(negedge clk);
    end
    factor_we = 1'b0;
  endtask

  task automatic write_polynomial;
    for (int r = 0; r < N / Lanes; r++) begin
      we  = 1'b1;
      row = r[3:0];
      for (int l = 0; l < Lanes; l++) word[30*l+:30] = polynomial[Lanes*r+l][29:0];
      @(negedge clk);
    end
    we = 1'b0;
  endtask

  task automatic read_polynomial;
    for (int r = 0; r < N / Lanes; r++) begin
      re  = 1'b1;
      row = r[3:0];
      @(negedge clk);
      re = 1'b0;
      repeat (ReadLatency - 1) @(negedge clk);
      for (int l = 0; l < Lanes; l++) found[Lanes*r+l] = {34'd0, answer[30*l+:30]};
    end
  endtask

  task automatic transform(input logic back);
    int cycles;
    cycles  = 0;
    inverse = back;
    start   = 1'b1;
    @(negedge clk);
    start  = 1'b0;
    cycles = 1;
    while (done !== 1'b1 && cycles < 10 * Cycles) begin
      @(negedge clk);
      cycles = cycles + 1;
    end
    if (cycles != Cycles) begin
      errors = errors + 1;
      $display("a transform took %0d cycles, not %0d", cycles, Cycles);
    end
  endtask

  task automatic compare(input int number, input logic [63:0] expected);
    if (found[number] !== expected) begin
      errors = errors + 1;
      $display("word %0d is %0d, not %0d", number, found[number], expected);
    end
  endtask

  initial begin
    if ($value$plusargs("wrong_factors=%d", wrong) == 0) wrong = 0;
    psi = power(Generator, (Q - 64'd1) / (64'd2 * N));
    for (int i = 0; i < 2 * N; i++) powers[i] = power(psi, 64'(i));
    repeat (64) @(negedge clk);
    rst_n = 1'b1;
    @(negedge clk);
    load_factors();
    for (int p = 0; p < Polynomials; p++) begin
      for (int i = 0; i < N; i++) polynomial[i] = {32'd0, $urandom(seed)} % Q;
      write_polynomial();
      transform(1'b0);
      read_polynomial();
      for (int j = 0; j < N; j++) compare(j, value(j));
      transform(1'b1);
      read_polynomial();
      for (int i = 0; i < N; i++) compare(i, polynomial[i]);
    end
    if (errors == 0) $display("PASS: %0d words as expected", 2 * N * Polynomials);
    else $display("FAIL: %0d differences", errors);
    $finish;
  end
endmodule
