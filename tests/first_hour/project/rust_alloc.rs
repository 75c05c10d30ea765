// SPDX-License-Identifier: Apache-2.0
// A static library of Rust that holds main, and allocates.
#![no_std]
extern crate alloc;
use alloc::{format, vec::Vec};
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_char, c_int, c_void};

extern "C" {
    fn greet(whom: *const c_char) -> c_int;
    fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

struct OfTheTask;
unsafe impl GlobalAlloc for OfTheTask {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        aligned_alloc(layout.align(), layout.size()) as *mut u8
    }
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        free(block as *mut c_void)
    }
}
#[global_allocator]
static ALLOCATOR: OfTheTask = OfTheTask;

#[no_mangle]
pub extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    let parts: Vec<_> = "R u s t".split(' ').collect();
    let name = format!("{}\0", parts.concat());
    unsafe { greet(name.as_ptr() as *const c_char) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
