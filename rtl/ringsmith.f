// Generated from rtl/catalogue.toml and rtl/ by `python -m ringsmith.hdl.catalogue`; do not edit.
// verilator -F rtl/ringsmith.f; slang -F rtl/ringsmith.f; paths begin in this folder.

+incdir+common

// packages
mem/rs_mem_pkg.sv
arith/rs_arith_pkg.sv
arith/rs_sparse_pkg.sv
baseconv/rs_baseconv_pkg.sv
card/rs_card_registers_pkg.sv
dma/rs_dma_pkg.sv
ntt/rs_ntt_pkg.sv
prng/rs_prng_pkg.sv
rpau/rs_rpau_isa_pkg.sv
rpau/rs_rpau_pkg.sv
shell/rs_registers_pkg.sv
shell/rs_shell_pkg.sv
shell/rs_uart_pkg.sv
stream/rs_stream_pkg.sv
vector/rs_vector_isa_pkg.sv
vector/rs_vector_pkg.sv
vector_axi/rs_vector_registers_pkg.sv

// mem
mem/rs_ram_1r1w.sv
mem/rs_delay.sv
mem/rs_mux_four.sv
mem/rs_mux.sv
mem/rs_select.sv
mem/rs_copy.sv
mem/rs_ram_2clk.sv

// arith
arith/rs_mod_addsub.sv
arith/rs_mod_halve.sv
arith/rs_mul_mult18.sv
arith/rs_mul_block.sv
arith/rs_mul.sv
arith/rs_mul_low_block.sv
arith/rs_mul_low.sv
arith/rs_mod_mul_barrett.sv
arith/rs_sparse_times.sv
arith/rs_mod_mul_sparse.sv
arith/rs_mul_add_pair.sv
arith/rs_mod_mul_folded.sv
arith/rs_mod_mul.sv
arith/rs_scale_product.sv
arith/rs_scale_step.sv
arith/rs_scale_steps.sv
arith/rs_mod_mul_montgomery.sv
arith/rs_mul_cascade_slice.sv
arith/rs_mul_cascade.sv
arith/rs_mul_add.sv
arith/rs_mod_mul_two_steps.sv
arith/rs_mod_shorten.sv
arith/rs_mul_accumulate.sv

// baseconv
baseconv/rs_base_convert_sequence.sv
baseconv/rs_tile_accumulate.sv
baseconv/rs_tile_sum.sv
baseconv/rs_base_convert_cell.sv
baseconv/rs_base_convert_reduce.sv
baseconv/rs_base_convert.sv

// dma
dma/rs_sync.sv
dma/rs_dma_order.sv
dma/rs_dma_fabric.sv
dma/rs_dma_reset.sv
dma/rs_dma_fifo.sv
dma/rs_dma_fetch.sv
dma/rs_dma_store.sv
dma/rs_dma_engine.sv
dma/rs_async_fifo.sv
dma/rs_dma_device.sv
dma/rs_dma_channel.sv
dma/rs_dma.sv

// ntt
ntt/rs_ntt_steps.sv
ntt/rs_ntt_sequencer.sv
ntt/rs_automorph_sequencer.sv
ntt/rs_ntt_blocks.sv
ntt/rs_ntt_twiddle_stored.sv
ntt/rs_ntt_twiddle.sv
ntt/rs_ntt_factors.sv
ntt/rs_lane_gather.sv
ntt/rs_butterfly_lanes.sv
ntt/rs_pair_rows.sv
ntt/rs_lane_scatter.sv
ntt/rs_ntt.sv

// prng
prng/rs_trivium.sv
prng/rs_key_expander.sv

// rpau
rpau/rs_rpau_controller.sv
rpau/rs_rpau_chain.sv
rpau/rs_rpau_moduli.sv
rpau/rs_rpau_constants.sv
rpau/rs_rpau_arrival.sv
rpau/rs_rpau_operands.sv
rpau/rs_rpau_receive.sv
rpau/rs_rpau_write.sv
rpau/rs_rpau_completion.sv
rpau/rs_rpau_main.sv
rpau/rs_rpau_seeded.sv
rpau/rs_rpau_dyadic.sv
rpau/rs_rpau_dyadic_unit.sv
rpau/rs_rpau_link.sv
rpau/rs_rpau_port.sv
rpau/rs_rpau_coefficient.sv
rpau/rs_rpau_bank.sv
rpau/rs_rpau_bank_mux.sv
rpau/rs_rpau_row_parts.sv
rpau/rs_rpau_work_memory.sv
rpau/rs_rpau_key_store.sv
rpau/rs_rpau.sv
rpau/rs_rpau_converters.sv
rpau/rs_rpau_hop.sv
rpau/rs_rpau_gather.sv
rpau/rs_rpau_ring.sv
rpau/rs_rpau_top.sv

// shell
shell/rs_uart_rx.sv
shell/rs_uart_tx.sv
shell/rs_uart_bridge.sv
shell/rs_registers.sv
shell/rs_word_halves.sv
shell/rs_program_window.sv
shell/rs_host_space.sv
shell/rs_host_window.sv
shell/rs_data_path.sv
shell/rs_dma_port.sv
shell/rs_host_port.sv
shell/rs_rpau_shell.sv
shell/rs_rpau_uart.sv
shell/rs_rpau_axil.sv

// card
card/rs_axil_access.sv
card/rs_axil_cross.sv
card/rs_axil_pages.sv
card/rs_card_registers.sv
card/rs_card_control.sv
card/rs_rpau_card.sv

// stream
stream/rs_stream_clock.sv
stream/rs_stream_delay.sv
stream/rs_stream_exchange.sv
stream/rs_stream_arrange.sv
stream/rs_stream_queue.sv
stream/rs_stream_turn.sv
stream/rs_stream_input.sv
stream/rs_stream_marker.sv
stream/rs_stream_mul.sv
stream/rs_stream_generator.sv
stream/rs_stream_banks.sv
stream/rs_stream_twiddles.sv
stream/rs_stream_factors.sv
stream/rs_stream_butterfly.sv
stream/rs_stream_stage.sv
stream/rs_stream_transform.sv
stream/rs_stream_product.sv
stream/rs_stream_core.sv
stream/rs_stream_output.sv
stream/rs_stream_axis.sv

// vector
vector/rs_vector_affine.sv
vector/rs_vector_mul.sv
vector/rs_vector_alu.sv
vector/rs_vector_exchange.sv
vector/rs_vector_permute.sv
vector/rs_vector_moduli.sv
vector/rs_vector_stage.sv
vector/rs_vector_unit.sv
vector/rs_vector_array.sv
vector/rs_vector_bank.sv
vector/rs_vector_sequencer.sv
vector/rs_vector_stream.sv
vector/rs_vector_table.sv
vector/rs_vector_core.sv

// vector_axi
vector_axi/rs_vector_bursts.sv
vector_axi/rs_vector_watchdog.sv
vector_axi/rs_vector_fetch.sv
vector_axi/rs_vector_loads.sv
vector_axi/rs_vector_join.sv
vector_axi/rs_vector_stores.sv
vector_axi/rs_vector_cluster.sv
vector_axi/rs_vector_registers.sv
vector_axi/rs_vector_control.sv
vector_axi/rs_vector_crossing.sv
vector_axi/rs_vector_top.sv
vector_axi/rs_vector_shell.sv

// board
board/rs_pll_ecp5.sv
board/rs_board_ulx3s.sv
