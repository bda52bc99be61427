// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of type.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $keyword:literal;)*) => {
        /// The kind of a type (`CORBA::TCKind`; CORBA 3.3 Part 1, clause 8.11.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum TCKind {
            $($(#[$doc])* $name = $value,)*
        }

        impl TCKind {
            /// The kind with that number, or `None`.
            #[must_use]
            pub const fn from_value(value: u32) -> Option<Self> {
                match value {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// The IDL keyword of the kind, or the nearest one.
            #[must_use]
            pub const fn keyword(self) -> &'static str {
                match self {
                    $(Self::$name => $keyword,)*
                }
            }
        }
    };
}

kinds! {
    /// No type: that of an empty `any`.
    Null = 0, "null";
    /// The result of an operation without one.
    Void = 1, "void";
    /// `short`.
    Short = 2, "short";
    /// `long`.
    Long = 3, "long";
    /// `unsigned short`.
    UShort = 4, "unsigned short";
    /// `unsigned long`.
    ULong = 5, "unsigned long";
    /// `float`.
    Float = 6, "float";
    /// `double`.
    Double = 7, "double";
    /// `boolean`.
    Boolean = 8, "boolean";
    /// `char`.
    Char = 9, "char";
    /// `octet`.
    Octet = 10, "octet";
    /// `any`.
    Any = 11, "any";
    /// `TypeCode`.
    TypeCode = 12, "TypeCode";
    /// `Principal`, of GIOP 1.0.
    Principal = 13, "Principal";
    /// An interface, or `Object`.
    ObjRef = 14, "interface";
    /// `struct`.
    Struct = 15, "struct";
    /// `union`.
    Union = 16, "union";
    /// `enum`.
    Enum = 17, "enum";
    /// `string`, bounded or not.
    String = 18, "string";
    /// `sequence`, bounded or not.
    Sequence = 19, "sequence";
    /// One dimension of an array.
    Array = 20, "array";
    /// `typedef`.
    Alias = 21, "typedef";
    /// `exception`.
    Except = 22, "exception";
    /// `long long`.
    LongLong = 23, "long long";
    /// `unsigned long long`.
    ULongLong = 24, "unsigned long long";
    /// `long double`.
    LongDouble = 25, "long double";
    /// `wchar`.
    WChar = 26, "wchar";
    /// `wstring`, bounded or not.
    WString = 27, "wstring";
    /// `fixed`.
    Fixed = 28, "fixed";
    /// `valuetype`.
    Value = 29, "valuetype";
    /// A boxed value.
    ValueBox = 30, "valuetype";
    /// `native`.
    Native = 31, "native";
    /// `abstract interface`.
    AbstractInterface = 32, "abstract interface";
    /// `local interface`.
    LocalInterface = 33, "local interface";
    /// `component`.
    Component = 34, "component";
    /// `home`.
    Home = 35, "home";
    /// `eventtype`.
    Event = 36, "eventtype";
}

impl TCKind {
    /// The number of the kind in CDR.
    #[must_use]
    pub const fn value(self) -> u32 {
        self as u32
    }

    /// Whether types of this kind have a repository id.
    #[must_use]
    pub const fn has_id(self) -> bool {
        matches!(
            self,
            Self::ObjRef
                | Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Alias
                | Self::Except
                | Self::Value
                | Self::ValueBox
                | Self::Native
                | Self::AbstractInterface
                | Self::LocalInterface
                | Self::Component
                | Self::Home
                | Self::Event
        )
    }

    /// Whether the kind alone describes the type.
    #[must_use]
    pub const fn is_simple(self) -> bool {
        !self.has_id()
            && !matches!(
                self,
                Self::String | Self::WString | Self::Fixed | Self::Sequence | Self::Array
            )
    }

    /// Whether a type of this kind may contain itself.
    pub(crate) const fn may_recur(self) -> bool {
        matches!(
            self,
            Self::Struct | Self::Union | Self::Except | Self::Value | Self::Event
        )
    }

    /// Whether values of this kind can be the discriminator of a union.
    pub(crate) const fn discriminates(self) -> bool {
        matches!(
            self,
            Self::Short
                | Self::Long
                | Self::UShort
                | Self::ULong
                | Self::LongLong
                | Self::ULongLong
                | Self::Boolean
                | Self::Char
                | Self::WChar
                | Self::Octet
                | Self::Enum
        )
    }

    /// Size and alignment of the values of a primitive of fixed size.
    pub(crate) const fn primitive(self) -> Option<(usize, usize)> {
        Some(match self {
            Self::Boolean | Self::Char | Self::Octet => (1, 1),
            Self::Short | Self::UShort => (2, 2),
            Self::Long | Self::ULong | Self::Float => (4, 4),
            Self::LongLong | Self::ULongLong | Self::Double => (8, 8),
            Self::LongDouble => (16, 8),
            _ => return None,
        })
    }
}
