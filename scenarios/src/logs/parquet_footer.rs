//! Whether a Parquet file's footer can be what it says. The library makes room for as many row groups and
//! columns as the footer announces before it reads one, so that a few damaged bytes take all memory; and memory
//! that cannot be had ends the program.
//!
//! The footer is a struct in [Thrift's compact protocol]: each field with its type, so that it can be walked
//! without knowing what the fields mean. Each item of a list takes a byte or more.
//!
//! [Thrift's compact protocol]: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

/// Whether no list of the footer announces more items than there are bytes left. A file without a footer
/// is left to the library, which says so.
pub(super) fn is_plausible(file: &[u8]) -> bool {
    footer(file).is_none_or(|bytes| Walk { bytes }.fields(0).is_some())
}

/// The file ends with the footer, its length in four bytes and `PAR1`.
fn footer(file: &[u8]) -> Option<&[u8]> {
    let (rest, length) = file.strip_suffix(b"PAR1")?.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    rest.get(rest.len().checked_sub(length)?..)
}

/// What is left to walk.
struct Walk<'a> {
    bytes: &'a [u8],
}

impl Walk<'_> {
    /// Fields up to the stop; `None` where they end before, or announce too much.
    fn fields(&mut self, depth: u8) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if head == STOP {
                return Some(());
            }
            // Without a step from the field before, the field's number follows.
            if head >> 4 == 0 {
                self.number()?;
            }
            // The value of a field that is true or false stands in its type.
            if !matches!(kind, TRUE | FALSE) {
                self.value(kind, depth)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u8) -> Option<()> {
        match kind {
            TRUE | FALSE | BYTE => self.byte().map(|_| ()),
            I16 | I32 | I64 => self.number().map(|_| ()),
            DOUBLE => self.skip(8),
            BINARY => {
                let length = self.number()?;
                self.skip(length)
            }
            LIST | SET => {
                let head = self.byte()?;
                let items = match head >> 4 {
                    0x0f => self.number()?,
                    few => u64::from(few),
                };
                self.items(items, &[head & 0x0f], depth)
            }
            MAP => match self.number()? {
                0 => Some(()),
                items => {
                    let kinds = self.byte()?;
                    self.items(items, &[kinds >> 4, kinds & 0x0f], depth)
                }
            },
            STRUCT => self.fields(depth + 1),
            _ => None,
        }
    }

    fn items(&mut self, items: u64, kinds: &[u8], depth: u8) -> Option<()> {
        if depth > DEEPEST || usize::try_from(items).ok()? > self.bytes.len() {
            return None;
        }
        for _ in 0..items {
            for kind in kinds {
                self.value(*kind, depth + 1)?;
            }
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, length: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    /// Seven bits a byte, the lowest first, until a byte below 128.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
/// A footer nests five deep.
const DEEPEST: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(footer: &[u8]) -> Vec<u8> {
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        [b"PAR1", footer, &length, b"PAR1"].concat()
    }

    #[test]
    fn a_footer_may_hold_as_much_as_it_says() {
        // A number, a list of two texts, a mapping of one number to true, a struct with a number, and the end.
        let footer = [
            0x15, 0x02, 0x19, 0x28, 0x01, b'a', 0x01, b'b', 0x1b, 0x01, 0x51, 0x04, 0x01, 0x1c,
            0x15, 0x00, 0x00, 0x11, 0x00,
        ];

        assert!(is_plausible(&file(&footer)));
    }

    #[test]
    fn a_list_of_more_than_there_are_bytes_left_is_found_wherever_it_stands() {
        let billion = [0xfc, 0x80, 0x94, 0xeb, 0xdc, 0x03];
        let first = [&[0x19][..], &billion, &[0x00]].concat();
        let within = [&[0x1c, 0x19][..], &billion, &[0x00, 0x00]].concat();
        let mapping = [&[0x1b][..], &billion[1..], &[0x55, 0x00, 0x00]].concat();

        for footer in [first, within, mapping] {
            assert!(!is_plausible(&file(&footer)), "{footer:x?}");
        }
    }

    #[test]
    fn a_footer_that_ends_early_or_nests_without_end_is_found() {
        assert!(!is_plausible(&file(&[0x15])));
        assert!(!is_plausible(&file(&[0x1c; 100])));
        assert!(!is_plausible(&file(&[0x19; 100])));
    }

    #[test]
    fn a_file_without_a_footer_is_left_to_the_library() {
        assert!(is_plausible(b"time,model\n"));
        assert!(is_plausible(b"PAR1"));
    }
}
