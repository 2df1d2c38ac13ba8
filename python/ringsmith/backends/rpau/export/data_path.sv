  // ---- AXI4: the data path ----------------------------------------------------------------------
  // Bursts of whole beats of eight words, none of which crosses 4 KiB.
  function automatic logic [39:0] poly_address(input logic [7:0] zone, input logic [7:0] unit,
                                               input logic [15:0] index);
    return {23'd0, zone[0], unit[3:0], index[11:0]} * 40'(8 * $degree);
  endfunction

  function automatic int unsigned burst_beats(input logic [39:0] address, input int unsigned left);
    int unsigned most = (4096 - int'(address[11:0])) / 64;
    return left < most ? left : most;
  endfunction

  task automatic write_poly(input logic [7:0] zone, input logic [7:0] unit, input logic [15:0] index,
                            input int unsigned offset, input int unsigned count);
    logic [39:0] address = poly_address(zone, unit, index);
    int unsigned done = 0;
    while (done < count / 8) begin
      int unsigned beats = burst_beats(address, count / 8 - done);
      int unsigned beat = 0, waited = 0;
      bit answered = 1'b0, address_taken, data_taken;
      logic [1:0] response;
      s_axi_awaddr = address;
      s_axi_awlen = 8'(beats - 1);
      s_axi_awvalid = 1'b1;
      drive_beat(offset + 8 * done, beats == 1);
      s_axi_wvalid = 1'b1;
      while (!answered) begin
        @(posedge $clock);
        address_taken = s_axi_awready;
        data_taken = s_axi_wvalid && s_axi_wready;
        answered = s_axi_bvalid;
        response = s_axi_bresp;
        @(negedge $clock);
        if (address_taken) s_axi_awvalid = 1'b0;
        if (data_taken) begin
          beat += 1;
          if (beat == beats) s_axi_wvalid = 1'b0;
          else drive_beat(offset + 8 * (done + beat), beat + 1 == beats);
        end
        waited += 1;
        if (waited > Patience) stop("the data path does not answer a burst that is written");
      end
      if (response != 2'b00) fail("a burst that is written is answered with an error");
      done += beats;
      address += 40'(64 * beats);
    end
  endtask

  task automatic drive_beat(input int unsigned offset, input bit last);
    for (int unsigned i = 0; i < 8; i++) s_axi_wdata[64*i+:64] = data[offset+i];
    s_axi_wlast = last;
  endtask

  task automatic read_poly(input logic [7:0] zone, input logic [7:0] unit, input logic [15:0] index,
                           input int unsigned offset, input int unsigned count);
    logic [39:0] address = poly_address(zone, unit, index);
    int unsigned done = 0;
    while (done < count / 8) begin
      int unsigned beats = burst_beats(address, count / 8 - done);
      int unsigned beat = 0, waited = 0;
      bit address_taken;
      s_axi_araddr = address;
      s_axi_arlen = 8'(beats - 1);
      s_axi_arvalid = 1'b1;
      while (beat < beats) begin
        @(posedge $clock);
        address_taken = s_axi_arready;
        if (s_axi_rvalid) begin
          if (s_axi_rresp != 2'b00) fail("a burst that is read is answered with an error");
          for (int unsigned i = 0; i < 8; i++) compare(s_axi_rdata[64*i+:64], offset + 8 * (done + beat) + i);
          beat += 1;
        end
        @(negedge $clock);
        if (address_taken) s_axi_arvalid = 1'b0;
        waited += 1;
        if (waited > Patience) stop("the data path does not answer a burst that is read");
      end
      done += beats;
      address += 40'(64 * beats);
    end
  endtask

