//! What `headwater init` asks on a terminal. An empty line takes what stands in brackets.

use std::io::{BufRead, Write};

use anyhow::{Result, bail};

use super::file::{Answers, Node};

const CHAIN: &str = "eth";
const NODE: &str = "http://127.0.0.1:8545";

/// Someone who gives so many answers that do not fit is not there.
const TRIALS: usize = 5;

/// Asks for what the flags left open.
pub fn ask(answers: &mut Answers, input: &mut impl BufRead, out: &mut impl Write) -> Result<()> {
    let mut asking = Asking { input, out };
    writeln!(asking.out, "A configuration for Headwater. Enter takes what stands in brackets.")?;
    loop {
        let chain = asking.line("Chain, a name or its id", CHAIN, |_| Ok(()))?;
        let url = asking.line("URL of its node", NODE, check_url)?;
        let socket = asking.line("URL of its WebSocket, for new heads; none", "", check_socket)?;
        let ws_url = Some(socket).filter(|url| !url.is_empty());
        let from = asking.line("The oldest block to fill down to", "0", check_number)?;
        answers.nodes.push(Node { chain: chain.clone(), url, ws_url });
        // What was checked is a number.
        answers.from_block.extend(from.parse().ok().map(|from: u64| (chain, from)));
        if !asking.line("Another node? yes or no", "no", check_yes)?.starts_with('y') {
            break;
        }
    }
    answers.data = asking.line("Data folder", &answers.data, |_| Ok(()))?;
    answers.listen = asking.line("Listen on", &answers.listen, check_address)?;
    Ok(())
}

struct Asking<'a, I, O> {
    input: &'a mut I,
    out: &'a mut O,
}

impl<I: BufRead, O: Write> Asking<'_, I, O> {
    fn line(
        &mut self,
        question: &str,
        usual: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String> {
        for _ in 0..TRIALS {
            write!(self.out, "{question} [{usual}]: ")?;
            self.out.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                bail!("no answer to \"{question}\"; nothing was written");
            }
            let answer = if line.trim().is_empty() { usual } else { line.trim() };
            match check(answer) {
                Ok(()) => return Ok(answer.to_owned()),
                Err(why) => writeln!(self.out, "  {why}")?,
            }
        }
        bail!("no answer to \"{question}\" that can be used; nothing was written")
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let schemes = ["http://", "https://", "ws://", "wss://"];
    let is_one = schemes.iter().any(|scheme| url.starts_with(scheme));
    is_one.then_some(()).ok_or_else(|| format!("it must start with one of {}", schemes.join(" ")))
}

fn check_socket(url: &str) -> Result<(), String> {
    let is_one = url.is_empty() || url.starts_with("ws://") || url.starts_with("wss://");
    is_one.then_some(()).ok_or_else(|| "it must start with ws:// or wss://".to_owned())
}

fn check_number(text: &str) -> Result<(), String> {
    text.parse::<u64>().map(drop).map_err(|_| format!("'{text}' is not a block number"))
}

fn check_yes(text: &str) -> Result<(), String> {
    matches!(text, "yes" | "y" | "no" | "n").then_some(()).ok_or_else(|| "yes or no".to_owned())
}

fn check_address(text: &str) -> Result<(), String> {
    let address = text.parse::<std::net::SocketAddr>();
    address.map(drop).map_err(|_| format!("'{text}' is not of the form IP:PORT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(typed: &str) -> (Result<()>, Answers, String) {
        let (mut answers, mut out) = (Answers::default(), Vec::new());
        let outcome = ask(&mut answers, &mut typed.as_bytes(), &mut out);
        (outcome, answers, String::from_utf8(out).unwrap())
    }

    #[test]
    fn empty_lines_take_what_is_usual() {
        let (outcome, answers, _) = asked(&"\n".repeat(7));
        outcome.unwrap();
        assert_eq!(answers.nodes[0].chain, "eth");
        assert_eq!(answers.nodes[0].url, NODE);
        assert_eq!(answers.nodes[0].ws_url, None);
        assert_eq!(
            (answers.data.as_str(), answers.listen.as_str()),
            ("headwater-data", "127.0.0.1:8080")
        );
    }

    #[test]
    fn what_does_not_fit_is_asked_again() {
        let typed = "polygon\nnode.example\nhttps://node.example\n\nmany\n17\ny\nbase\nwss://b\nwss://b\n5\nno\n/srv/hw\nlocalhost\n0.0.0.0:80\n";
        let (outcome, answers, shown) = asked(typed);
        outcome.unwrap();
        assert_eq!(answers.nodes.len(), 2);
        assert_eq!(answers.nodes[1].ws_url.as_deref(), Some("wss://b"));
        assert_eq!(answers.from_block, [("polygon".into(), 17), ("base".into(), 5)]);
        for why in ["must start with one of http://", "'many' is not a block number", "IP:PORT"] {
            assert!(shown.contains(why), "{why}: {shown}");
        }
    }

    #[test]
    fn nobody_there_is_an_error() {
        for typed in ["", "eth\n", "eth\nftp\nftp\nftp\nftp\nftp\nhttp://late\n"] {
            let (outcome, ..) = asked(typed);
            assert!(outcome.unwrap_err().to_string().contains("nothing was written"), "{typed:?}");
        }
    }
}
