# Makes a Vivado project of this folder and synthesizes the top module out of context.
# $not_run
#
#   vivado -mode batch -source vivado/project.tcl -tclargs $part_argument
set root [file normalize [file join [file dirname [info script]] ..]]
source [file join $$root vivado part.tcl]
create_project -force -part $$part $design [file join $$root build vivado]
if {$$board ne ""} { set_property board_part $$board [current_project] }
source [file join $$root vivado files.tcl]
set_property top $top [current_fileset]
set_property generic {} [current_fileset]
synth_design -top $top -part $$part -mode out_of_context
report_utilization -file [file join $$root build vivado utilization.txt]
report_timing_summary -file [file join $$root build vivado timing.txt]
report_cdc -details -file [file join $$root build vivado cdc.txt]
