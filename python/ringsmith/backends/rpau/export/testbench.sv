// A host on the buses of $top: carries out the steps of program/steps.hex and compares what the device
// computes, and the clock cycles that it takes, with what they must be.
//
// Registers are reached over AXI4-Lite, polynomials over $poly_bus. +program=FOLDER names another folder.
// Ends with "PASS" and status 0, or with "FAIL" and another status. What the device says is read at rising
// edges of the clock, and what it hears changes at falling ones.
`timescale 1ns / 1ps
module $tb;
  localparam int unsigned NumSteps = $steps;
  localparam int unsigned NumData = $data_words;
  localparam int unsigned NumInstructions = $instructions;
  localparam int unsigned NumExpected = $expected_words;
  localparam int unsigned AddressBits = $address_bits;
  localparam int unsigned Patience = 4096;  // clock cycles in which an access must be answered
  localparam int unsigned MostShown = 10;   // errors that are printed

  // Registers: the files in registers/ say what they are.
$registers
  localparam logic [31:0] Magic = 32'h474e4952;

  localparam logic [7:0] DoRing = 8'd1;
  localparam logic [7:0] DoWrite = 8'd2;
  localparam logic [7:0] DoProgram = 8'd3;
  localparam logic [7:0] DoRun = 8'd4;
  localparam logic [7:0] DoRead = 8'd5;
  localparam logic [7:0] ZonePoly = 8'd0;
  localparam logic [7:0] ZoneKey = 8'd1;

  logic [63:0] steps[2*NumSteps];
  logic [63:0] data[NumData];
  logic [63:0] microcode[NumInstructions];
  logic [63:0] expected[NumExpected];

$declarations
  $top dut (
$connections
  );

$clocks

  int unsigned errors = 0;
  int unsigned base = 0;  // address of the device's page of registers
  longint unsigned cycles = 0;
  always @(posedge $clock) cycles <= cycles + 1;

  task automatic fail(input string text);
    errors += 1;
    if (errors <= MostShown) $$display("ERROR: %s", text);
  endtask

  task automatic stop(input string text);
    $$display("FAIL: %s", text);
    $$fatal(1);
  endtask

  // ---- AXI4-Lite --------------------------------------------------------------------------------
  task automatic write_register(input int unsigned address, input logic [31:0] value);
    int unsigned waited = 0;
    bit answered = 1'b0, address_taken, data_taken;
    logic [1:0] response;
    s_axil_awaddr = AddressBits'(base + address);
    s_axil_awvalid = 1'b1;
    s_axil_wdata = value;
    s_axil_wstrb = 4'hf;
    s_axil_wvalid = 1'b1;
    while (!answered) begin
      @(posedge $clock);
      address_taken = s_axil_awready;
      data_taken = s_axil_wready;
      answered = s_axil_bvalid;
      response = s_axil_bresp;
      @(negedge $clock);
      if (address_taken) s_axil_awvalid = 1'b0;
      if (data_taken) s_axil_wvalid = 1'b0;
      waited += 1;
      if (waited > Patience) stop($$sformatf("no answer to a write of register %0h", address));
    end
    if (response != 2'b00) fail($$sformatf("a write of register %0h is answered with an error", address));
  endtask

  task automatic read_register(input int unsigned address, output logic [31:0] value);
    int unsigned waited = 0;
    bit answered = 1'b0, address_taken;
    logic [1:0] response;
    s_axil_araddr = AddressBits'(base + address);
    s_axil_arvalid = 1'b1;
    while (!answered) begin
      @(posedge $clock);
      address_taken = s_axil_arready;
      answered = s_axil_rvalid;
      value = s_axil_rdata;
      response = s_axil_rresp;
      @(negedge $clock);
      if (address_taken) s_axil_arvalid = 1'b0;
      waited += 1;
      if (waited > Patience) stop($$sformatf("no answer to a read of register %0h", address));
    end
    if (response != 2'b00) fail($$sformatf("a read of register %0h is answered with an error", address));
  endtask

  // A register of 64 bits, the lower half first.
  task automatic write_word(input int unsigned address, input logic [63:0] value);
    write_register(address, value[31:0]);
    write_register(address + 4, value[63:32]);
  endtask

  task automatic read_word(input int unsigned address, output logic [63:0] value);
    read_register(address, value[31:0]);
    read_register(address + 4, value[63:32]);
  endtask

  task automatic check_refused(input string what);
    logic [31:0] refused;
    read_register(Refused, refused);
    if (refused != 0) begin
      fail($$sformatf("the device refused %s: register refused is %0h", what, refused));
      write_register(Refused, refused);
    end
  endtask

  task automatic choose(input logic [7:0] zone, input logic [7:0] unit, input logic [15:0] index,
                        input logic [31:0] word);
    write_register(HostZone, {24'd0, zone});
    write_register(HostUnit, {24'd0, unit});
    write_register(HostIndex, {16'd0, index});
    write_register(HostWord, word);
  endtask

  task automatic compare(input logic [63:0] found, input int unsigned at);
    if (found !== expected[at]) begin
      fail($$sformatf("word %0d of expected.hex is %0h, and the device computed %0h", at,
                     expected[at], found));
    end
  endtask

$blocks
  // ---- programs ---------------------------------------------------------------------------------
  task automatic run_program(input logic [63:0] wanted_cycles, input int unsigned wanted_instructions);
    logic [31:0] status = 32'd1;
    logic [63:0] found;
    longint unsigned begun = cycles;
    write_register(Control, 32'd1);
    check_refused("to start");
    while (status[0]) begin
      read_register(Status, status);
      if (cycles - begun > 4 * wanted_cycles + 100_000) stop("the program does not end");
    end
    if (status[2]) fail("the program ended at an opcode that does not exist");
    read_word(Cycles, found);
    if (found != wanted_cycles) begin
      fail($$sformatf("the program took %0d clock cycles and should take %0d", found, wanted_cycles));
    end
    read_word(Instructions, found);
    if (found != 64'(wanted_instructions)) begin
      fail($$sformatf("%0d instructions were issued, and the program has %0d", found,
                     wanted_instructions));
    end
    $$display("  program of %0d instructions: %0d clock cycles", wanted_instructions, wanted_cycles);
  endtask

  task automatic carry_out(input int unsigned step);
    logic [63:0] what, second;
    int unsigned count, offset;
    what = steps[2*step];
    second = steps[2*step+1];
    count = int'(what[23:0]);
    offset = second[31:0];
    case (what[63:56])
      DoRing: write_register(Ring, second[31:0]);
      DoWrite: begin
        if (what[55:48] == ZonePoly || what[55:48] == ZoneKey) begin
          write_poly(what[55:48], what[47:40], what[39:24], offset, count);
        end else begin
          choose(what[55:48], what[47:40], what[39:24], second[63:32]);
          for (int unsigned i = 0; i < count; i++) write_word(HostData, data[offset+i]);
        end
        check_refused("words");
      end
      DoProgram: begin
        write_register(ProgramAddress, 32'd0);
        for (int unsigned i = 0; i < count; i++) write_word(ProgramData, microcode[offset+i]);
        check_refused("instructions");
      end
      DoRun: run_program(second, count);
      DoRead: begin
        read_poly(what[55:48], what[47:40], what[39:24], offset, count);
        check_refused("to read");
      end
      default: stop("steps.hex holds a step that is unknown");
    endcase
  endtask

  // ---- the test ---------------------------------------------------------------------------------
  task automatic test_device();
    logic [31:0] found;
    read_register(MagicNumber, found);
    if (found != Magic) stop($$sformatf("no device answers: register magic is %0h", found));
    write_register(Control, 32'd2);
    do read_register(Status, found); while (found != 0);
    for (int unsigned step = 0; step < NumSteps; step++) carry_out(step);
  endtask

  string folder;
  initial begin
    if (!$$value$$plusargs("program=%s", folder)) folder = "program";
    $$readmemh({folder, "/steps.hex"}, steps);
    $$readmemh({folder, "/data.hex"}, data);
    $$readmemh({folder, "/microcode.hex"}, microcode);
    $$readmemh({folder, "/expected.hex"}, expected);
    s_axil_bready = 1'b1;
    s_axil_rready = 1'b1;
$begin
    repeat (32) @(negedge $clock);
$release
    repeat (512) @(negedge $clock);
    $$display("$top: $title");
    for (int unsigned device = 0; device < $devices; device += $device_step) begin
      base = $first_page + 4096 * device;
      test_device();
    end
    if (errors != 0) stop($$sformatf("%0d errors", errors));
    $$display("PASS: %0d words as expected, %0d clock cycles of simulation", NumExpected, cycles);
    $$finish;
  end
endmodule
