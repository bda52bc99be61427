// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macro that declares boxed values.

/// Declares a boxed value: the handle, and the struct of its content.
///
/// ```
/// use orbium_value::idl_value_box;
///
/// idl_value_box! {
///     /// A text that may be null.
///     pub struct Text(TextState): TEXT_TYPE = "IDL:Text:1.0", String;
/// }
/// let text = Text::from("something".to_owned());
/// assert_eq!(text.read().value, "something");
/// ```
#[macro_export]
macro_rules! idl_value_box {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? ($state:ident): $type:ident = $id:literal,
        $rust:ty $(as $codec:ty)? $(= $described:expr)?;
        $(initial $initial:expr;)?
    ) => {
        $crate::idl_value_handle! { [$(#[$meta])*] $name $type $id Boxed [] [] [] }
        $crate::idl_value_access! { $name $state }

        #[doc = concat!("The content of a [`", stringify!($name), "`].")]
        #[allow(clippy::all, clippy::pedantic, dead_code, unnameable_types, unreachable_pub)]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $state {
            /// What is in the box.
            pub value: $rust,
        }

        $crate::idl_initial_state! { $state [value] $(Self { value: $initial })? }

        impl ::core::convert::From<$rust> for $name {
            fn from(value: $rust) -> Self {
                Self::new($state { value })
            }
        }

        impl $crate::codegen::orbium_cdr::Encode for $state {
            fn encode<'a>(&'a self, writer: &mut $crate::codegen::orbium_cdr::CdrWriter<'a>) {
                $crate::codegen::orbium_cdr::idl_encode!(writer, &self.value $(, $codec)?);
            }
        }

        impl $crate::codegen::orbium_cdr::Decode for $state {
            const MIN_SIZE: usize = 0;
            fn decode(
                reader: &mut $crate::codegen::orbium_cdr::CdrReader<'_>,
            ) -> ::core::result::Result<Self, $crate::codegen::orbium_cdr::CdrError> {
                ::core::result::Result::Ok(Self {
                    value: $crate::codegen::orbium_cdr::idl_decode!(
                        reader, $rust $(as $codec)?
                    )?,
                })
            }
        }

        $crate::idl_value_state! { $state }

        $crate::codegen::orbium_cdr::idl_type! {
            $name $type = $crate::codegen::orbium_cdr::Type::value_box(
                $id,
                $crate::codegen::orbium_cdr::idl_name!($name $($idl)?),
                $crate::codegen::orbium_cdr::idl_member_type!([$rust $(, $codec)?] $($described)?),
            )
            .copied_by(|reader, writer| {
                $crate::copy_value(<$name as $crate::ValueType>::class(), reader, writer)
            })
        }
    };
}
