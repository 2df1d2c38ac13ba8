//! A C interface to tfhe-ntt's transforms: plans of 32-bit and of 64-bit words.
//!
//! A plan lives until the process ends. The inverse leaves out the division by N, as tfhe-ntt does.

use std::ptr;
use std::slice::from_raw_parts_mut;
use tfhe_ntt::{prime32, prime64};

#[no_mangle]
pub extern "C" fn plan_32(n: usize, q: u32) -> *const prime32::Plan {
    prime32::Plan::try_new(n, q).map_or(ptr::null(), |plan| Box::into_raw(Box::new(plan)))
}

/// # Safety
/// `plan` comes from `plan_32(n, _)` and `words` has n words below q.
#[no_mangle]
pub unsafe extern "C" fn forward_32(plan: *const prime32::Plan, words: *mut u32, n: usize) {
    (*plan).fwd(from_raw_parts_mut(words, n));
}

/// # Safety
/// As `forward_32`.
#[no_mangle]
pub unsafe extern "C" fn inverse_32(plan: *const prime32::Plan, words: *mut u32, n: usize) {
    (*plan).inv(from_raw_parts_mut(words, n));
}

#[no_mangle]
pub extern "C" fn plan_64(n: usize, q: u64) -> *const prime64::Plan {
    prime64::Plan::try_new(n, q).map_or(ptr::null(), |plan| Box::into_raw(Box::new(plan)))
}

/// # Safety
/// `plan` comes from `plan_64(n, _)` and `words` has n words below q.
#[no_mangle]
pub unsafe extern "C" fn forward_64(plan: *const prime64::Plan, words: *mut u64, n: usize) {
    (*plan).fwd(from_raw_parts_mut(words, n));
}

/// # Safety
/// As `forward_64`.
#[no_mangle]
pub unsafe extern "C" fn inverse_64(plan: *const prime64::Plan, words: *mut u64, n: usize) {
    (*plan).inv(from_raw_parts_mut(words, n));
}
