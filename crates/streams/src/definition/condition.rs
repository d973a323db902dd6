//! A filter bound to one event: it reads the few words of a log that it compares, and nothing else.
//!
//! In: the tree of `filter` and an event. Out: yes or no for each log.

use alloy_dyn_abi::DynSolType;
use alloy_primitives::{Address, B256, U256};

use super::{
    chain_id::parse_chain_id,
    event_abi::{EventAbi, EventInput, EventPlace, LogView},
    filter::{FilterOperator, FilterTree, FilterValue},
    integer::WideInteger,
    sol_decode::{bytes_at, word_at},
    sol_type::type_name,
    sol_value::{parse_address, parse_bytes},
};

const CONTRACT_ADDRESS: &str = "moralis_streams_contract_address";
const CHAIN_ID: &str = "moralis_streams_chain_id";
const POSSIBLE_SPAM: &str = "moralis_streams_possibleSpam";

#[derive(Clone, Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    /// The operands are sorted: `in` may have thousands.
    Compare {
        source: ValueSource,
        operator: FilterOperator,
        operands: Vec<Operand>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ValueSource {
    Contract,
    Chain,
    PossibleSpam,
    Field(EventPlace, FieldShape),
}

/// How the bytes of a field are compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldShape {
    Unsigned,
    Signed,
    Address,
    Bool,
    /// That many bytes, or the hash of an indexed text.
    Fixed(usize),
    Bytes,
    Text,
}

/// What is compared, on both sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    Integer(WideInteger),
    Address(Address),
    Bool(bool),
    Bytes(Vec<u8>),
    Text(String),
}

impl Condition {
    pub(super) fn bind(tree: &FilterTree, event: &EventAbi) -> Result<Self, String> {
        let all = |parts: &[FilterTree]| {
            parts.iter().map(|part| Self::bind(part, event)).collect::<Result<Vec<_>, _>>()
        };
        match tree {
            FilterTree::And(parts) => Ok(Self::All(all(parts)?)),
            FilterTree::Or(parts) => Ok(Self::Any(all(parts)?)),
            FilterTree::Test { name, operator, values } => {
                let source = ValueSource::bind(name, event)?;
                if operator.is_order() && !source.is_number() {
                    let operator = operator.name();
                    return Err(format!("`{operator}` compares numbers and `{name}` is none"));
                }
                let mut operands = values
                    .iter()
                    .map(|value| {
                        source.operand(value).ok_or_else(|| {
                            let wanted = source.wants();
                            format!("`{name}` is compared with {wanted}, not `{}`", value.text())
                        })
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                operands.sort_unstable();
                Ok(Self::Compare { source, operator: *operator, operands })
            }
        }
    }

    /// For a log that fits the event.
    pub(super) fn holds(&self, log: LogView<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(log)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(log)),
            Self::Compare { source, operator, operands } => {
                source.read(log).is_some_and(|value| compare(&value, *operator, operands))
            }
        }
    }
}

fn compare(value: &Operand, operator: FilterOperator, operands: &[Operand]) -> bool {
    let order = |accept: fn(std::cmp::Ordering) -> bool| match (value, operands) {
        (Operand::Integer(value), [Operand::Integer(limit)]) => accept(value.cmp(limit)),
        _ => false,
    };
    match operator {
        FilterOperator::Eq | FilterOperator::In => operands.binary_search(value).is_ok(),
        FilterOperator::Ne | FilterOperator::Nin => operands.binary_search(value).is_err(),
        FilterOperator::Lt => order(std::cmp::Ordering::is_lt),
        FilterOperator::Gt => order(std::cmp::Ordering::is_gt),
        FilterOperator::Lte => order(std::cmp::Ordering::is_le),
        FilterOperator::Gte => order(std::cmp::Ordering::is_ge),
    }
}

impl ValueSource {
    fn bind(name: &str, event: &EventAbi) -> Result<Self, String> {
        match name {
            CONTRACT_ADDRESS => Ok(Self::Contract),
            CHAIN_ID => Ok(Self::Chain),
            POSSIBLE_SPAM => Ok(Self::PossibleSpam),
            _ => match event.input(name) {
                Some(input) => Ok(Self::Field(input.place, FieldShape::new(input)?)),
                None => {
                    let names: Vec<_> = event
                        .inputs
                        .iter()
                        .map(|input| input.name.as_str())
                        .filter(|name| !name.is_empty())
                        .chain([CONTRACT_ADDRESS, CHAIN_ID, POSSIBLE_SPAM])
                        .collect();
                    let names = names.join(", ");
                    Err(format!("`{name}` is not an input of the event: use one of {names}"))
                }
            },
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Field(_, FieldShape::Unsigned | FieldShape::Signed))
    }

    /// For errors.
    fn wants(self) -> String {
        match self {
            Self::Contract | Self::Field(_, FieldShape::Address) => "an address".to_owned(),
            Self::Chain => "a hex chain id such as 0x1".to_owned(),
            Self::PossibleSpam | Self::Field(_, FieldShape::Bool) => "true or false".to_owned(),
            Self::Field(_, FieldShape::Unsigned | FieldShape::Signed) => {
                "an integer of at most 256 bits".to_owned()
            }
            Self::Field(_, FieldShape::Fixed(size)) => format!("{size} bytes in hex"),
            Self::Field(_, FieldShape::Bytes) => "bytes in hex".to_owned(),
            Self::Field(_, FieldShape::Text) => "text".to_owned(),
        }
    }

    /// The user's value in the form in which this source is read.
    fn operand(self, value: &FilterValue) -> Option<Operand> {
        let text = value.text();
        let is_text = matches!(value, FilterValue::Text(_));
        match self {
            Self::Contract | Self::Field(_, FieldShape::Address) => {
                parse_address(&text).map(Operand::Address)
            }
            Self::Chain => {
                let chain = is_text.then(|| parse_chain_id(&text)).flatten()?;
                Some(Operand::Integer(WideInteger::unsigned(U256::from(chain.0))))
            }
            Self::PossibleSpam | Self::Field(_, FieldShape::Bool) => {
                text.parse().ok().map(Operand::Bool)
            }
            Self::Field(_, FieldShape::Unsigned | FieldShape::Signed) => {
                WideInteger::from_text(&text).map(Operand::Integer)
            }
            Self::Field(_, FieldShape::Fixed(size)) => {
                parse_bytes(&text).filter(|bytes| bytes.len() == size).map(Operand::Bytes)
            }
            Self::Field(_, FieldShape::Bytes) => parse_bytes(&text).map(Operand::Bytes),
            Self::Field(_, FieldShape::Text) => Some(Operand::Text(text)),
        }
    }

    fn read(self, log: LogView<'_>) -> Option<Operand> {
        match self {
            Self::Contract => Some(Operand::Address(log.address)),
            Self::Chain => Some(Operand::Integer(WideInteger::unsigned(U256::from(log.chain.0)))),
            Self::PossibleSpam => Some(Operand::Bool(log.possible_spam)),
            Self::Field(EventPlace::Topic(number), shape) => {
                shape.of_word(*log.topics.get(number)?)
            }
            Self::Field(EventPlace::Data(head), FieldShape::Bytes) => {
                Some(Operand::Bytes(bytes_at(log.data, head)?.to_vec()))
            }
            Self::Field(EventPlace::Data(head), FieldShape::Text) => {
                let text = String::from_utf8_lossy(bytes_at(log.data, head)?);
                Some(Operand::Text(text.into_owned()))
            }
            Self::Field(EventPlace::Data(head), shape) => shape.of_word(word_at(log.data, head)?),
        }
    }
}

impl FieldShape {
    fn new(input: &EventInput) -> Result<Self, String> {
        let indexed = matches!(input.place, EventPlace::Topic(_));
        Ok(match &input.ty {
            DynSolType::Uint(_) => Self::Unsigned,
            DynSolType::Int(_) => Self::Signed,
            DynSolType::Address => Self::Address,
            DynSolType::Bool => Self::Bool,
            DynSolType::FixedBytes(size) => Self::Fixed(*size),
            DynSolType::Function => Self::Fixed(24),
            DynSolType::Bytes | DynSolType::String if indexed => Self::Fixed(32),
            DynSolType::Bytes => Self::Bytes,
            DynSolType::String => Self::Text,
            list @ (DynSolType::Array(_) | DynSolType::FixedArray(..) | DynSolType::Tuple(_)) => {
                let (name, ty) = (&input.name, type_name(list));
                return Err(format!("`{name}` is of type {ty}, which cannot be compared"));
            }
        })
    }

    fn of_word(self, word: B256) -> Option<Operand> {
        let number = || U256::from_be_bytes(word.0);
        Some(match self {
            Self::Unsigned => Operand::Integer(WideInteger::unsigned(number())),
            Self::Signed => Operand::Integer(WideInteger::signed(number())),
            Self::Address => Operand::Address(Address::from_word(word)),
            Self::Bool => Operand::Bool(!word.is_zero()),
            Self::Fixed(size) => Operand::Bytes(word.get(..size)?.to_vec()),
            Self::Bytes | Self::Text => return None,
        })
    }
}
