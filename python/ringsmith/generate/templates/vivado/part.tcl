# Chooses the FPGA: sets `part`, and `board` where Vivado has a file of the card.
# $not_run
#
# $part_about
set part [expr {$$argc > 0 ? [lindex $$argv 0] : "$part"}]
if {$$part eq ""} {
  error "design $design names no platform: give a part, as in -tclargs PART"
}
set board ""
if {"$board" ne "" && $$part eq "$part"} {
  set board [lindex [get_board_parts -quiet -latest_file_version $board:*] 0]
}
