# Paths between the clocks of rs_async_fifo, for each instance: read_xdc -ref rs_async_fifo.
#
# A pointer in Gray code arrives within a period of its own clock, and its bits within the shorter
# period of both, so that no two of its changes are mixed. A word stands in the memory two cycles of
# rclk_i before it is read; a block RAM has its register inside, and no such path.
set wperiod [get_property -min PERIOD [get_clocks -of_objects [get_ports wclk_i]]]
set rperiod [get_property -min PERIOD [get_clocks -of_objects [get_ports rclk_i]]]
set shorter [expr {min($wperiod, $rperiod)}]

set_max_delay -datapath_only -from [get_cells {wgray_q_reg[*] wopen_q_reg}] -to [get_cells {u_to_read/first_q_reg[*]}] $shorter
set_bus_skew -from [get_cells {wgray_q_reg[*] wopen_q_reg}] -to [get_cells {u_to_read/first_q_reg[*]}] $shorter

set_max_delay -datapath_only -from [get_cells {rgray_q_reg[*] ropen_q_reg}] -to [get_cells {u_to_write/first_q_reg[*]}] $shorter
set_bus_skew -from [get_cells {rgray_q_reg[*] ropen_q_reg}] -to [get_cells {u_to_write/first_q_reg[*]}] $shorter

set_max_delay -quiet -datapath_only -from [get_cells -quiet {u_ram/mem_reg*}] -to [get_cells -quiet {u_ram/read_q_reg[*]}] $rperiod
