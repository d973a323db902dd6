//! Prometheus' text form: each name once with what it means, then its samples.

use std::collections::BTreeMap;
use std::fmt::Write;

/// By name: all samples of a name must stand together.
#[derive(Default)]
pub struct Exposition(BTreeMap<&'static str, Family>);

struct Family {
    kind: &'static str,
    help: &'static str,
    samples: String,
}

/// A name, and what it means.
pub type Metric = (&'static str, &'static str);
/// Label names and values.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    pub fn gauge(&mut self, metric: Metric, labels: Labels, value: f64) {
        self.add("gauge", metric, labels, value);
    }

    pub fn counter(&mut self, metric: Metric, labels: Labels, value: f64) {
        self.add("counter", metric, labels, value);
    }

    fn add(&mut self, kind: &'static str, (name, help): Metric, labels: Labels, value: f64) {
        let family = Family { kind, help, samples: String::new() };
        let samples = &mut self.0.entry(name).or_insert(family).samples;
        samples.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            samples.push(if at == 0 { '{' } else { ',' });
            let _ = write!(samples, "{label}=\"{}\"", escaped(value)); // to a string: cannot fail
        }
        if !labels.is_empty() {
            samples.push('}');
        }
        let _ = writeln!(samples, " {value}");
    }

    /// Names of the other that are here already keep their samples.
    pub fn merge(&mut self, other: Exposition) {
        for (name, family) in other.0 {
            match self.0.get_mut(name) {
                Some(known) => known.samples.push_str(&family.samples),
                None => drop(self.0.insert(name, family)),
            }
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, Family { kind, help, samples }) in &self.0 {
            let _ = write!(text, "\n# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}");
        }
        text
    }
}

/// Names of nodes come from a configuration and may hold anything.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_name_stand_together_and_labels_cannot_break_out() {
        let mut one = Exposition::default();
        one.gauge(("b", "Two."), &[("of", "x\"y\\\n"), ("and", "z")], 1.5);
        one.counter(("a", "One."), &[], 3.0);
        let mut other = Exposition::default();
        other.gauge(("b", "Two."), &[], 2.0);
        one.merge(other);
        let expected = "\n# HELP a One.\n# TYPE a counter\na 3\n\n# HELP b Two.\n# TYPE b gauge\n\
                        b{of=\"x\\\"y\\\\\\n\",and=\"z\"} 1.5\nb 2\n";
        assert_eq!(one.text(), expected);
    }
}
