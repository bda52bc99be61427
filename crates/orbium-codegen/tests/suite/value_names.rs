// SPDX-License-Identifier: MIT OR Apache-2.0
//! Value types with operations named as methods and locals of handles: the code that
//! was generated for them did not compile.

use orbium::SystemException;

use crate::orbs::Orbs;

mod golden {
    include!("../golden/value_names.rs");
}

use golden::value_names::{
    Book, BookOperations, BookState, Bound, BoundOperations, BoundState, Buffer, BufferOperations,
    BufferState, Copied, CopiedOperations, Named, Tagged, TaggedOperations, TaggedState, Titled,
};

type Answer<T> = Result<T, SystemException>;

struct Paper;

impl CopiedOperations for Paper {
    fn clone(&self, this: &Copied) -> Answer<Option<Copied>> {
        Ok(this
            .downcast::<Buffer>()
            .map(|it| buffer(&it.read().text).into()))
    }

    fn from(&self, this: &Copied, operations: &str) -> Answer<String> {
        let text = this.downcast::<Buffer>().map(|it| it.read().text.clone());
        Ok(format!("{operations}{}", text.unwrap_or_default()))
    }
}

impl BufferOperations for Paper {
    fn read(&self, this: &Buffer, count: u32) -> Answer<String> {
        Ok(this.read().text.chars().take(count as usize).collect())
    }

    fn write(&self, this: &Buffer, state: &str, operations: &str) -> Answer<()> {
        this.write().text = format!("{state}{operations}");
        Ok(())
    }

    fn new(&self, _: &Buffer) -> Answer<i32> {
        Ok(7)
    }

    fn with_operations(&self, this: &Buffer) -> Answer<i32> {
        Ok(this.read().text.len() as i32)
    }

    fn set_with_operations(&self, this: &Buffer, value: i32) -> Answer<()> {
        this.write().text = value.to_string();
        Ok(())
    }

    fn look(&self, _: &Buffer, this: &str, this_value: &str) -> Answer<String> {
        Ok(format!("{this}{this_value}"))
    }
}

impl TaggedOperations for Paper {}

fn buffer(text: &str) -> Buffer {
    let text = text.to_owned();
    Buffer::with_operations(BufferState { text }, Paper)
}

/// Conformance: IDL - value types: operations, factories
#[test]
fn operations_with_names_of_the_handle_have_methods_of_another_name() {
    let base = BufferState {
        text: "abcdef".to_owned(),
    };
    let tag = "t".to_owned();
    let tagged = Tagged::with_operations(TaggedState { base, tag }, Paper);
    assert_eq!(tagged.read().tag, "t");
    assert_eq!(tagged.read_(2).unwrap(), "ab");
    tagged.write_("x", "yz").unwrap();
    assert_eq!(tagged.read().text, "xyz");
    assert_eq!(tagged.new_().unwrap(), 7);
    assert_eq!(tagged.with_operations_().unwrap(), 3);
    tagged.set_with_operations(12).unwrap();
    assert_eq!(tagged.from_("no. ").unwrap(), "no. 12");
    assert_eq!(tagged.look("a", "b").unwrap(), "ab");
    assert_eq!(tagged.clone(), tagged);
    let copy = tagged.clone_().unwrap().unwrap();
    let copy = copy.downcast::<Buffer>().unwrap();
    copy.write().text.push('3');
    assert_eq!(copy.read().text, "123");
    assert_eq!(tagged.read().text, "12");
}

struct Leaves;

impl BookOperations for Leaves {
    fn read(&self, this: &Book, count: u32) -> Answer<String> {
        Ok(this.read().name.chars().take(count as usize).collect())
    }
}

impl BoundOperations for Leaves {
    fn title(&self, this: &Bound) -> Answer<String> {
        Ok(format!("{} in {}", this.read().name, this.read().cover))
    }
}

/// A value supports an interface that inherits the one which its base supports.
///
/// Conformance: IDL - value types: supported interfaces
#[test]
fn a_value_serves_what_its_base_supports_too() {
    let orbs = Orbs::new();
    let base = BookState {
        name: "atlas".to_owned(),
    };
    let cover = "leather".to_owned();
    let bound = Bound::with_operations(BoundState { base, cover }, Leaves);
    for titled in orbs.both::<_, Titled>(bound) {
        assert_eq!(titled.title().unwrap(), "atlas in leather");
        let named: &Named = &titled;
        assert_eq!(named.read(2).unwrap(), "at");
    }
}
