//! Ids in paths and parameters: UUIDs in any case.

use store::StreamId;

use crate::error::ApiError;

const PATTERN: &str = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}";
/// Hex digits between the dashes.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// `parameter` is its name in the path or the query.
pub fn read(parameter: &str, text: &str) -> Result<StreamId, ApiError> {
    parse(text).ok_or_else(|| {
        ApiError::invalid_param(parameter, text, format!("Not match in '{PATTERN}'"))
    })
}

fn parse(text: &str) -> Option<StreamId> {
    let mut digits = String::with_capacity(32);
    let mut groups = text.split('-');
    for length in GROUPS {
        let group = groups.next().filter(|group| group.len() == length)?;
        digits.push_str(group);
    }
    if groups.next().is_some() {
        return None;
    }
    let mut bytes = [0u8; 16];
    alloy_primitives::hex::decode_to_slice(&digits, &mut bytes).ok()?;
    Some(StreamId::from(bytes))
}

#[cfg(test)]
mod tests {
    use streams::uuid_text;

    use super::*;

    const ID: &str = "0d653a7a-05da-4f4a-8eec-bca8725046cd";

    #[test]
    fn an_id_is_read_in_any_case_and_written_in_one() {
        let id = read("id", ID).unwrap();
        assert_eq!(uuid_text(&id), ID);
        assert_eq!(read("id", &ID.to_uppercase()).unwrap(), id);
        let nil = "00000000-0000-0000-0000-000000000000";
        assert_eq!(uuid_text(&read("id", nil).unwrap()), nil, "nobody's, but an id");
    }

    #[test]
    fn what_is_no_id_is_refused_with_its_name_and_the_form_that_is_taken() {
        let no_dashes = ID.replace('-', "");
        let braces = format!("{{{ID}}}");
        let longer = format!("{ID}-");
        for wrong in [
            "",
            "1",
            &ID[1..],
            &no_dashes,
            &braces,
            &longer,
            "0d653a7a-05da-4f4a-8eec-bca8725046cg",
            "0x653a7a-05da-4f4a-8eec-bca8725046cd",
            "0d653a7a-05da-4f4a-8ee-cbca8725046cd",
            "éd653a7-05da-4f4a-8eec-bca8725046cd",
        ] {
            let error = read("streamId", wrong).unwrap_err();
            assert_eq!(error.status(), 422, "{wrong}");
            let body = error.body();
            assert!(body.contains("\"streamId\"") && body.contains("Not match in '"), "{body}");
        }
    }
}
