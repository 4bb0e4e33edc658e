//! Numbers as a file writes them.

use crate::tree::{Primitive, Value};

/// The value of a constant of this type; nothing if the text is none, or does not fit.
pub(crate) fn value(primitive: Primitive, text: &str) -> Option<Value> {
    match primitive.bits() {
        Some(bits) => integer(text, bits).map(Value::Integer),
        None => real(primitive, text).map(Value::Real),
    }
}

/// An integer as C writes it: decimal, 0x and 0 for octal.
pub(crate) fn integer(text: &str, bits: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (digits, radix) = match (hex, digits.strip_prefix('0')) {
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (digits, 10),
    };
    // The sign was taken already.
    let number =
        if digits.starts_with(['+', '-']) { None } else { i128::from_str_radix(digits, radix).ok() }?;
    let number = if negative { number.checked_neg()? } else { number };
    let bound = 1_i128.checked_shl(bits.saturating_sub(1))?;
    if (-bound..bound).contains(&number) { i64::try_from(number).ok() } else { None }
}

fn real(primitive: Primitive, text: &str) -> Option<String> {
    if text.contains(['x', 'X']) {
        // The word of a whole number, so that Rust rounds it once.
        return real(primitive, &integer(text, 64)?.to_string());
    }
    // Words for infinity are numbers to Rust as well.
    let is_number = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E'));
    let number: f64 = text.parse().ok().filter(|number: &f64| is_number && number.is_finite())?;
    if primitive == Primitive::F64 {
        return Some(format!("{number:?}"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "as the C compiler does with a float")]
    let short = number as f32;
    short.is_finite().then(|| format!("{short:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_c() {
        let told = |text| integer(text, 8);
        assert_eq!(told("127"), Some(127));
        assert_eq!(told("-128"), Some(-128));
        assert_eq!(told("0x7f"), Some(127));
        assert_eq!(told("-0x80"), Some(-128));
        assert_eq!(told("010"), Some(8));
        assert_eq!(told("0"), Some(0));
        assert_eq!(told("+5"), Some(5));
        for wrong in ["128", "-129", "08", "0x", "--1", "-", "", "1.0", "1e3", "0x-1", "+-1", "x"] {
            assert_eq!(told(wrong), None, "{wrong}");
        }
        assert_eq!(integer("-0x8000000000000000", 64), Some(i64::MIN));
        assert_eq!(integer("9223372036854775808", 64), None);
    }

    #[test]
    fn reals_are_exact() {
        let told = |primitive, text| real(primitive, text).unwrap_or_default();
        assert_eq!(told(Primitive::F64, "3.141592653589793"), "3.141592653589793");
        assert_eq!(told(Primitive::F64, "5"), "5.0");
        assert_eq!(told(Primitive::F64, "-1e300"), "-1e300");
        assert_eq!(told(Primitive::F32, "0.1"), "0.1");
        assert_eq!(
            (told(Primitive::F64, "0x10"), told(Primitive::F32, "-0xF")),
            ("16.0".into(), "-15.0".into())
        );
        let wrong = ["inf", "nan", "0x1p3", "0x1.8", "0xffffffffffffffff", ""];
        let wrong = wrong.map(|text| (Primitive::F64, text));
        for (primitive, wrong) in [&wrong[..], &[(Primitive::F32, "1e39")]].concat() {
            assert_eq!(told(primitive, wrong), "");
        }
    }
}
