# Paths between the clocks of rs_dma_reset, for each instance: read_xdc -ref rs_dma_reset.
#
# device_q crosses in a Gray code.
set bus_period [get_property -min PERIOD [get_clocks -of_objects [get_ports bus_clk_i]]]
set period [get_property -min PERIOD [get_clocks -of_objects [get_ports clk_i]]]
set shorter [expr {min($bus_period, $period)}]

set_max_delay -datapath_only -from [get_cells {ask_q_reg}] -to [get_cells {u_to_device/first_q_reg[*]}] $shorter

set_max_delay -datapath_only -from [get_cells {device_q_reg[*]}] -to [get_cells {u_to_bus/first_q_reg[*]}] $shorter
set_bus_skew -from [get_cells {device_q_reg[*]}] -to [get_cells {u_to_bus/first_q_reg[*]}] $shorter
