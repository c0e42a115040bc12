//! Structs that contain their size, so that they can grow. The first field is `size`, which the host sets to `sizeof` of the struct with
//! which it was compiled.
//!
//! Fields are only added at the end. For a host with an older header only the fields that it knows are written and read. A host with a
//! newer header reads zeros in fields that this library doesn't know.

use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use crate::status::Status;

/// Largest size that is believed; a field that was forgotten rarely holds less by chance.
const MAX_SIZE: usize = 4_096;

/// A struct of the interface whose first field is its size in bytes.
///
/// # Safety
/// The struct is `repr(C)`, its first field is a `usize`, and any bytes are a value of it.
pub(crate) unsafe trait Plain: Copy {}

/// Size that a host gave a struct.
///
/// # Safety
/// `at` is valid for a read of a `usize`.
#[inline]
unsafe fn size_of_theirs<T>(at: *const T) -> Result<usize, Status> {
    // SAFETY: the caller's promise.
    let size = unsafe { at.cast::<usize>().read() };
    if (size_of::<usize>()..=MAX_SIZE).contains(&size) { Ok(size) } else { Err(Status::BadLength) }
}

/// Reads a host's struct. Fields that the host doesn't know are zero.
///
/// # Errors
/// `NullPointer`, and `BadLength` for a size that no struct has.
///
/// # Safety
/// `from` is null or valid for as many bytes as its size says.
#[inline]
pub(crate) unsafe fn read<T: Plain>(from: *const T) -> Result<T, Status> {
    if from.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: not null, so valid by contract for its size, of which no more than this struct has is read; any bytes are a value.
    unsafe {
        let size = size_of_theirs(from)?;
        // Almost always: a length that the compiler knows is no call of memcpy.
        if size >= size_of::<T>() {
            return Ok(from.read());
        }
        let mut value = MaybeUninit::<T>::zeroed();
        copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast(), size);
        Ok(value.assume_init())
    }
}

/// True if a host's struct has fields that this library doesn't know and that are not all zero.
///
/// # Safety
/// `from` was read by [`read`].
pub(crate) unsafe fn has_more<T: Plain>(from: *const T) -> bool {
    // SAFETY: valid for its size.
    unsafe {
        let size = from.cast::<usize>().read();
        (size_of::<T>()..size).any(|at| from.cast::<u8>().add(at).read() != 0)
    }
}

/// Destination of a struct that a host wants written. Its size was checked.
pub(crate) struct Place<T> {
    to: *mut T,
    size: usize,
}

/// Checks the size of a host's struct before the struct is written.
///
/// # Errors
/// `NullPointer`, and `BadLength` for a size that no struct has.
///
/// # Safety
/// `to` is null or valid for reads and writes of as many bytes as its size says, until the place is written.
#[inline]
pub(crate) unsafe fn place<T>(to: *mut T) -> Result<Place<T>, Status> {
    if to.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: not null, so valid by contract.
    Ok(Place { to, size: unsafe { size_of_theirs(to) }? })
}

impl<T: Copy> Place<T> {
    /// Writes as much of the value as the host knows. Its size becomes the number of bytes written; the bytes after them are zero.
    #[inline]
    pub(crate) fn write(self, value: T) {
        let known = self.size.min(size_of::<T>());
        // SAFETY: valid for so many bytes (see `place`); every struct of the interface begins with its size.
        unsafe {
            if known == size_of::<T>() {
                self.to.write(value);
                self.to.cast::<u8>().add(known).write_bytes(0, self.size - known);
            } else {
                copy_nonoverlapping((&raw const value).cast::<u8>(), self.to.cast(), known);
            }
            self.to.cast::<usize>().write(known);
        }
    }
}
