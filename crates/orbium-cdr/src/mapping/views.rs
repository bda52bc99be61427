// SPDX-License-Identifier: MIT OR Apache-2.0
//! Views of structs.

/// Declares the view of a mapped struct: its members are read in place, and it can be sent in place
/// of the struct.
///
/// ```
/// use orbium_cdr::{Arena, CdrReader, CdrWriter, Encode, Format, View, idl_struct, idl_view};
///
/// idl_struct! {
///     /// A line of a telephone book.
///     #[derive(Clone, Debug, Default, PartialEq)]
///     pub struct Entry: ENTRY_TYPE = "IDL:Book/Entry:1.0" { pub name: String, pub digits: Vec<u8> }
/// }
/// idl_view! {
///     /// A line of a telephone book, read in place.
///     pub struct EntryRef<'a>: Entry { pub name: &'a str, pub digits: &'a [u8] }
/// }
/// let mut writer = CdrWriter::new(Format::native());
/// EntryRef { name: "Anna", digits: &[5, 5] }.encode(&mut writer);
/// let mut message = writer.finish().unwrap();
///
/// let mut reader = CdrReader::new(&mut message, Format::native());
/// let arena = Arena::new(&reader);
/// let entry = EntryRef::view(&mut reader, &arena).unwrap();
/// assert_eq!(entry.name, "Anna");
/// assert_eq!(entry.into_owned(), Entry { name: "Anna".to_owned(), digits: vec![5, 5] });
/// ```
#[macro_export]
macro_rules! idl_view {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<$life:lifetime>: $owned:ident $(, $recursive:ident)? {
            $($(#[$member_meta:meta])* pub $member:ident: $view:ty $(as $codec:ty)?),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name<$life> {
            $($(#[$member_meta])* pub $member: $view,)*
        }
        #[allow(clippy::all, clippy::pedantic, dead_code)]
        impl $name<'_> {
            /// An owned copy.
            #[must_use]
            pub fn into_owned(self) -> $owned {
                $owned {
                    $($member: $crate::View::into_owned(self.$member),)*
                }
            }
        }
        impl<$life> $crate::View<$life> for $name<$life> {
            type Owned = $owned;
            const MIN_SIZE: usize = <$owned as $crate::Decode>::MIN_SIZE;
            fn view<'orbium: $life>(
                reader: &mut $crate::CdrReader<'orbium>,
                arena: &$life $crate::Arena,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                let _ = arena;
                $crate::idl_nested!([$($recursive)?] reader ::core::result::Result::Ok(Self {
                    $($member: $crate::idl_view_member!(reader, arena, $view $(as $codec)?)?,)*
                }))
            }
            fn into_owned(self) -> $owned {
                $name::into_owned(self)
            }
        }
        impl<$life> $crate::Encode for $name<$life> {
            fn encode<'orbium>(&'orbium self, writer: &mut $crate::CdrWriter<'orbium>) {
                $($crate::idl_encode_member!(writer, &self.$member, $view $(as $codec)?);)*
            }
        }
        impl ::core::convert::From<$name<'_>> for $owned {
            fn from(view: $name<'_>) -> Self {
                view.into_owned()
            }
        }
        impl $crate::AsArgument<$owned> for $owned {
            fn keep(&self) -> $owned {
                ::core::clone::Clone::clone(self)
            }
        }
        impl $crate::AsArgument<$owned> for $name<'_> {
            fn keep(&self) -> $owned {
                self.into_owned()
            }
        }
    };
}

/// Reads a view.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_view_member {
    ($reader:expr, $arena:expr, $view:ty) => {
        <$view as $crate::View<'_>>::view($reader, $arena)
    };
    ($reader:expr, $arena:expr, $view:ty as $codec:ty) => {
        <$codec as $crate::ViewCodec<'_, $view>>::view($reader, $arena)
    };
}

/// Writes a view.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_encode_member {
    ($writer:expr, $value:expr, $view:ty) => {
        $crate::Encode::encode($value, $writer)
    };
    ($writer:expr, $value:expr, $view:ty as $codec:ty) => {
        <$codec as $crate::ViewCodec<'_, $view>>::encode_view($value, $writer)
    };
}
