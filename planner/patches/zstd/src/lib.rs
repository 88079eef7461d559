//! The interface of zstd that arrow-ipc compiles against, without the codec: every
//! use is an error that says so.

/// Names of the codec's C interface.
pub mod zstd_safe {
    /// A compression level.
    pub type CompressionLevel = i32;
}

/// The levels that could be asked for.
pub fn compression_level_range() -> std::ops::RangeInclusive<zstd_safe::CompressionLevel> {
    1..=22
}

/// One-shot compression.
pub mod bulk {
    use std::io::{Error, ErrorKind, Result};
    use std::marker::PhantomData;

    fn absent() -> Error {
        Error::new(ErrorKind::Unsupported, "zstd compression is not part of this build")
    }

    /// Would compress buffers.
    #[derive(Debug)]
    pub struct Compressor<'a>(PhantomData<&'a ()>);

    impl Compressor<'_> {
        /// A compressor of any level.
        ///
        /// # Errors
        /// Never.
        pub fn new(_level: i32) -> Result<Self> {
            Ok(Self(PhantomData))
        }

        /// # Errors
        /// Always: there is no codec.
        pub fn compress(&mut self, _source: &[u8]) -> Result<Vec<u8>> {
            Err(absent())
        }
    }

    /// Would decompress buffers.
    #[derive(Debug)]
    pub struct Decompressor<'a>(PhantomData<&'a ()>);

    impl Decompressor<'_> {
        /// A decompressor.
        ///
        /// # Errors
        /// Never.
        pub fn new() -> Result<Self> {
            Ok(Self(PhantomData))
        }

        /// # Errors
        /// Always: there is no codec.
        pub fn decompress(&mut self, _source: &[u8], _capacity: usize) -> Result<Vec<u8>> {
            Err(absent())
        }
    }
}
