# Paths between the clocks of rs_axil_cross, for each instance: read_xdc -ref rs_axil_cross.
#
# valid_i and end_o.done cross in rs_sync. What they announce holds still meanwhile, and is used two
# cycles of the other clock later: a period of that clock is enough for it.
set bus_clock [get_clocks -of_objects [get_ports bus_clk_i]]
set clock [get_clocks -of_objects [get_ports clk_i]]
set bus_period [get_property -min PERIOD $bus_clock]
set period [get_property -min PERIOD $clock]
set shorter [expr {min($bus_period, $period)}]

set_max_delay -datapath_only -from $bus_clock -to [get_cells {u_valid/first_q_reg[*]}] $shorter
set_max_delay -datapath_only -from $bus_clock -to [get_cells {u_access/access_q_reg[*] u_access/aw_q_reg u_access/w_q_reg u_access/ar_q_reg}] $period

set_max_delay -datapath_only -from [get_cells {u_access/end_q_reg[*]}] -to [get_cells {u_done/first_q_reg[*]}] $shorter
set_max_delay -datapath_only -from [get_cells {alive_q_reg}] -to [get_cells {u_alive/first_q_reg[*]}] $shorter
set_max_delay -datapath_only -from [get_cells {u_access/end_q_reg[*]}] -to $bus_clock $bus_period
