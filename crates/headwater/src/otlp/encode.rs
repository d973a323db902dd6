//! `ExportTraceServiceRequest` of OTLP in protobuf's binary form. Few messages, so they are written by hand; a test of
//! real clients reads them with the official definitions.

use super::span::{Span, Value};

/// What all spans of this process share.
pub struct Resource {
    pub attributes: Vec<(&'static str, String)>,
    pub version: &'static str,
}

pub fn request(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |resource_spans| {
        resource_spans.message(1, |out| {
            for (key, value) in &resource.attributes {
                out.message(1, |pair| text_pair(pair, key, value));
            }
        });
        resource_spans.message(2, |scope_spans| {
            scope_spans.message(1, |scope| {
                scope.bytes(1, b"headwater");
                scope.bytes(2, resource.version.as_bytes());
            });
            for span in spans {
                scope_spans.message(2, |out| write_span(out, span));
            }
        });
    });
    request.0
}

fn write_span(out: &mut Message, span: &Span) {
    out.bytes(1, &span.context.trace_id);
    out.bytes(2, &span.context.span_id);
    if span.context.parent_id != [0; 8] {
        out.bytes(4, &span.context.parent_id);
    }
    out.bytes(5, span.name.as_bytes());
    out.number(6, span.kind as u64);
    out.fixed64(7, span.start_ns);
    out.fixed64(8, span.end_ns);
    for (key, value) in &span.attributes {
        out.message(9, |pair| match value {
            Value::Text(text) => text_pair(pair, key, text),
            Value::Bool(is) => number_pair(pair, key, 2, u64::from(*is)),
            // As int64 is written: a negative one in ten bytes.
            Value::Int(number) => number_pair(pair, key, 3, number.cast_unsigned()),
        });
    }
    if span.is_error {
        out.message(15, |status| status.number(3, 2));
    }
}

fn text_pair(pair: &mut Message, key: &str, value: &str) {
    pair.bytes(1, key.as_bytes());
    pair.message(2, |any| any.bytes(1, value.as_bytes()));
}

fn number_pair(pair: &mut Message, key: &str, field: u64, value: u64) {
    pair.bytes(1, key.as_bytes());
    pair.message(2, |any| any.number(field, value));
}

/// Fields with their numbers, as protobuf packs them.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn fixed64(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_packed_as_protobuf_packs_them() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        message.message(3, |inner| inner.number(1, 150));
        message.fixed64(7, 1);
        let expected = b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01\x39\x01\0\0\0\0\0\0\0";
        assert_eq!(message.0, expected);
        let mut negative = Message::default();
        negative.number(3, (-1i64).cast_unsigned());
        assert_eq!(negative.0.len(), 11);
    }
}
