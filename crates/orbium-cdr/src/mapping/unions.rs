// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unions: enums with data.
//!
//! A case with one label is a variant with its value. A case with several labels or `default` also
//! contains the discriminator. Discriminators without a case are a separate variant, after `else`.

/// Declares a mapped union: the enum, its marshalling by label, and its static type description.
///
/// ```
/// use orbium_cdr::{CdrReader, CdrWriter, Decode, Encode, Format, Typed, idl_union};
///
/// idl_union! {
///     /// A number or a text.
///     #[derive(Clone, Debug, PartialEq)]
///     pub enum Value: VALUE_TYPE = "IDL:Value:1.0", switch i32 {
///         [1] "number" => Number(i32),
///         [2, 3] "text" => Text { discriminator: i32, value: String },
///         else Other { discriminator: i32 },
///     }
/// }
/// let value = Value::Text { discriminator: 3, value: "three".to_owned() };
/// let mut writer = CdrWriter::new(Format::native());
/// value.encode(&mut writer);
/// let mut bytes = writer.finish().unwrap();
/// assert_eq!(Value::decode(&mut CdrReader::new(&mut bytes, Format::native())), Ok(value));
/// ```
#[macro_export]
macro_rules! idl_union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(($idl:literal))? : $type:ident = $id:literal,
        switch $switch:ty $(= ($switch_type:expr))? $(, $recursive:ident)? {
            $(
                $(#[$case_meta:meta])*
                $(@$default:ident)? [$($label:expr $(; $code:literal)?),*] $case_idl:literal => $case:ident
                $(($one:ty $(as $one_codec:ty)? $(= $one_type:expr)?))?
                $({ discriminator: $carried:ty, value: $many:ty $(as $many_codec:ty)? $(= $many_type:expr)? })?,
            )*
            $(else $other:ident { discriminator: $uncovered:ty },)?
            $(default = $initial:expr,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub enum $name {
            $(
                $(#[$case_meta])*
                $case $(($one))? $({
                    /// Which of the labels was meant.
                    discriminator: $carried,
                    /// The value.
                    value: $many,
                })?,
            )*
            $(
                /// A discriminator that no case covers: there is no value.
                $other {
                    /// The discriminator.
                    discriminator: $uncovered,
                },
            )?
        }
        $(
            impl ::core::default::Default for $name {
                fn default() -> Self {
                    $initial
                }
            }
        )?
        impl $crate::Encode for $name {
            fn encode<'a>(&'a self, writer: &mut $crate::CdrWriter<'a>) {
                #[allow(dead_code)]
                fn is_listed(discriminator: &$switch) -> bool {
                    $($crate::idl_case_labels!(
                        discriminator, [$($default)?] [$($label),*]
                    ) ||)* false
                }
                $($crate::idl_case_encode!(
                    self, writer, is_listed, $switch, [$($default)?] [$($label),*] $case
                    $(($($one_codec)?) $one)? $({ $($many_codec)? } $many)?
                );)*
                $(if let Self::$other { discriminator } = self {
                    if is_listed(discriminator) {
                        writer.fail($crate::CdrErrorKind::BadDiscriminator);
                    }
                    $crate::Encode::encode(discriminator, writer);
                })?
            }
        }
        impl $crate::Decode for $name {
            const MIN_SIZE: usize = {
                let least = [$(
                    $($crate::idl_least!($one $(as $one_codec)?))?
                    $($crate::idl_least!($many $(as $many_codec)?))?
                ),* $(, { let _ = stringify!($other); 0 })?];
                let mut smallest = least[0];
                let mut at = 1;
                while at < least.len() {
                    if least[at] < smallest {
                        smallest = least[at];
                    }
                    at += 1;
                }
                <$switch as $crate::Decode>::MIN_SIZE + smallest
            };
            fn decode(
                reader: &mut $crate::CdrReader<'_>,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                $crate::idl_nested!([$($recursive)?] reader {
                    let discriminator = <$switch as $crate::Decode>::decode(reader)?;
                    $($crate::idl_case_decode!(
                        reader, discriminator, [$($default)?] [$($label),*] $case
                        $(($one $(as $one_codec)?))? $({ $many $(as $many_codec)? })?
                    );)*
                    $($crate::idl_default_decode!(
                        reader, discriminator, [$($default)?] $case
                        $($one $(as $one_codec)?)? $($many $(as $many_codec)?)?
                    );)*
                    $(if true {
                        return ::core::result::Result::Ok(Self::$other { discriminator });
                    })?
                    ::core::result::Result::Err(reader.error($crate::CdrErrorKind::BadDiscriminator))
                })
            }
        }
        $crate::idl_type! {
            $name $type = $crate::Type::union(
                $id,
                $crate::idl_name!($name $($idl)?),
                $crate::idl_member_type!([$switch] $($switch_type)?),
                &$crate::Member::concat::<{
                    0 $(
                        + <[&str]>::len(&[$(stringify!($label)),*])
                        + <[&str]>::len(&[$(stringify!($default))?])
                    )*
                }>(&[$($crate::idl_case_type!(
                    $switch, $case_idl, [$($default)?] [$([$label $(, $code)?])*]
                    $([[$one $(, $one_codec)?] $($one_type)?])?
                    $([[$many $(, $many_codec)?] $($many_type)?])?
                )),*]),
            )
        }
    };
}

/// The members of a union's type for one case: one for each label.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_case_type {
    ($switch:ty, $name:literal, [$($default:ident)?] [$([$($label:tt)*])*] [$types:tt $($given:expr)?]) => {
        $crate::idl_case_type!(
            @ $switch, $name, [$($default)?] [$([$($label)*])*]
            $crate::idl_member_type!($types $($given)?)
        )
    };
    (@ $switch:ty, $name:literal, [$($default:ident)?] [$([$($label:tt)*])*] $type:expr) => {
        &[
            $($crate::Member::case($crate::idl_label!($switch, $($label)*), $name, $type),)*
            $($crate::Member::$default($name, $type),)?
        ]
    };
}

/// The number of a label.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_label {
    ($switch:ty, $label:expr) => {{
        const LABEL: $switch = $label;
        LABEL as i64
    }};
    ($switch:ty, $label:expr, $code:literal) => {
        $code
    };
}

/// Whether a discriminator is a label of a case: false for the default case.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_case_labels {
    ($discriminator:expr, [otherwise] [$($label:expr),*]) => {
        false
    };
    ($discriminator:expr, [] [$($label:expr),*]) => {
        (false $(|| *$discriminator == $label)*)
    };
}

/// Writes the value of one case.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_case_encode {
    ($this:expr, $writer:ident, $listed:ident, $switch:ty, [] [$label:expr] $case:ident ($($codec:ty)?) $value:ty) => {
        if let Self::$case(value) = $this {
            const LABEL: $switch = $label;
            $crate::Encode::encode(&LABEL, $writer);
            $crate::idl_encode!($writer, value $(, $codec)?);
            return;
        }
    };
    ($this:expr, $writer:ident, $listed:ident, $switch:ty, [] [$($label:expr),*] $case:ident {$($codec:ty)?} $value:ty) => {
        if let Self::$case { discriminator, value } = $this {
            if !(false $(|| *discriminator == $label)*) {
                $writer.fail($crate::CdrErrorKind::BadDiscriminator);
            }
            $crate::Encode::encode(discriminator, $writer);
            $crate::idl_encode!($writer, value $(, $codec)?);
            return;
        }
    };
    ($this:expr, $writer:ident, $listed:ident, $switch:ty, [otherwise] [$($label:expr),*] $case:ident {$($codec:ty)?} $value:ty) => {
        if let Self::$case { discriminator, value } = $this {
            if $listed(discriminator) {
                $writer.fail($crate::CdrErrorKind::BadDiscriminator);
            }
            $crate::Encode::encode(discriminator, $writer);
            $crate::idl_encode!($writer, value $(, $codec)?);
            return;
        }
    };
}

/// Reads the value of one case, if the discriminator is a label of it.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_case_decode {
    ($reader:ident, $discriminator:ident, [otherwise] $($rest:tt)*) => {};
    ($reader:ident, $discriminator:ident, [] [$($label:expr),*] $case:ident ($($value:tt)*)) => {
        if false $(|| $discriminator == $label)* {
            return ::core::result::Result::Ok(Self::$case(
                $crate::idl_decode!($reader, $($value)*)?
            ));
        }
    };
    ($reader:ident, $discriminator:ident, [] [$($label:expr),*] $case:ident {$($value:tt)*}) => {
        if false $(|| $discriminator == $label)* {
            return ::core::result::Result::Ok(Self::$case {
                discriminator: $discriminator,
                value: $crate::idl_decode!($reader, $($value)*)?,
            });
        }
    };
}

/// Reads the value of the default case.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_default_decode {
    ($reader:ident, $discriminator:ident, [] $($rest:tt)*) => {};
    ($reader:ident, $discriminator:ident, [otherwise] $case:ident $($value:tt)*) => {
        if true {
            return ::core::result::Result::Ok(Self::$case {
                discriminator: $discriminator,
                value: $crate::idl_decode!($reader, $($value)*)?,
            });
        }
    };
}
