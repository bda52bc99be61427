// SPDX-License-Identifier: MIT OR Apache-2.0
//! Anys of values, and values as JSON.

use orbium_cdr::{Any, ByteOrder, CdrWriter, Encode, Format};
use orbium_fuzz_targets::types::kitchen::{
    BoxedText, Chain, ChainState, Labelled, LabelledState, Point, PointState,
};

use super::Seeds;

impl Seeds {
    /// For the part of target `values` that knows TypeCodes alone.
    pub(crate) fn graphs(&mut self) {
        let point = Point::new(PointState { x: 1, y: 2 });
        let labelled = Labelled::new(LabelledState {
            base: PointState { x: 3, y: 4 },
            text: "here".to_owned(),
            hidden: 5,
        });
        let points = vec![
            Some(point.clone()),
            Some(labelled.into()),
            None,
            Some(point),
        ];
        let chain = Chain::new(ChainState { next: None, v: 7 });
        chain.write().next = Some(chain.clone());
        let text = BoxedText::from("boxed".to_owned());
        for any in [
            Any::new(&points),
            Any::new(&vec![Some(chain.clone()), Some(chain.clone())]),
            Any::new(&Some(text)),
        ] {
            let any = any.expect("values that can be written");
            for order in [ByteOrder::Big, ByteOrder::Little] {
                let mut writer = CdrWriter::new(Format::native().with_order(order));
                any.encode(&mut writer);
                let octets = writer.finish().expect("an any that can be written");
                let choice = (5 << 1) | u8::from(order == ByteOrder::Little);
                self.put(&[&[choice], &*octets].concat());
            }
        }
        chain.unlink();
    }

    /// For the type `Graph` of target `json`.
    pub(crate) fn graphs_as_json(&mut self) {
        for graph in GRAPHS {
            self.put(&[&[6], graph.as_bytes()].concat());
        }
    }
}

const GRAPHS: [&str; 4] = [
    r#"{"first":null,"second":null,"boxed":"text"}"#,
    r#"{"first":{"$id":1,"next":{"$ref":1},"others":[null,{"$ref":1}],"more":{"$type":"null"}},"second":{"$ref":1},"boxed":{"$type":"IDL:Text:1.0","$value":"t"}}"#,
    r#"{"first":{"$type":"IDL:Named:1.0","next":null,"others":[],"more":{"$type":"IDL:Link:1.0","$value":{"$id":"a","next":{"$ref":"a"},"others":[],"more":{"$type":"null"}}},"called":"é"},"second":null,"boxed":null}"#,
    r#"{"first":{"$type":"IDL:Text:1.0","$value":"t"},"second":null,"boxed":null}"#,
];
