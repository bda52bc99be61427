// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macros that generated code declares value types with.

mod boxes;
mod handles;

/// Declares a value type: the handle, the struct of its state, their marshalling, and its static
/// type description.
///
/// The repository id is followed by the [`Kind`](crate::Kind), the concrete base with its state and
/// the name of the field for it, and the known derived value types.
///
/// ```
/// use orbium_value::idl_value;
///
/// idl_value! {
///     /// A point.
///     pub struct Point(PointState): POINT_TYPE = "IDL:Point:1.0", Plain, [Labelled] {
///         public x: i32,
///         public y: i32,
///     }
/// }
/// idl_value! {
///     /// A point with a text.
///     pub struct Labelled(LabelledState): LABELLED_TYPE = "IDL:Labelled:1.0", Truncatable,
///     base: Point[PointState] = POINT_TYPE, [] {
///         public text: String,
///         private hidden: i32,
///     }
/// }
/// let labelled = Labelled::new(LabelledState {
///     base: PointState { x: 1, y: 2 },
///     text: "here".to_owned(),
///     hidden: 0,
/// });
/// let point: &Point = &labelled;
/// assert_eq!(point.read().x, 1);
/// assert_eq!(point.downcast::<Labelled>(), Some(labelled));
/// ```
#[macro_export]
macro_rules! idl_value {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))? ($state:ident): $type:ident = $id:literal, $kind:ident
        $(as $event:ident)? $(+ [$($abstract:path),* $(,)?])?,
        $($base_field:ident: $base:path [$base_state:path] = $base_type:path,)?
        [$($derived:path),*] {
            $($(#[$member_meta:meta])* $visibility:ident $member:ident $(($member_idl:literal))?
                : $rust:ty $(as $codec:ty)? $(= $described:expr)?),* $(,)?
        }
        $(initial $initial:expr)?
    ) => {
        $crate::idl_value_handle! {
            [$(#[$meta])*] $name $type $id $kind [$($base)?] [$($($abstract),*)?] [$($derived),*]
        }
        $crate::idl_value_access! { $name $state }

        #[doc = concat!("The state of a [`", stringify!($name), "`].")]
        #[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unnameable_types, unreachable_pub)]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $state {
            $(
                /// The state of the base.
                pub $base_field: $base_state,
            )?
            $($(#[$member_meta])* pub $member: $rust,)*
        }

        $crate::idl_initial_state! { $state [$($base_field)? $($member)*] $($initial)? }

        $(
            impl ::core::ops::Deref for $state {
                type Target = $base_state;
                fn deref(&self) -> &$base_state {
                    &self.$base_field
                }
            }
            impl ::core::ops::DerefMut for $state {
                fn deref_mut(&mut self) -> &mut $base_state {
                    &mut self.$base_field
                }
            }
        )?

        impl $crate::codegen::orbium_cdr::Encode for $state {
            fn encode<'a>(&'a self, writer: &mut $crate::codegen::orbium_cdr::CdrWriter<'a>) {
                let _ = &writer;
                $($crate::codegen::orbium_cdr::Encode::encode(&self.$base_field, writer);)?
                $($crate::codegen::orbium_cdr::idl_encode!(writer, &self.$member $(, $codec)?);)*
            }
        }

        impl $crate::codegen::orbium_cdr::Decode for $state {
            const MIN_SIZE: usize = 0;
            fn decode(
                reader: &mut $crate::codegen::orbium_cdr::CdrReader<'_>,
            ) -> ::core::result::Result<Self, $crate::codegen::orbium_cdr::CdrError> {
                let _ = &reader;
                ::core::result::Result::Ok(Self {
                    $($base_field: $crate::codegen::orbium_cdr::Decode::decode(reader)?,)?
                    $($member: $crate::codegen::orbium_cdr::idl_decode!(
                        reader, $rust $(as $codec)?
                    )?,)*
                })
            }
        }

        $crate::idl_value_state! { $state $($base_field)? }

        $crate::codegen::orbium_cdr::idl_type! {
            $name $type = $crate::idl_event_type!($($event)?)(
                $id,
                $crate::codegen::orbium_cdr::idl_name!($name $($idl)?),
                $crate::Kind::$kind.modifier(),
                $crate::idl_base_type!($($base_type)?),
                &[$($crate::codegen::orbium_cdr::Member::state(
                    $crate::codegen::orbium_cdr::idl_name!($member $($member_idl)?),
                    $crate::codegen::orbium_cdr::idl_member_type!([$rust $(, $codec)?] $($described)?),
                    $crate::idl_is_public!($visibility),
                )),*],
            )
            .copied_by(|reader, writer| {
                $crate::copy_value(<$name as $crate::ValueType>::class(), reader, writer)
            })
        }
    };
}

/// Declares an abstract value type: the handle on values of the types that inherit it.
///
/// ```
/// use orbium_value::{Abstract, idl_abstract_value, idl_value};
///
/// idl_abstract_value! {
///     /// What has a size.
///     pub struct Sized: SIZED_TYPE = "IDL:Sized:1.0", [] [Line];
/// }
/// idl_value! {
///     /// A line.
///     pub struct Line(LineState): LINE_TYPE = "IDL:Line:1.0", Plain + [Sized], [] {
///         public length: i32,
///     }
/// }
/// let sized = Sized::from(Line::new(LineState { length: 5 }));
/// assert_eq!(sized.downcast::<Line>().unwrap().read().length, 5);
/// ```
#[macro_export]
macro_rules! idl_abstract_value {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(($idl:literal))?: $type:ident = $id:literal $(as $event:ident)?,
        [$($abstract:path),* $(,)?] [$($derived:path),* $(,)?];
    ) => {
        $crate::idl_value_handle! {
            [$(#[$meta])*] $name $type $id Abstract [] [$($abstract),*] [$($derived),*]
        }

        $crate::codegen::orbium_cdr::idl_type! {
            $name $type = $crate::idl_event_type!($($event)?)(
                $id,
                $crate::codegen::orbium_cdr::idl_name!($name $($idl)?),
                $crate::Kind::Abstract.modifier(),
                ::core::option::Option::None,
                &[],
            )
            .copied_by(|reader, writer| {
                $crate::copy_value(<$name as $crate::ValueType>::class(), reader, writer)
            })
        }
    };
}

/// The initial state of values of a type: that of each member, unless a value is given.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_initial_state {
    ($state:ident [$($member:ident)*]) => {
        impl ::core::default::Default for $state {
            fn default() -> Self {
                Self { $($member: ::core::default::Default::default(),)* }
            }
        }
    };
    ($state:ident [$($member:ident)*] $initial:expr) => {
        impl ::core::default::Default for $state {
            fn default() -> Self {
                $initial
            }
        }
    };
}

/// The custom marshalling of a type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value_custom {
    (Custom $name:ident) => {
        ::core::option::Option::Some($crate::Custom::of::<$name>())
    };
    ($kind:ident $name:ident) => {
        ::core::option::Option::None
    };
}

/// The functions of a class that depend on the type of the state.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value_class {
    (Abstract make $name:ident) => {
        $crate::stateless
    };
    (Abstract read $name:ident) => {
        $crate::unreadable
    };
    (Abstract read_new $name:ident) => {
        $crate::never_new
    };
    ($kind:ident make $name:ident) => {
        $crate::made::<$name>
    };
    ($kind:ident read $name:ident) => {
        $crate::read_into::<$name>
    };
    ($kind:ident read_new $name:ident) => {
        $crate::read_new::<$name>
    };
}

/// [`State`](crate::State) for a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_value_state {
    ($state:ident $($base_field:ident)?) => {
        impl $crate::State for $state {
            fn part(
                &self,
                of: ::core::any::TypeId,
            ) -> ::core::option::Option<&dyn ::core::any::Any> {
                if of == ::core::any::TypeId::of::<Self>() {
                    return ::core::option::Option::Some(self);
                }
                $(if true { return $crate::State::part(&self.$base_field, of); })?
                ::core::option::Option::None
            }

            fn part_mut(
                &mut self,
                of: ::core::any::TypeId,
            ) -> ::core::option::Option<&mut dyn ::core::any::Any> {
                if of == ::core::any::TypeId::of::<Self>() {
                    return ::core::option::Option::Some(self);
                }
                $(if true { return $crate::State::part_mut(&mut self.$base_field, of); })?
                ::core::option::Option::None
            }

            fn write(&self, writer: &mut $crate::codegen::orbium_cdr::CdrWriter<'_>) {
                writer.copying(|writer| $crate::codegen::orbium_cdr::Encode::encode(self, writer));
            }

            fn reset(&mut self) {
                *self = ::core::default::Default::default();
            }
        }
    };
}

/// The handle that a handle wraps.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_base {
    () => {
        $crate::ValueBase
    };
    ($base:path) => {
        $base
    };
}

/// The type of the concrete base.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_base_type {
    () => {
        ::core::option::Option::None
    };
    ($type:path) => {
        ::core::option::Option::Some(&$type)
    };
}

/// Whether a member is `public`.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_is_public {
    (public) => {
        true
    };
    (private) => {
        false
    };
}
