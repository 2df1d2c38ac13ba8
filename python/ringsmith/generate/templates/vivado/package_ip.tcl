# Packages the design as an IP core for Vivado's IP integrator.
# $not_run
#
#   vivado -mode batch -source vivado/package_ip.tcl -tclargs $part_argument
#
# Attributes in rtl/$top.v name the interfaces; the commands below say the rest.
set root [file normalize [file join [file dirname [info script]] ..]]
set core [file join $$root build ip]
source [file join $$root vivado part.tcl]
create_project -force -part $$part package_$design [file join $$root build package]
source [file join $$root vivado files.tcl]
set_property top $top [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir $$core -vendor ringsmith -library generated -taxonomy /UserIP \
  -import_files -set_current true
set ip [ipx::current_core]
set_property name $design $$ip
set_property version $version $$ip
set_property display_name {Ringsmith $name} $$ip
set_property description {$title} $$ip
$interfaces
ipx::create_xgui_files $$ip
ipx::update_checksums $$ip
ipx::check_integrity $$ip
ipx::save_core $$ip
