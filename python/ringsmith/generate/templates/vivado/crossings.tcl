# Adds the constraints of paths between clocks to the current project: a file for each module that
# has such paths, read for each of its instances. `root` is this folder.
# $not_run
#
# A project that has the design as a part of it sources this file, too, with `root` set. There must
# be no set_clock_groups -asynchronous and no set_false_path between these clocks: both override
# the limits.
foreach module {$crossings} {
  set file [file join $$root vivado $$module.xdc]
  add_files -fileset constrs_1 -norecurse $$file
  set_property SCOPED_TO_REF $$module [get_files $$file]
  set_property used_in {implementation} [get_files $$file]
  set_property PROCESSING_ORDER LATE [get_files $$file]
}
