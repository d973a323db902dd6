//! What a panic said, for a log line or an error.

use std::any::Any;

/// `panic` is what `catch_unwind` or a task's end hands over.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_messages_are_told_and_others_are_not_known() {
        let plain: Box<dyn Any + Send> = Box::new("plain");
        let made: Box<dyn Any + Send> = Box::new("made".to_owned());
        let other: Box<dyn Any + Send> = Box::new(7);
        let told = [&plain, &made, &other].map(|panic| panic_text(panic.as_ref()));
        assert_eq!(told, ["plain", "made", "without a message"]);
    }
}
