// SPDX-License-Identifier: Apache-2.0
// A static library of Rust that holds main.
#![no_std]
use core::ffi::{c_char, c_int};

extern "C" {
    fn greet(whom: *const c_char) -> c_int;
}

#[no_mangle]
pub extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    let squares = [1, 2, 3].iter().map(|n| n * n).sum::<i32>();
    let failed = unsafe { greet(b"Rust\0".as_ptr() as *const c_char) };
    if failed == 0 && squares == 14 { 0 } else { 1 }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
