# Adds the sources and constraints of this folder to the current project; `root` is the folder.
# $not_run
set sources {
$sources
}
foreach file $$sources { add_files -norecurse [file join $$root $$file] }
foreach file [get_files -filter {FILE_TYPE == Verilog} *.sv] { set_property file_type SystemVerilog $$file }
set_property include_dirs [list $includes] [current_fileset]
set_property verilog_define {$defines} [current_fileset]
add_files -fileset constrs_1 -norecurse [file join $$root vivado $top.xdc]
set_property used_in {synthesis implementation out_of_context} [get_files $top.xdc]
