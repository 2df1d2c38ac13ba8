  // ---- polynomials, word by word through the registers ------------------------------------------
  task automatic write_poly(input logic [7:0] zone, input logic [7:0] unit, input logic [15:0] index,
                            input int unsigned offset, input int unsigned count);
    choose(zone, unit, index, 32'd0);
    for (int unsigned i = 0; i < count; i++) write_word(HostData, data[offset+i]);
  endtask

  task automatic read_poly(input logic [7:0] zone, input logic [7:0] unit, input logic [15:0] index,
                           input int unsigned offset, input int unsigned count);
    logic [63:0] found;
    choose(zone, unit, index, 32'd0);
    for (int unsigned i = 0; i < count; i++) begin
      read_word(HostData, found);
      compare(found, offset + i);
    end
  endtask

