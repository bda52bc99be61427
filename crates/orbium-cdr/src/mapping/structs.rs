// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs, and the members of exceptions.

/// Declares a mapped struct: the struct, its marshalling member by member, and its static type
/// description.
///
/// `as` names the codec of a member with a bound or wide text, `=` the described type of a member
/// if it has another name; a name in parentheses is the IDL name.
///
/// ```
/// use orbium_cdr::{BoundedString, CdrReader, CdrWriter, Decode, Encode, Format, Typed, idl_struct};
///
/// idl_struct! {
///     /// A line of a telephone book.
///     #[derive(Clone, Debug, Default, PartialEq)]
///     pub struct Entry: ENTRY_TYPE = "IDL:Book/Entry:1.0" {
///         pub name: String as BoundedString<8>,
///         pub r#type("type"): i32,
///     }
/// }
/// let entry = Entry { name: "Anna".to_owned(), r#type: 3 };
/// let mut writer = CdrWriter::new(Format::native());
/// entry.encode(&mut writer);
/// let mut bytes = writer.finish().unwrap();
/// assert_eq!(Entry::decode(&mut CdrReader::new(&mut bytes, Format::native())), Ok(entry));
/// assert_eq!(Entry::type_code().to_string(), "struct Entry { string<8> name; long type; }");
/// ```
#[macro_export]
macro_rules! idl_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? : $type:ident = $id:literal $(, $recursive:ident)? {
            $($(#[$member_meta:meta])* pub $member:ident $(($member_idl:literal))?
                : $rust:ty $(as $codec:ty)? $(= $described:expr)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        pub struct $name {
            $($(#[$member_meta])* pub $member: $rust,)*
        }
        $crate::idl_members! {
            structure $name [$crate::idl_name!($name $($idl)?)] $type $id [$($recursive)?]
            { $($member [$crate::idl_name!($member $($member_idl)?)] [$rust $(, $codec)?]
                [$rust $(as $codec)?] [$($codec)?] [$($described)?])* }
        }
    };
}

/// Declares a struct of fixed-size members, which is marshalled with one bounds check, and in
/// blocks if its layout in memory is that of CDR.
///
/// ```
/// use orbium_cdr::{FixedSize, idl_fixed_struct};
///
/// idl_fixed_struct! {
///     /// What was measured.
///     #[derive(Clone, Copy, Debug, Default, PartialEq)]
///     pub struct Sample: SAMPLE_TYPE = "IDL:Sample:1.0" { pub time: u64, pub level: i16 }
/// }
/// assert_eq!(Sample::LAYOUT.end(0), 10);
/// ```
#[macro_export]
macro_rules! idl_fixed_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? : $type:ident = $id:literal {
            $($(#[$member_meta:meta])* pub $member:ident $(($member_idl:literal))?
                : $rust:ty $(= $described:expr)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[repr(C)]
        pub struct $name {
            $($(#[$member_meta])* pub $member: $rust,)*
        }
        $crate::fixed_struct!($name { $($member: $rust),* });
        $crate::idl_type! {
            $name $type = $crate::Type::structure(
                $id,
                $crate::idl_name!($name $($idl)?),
                &[$($crate::Member::new(
                    $crate::idl_name!($member $($member_idl)?),
                    $crate::idl_member_type!([$rust] $($described)?),
                )),*],
            )
        }
    };
}

/// The marshalling and the type of a struct of members.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_members {
    (
        $constructor:ident $name:ident [$idl:expr] $type:ident $id:literal [$($recursive:ident)?]
        { $($member:ident [$member_idl:expr] $types:tt [$($rust:tt)*] [$($codec:ty)?] [$($described:expr)?])* }
    ) => {
        impl $crate::Encode for $name {
            fn encode<'a>(&'a self, writer: &mut $crate::CdrWriter<'a>) {
                let _ = &writer;
                $($crate::idl_encode!(writer, &self.$member $(, $codec)?);)*
            }
        }
        impl $crate::Decode for $name {
            const MIN_SIZE: usize = 0 $(+ $crate::idl_least!($($rust)*))*;
            fn decode(
                reader: &mut $crate::CdrReader<'_>,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                let _ = &reader;
                $crate::idl_nested!([$($recursive)?] reader ::core::result::Result::Ok(Self {
                    $($member: $crate::idl_decode!(reader, $($rust)*)?,)*
                }))
            }
            $crate::idl_decode_into! { [$($recursive)?] $($member [$($codec)?])* }
        }
        $crate::idl_type! {
            $name $type = $crate::Type::$constructor(
                $id,
                $idl,
                &[$($crate::Member::new(
                    $member_idl,
                    $crate::idl_member_type!($types $($described)?),
                )),*],
            )
        }
    };
}

/// Reads into an existing value, reusing the memory of its members.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_decode_into {
    ([recursive] $($rest:tt)*) => {};
    ([]) => {};
    ([] $($member:ident [$($codec:ty)?])+) => {
        fn decode_into(
            &mut self,
            reader: &mut $crate::CdrReader<'_>,
        ) -> ::core::result::Result<(), $crate::CdrError> {
            $($crate::idl_decode_into!(@ reader, self.$member $(, $codec)?);)+
            ::core::result::Result::Ok(())
        }
    };
    (@ $reader:ident, $place:expr) => {
        $crate::Decode::decode_into(&mut $place, $reader)?
    };
    (@ $reader:ident, $place:expr, $codec:ty) => {
        $place = <$codec as $crate::Codec>::decode($reader)?
    };
}
