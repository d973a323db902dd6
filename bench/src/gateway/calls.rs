//! What is asked: bodies of JSON-RPC requests.

pub struct Calls {
    /// Cut where a number goes in.
    bodies: Vec<[String; 2]>,
    with_number: bool,
}

impl Calls {
    /// Calls that differ, so that none is answered from what was asked before.
    pub fn distinct() -> Self {
        let head = r#"{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x00000000219ab540356cbb839cbe05303d7705fa","data":"0x"#;
        Calls { bodies: vec![[head.to_owned(), "\"},\"latest\"]}".to_owned()]], with_number: true }
    }

    pub fn blocks(hashes: &[String]) -> Self {
        let body = |hash: &String| {
            let params = format!(r#","method":"eth_getBlockByHash","params":["{hash}",true]}}"#);
            [r#"{"jsonrpc":"2.0","id":1"#.to_owned(), params]
        };
        Calls { bodies: hashes.iter().map(body).collect(), with_number: false }
    }

    /// The same with an id of its own for each.
    pub fn with_ids(&self) -> Self {
        Calls { bodies: self.bodies.clone(), with_number: true }
    }

    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    pub fn body(&self, at: usize, number: u64) -> String {
        let Some([before, after]) = self.bodies.get(at % self.bodies.len().max(1)) else {
            return String::new();
        };
        if self.with_number {
            format!("{before}{number:016}{after}")
        } else {
            format!("{before}{after}")
        }
    }
}
