"""What every architecture shares of hardware: Verilator builds, Yosys, source lists, registers."""
