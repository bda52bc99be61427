// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point decimals.

use orbium_cdr::{Any, CdrWriter, Encode, TCKind, write_packed_decimal};

use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::Content;
use crate::dyn_any::node::DynAny;
use crate::json;

/// A [`DynAny`] of a `fixed` (`DynamicAny::DynFixed`).
#[derive(Debug)]
pub struct DynFixed<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as a decimal.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_fixed(&mut self) -> Result<DynFixed<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Fixed => Ok(DynFixed(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }
}

impl DynFixed<'_> {
    /// The value as text, with all digits of the type after the point (`get_value`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a broken value.
    pub fn value(&self) -> Result<String, DynAnyError> {
        let quoted = json::to_json(&self.0.to_any()?, &json::JsonOptions::default())?;
        Ok(quoted.trim_matches('"').to_owned())
    }

    /// Sets the value from text in IDL syntax, with or without a trailing `d`. Returns `false` if
    /// it was truncated because the type has fewer digits after the point.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the text is not a decimal, [`DynAnyError::InvalidValue`] if
    /// it has more digits before the point than the type.
    pub fn set_value(&mut self, text: &str) -> Result<bool, DynAnyError> {
        let code = self.0.plain_type();
        let (digits, scale) = (code.digits(), code.scale());
        let (unscaled, is_exact) = parsed(text, digits, scale)?;
        let any = Any::with_type(self.0.code.clone(), &Packed { unscaled, digits })?;
        self.0.content = Content::Whole(Data::Plain(any));
        Ok(is_exact)
    }
}

struct Packed {
    unscaled: i128,
    digits: u16,
}

impl Encode for Packed {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        write_packed_decimal(writer, self.unscaled, self.digits);
    }
}

/// The digits as one integer, and whether none were truncated.
fn parsed(text: &str, digits: u16, scale: i16) -> Result<(i128, bool), DynAnyError> {
    let text = text.trim();
    let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_decimal(whole) || !is_decimal(fraction) {
        return Err(DynAnyError::TypeMismatch);
    }
    let scale = usize::try_from(scale).map_err(|_| DynAnyError::InvalidValue)?;
    let whole = whole.trim_start_matches('0');
    if whole.len() + scale > usize::from(digits) {
        return Err(DynAnyError::InvalidValue);
    }
    let kept = fraction.len().min(scale);
    let is_exact = fraction[kept..].bytes().all(|it| it == b'0');
    let kept = fraction[..kept].bytes();
    let filled = std::iter::repeat(b'0');
    let all = whole.bytes().chain(kept.chain(filled).take(scale));
    let unscaled = all.fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
    Ok((if is_negative { -unscaled } else { unscaled }, is_exact))
}
